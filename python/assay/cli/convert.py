"""``assay convert``: workloads from one form of file to another, and results of other tools as a table."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from assay.cli.commands import HelpedCommand
from assay.errors import StoreError, UsageError, ValueRangeError
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import StoredRun
    from assay.spec.workload import Workload


_SHOWN_MAX, _STEPS_SHOWN_MAX = 20, 60
_DRIVE = "sim:client-2011?capacity=32GB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of a conversion.

    cpu_count : of the host. run_time_s : where a file says "until stopped". named_drive : the drive is no default.
    """

    cpu_count: int
    sector_bytes: int
    run_time_s: float | None
    icf_version: Literal["2006.07.27", "1.1.0"]
    drive: str
    named_drive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file to write. notes : what it says otherwise than the workload, a line each."""

    content: bytes
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form of workload files. suffixes : that tell it. read, write : None where that way is closed.

    Their imports happen inside: only the forms that are named are loaded.
    """

    suffixes: tuple[str, ...]
    read: Callable[[Path, Given], Workload] | None
    write: Callable[[Workload, Given], Written] | None


def _read_toml(path: Path, given: Given) -> Workload:
    from assay.spec.workload_toml import read_workload  # noqa: PLC0415

    del given
    return read_workload(path)


def _write_toml(workload: Workload, given: Given) -> Written:
    from assay.spec.workload_toml import workload_plan  # noqa: PLC0415

    return Written(content=workload_plan(workload, given.drive).encode("utf-8", "backslashreplace"))


def _read_icf(path: Path, given: Given) -> Workload:
    from assay.workloads.iometer import read_icf, to_workload  # noqa: PLC0415

    return to_workload(
        read_icf(path), cpu_count=given.cpu_count, sector_bytes=given.sector_bytes, run_time_s=given.run_time_s
    )


def _write_icf(workload: Workload, given: Given) -> Written:
    from assay.workloads.iometer import from_workload, write_icf  # noqa: PLC0415

    icf = from_workload(workload, sector_bytes=given.sector_bytes)
    return Written(content=write_icf(icf, given.icf_version), notes=[note.text for note in icf.notes])


def _read_fio(path: Path, given: Given) -> Workload:
    from assay.workloads.fio import read_jobs  # noqa: PLC0415

    del given
    return read_jobs(path)


def _write_fio(workload: Workload, given: Given) -> Written:
    from assay.workloads.fio import job_text  # noqa: PLC0415

    return Written(content=job_text(workload, filename=given.drive).encode("utf-8", "backslashreplace"))


FORMS: dict[str, Form] = {
    "toml": Form(suffixes=(".toml",), read=_read_toml, write=_write_toml),
    "icf": Form(suffixes=(".icf",), read=_read_icf, write=_write_icf),
    "fio": Form(suffixes=(".fio", ".job"), read=_read_fio, write=_write_fio),
}
"""Forms of workloads by the name that ``--to`` takes."""

_RESULTS_SUFFIX = ".csv"
_RESULTS = ("table", "json", "csv")
_IOMETER_CSV = "iometer-csv"


@click.command(cls=HelpedCommand, examples=("convert workload.icf --out plan.toml", "convert plan.toml --to fio"))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--to",
    type=click.Choice([*(name for name, form in FORMS.items() if form.write), *_RESULTS, _IOMETER_CSV]),
    help="Output format. Default: icf for .toml, table for results, toml for others.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="File to write. Default: standard output.")
@click.option(
    "--cpus",
    "cpu_count",
    type=click.IntRange(1, 4096),
    metavar="N",
    help="CPUs of the target host, for NUMBER_OF_CPUS. Default: those of this host.",
)
@click.option(
    "--sector-bytes",
    type=click.Choice(["512", "4096"]),
    default="512",
    show_default=True,
    help="Sector size of the drive, the unit of Iometer's ranges.",
)
@click.option(
    "--run-time",
    "run_time_s",
    type=click.FloatRange(min=0, min_open=True, max=1e7),
    metavar="SECONDS",
    help="Seconds per run if FILE runs until stopped. Default: refused.",
)
@click.option(
    "--icf-version",
    type=click.Choice(["2006.07.27", "1.1.0"]),
    default="1.1.0",
    show_default=True,
    help="Version of the .icf output.",
)
@click.option(
    "--drive",
    metavar="DRIVE",
    help=f"Drive named in the output. Default: {_DRIVE}; for RUN its drive.",
)
@click.option(
    "--step",
    metavar="N",
    help="Of a run: a step, a range (2-57) or a sequence name. Default: lists them.",
)
def convert(  # one keyword per option
    file: Path, *, to: str | None, out: Path | None, cpu_count: int | None, step: str | None, **options: str | float
) -> None:
    """Convert FILE, a workload, into another form, or show results of Iometer.

    \b
    FILE.icf      configuration of Iometer, all versions to 1.1.0, into a plan
    FILE.fio      job file of fio, the part for block devices, into a plan
    PLAN.toml     plan with a [workload] into a configuration of Iometer, or a job file of fio
    RESULTS.csv   results of Iometer as a table, as JSON, or as CSV with a row each
    RUN           step of a stored run into a job file of fio, a plan, or a configuration of Iometer
    RUN           with --to iometer-csv: results of its workload in the format of Iometer

    Settings that the target cannot express are refused by name. Settings without meaning for a single drive are
    listed on standard error.

    Exit codes: 0 ok; 2 a file or option is wrong; 6 the outcome cannot be written.
    """  # noqa: D301 - click reads the backspace
    if file.is_dir():
        _convert_run(file, to, step, out, _given(cpu_count, options))
        return
    if step is not None or to == _IOMETER_CSV:
        raise UsageError(f"--step {step}" if step else f"--to {to}", "is for stored runs", "name the folder of a run")
    if file.suffix.lower() == _RESULTS_SUFFIX:
        _convert_results(file, to or "table", out)
        return
    name, form = _form_of(file)
    to = to or ("icf" if name == "toml" else "toml")
    write = FORMS[to].write if to in FORMS else None
    if write is None or form.read is None or to == name:
        raise UsageError(f"--to {to}", f"is no form that a {name} file is converted to", "see assay convert --help")
    given = _given(cpu_count, options)
    if name == "toml" and not given.named_drive:
        given = replace(given, drive=_drive_of(file))
    workload = form.read(file, given)
    if to == "fio":
        _refuse_simulated(given.drive)
    written = write(workload, given)
    _put(written.content, out, file)
    _say([*workload.left_out, *map(_sentence, written.notes)])


def _drive_of(file: Path) -> str:
    """The drive that a plan names."""
    from assay.spec.toml_file import read_toml  # noqa: PLC0415

    drive = read_toml(file)[0].get("drive")
    return drive if isinstance(drive, str) else _DRIVE


def _refuse_simulated(drive: str) -> None:
    if drive.startswith("sim:"):
        raise UsageError(drive, "is simulated, and fio cannot open it", "name a drive with --drive")


def _convert_run(folder: Path, to: str | None, step: str | None, out: Path | None, given: Given) -> None:
    """A step of a stored run as a workload in another form. Raises UsageError after a list of the steps."""
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.results.workload import asked_workload  # noqa: PLC0415

    run = stored_run(folder)
    if to == _IOMETER_CSV:
        _put(_iometer_csv(run).encode("utf-8", "backslashreplace"), out, folder)
        return
    if to in _RESULTS:
        raise UsageError(f"--to {to}", "is no form that a run is converted to", "give fio, toml, icf or iometer-csv")
    if step is None:
        print_steps(run)
        raise UsageError("--step", "is missing", "give a number or a name from the list above")
    try:
        asked = asked_workload(run, step)
    except UsageError:
        print_steps(run)
        raise
    drive = given.drive if given.named_drive else run.identity.path
    if to != "fio":
        written = _written_as(to or "toml", asked.workload, replace(given, drive=drive))
        _put(written.content, out, folder)
        _say([*map(_sentence, asked.notes), *map(_sentence, written.notes)])
        return
    _refuse_simulated(drive)
    from assay.workloads.fio import nearest_job_text  # noqa: PLC0415

    text = nearest_job_text(asked.workload, filename=drive, notes=asked.notes)
    _put(text.encode("utf-8", "backslashreplace"), out, folder)


def _iometer_csv(run: StoredRun) -> str:
    """The results of the workloads of a run, in a row as Iometer appends them. Raises UsageError."""
    from assay.procedures.workload.result import iometer_csv  # noqa: PLC0415
    from assay.procedures.workload.run import WorkloadSettings  # noqa: PLC0415

    tests = [test for test in run.tests if isinstance(test.settings, WorkloadSettings)]
    if not tests:
        raise UsageError(f"run {run.run_id}", "holds no workload", "name a run of assay run --icf, or of a [workload]")
    return "".join(iometer_csv(run, test) for test in tests)


def _written_as(name: str, workload: Workload, given: Given) -> Written:
    write = FORMS[name].write
    if write is None:
        raise UsageError(f"--to {name}", "is a form that is only read", "see assay convert --help")
    return write(workload, given)


def _form_of(file: Path) -> tuple[str, Form]:
    """The form of a file by its suffix. Raises UsageError."""
    for name, form in FORMS.items():
        if file.suffix.lower() in form.suffixes:
            return name, form
    known = ", ".join([*(suffix for form in FORMS.values() for suffix in form.suffixes), _RESULTS_SUFFIX])
    raise UsageError(str(file), "is of a form that is not known by its name", f"name a file that ends in {known}")


def workload_of(name: str, file: Path, run_time_s: float | None = None) -> Workload:
    """The workload that a file of a form holds, for a run on this host. run_time_s : of an endless one.

    Raises PlanError, UsageError.
    """
    read, count = FORMS[name].read, len(os.sched_getaffinity(0))
    if read is None:
        raise UsageError(str(file), f"is of a form that is not read: {name}", "see assay convert --help")
    time_s = _checked_time(run_time_s)
    return read(file, Given(cpu_count=count, sector_bytes=512, run_time_s=time_s, icf_version="1.1.0", drive=_DRIVE))


def _checked_time(run_time_s: float | None) -> float | None:
    """The time as given. Raises ValueRangeError for nan: no bound of the option tells what is no number."""
    if run_time_s is not None and math.isnan(run_time_s):
        raise ValueRangeError("--run-time", "is nan, which is no time", "give it in seconds")
    return run_time_s


def _given(cpu_count: int | None, options: dict[str, str | float]) -> Given:
    version: Literal["2006.07.27", "1.1.0"] = "2006.07.27" if options["icf_version"] == "2006.07.27" else "1.1.0"
    run_time_s = options["run_time_s"]
    return Given(
        cpu_count=cpu_count or len(os.sched_getaffinity(0)),
        sector_bytes=int(options["sector_bytes"]),
        run_time_s=None if run_time_s is None else _checked_time(float(run_time_s)),
        icf_version=version,
        drive=str(options["drive"] or _DRIVE),
        named_drive=options["drive"] is not None,
    )


def _convert_results(file: Path, to: str, out: Path | None) -> None:
    from assay.cli.table import numeric, print_paragraph, print_table  # noqa: PLC0415
    from assay.workloads.iometer import read_results  # noqa: PLC0415
    from assay.workloads.iometer.results import SHOWN, UNVERIFIED, as_csv, as_json, table_rows  # noqa: PLC0415

    if to not in _RESULTS:
        raise UsageError(f"--to {to}", "is no form that results are converted to", f"give {', '.join(_RESULTS)}")
    results = read_results(file)
    if to == "table" and out is None:
        rows = table_rows(results)
        print_paragraph(UNVERIFIED)
        print_table(SHOWN, rows, right=numeric(SHOWN, rows), key=3)
        return
    if to == "table":
        raise UsageError("--out", "takes no table for a terminal", "give --to csv or --to json")
    _put((as_json(results) if to == "json" else as_csv(results)).encode("utf-8", "backslashreplace"), out, file)
    if to == "csv":
        _say([UNVERIFIED])


def _put(content: bytes, out: Path | None, file: Path) -> None:
    """Write the outcome; a file that is there already is not written over."""
    if out is None:
        click.echo(content, nl=False)
        return
    try:
        with out.open("xb") as stream:
            stream.write(content)
    except FileExistsError:
        raise StoreError(str(out), "is there already", "name a new file") from None
    except OSError as error:
        raise StoreError(str(out), error.strerror or "cannot be written", "name a file in another folder") from None
    click.echo(visible(f"Written: {out}, from {file}"))


def _say(lines: Sequence[str]) -> None:
    """Name what was left out, the first of it; the plan has all of it."""
    for line in lines[:_SHOWN_MAX]:
        click.echo(f"assay: {visible(line)}", err=True)
    if count := len(lines[_SHOWN_MAX:]):
        click.echo(f"assay: {count:,} more such lines: see left_out in the plan", err=True)


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


def print_steps(run: StoredRun) -> None:
    """Print the sequences of a run with the numbers of their steps on standard error, the first 60 of them."""
    from assay.results.workload import numbered_steps  # noqa: PLC0415

    listed = numbered_steps(run)
    rows = [
        (str(steps.first) if steps.first == steps.last else f"{steps.first}-{steps.last}", steps.name)
        for steps in listed[:_STEPS_SHOWN_MAX]
    ]
    width = max((len(row[0]) for row in rows), default=0)
    for numbers, words in rows:
        click.echo(visible(f"{numbers:>{width}}  {words}"), err=True)
    if more := len(listed) - len(rows):
        click.echo(f"{more:,} more sequences, up to step {listed[-1].last:,}", err=True)
