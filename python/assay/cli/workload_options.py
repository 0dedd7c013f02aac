"""Options for workloads and traces of other tools, which are run alone, and what they say of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.run.plan_file import Plan

WORKLOAD_OPTIONS = [
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


def workload_overrides(
    files: dict[str, Path | None], run_time_s: float | None, overrides: dict[str, Any]
) -> dict[str, Any]:
    """What a workload of another tool says of a plan. Raises UsageError where it is not the only thing to run."""
    given = {form: file for form, file in files.items() if file is not None}
    if run_time_s is not None and "icf" not in given:
        raise UsageError("--run-time", "is for files of Iometer", "give --icf FILE, or state time_s in the plan")
    if not given:
        return {}
    others = [*given][1:] + [name for name in ("suite", "tests", "studies") if name in overrides]
    if others:
        reason = f"contradicts {', '.join(_OPTION_NAMES.get(one, f'--{one}') for one in others)}"
        raise UsageError(
            f"--{next(iter(given))}", f"{reason}: a workload runs alone", "give only a single workload option"
        )
    from assay.cli.convert import workload_of  # noqa: PLC0415

    ((form, file),) = given.items()
    if form == "replay":
        return {"studies": ("replay",), "replay": {"trace": str(file)}}
    return {"studies": ("workload",), "workload": workload_of(form, file, run_time_s).model_dump(exclude_none=True)}


def add_replay(overrides: dict[str, Any], given: dict[str, str | None]) -> None:
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


def preparation_choices(fill: float | None, *, no_purge: bool) -> dict[str, Any]:
    """Keys of the tables of workloads and replays for the options that prepare the drive."""
    return ({} if fill is None else {"prepare_fills": fill}) | ({"purge": False} if no_purge else {})


def refuse_preparation(plan: Plan, choices: dict[str, Any]) -> None:
    """Raise UsageError where the drive is to be prepared for a workload or a replay and the plan has neither."""
    from assay.procedures.registry import find_procedure  # noqa: PLC0415

    used = [find_procedure(name) for name in (*plan.tests, *plan.studies)]
    if choices and not all(plan.options(one).chosen(choices) for one in used):
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


_OPTION_NAMES = {"tests": "--test", "studies": "--study"}
