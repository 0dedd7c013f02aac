"""Options that several commands share, and the plan that they make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Command, with_options
from assay.cli.completion import (
    drive_candidates,
    edition_candidates,
    study_candidates,
    suite_candidates,
    test_candidates,
)
from assay.cli.config import with_settings
from assay.errors import UsageError, ValueRangeError
from assay.spec.nearest import did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from assay.run.plan_file import Plan

file_target_option = click.option("--file-target", is_flag=True, help="DRIVE is a pre-allocated regular file.")
scale_option = click.option(
    "--scale", type=float, metavar="F", help="Multiply durations by 0 < F < 1; a listed deviation. Default: 1."
)
_WORKLOAD_OPTIONS = [
    click.option(
        "--icf",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Run the workload of a configuration file of Iometer. Default: the tests of the plan.",
    ),
    click.option(
        "--fio",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Run the workload of a job file of fio. Default: the tests of the plan.",
    ),
    click.option(
        "--run-time",
        "run_time_s",
        type=click.FloatRange(min=0, min_open=True, max=1e7),
        metavar="SECONDS",
        help="Seconds per run if the --icf file runs until stopped. Default: refused.",
    ),
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="TRACE",
        help="Trace to replay: blktrace, iolog of fio, CSV, capture of Assay. Default: the tests of the plan.",
    ),
    click.option(
        "--speed",
        metavar="F",
        help="Replay speed: a factor, or max for no waits. Default: 1.",
    ),
    click.option(
        "--map",
        "mapping",
        type=click.Choice(["keep", "scale", "wrap"]),
        help="Replay addresses: as traced, scaled to the drive, or wrapped. Default: keep.",
    ),
    click.option(
        "--columns",
        metavar="NAMES",
        help="Columns of a replayed CSV, as time=1:us,op=2,offset=3:bytes,size=4:bytes; op=2:1=read marks reads. "
        "Default: guessed from known formats.",
    ),
    click.option("--device", metavar="NAME", help="Device to replay from a trace of several. Default: none."),
    click.option(
        "--wait",
        type=click.Choice(["ms_since_start", "us_since_previous"]),
        help="Meaning of waits in an iolog of version 2. Default: refused.",
    ),
    click.option(
        "--fill",
        type=click.FloatRange(0, 100),
        metavar="N",
        help="Sequential fills before a workload or replay. Default: as the plan states; 0 for files of other "
        "tools, 1 for a replay.",
    ),
    click.option("--no-purge", is_flag=True, help="Skip the purge before a workload or replay."),
]
"""Workloads and traces of other tools, which are run alone, and how the drive is prepared for them."""


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
_SAFETY = "What may be destroyed"
_EDITION_HELP = (
    "Edition: pts-0.9, pts-c-1.0, pts-e-1.0, pts-e-1.1, pts-c-2.0, pts-e-2.0, or a .toml file; --profile "
    "is the older name. Default: that of the suite."
)

_FAULT_OPTIONS = [
    click.option(
        "--io-time-limit",
        "io_time_limit_seconds",
        type=float,
        metavar="SECONDS",
        help="Longest wait for the oldest I/O in flight. Default: 35.",
    ),
    click.option(
        "--stall-limit",
        "stall_limit_seconds",
        type=float,
        metavar="SECONDS",
        help="Seconds without completion that void a round. Default: 2.",
    ),
    click.option(
        "--on-stall",
        type=click.Choice(["continue", "stop"]),
        help="After a void round: new window (at most three) or exit code 4. Default: continue.",
    ),
]
"""When a drive is given up."""


_SIGNATURE_OPTIONS = [
    click.option(
        "--destroy-signature",
        "signatures",
        multiple=True,
        metavar="TYPE",
        help="Allow to destroy this file system, table or RAID member, such as ext4. Default: refuse.",
    ),
    click.option(
        "--acknowledge",
        "acknowledged",
        multiple=True,
        metavar="WORD",
        callback=lambda _context, _parameter, given: _doubt_words(given),
        help="Doubt to accept, by the word in the refusal. Default: none.",
    ),
]
"""Consent to what is on a drive, and doubts of the gate about its users."""


class _Suite(click.ParamType):  # type: ignore[type-arg]
    """A suite of the registry, which is read when the option is used: reading it takes part of a second."""

    name = "suite"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        param: click.Parameter,  # noqa: ARG002 - click's
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        return suite_candidates(incomplete)

    def convert(
        self,
        value: str,
        param: click.Parameter | None,  # noqa: ARG002 - click's
        ctx: click.Context | None,  # noqa: ARG002 - click's
    ) -> str:
        from assay.procedures.registry import SUITES  # noqa: PLC0415

        if value not in SUITES:
            remedy = did_you_mean(value, SUITES, "choose from these")
            raise UsageError("--suite", f'is "{value}", none of {", ".join(SUITES)}', remedy)
        return value


class _Names(click.Option):
    """A suite, tests or studies by name; the help lists those of the registry, which is read when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from assay.procedures import registry  # noqa: PLC0415

        if self.name == "suite":
            self.help = f"Tests and edition by name: {', '.join(registry.SUITES)}. Default: client."
        else:
            listed = ", ".join(registry.known_tests() if self.name == "tests" else registry.known_studies())
            self.help = f"{listed}; repeat or separate by commas. Default: those of the suite."
        return super().get_help_record(ctx)


def run_folder_option(command: Command) -> Command:
    """Add the folder of a run."""
    help_text = "Run folder, new or empty. Default: a new folder in runs, or in that of assay config."
    return click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help=help_text)(command)


def gate_options(command: Command) -> Command:
    """Add the options of the gate but for the confirmation, for a run and for a plan."""
    options = [
        *_SIGNATURE_OPTIONS,
        click.option(
            "--max-drive-writes",
            "drive_writes_max",
            type=click.FloatRange(0, min_open=True),
            metavar="N",
            help="Refuse a run that could write more than N capacities. Default: 30, of known writes only.",
        ),
        click.option(
            "--all-namespaces",
            type=click.IntRange(min=1),
            metavar="COUNT",
            help="Namespaces of the controller that a purge may destroy. Default: none.",
        ),
    ]
    return with_options(*options, subject=_SAFETY)(command)


def signature_option(command: Command) -> Command:
    """Add the acknowledgements of what is on a drive, and of what the gate cannot tell of its users."""
    return with_options(*_SIGNATURE_OPTIONS, subject=_SAFETY)(command)


def _doubt_words(given: tuple[str, ...]) -> frozenset[str]:
    """Words of doubts. Raises UsageError for one that is none."""
    if not given:
        return frozenset()
    from assay.dut.real.gate.doubts import is_word  # noqa: PLC0415 - heavy

    if wrong := next((word for word in given if not is_word(word)), None):
        remedy = "give reader:NAME, unseen-processes, unknown-backing or file-system:TYPE, as the refusal names it"
        raise UsageError("--acknowledge", f'"{wrong}" is no doubt of the gate', remedy)
    return frozenset(given)


def report_folder_option(command: Command) -> Command:
    """Add the folder of a report that belongs to no run."""
    default = "Default: a new folder in runs, or in that of assay config."
    folder = click.Path(path_type=Path)
    return click.option("--out", type=folder, metavar="DIR", help=f"Folder of the report, new or empty. {default}")(
        command
    )


def index_option(command: Command) -> Command:
    """Add which index of runs is meant."""
    default = "Default: that of assay config, else of the user."
    help_text = f"Index of runs: a file, or postgresql://USER@HOST/DATABASE. {default}"
    return click.option("--index", metavar="FILE|URL", help=help_text)(command)


def yes_destroy_option(command: Command) -> Command:
    """Add the confirmation of a real drive; two of them are refused, since one of them is of another drive."""
    option = click.option(
        "--yes-destroy",
        multiple=True,
        callback=_single_identity,
        metavar="ID",
        help="Full identity of the drive, as assay drives prints it. Default: prompt at a terminal.",
    )
    return with_options(option, subject=_SAFETY)(command)


def _single_identity(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    if len(given) > 1:
        raise UsageError("--yes-destroy", "is given more than once", "confirm only the named drive")
    return given[0] if given else None


_WHAT_OPTIONS = [
    click.argument(
        "targets",
        nargs=-1,
        required=True,
        metavar="DRIVE|PLAN.toml ...",
        shell_complete=drive_candidates,
    ),
    click.option("--suite", cls=_Names, type=_Suite(), metavar="NAME"),
    click.option("--test", "tests", cls=_Names, multiple=True, metavar="N", shell_complete=test_candidates),
    click.option("--study", "studies", cls=_Names, multiple=True, metavar="N", shell_complete=study_candidates),
    click.option(
        "--edition",
        "--profile",
        "edition",
        metavar="E",
        shell_complete=edition_candidates,
        help=_EDITION_HELP,
    ),
    click.option(
        "--quick",
        is_flag=True,
        help="Screen the first 8 GiB in 15 min; not a PTS test.",
    ),
    click.option(
        "--read-only",
        is_flag=True,
        help="Quick screen by reads alone; the drive keeps its data.",
    ),
]
"""Drive and tests of a run."""

_DRIVE_OPTIONS = [
    file_target_option,
    click.option(
        "--pin", metavar="CPUS", help="CPUs of the threads: auto, none, or a list such as 0,2,4-7. Default: auto."
    ),
    click.option(
        "--io-path",
        type=click.Choice(["auto", "interrupt", "synchronous", "polled", "kernel-thread", "passthrough"]),
        help="I/O path of a real drive; auto probes the drive. Default: auto.",
    ),
    click.option(
        "--purge",
        type=click.Choice(_PURGES),
        metavar="METHOD",
        help=f"Purge of a real drive: {', '.join(_PURGES)}. Default: auto, which queries the drive.",
    ),
    click.option(
        "--write-cache",
        type=click.Choice(["edition", "on", "off", "as-is"]),
        help="Write cache of a real drive during the run. Default: edition.",
    ),
]
"""How a real drive is driven and prepared."""


def plan_options(command: Command) -> Command:
    """Add the target and the options that make a plan."""
    settings = [
        click.option(
            "--seed",
            type=int,
            metavar="N",
            help="Seed of addresses and segment places. Default: drawn, and stated in the report.",
        ),
        scale_option,
        click.option(
            "--thread-count",
            type=int,
            metavar="TC",
            help="Threads; tester's choice. Default: as published runs of the edition.",
        ),
        click.option(
            "--queue-depth",
            type=int,
            metavar="QD",
            help="Outstanding I/Os per thread; tester's choice. Default: as published runs of the edition.",
        ),
        click.option(
            "--arrival",
            metavar="PROCESS:RATE",
            help="Open-loop I/O rate, fixed:5000 or poisson:5000; a listed deviation. Default: none, a closed loop.",
        ),
        click.option(
            "--data",
            metavar="KIND",
            help="Data to write: random, compressible:SHARE, stamped, repeating:KIB, addressed, file:PATH; all but "
            "random are a listed deviation. Default: random.",
        ),
        click.option(
            "--capture",
            type=click.Choice(["none", "times", "addresses"]),
            help="Store every measured completion as Parquet, optionally with addresses. Default: none.",
        ),
    ]
    for subject, options in (
        ("Faults", _FAULT_OPTIONS),
        ("Drive", _DRIVE_OPTIONS),
        ("Settings", settings),
        ("Workloads and traces of other tools", _WORKLOAD_OPTIONS),
        ("Tests", _WHAT_OPTIONS),
    ):
        command = with_options(*options, subject=subject)(command)
    return command


def make_plan(
    targets: tuple[str, ...],
    *,
    thread_count: int | None,
    queue_depth: int | None,
    arrival: str | None,
    quick: bool = False,
    icf: Path | None = None,
    fio: Path | None = None,
    run_time_s: float | None = None,
    replay: Path | None = None,
    speed: str | None = None,
    mapping: str | None = None,
    columns: str | None = None,
    device: str | None = None,
    wait: str | None = None,
    fill: float | None = None,
    no_purge: bool = False,
    name: str | None = None,
    tags: tuple[str, ...] = (),
    **options: Any,
) -> Plan:
    """The plan of a drive, of a plan file, or of a file applied to another drive, with what the user set.

    icf, fio, replay : a workload or trace of another tool, which is all that is run; run_time_s : of an icf without a
    run time; speed, mapping, columns, device, wait : how a trace is issued. fill, no_purge : before it.
    name, tags : of the run; they win over those of a file.
    Raises UsageError and PlanError.
    """
    from assay.run.plan_file import left_out_choices, load_plan  # noqa: PLC0415

    files = [Path(target) for target in targets if _is_plan(target)]
    drives = [target for target in targets if not _is_plan(target)]
    if len(files) > 1 or len(drives) > 1:
        raise UsageError(
            " ".join(targets), "names several drives or plans", "name at most a single drive and a single plan"
        )
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    overrides = {name: value for name, value in given.items() if value != ()}
    overrides |= {kind: _test_names(kind, overrides[kind]) for kind in overrides.keys() & {"tests", "studies"}}
    if quick or "read_only" in overrides:
        overrides["suite"] = _quick_suite(overrides, quick=quick)
    if drives:
        if not overrides.get("file_target"):
            _refuse_misnamed_plan(drives[0])
        overrides["drive"] = drives[0]
    overrides |= _workload_overrides({"icf": icf, "fio": fio, "replay": replay}, run_time_s, overrides)
    how = {"speed": speed, "map": mapping, "columns": columns, "device": device, "wait": wait}
    _add_replay(overrides, how)
    demand = {"thread_count": thread_count, "queue_depth": queue_depth, "arrival": arrival}
    chosen = {name: value for name, value in demand.items() if value is not None}
    prepared = _preparation_choices(fill, no_purge=no_purge)
    plan = load_plan(files[0] if files else None, overrides, chosen | prepared)
    _refuse_preparation(plan, prepared)
    for text in left_out_choices(plan, chosen):
        click.echo(f"assay: {text}", err=True)
    return with_settings(_with_texts(plan, {key: text for key, text in (("name", name), ("tags", tags)) if text}))


def _with_texts(plan: Plan, given: dict[str, Any]) -> Plan:
    """The plan with the texts that options gave. Raises ValueRangeError for one that is too long."""
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        report = type(plan.report).model_validate({**plan.report.model_dump(), **given})
    except ValidationError as error:
        option = "--tag" if error.errors()[0]["loc"][0] == "tags" else "--name"
        raise ValueRangeError(option, "is empty or too long", "shorten it, or leave it out") from None
    return plan.model_copy(update={"report": report})


def refuse_writes_limit(plan: Plan, drive_writes_max: float | None) -> None:
    """Raise UsageError for ``--max-drive-writes`` of a simulated drive, which no gate holds to it."""
    from assay.dut.simulated.model import is_simulated  # noqa: PLC0415 - takes long

    if drive_writes_max is not None and is_simulated(plan.drive):
        reason = "is a choice for real drives only"
        raise UsageError("--max-drive-writes", reason, "leave it out for a simulated drive")


def _workload_overrides(
    files: dict[str, Path | None], run_time_s: float | None, overrides: dict[str, Any]
) -> dict[str, Any]:
    """Keys of a plan from a workload of another tool. Raises UsageError if more than that is to run."""
    given = {form: file for form, file in files.items() if file is not None}
    if run_time_s is not None and "icf" not in given:
        raise UsageError("--run-time", "is for files of Iometer", "give --icf FILE, or state time_s in the plan")
    if not given:
        return {}
    others = [*given][1:] + [name for name in ("suite", "tests", "studies") if name in overrides]
    if others:
        options = ", ".join({"tests": "--test", "studies": "--study"}.get(name, f"--{name}") for name in others)
        reason = f"contradicts {options}: a workload runs alone"
        raise UsageError(f"--{next(iter(given))}", reason, "give only a single workload option")
    from assay.cli.convert import workload_of  # noqa: PLC0415

    ((form, file),) = given.items()
    if form == "replay":
        return {"studies": ("replay",), "replay": {"trace": str(file)}}
    return {"studies": ("workload",), "workload": workload_of(form, file, run_time_s).model_dump(exclude_none=True)}


def _add_replay(overrides: dict[str, Any], given: dict[str, str | None]) -> None:
    """Add how a trace is issued. Raises UsageError where there is none, or the speed is none."""
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if chosen and "replay" not in overrides:
        raise UsageError(
            f"--{next(iter(chosen))}", "says how a trace is issued, and there is none", "add --replay TRACE"
        )
    if chosen.get("speed", "max") != "max":
        chosen["speed"] = _speed(chosen["speed"])
    if chosen:
        overrides["replay"] |= chosen


def _preparation_choices(fill: float | None, *, no_purge: bool) -> dict[str, Any]:
    """Keys of the tables of workloads and replays for the options that prepare the drive."""
    return ({} if fill is None else {"prepare_fills": fill}) | ({"purge": False} if no_purge else {})


def _refuse_preparation(plan: Plan, choices: dict[str, Any]) -> None:
    """Raise UsageError where the drive is to be prepared for a workload or a replay and the plan has neither."""
    from assay.procedures.registry import find_procedure  # noqa: PLC0415

    used = [find_procedure(name) for name in (*plan.tests, *plan.studies)]
    if choices and not all(plan.options(procedure).chosen(choices) for procedure in used):
        option = "--fill" if "prepare_fills" in choices else "--no-purge"
        remedy = "give it with --fio, --icf, --replay, or a plan of a workload alone"
        raise UsageError(option, "prepares the drive for a workload or a replay", remedy)


def _speed(text: str) -> float:
    from assay.procedures.replay.plan import SPEED_MAX, SPEED_MIN  # noqa: PLC0415

    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not SPEED_MIN <= speed <= SPEED_MAX:
        raise UsageError(
            f"--speed {text[:40]}", f"is no number of {SPEED_MIN:g} to {SPEED_MAX:g}", "give a factor, or max"
        )
    return speed


def _quick_suite(given: dict[str, Any], *, quick: bool) -> str:
    """The suite that ``--quick`` and ``--read-only`` stand for. Raises UsageError if another suite is named."""
    from assay.procedures.registry import READ_ONLY  # noqa: PLC0415

    suite, option = (READ_ONLY, "--read-only") if "read_only" in given else ("quick", "--quick")
    if given.get("suite", suite) not in {suite, "quick"}:
        both = f"--quick {option}" if quick and option != "--quick" else option
        raise UsageError(f"--suite {given['suite']}", f"is not what {both} runs", "drop either option")
    return suite


def _test_names(kind: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names of tests or studies, separated by commas, in letters of any case.

    Raises UsageError where a study is named as a test, or a test as a study.
    """
    from assay.procedures import registry  # noqa: PLC0415

    known = {name.lower(): name for name in (*registry.known_tests(), *registry.known_studies())}
    words = (word.strip() for text in given for word in text.split(","))
    names = tuple(known.get(word.lower(), word) for word in words)
    others, option, noun, right = (
        (registry.known_studies(), "--test", "study", "--study")
        if kind == "tests"
        else (registry.known_tests(), "--study", "test", "--test")
    )
    for other in others:
        if other in names:
            raise UsageError(option, f"{other} is a {noun}", f"name it with {right} {other}")
    return names


def _refuse_misnamed_plan(target: str) -> None:
    """Raise UsageError for a file that holds a plan and is not named as one, before it is taken for a drive."""
    from assay.errors import PlanError  # noqa: PLC0415
    from assay.spec.toml_file import FILE_BYTES_MAX, read_toml  # noqa: PLC0415

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
