"""Options that several commands share, and the plan that they make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.errors import UsageError
from assay.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.run.plan_file import Plan

Command = TypeVar("Command", bound="Callable[..., Any]")

# Literals are read by pydantic where the plan is made; importing that here would slow down every command.
_PURGES = [
    "auto",
    "format",
    "format-crypto",
    "sanitize-block",
    "sanitize-crypto",
    "sanitize-overwrite",
    "erase",
    "erase-enhanced",
    "discard",
    "overwrite",
]
_PLAN_SUFFIX, _SIMULATED = ".toml", "sim:"
_EDITION_HELP = (
    "Edition: pts-0.9, pts-c-1.0, pts-e-1.0, pts-e-1.1, pts-c-2.0, pts-e-2.0, or a .toml file of your own; --profile "
    "is the older name."
)

_FAULT_OPTIONS = [
    click.option(
        "--io-time-limit",
        "io_time_limit_seconds",
        type=float,
        metavar="SECONDS",
        help="An I/O that takes longer ends the run with exit code 4; 35 unless given, the kernel's own being 30.",
    ),
    click.option(
        "--stall-limit",
        "stall_limit_seconds",
        type=float,
        metavar="SECONDS",
        help="A round in which a drive, real or with faults, completes nothing for longer is void; 2 unless given.",
    ),
    click.option(
        "--on-stall",
        type=click.Choice(["continue", "stop"]),
        help="After a void round: begin the window anew, at most three times, or stop with exit code 4.",
    ),
]
"""When a drive is given up."""


class _Suite(click.ParamType):  # type: ignore[type-arg]
    """A suite of the registry, which is read when the option is used: reading it takes part of a second."""

    name = "suite"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002 - click's
        from assay.procedures.registry import SUITES  # noqa: PLC0415

        return f"[{'|'.join(SUITES)}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002 - click's
        from assay.procedures.registry import SUITES  # noqa: PLC0415

        if value not in SUITES:
            remedy = did_you_mean(value, SUITES, "choose one of these")
            raise UsageError("--suite", f'is "{value}", none of {", ".join(SUITES)}', remedy)
        return value


class _Names(click.Option):
    """Names of tests or studies; its help lists those of the registry, which is read when the help is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from assay.procedures import registry  # noqa: PLC0415

        known = registry.tests() if self.name == "tests" else registry.studies()
        self.help = f"{', '.join(one.name for one in known)}; repeat or separate by commas."
        return super().get_help_record(ctx)


def yes_destroy_option(command: Command) -> Command:
    """Add the confirmation of a real drive; two of them are refused, since one of them is of another drive."""
    return click.option(
        "--yes-destroy",
        multiple=True,
        callback=_single,
        metavar="ID",
        help="Confirm with the drive's full identity, as assay drives prints it.",
    )(command)


def _single(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    if len(given) > 1:
        raise UsageError("--yes-destroy", "is given more than once", "confirm the one drive that is named")
    return given[0] if given else None


def plan_options(command: Command) -> Command:
    """Add the target and the options that make a plan."""
    options = [
        click.argument("targets", nargs=-1, required=True, metavar="DRIVE|PLAN.toml ..."),
        click.option(
            "--suite",
            type=_Suite(),
            help="Tests and edition by name.",
        ),
        click.option("--test", "tests", cls=_Names, multiple=True, metavar="N"),
        click.option("--study", "studies", cls=_Names, multiple=True, metavar="N"),
        click.option("--edition", "--profile", "edition", metavar="E", help=_EDITION_HELP),
        click.option("--seed", type=int, metavar="N", help="Seed of addresses and segment places."),
        click.option("--scale", type=float, metavar="F", help="Multiply durations by 0 < F < 1; a listed deviation."),
        click.option("--thread-count", type=int, metavar="TC", help="Threads; tester's choice."),
        click.option("--queue-depth", type=int, metavar="QD", help="Outstanding I/Os per thread; tester's choice."),
        click.option(
            "--arrival",
            metavar="PROCESS:RATE",
            help="fixed:5000 or poisson:5000 I/Os per second over all threads, an open loop; a listed deviation.",
        ),
        click.option(
            "--data",
            metavar="KIND",
            help="What is written: random, compressible:SHARE, stamped, repeating:KIB, file:PATH; a listed deviation.",
        ),
        click.option(
            "--capture",
            type=click.Choice(["none", "times", "addresses"]),
            help="Keep every measured completion in Parquet files, on request with place and size.",
        ),
        click.option("--pin", metavar="CPUS", help="CPUs of the threads: auto, none, or a list such as 0,2,4-7."),
        click.option(
            "--io-path",
            type=click.Choice(["auto", "interrupt", "synchronous", "polled", "kernel-thread", "passthrough"]),
            help="The way that the I/Os of a real drive take; auto probes the drive.",
        ),
        *_FAULT_OPTIONS,
        click.option("--purge", type=click.Choice(_PURGES), help="How a real drive is purged; auto asks the drive."),
        click.option(
            "--write-cache",
            type=click.Choice(["edition", "on", "off", "as-is"]),
            help="Write cache of a real drive for the run; the edition's unless said otherwise. It is put back.",
        ),
        click.option("--file-target", is_flag=True, help="DRIVE is a pre-allocated regular file."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def make_plan(
    targets: tuple[str, ...],
    thread_count: int | None,
    queue_depth: int | None,
    arrival: str | None,
    **options: Any,
) -> Plan:
    """The plan of a drive, of a plan file, or of a file applied to another drive.

    Raises UsageError and PlanError.
    """
    from assay.run.plan_file import load_plan  # noqa: PLC0415

    files = [Path(target) for target in targets if _is_plan(target)]
    drives = [target for target in targets if not _is_plan(target)]
    if len(files) > 1 or len(drives) > 1:
        raise UsageError(" ".join(targets), "names more than one drive or plan", "name one of each at most")
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    overrides = {name: value for name, value in given.items() if value != ()}
    for several in overrides.keys() & {"tests", "studies"}:
        overrides[several] = _names(several, overrides[several])
    if drives:
        if not overrides.get("file_target"):
            _refuse_misnamed_plan(drives[0])
        overrides["drive"] = drives[0]
    demand = {"thread_count": thread_count, "queue_depth": queue_depth, "arrival": arrival}
    chosen = {name: value for name, value in demand.items() if value is not None}
    return load_plan(files[0] if files else None, overrides, chosen)


def _names(kind: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names of tests or studies, separated by commas, in letters of any case.

    Raises UsageError where a study is named as a test, or a test as a study.
    """
    from assay.procedures import registry  # noqa: PLC0415

    known = {one.name.lower(): one.name for one in registry.procedures()}
    words = (word.strip() for text in given for word in text.split(","))
    names = tuple(known.get(word.lower(), word) for word in words)
    others, option, noun, right = (
        (registry.studies(), "--test", "study", "--study")
        if kind == "tests"
        else (registry.tests(), "--study", "test", "--test")
    )
    for one in others:
        if one.name in names:
            raise UsageError(option, f"{one.name} is a {noun}", f"name it with {right} {one.name}")
    return names


def _refuse_misnamed_plan(target: str) -> None:
    """Say of a file that holds a plan and is not called so how it is run; no one should be told to test it as a drive.

    Raises UsageError.
    """
    from assay.errors import PlanError  # noqa: PLC0415
    from assay.toml_file import FILE_BYTES_MAX, read_toml  # noqa: PLC0415

    path = Path(target)
    try:
        if "\0" in target or not path.is_file() or path.stat().st_size > FILE_BYTES_MAX:
            return
        table, _ = read_toml(path)
    except (OSError, PlanError):
        return
    if table.keys() & {"drive", "tests", "suite", "studies"}:
        named = path.with_suffix(_PLAN_SUFFIX)
        raise UsageError(target, "holds a plan, but its name does not end in .toml", f"rename it to {named}")


def _is_plan(target: str) -> bool:
    """A simulated drive may be a file of its own: ``sim:drive_model.toml``."""
    return target.endswith(_PLAN_SUFFIX) and not target.startswith(_SIMULATED)
