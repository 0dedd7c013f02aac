"""How a failed command ends: one line per fault, or JSON, and an exit code; and too low a limit of addresses."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from assay.errors import AssayError, InternalError, SystemRefusedError, UsageError, error_facts
from assay.spec.nearest import did_you_mean
from assay.spec.units import KIB, MIB
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence


_SHOW_TRACEBACK = "ASSAY_TRACEBACK"
_NUMBERS = {"integer": "a whole number", "float": "a number"}
LEAST_BYTES = 640 * MIB
"""What a run of a small simulated drive with its report takes (500,000 KiB on two processors), and a quarter more."""
_AMPLE_BYTES = 8 * 1024 * MIB
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
"""Each thread of a library takes addresses of its own, and there would be one for each processor."""
_LIGHT = {"config", "completion", "drives", "editions", "init", "key", "man", "models", "status", "tests"}
"""Commands that load none of these libraries."""


def fail(error: AssayError, *, lines: Sequence[str] | None = None) -> NoReturn:
    """End with the error's exit code: in words, or as one JSON object where the command was to print JSON.

    lines : printed in place of the text of the error.
    """
    error = _with_cause_kept(error)
    if "--json" in sys.argv[1:]:
        click.echo(json.dumps(error_facts(error)), err=True)
    else:
        for line in str(error).split("\n") if lines is None else lines:
            click.echo(f"assay: {visible(line)}", err=True)
    sys.exit(error.exit_code)


def fail_usage(error: click.ClickException) -> NoReturn:
    """End where the command line itself is wrong."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        sys.exit(error.exit_code)
    fail(worded(error))


def fail_system(error: OSError | MemoryError) -> NoReturn:
    """End where standard output is closed or full, or the system refuses something unforeseen."""
    if isinstance(error, MemoryError):
        remedy = "end other programs, or choose a smaller simulated drive"
        fail(SystemRefusedError("memory", "is used up", remedy))
    # The old one can no longer be flushed at exit.
    sys.stdout = io.StringIO()
    if isinstance(error, BrokenPipeError):
        sys.exit(SystemRefusedError.exit_code)
    if error.errno == errno.EBADF:
        fail(SystemRefusedError("standard output", "is closed", "send it to a file or to /dev/null"))
    thing = str(error.filename or "output")
    fail(SystemRefusedError(thing, error.strerror or str(error), "free what it needs and try again"))


def fail_internal(error: BaseException) -> NoReturn:
    """End after a defect of this program: the traceback goes into a file that is named, and is shown on request."""
    if is_of_memory(error):
        fail_system(MemoryError())
    kept = _kept_traceback(error)
    remedy = f"report it with the file {kept}" if kept else f"report it with what {_SHOW_TRACEBACK}=1 shows"
    fail(InternalError("internal error", f"{type(error).__name__} in this program, not in its input", remedy))


def check_addresses(command: str) -> None:
    """Raise SystemRefusedError where a command cannot work within the limit of addresses (``ulimit -v``).

    Worked: ``assay report`` within 300,000 KiB -> refused; within 655,360 KiB -> not; ``assay drives`` -> never.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= _AMPLE_BYTES:
        return
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    if limit < LEAST_BYTES and command not in _LIGHT:
        reason = f"is limited to {limit // KIB} KiB of addresses, and assay {command} needs {LEAST_BYTES // KIB}"
        raise SystemRefusedError("memory", reason, f"raise the limit: ulimit -v {LEAST_BYTES // KIB}")


def is_of_memory(error: BaseException) -> bool:
    """Whether a library could not be loaded because no memory was left for it.

    Worked: ``failed to map segment from shared object`` -> it is; ``No module named 'x'`` -> it is not.
    """
    signs = ("failed to map segment", "annot allocate memory", "cannot create", "out of memory")
    causes = [error, *_causes(error)]
    return any(isinstance(cause, ImportError) and any(sign in str(cause) for sign in signs) for cause in causes)


def _causes(error: BaseException) -> list[BaseException]:
    """What led to an error, the nearest first."""
    causes: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes


def worded(error: click.ClickException) -> UsageError:
    """A fault of the command line in words of our own.

    Worked: ``--suite clinet`` -> ``--suite: is "clinet", none of basic, client, ...; did you mean "client"?``.
    """
    context = getattr(error, "ctx", None)
    command = _command(context)
    see = f"see {command} --help"
    if isinstance(error, click.NoSuchOption):
        options = [name for option in context.command.get_params(context) for name in option.opts] if context else []
        return UsageError(
            error.option_name, f"is no option of {command}", did_you_mean(error.option_name, options, see)
        )
    if isinstance(error, click.MissingParameter):
        return UsageError(_named(error), "is missing", f"give it; {see}")
    if isinstance(error, click.BadParameter):
        return _bad_value(error, see)
    if isinstance(error, click.BadOptionUsage):
        takes = "takes no value" if "does not take" in error.message else "needs a value"
        return UsageError(error.option_name, takes, see)
    if "extra argument" in error.message:
        given = error.message.partition("(")[2].rpartition(")")[0]
        return UsageError(command, f"takes no further word: {given}", see)
    return UsageError(command, error.message.rstrip("."), see)


def _command(context: click.Context | None) -> str:
    """The command as it is called. Worked: ``assay plan``, whatever the program was started as."""
    names = []
    while context is not None and context.parent is not None:
        names.append(context.info_name or "")
        context = context.parent
    return " ".join(["assay", *reversed(names)])


def _named(error: click.BadParameter) -> str:
    """The option or argument that is at fault."""
    if error.param is None:
        return str(error.param_hint or "command")
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    return error.param.make_metavar(error.ctx) if error.ctx else str(error.param.name)


def _bad_value(error: click.BadParameter, see: str) -> UsageError:
    kind = error.param.type if error.param is not None else None
    # The library gives the value in its own words only.
    given = error.message.partition(" is not ")[0].strip("'\"")
    if isinstance(kind, click.Choice):
        known = [str(choice) for choice in kind.choices]
        remedy = did_you_mean(given, known, "choose from these")
        return UsageError(_named(error), f'is "{given}", none of {", ".join(known)}', remedy)
    if " is not a valid " in error.message and isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return UsageError(_named(error), f'is "{given}", not {_NUMBERS[kind.name.split()[0]]}', see)
    if isinstance(kind, click.IntRange | click.FloatRange):
        return UsageError(_named(error), f"is {given}, and must be {_range(kind)}", "give a value inside the range")
    return UsageError(_named(error), error.message.rstrip("."), see)


def _range(kind: click.IntRange | click.FloatRange) -> str:
    """The range in words. Worked: ``IntRange(2, 1000)`` -> ``at least 2 and at most 1000``."""
    words = []
    if kind.min is not None:
        words.append(f"{'more than' if kind.min_open else 'at least'} {kind.min:g}")
    if kind.max is not None:
        words.append(f"{'less than' if kind.max_open else 'at most'} {kind.max:g}")
    return " and ".join(words)


def _with_cause_kept(error: AssayError) -> AssayError:
    """The error with the file that the traceback of its cause is in, where that is no fault of input or system."""
    cause = error.__cause__
    if cause is None or isinstance(cause, AssayError | OSError):
        return error
    kept = _kept_traceback(cause)
    remedy = f"{error.remedy}; details are in {kept}" if kept else error.remedy
    return type(error)(error.thing, error.reason, remedy, further=error.further)


# What only a failure needs is not loaded by every command.


def _kept_traceback(error: BaseException) -> str | None:
    """Show a traceback on request; the file that it is kept in, None where none can be written."""
    import traceback  # noqa: PLC0415

    text = "".join(traceback.format_exception(error))
    if os.environ.get(_SHOW_TRACEBACK) or {"-v", "--verbose"} & set(sys.argv[1:]):
        click.echo(text, err=True, nl=False)
    return _kept(text)


def _kept(text: str) -> str | None:
    """The file that a traceback is kept in; None where none can be written."""
    import tempfile  # noqa: PLC0415

    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="assay-error-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(text)
            return file.name
    except OSError:
        return None
