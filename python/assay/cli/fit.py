"""``assay fit``: fit a simulated drive's parameters to published figures."""

from __future__ import annotations

import json
import math
import signal
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.completion import simulated_candidates
from assay.errors import UsageError
from assay.spec.nearest import did_you_mean
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from multiprocessing.pool import Pool

    from assay.dut.simulated.model import DriveModel, ModelFile
    from assay.tools.simfit import Fit, Rig

_FILE = click.Path(path_type=Path)
_WITHIN = 0.25


@click.command(
    cls=HelpedCommand,
    examples=(
        "fit sim:client-2011 --against iops.csv",
        "fit sim:slc-a --against iops.csv --figures others.csv --out mine.toml",
    ),
)
@click.argument("drive", shell_complete=simulated_candidates)
@click.option("--against", type=_FILE, required=True, help="Published IOPS: columns block_kib, read_pct, iops.")
@click.option("--figures", type=_FILE, help="Other published figures: columns figure, value. Default: none.")
@click.option(
    "--plan",
    "plan_file",
    type=_FILE,
    help="Plan with the demands of the published runs. Default: the demands of the edition.",
)
@click.option(
    "--evaluations",
    type=click.IntRange(0, 1_000_000),
    default=900,
    show_default=True,
    help="Maximum candidates (at least 48); 0 skips the search.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Seed of the search.")
@click.option("--out", type=_FILE, help="New drive model file. Default: DRIVE-fitted.toml.")
@click.option(
    "--refine",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    help="Rounds of least squares after the search.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the residuals as JSON.")
@click.option("--cross-validate", is_flag=True, help="Also fit without each row and column, a quarter as long.")
def fit(drive: str, *, as_json: bool, **options: Any) -> None:
    """Fit the parameters of DRIVE (a sim:NAME) to published figures and write its drive model.

    Only physical parameters are varied; the remaining differences are listed as residuals. The same seed gives the same
    drive model. Its capacity is that of DRIVE if stated, else that of the plan, else that of the model. If no candidate
    is closer to the figures than DRIVE, no file is written.
    """
    from assay.run.plan_file import load_plan  # noqa: PLC0415
    from assay.tools.simfit import Rig, left_alone, misfit, read_targets, residuals  # noqa: PLC0415

    model, drive_model = _flash(_sized(drive, options["plan_file"]))
    path = _new_file(options["out"] or Path(f"{model.name}-fitted.toml"))
    targets = read_targets(options["against"], options["figures"])
    for line in left_alone(options["against"], options["figures"]):
        click.echo(f"assay: {visible(line)}", err=True)
    plan = load_plan(options["plan_file"], {"drive": drive})
    rig = Rig.of(plan, drive_model.capacity_bytes, drive_model.logical_block_bytes)
    rig.check(targets)
    _check_evaluations(options["evaluations"])
    with quiet_pool() as pool:
        search = _Search(
            rig=rig,
            seed=options["seed"],
            evaluations=options["evaluations"],
            rounds=options["refine"],
            workers=pool.map,
        )
        result = search.run(drive_model, targets, _best_shown())
        held_out = search.cross_validated(result.drive_model, targets) if options["cross_validate"] else []
        before = residuals(drive_model, rig, targets)
    errors = residuals(result.drive_model, rig, targets)
    nearer = misfit(errors) < misfit(before)
    if not nearer:
        result, errors = replace(result, drive_model=drive_model), before
    report = [*_report(result, errors), *held_out]
    if nearer:
        _write(path, result, model, report)
    if as_json:
        click.echo(json.dumps(_facts(path if nearer else None, result, errors, held_out), indent=2))
        return
    for line in (*report, f"Drive model: {path}" if nearer else _not_written(drive, result)):
        click.echo(line)


def _not_written(drive: str, fitted: Fit) -> str:
    if not fitted.evaluations:
        return f"No drive model was tried, and no file is written: these are the figures of {drive} as it is."
    return f"None was nearer to the figures than {drive} as it is, whose figures these are; no file is written."


def _sized(drive: str, plan_file: Path | None) -> str:
    """The drive at the capacity of the plan's drive, where it names none itself: that is the published drive."""
    from assay.dut.simulated.model import is_simulated, parse_simulated  # noqa: PLC0415
    from assay.spec.toml_file import read_toml  # noqa: PLC0415

    named = read_toml(plan_file)[0].get("drive") if plan_file else None
    if "capacity=" in drive or not is_simulated(drive) or not (isinstance(named, str) and is_simulated(named)):
        return drive
    capacity_bytes = parse_simulated(named).identity.capacity_bytes
    return f"{drive}{'&' if '?' in drive else '?'}capacity={capacity_bytes}B"


def _check_evaluations(count: int) -> None:
    from assay.tools.simfit import EVALUATIONS_MIN  # noqa: PLC0415

    if 0 < count < EVALUATIONS_MIN:
        reason = f"is {count}, and the search tries {EVALUATIONS_MIN} drive models at least"
        raise UsageError("--evaluations", reason, f"give 0, or {EVALUATIONS_MIN} or more")


def _new_file(path: Path) -> Path:
    """A path that does not exist yet, checked before the long search."""
    if path.exists() or path.is_symlink():
        raise UsageError(str(path), "exists already", "name another file with --out, or remove it")
    if not path.parent.is_dir():
        raise UsageError(str(path), "lies in no folder that exists", "name another file with --out")
    return path


@contextmanager
def quiet_pool(processes: int | None = None) -> Iterator[Pool]:
    """Worker processes that say nothing when they are ended; as many as CPUs unless a number is given.

    They are made with their signals as they are to be: one may be ended before it has run a line of its own.
    """
    from multiprocessing import Pool  # noqa: PLC0415

    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    _ended_quietly()
    try:
        workers = Pool(processes, initializer=_ended_quietly)
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
    with workers:
        yield workers


def _ended_quietly() -> None:
    """In a worker: Ctrl-C is the parent's to hear, and to be ended by it is no fault to tell of."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _best_shown() -> Callable[[float], None]:
    """Show the error of a drive model where it is smaller than all before."""
    best = math.inf

    def show(error: float) -> None:
        nonlocal best
        if error < best:
            best = error
            click.echo(f"best so far: mean error {math.expm1(error):.1%}", err=True)

    return show


def _facts(path: Path | None, fitted: Fit, errors: Mapping[str, float], held_out: list[str]) -> dict[str, Any]:
    return {
        "drive_model": path and str(path),
        "capacity_bytes": fitted.drive_model.capacity_bytes,
        "evaluations": fitted.evaluations,
        "simulated_over_published": {name: math.exp(error) for name, error in errors.items()},
        "cross_validation": held_out,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """How drive models are searched for."""

    rig: Rig
    seed: int
    evaluations: int
    rounds: int
    workers: Callable[..., Any]

    def run(
        self,
        start: DriveModel,
        targets: Mapping[str, float],
        show: Callable[[float], None] = lambda _: None,
        share: int = 1,
    ) -> Fit:
        from assay.tools.simfit import EVALUATIONS_MIN, Fit, fit, refine  # noqa: PLC0415

        result = Fit(drive_model=start, error=math.inf, evaluations=0)
        if self.evaluations:
            count = max(self.evaluations // share, EVALUATIONS_MIN)
            result = fit(start, self.rig, targets, evaluations=count, seed=self.seed, show=show, workers=self.workers)
        if self.rounds:
            near = refine(result.drive_model, self.rig, targets, rounds=self.rounds, show=show)
            result = replace(near, evaluations=near.evaluations + result.evaluations)
        return result

    def cross_validated(self, start: DriveModel, targets: Mapping[str, float]) -> list[str]:
        """Fit without each row (block size) and each column (mix) in turn; how well what was left out is met."""
        cells = [name.split("_") for name in targets if name.startswith("iops")]
        lines = []
        for place, kind in ((1, "block size"), (2, "read share")):
            for part in sorted({cell[place] for cell in cells}, key=float):
                left_out = {"_".join(cell) for cell in cells if cell[place] == part}
                lines.append(f"left out {kind} {part}: {self._held_out(start, targets, left_out)}")
        return lines

    def _held_out(self, start: DriveModel, targets: Mapping[str, float], left_out: set[str]) -> str:
        from assay.tools.simfit import residuals, scattered  # noqa: PLC0415

        kept = {name: value for name, value in targets.items() if name not in left_out}
        drive_model = self.run(scattered(start, self.seed), kept, share=4).drive_model
        errors = residuals(drive_model, self.rig, {name: targets[name] for name in left_out})
        middle = median(abs(math.exp(error) - 1) for error in errors.values())
        return f"median error {middle:.1%} over {len(errors)} cells"


def _report(fitted: Fit, errors: Mapping[str, float]) -> list[str]:
    from assay.spec.units import count_label, gigabytes_label  # noqa: PLC0415
    from assay.tools.simfit.search import residual_lines  # noqa: PLC0415

    cells = [abs(math.exp(error) - 1) for name, error in errors.items() if name.startswith("iops")]
    tried, size = count_label(fitted.evaluations, "drive model"), gigabytes_label(fitted.drive_model.capacity_bytes)
    inside = sum(error <= _WITHIN for error in cells)
    middle = f", median error {median(cells):.1%}" if cells else ""
    return [
        f"{tried} tried for {size}, on a drive scaled to 1 GB, with shorter cells;",
        "a run of the drive model at its full capacity can give other figures.",
        f"{inside} of {len(cells)} cells within 25 %{middle}. Simulated over published, the worst first:",
        *residual_lines(errors),
    ]


def _flash(drive: str) -> tuple[ModelFile, DriveModel]:
    """A simulated drive of flash; a disk has none of the parameters that the search varies."""
    from assay.dut.simulated.model import PREFIX, is_simulated, parse_simulated  # noqa: PLC0415
    from assay.dut.simulated.shipped import shipped_names  # noqa: PLC0415

    if not is_simulated(drive):
        known = [PREFIX + name for name in shipped_names()]
        remedy = did_you_mean(drive, known, "name a model, such as sim:client-2011")
        raise UsageError(drive, "is not a simulated drive of flash", remedy)
    simulated = parse_simulated(drive)
    if simulated.faults:
        raise UsageError(drive, "has faults, which nothing is fitted to", "name it without them")
    if simulated.drive_model.kind == "flash":
        return simulated.model, simulated.drive_model
    raise UsageError(drive, "is not a simulated drive of flash", "name a model, such as sim:client-2011")


def _write(path: Path, fitted: Fit, model: ModelFile, report: list[str]) -> None:
    from assay.tools.simfit.search import (  # noqa: PLC0415
        POWERS,
        RANGES,
        write_drive_model,
    )

    spans = {name: f"{low:g} to {high:g}" for name, (low, high) in RANGES.items()}
    spans |= {name: f"2^{low} to 2^{high}" for name, (low, high) in POWERS.items()}
    varied = {name: f"fitted to published figures inside {span}" for name, span in spans.items()}
    write_drive_model(path, fitted.drive_model, model, varied=varied, report="\n".join(report))
