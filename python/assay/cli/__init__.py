"""The command line: parse, call, show. Heavy imports happen inside commands, so that ``--help`` is quick.

Each command is a module of its name. Beside them are shared options, progress, tables and the words of failures.
Arguments, the user's settings and the terminal enter. Text or JSON leave on standard output, notices on standard error,
and an exit code.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

import click

from assay.cli.failure import check_addresses, fail, fail_internal, fail_system, fail_usage
from assay.errors import AssayError, InterruptedRunError, UsageError
from assay.spec.nearest import did_you_mean

_HELP = """Test solid-state drives as the SNIA Performance Test Specification says.

\b
assay drives                         drives of this host, and simulated ones
assay models                         simulated drives
assay tests                          tests and studies
assay editions                       editions of the specification
assay check DRIVE                    whether the drive may be tested, and this host is fit
assay init plan.toml                 a commented plan file
assay plan DRIVE --suite client      bytes that a run would write, and its time
assay run DRIVE --suite client       run it and write the report
assay alerts test                    the alerts that root set up for the end of a run
assay survey PLAN DRIVE DRIVE ...    the same plan on several drives in turn
assay status                         progress or outcome of the newest run
assay show RUN                       the results of a run folder on the terminal
assay report RUN                     render the report of a run folder again
assay verify RUN                     whether a run folder is intact, rule by rule
assay runs                           the runs in a folder and their outcomes
assay index status                   the index that assay runs reads
assay export RUN                     a run as a single file, signed or redacted
assay import FILE                    unpack such a file after all checks
assay key make                       your signing key, and keys that you trust
assay limits RUN limits.toml         whether a run meets limits
assay compare RUN RUN                drives side by side, or a gate against a baseline
assay crosscheck DRIVE               this engine against fio on the same drive
assay convert FILE.icf               Iometer and fio files to plans and back
assay trace-stack FOLDER             I/Os as issued and as the device received them
assay serve                          runs in a browser: live, lists, comparison, trend
assay agent                          starts runs for users of its socket, as root allows
assay calibrate                      the limits of this host, without a drive
assay fit sim:NAME                   a drive model from published figures
assay config                         what is set for this user
assay completion bash                shell completion of commands, drives and tests
assay man DIR                        the manual pages
"""


_COMMANDS = (
    "drives",
    "models",
    "tests",
    "editions",
    "check",
    "init",
    "plan",
    "run",
    "alerts",
    "survey",
    "status",
    "show",
    "report",
    "verify",
    "runs",
    "index",
    "export",
    "import",
    "key",
    "limits",
    "compare",
    "crosscheck",
    "convert",
    "trace-stack",
    "serve",
    "agent",
    "calibrate",
    "fit",
    "config",
    "completion",
    "man",
)
"""In the order of their use. Each is the function of its name in the module of its name; ``import_`` for ``import``."""


_COMPLETE = "_ASSAY_COMPLETE"
"""Set where a shell asks how a command line could go on."""
_AGAIN_S = 0.02


class _Commands(click.Group):
    """The commands; a module is read when its command is named, or when all are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: the help says of each what it is for."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name.replace("-", "_") + "_" * iskeyword(cmd_name)
        command: click.Command = getattr(import_module(f"assay.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise UsageError(args[0], "is no command of assay", did_you_mean(args[0], _COMMANDS, "see assay --help"))
        if not {"-h", "--help"} & set(args):
            check_addresses(args[0])
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, help=_HELP
)
@click.version_option(package_name="assay")
def assay() -> None:
    """Say what a killed run has left changed; programs that read the output ask ``assay status``."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") in {None, "dumb", "unknown"}:
        click.get_current_context().color = False
    if sys.stderr.isatty():
        from assay.cli.stored_runs import say_left_changed  # noqa: PLC0415

        say_left_changed()


def main() -> NoReturn:
    """Run the command line; errors are one line on standard error and a telling exit code."""
    _open_streams()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A run started with nohup outlives its terminal; Ctrl-C is heard even from a script's background.
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _interrupt_again
    if _COMPLETE in os.environ:
        from assay.cli.completion import use_own_shells  # noqa: PLC0415

        use_own_shells()
    try:
        code = assay(prog_name="assay", standalone_mode=False)
    except click.ClickException as error:
        fail_usage(error)
    except (KeyboardInterrupt, click.Abort):
        fail(InterruptedRunError("command", "interrupted", "run it again"), lines=["interrupted"])
    except AssayError as error:
        fail(error)
    except (OSError, MemoryError) as error:
        fail_system(error)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - a defect of this program, a panic of the native module among them
        fail_internal(error)
    sys.exit(code if isinstance(code, int) else 0)


def _open_streams() -> None:
    """Open the standard streams that the caller closed: else a file of the run would get their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, and those below are open by now. What is printed there is an error.
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open until the end


def _interrupt(number: int, frame: object) -> NoReturn:
    del number, frame
    raise KeyboardInterrupt


def _interrupt_again(ignored: sys.UnraisableHookArgs) -> None:
    """Interrupt once more in a moment: Ctrl-C came while a library ran what ignores every exception."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        sys.__unraisablehook__(ignored)
