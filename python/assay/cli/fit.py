"""``assay fit``: fit a simulated drive's parameters to published figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from assay.cli.candidates import simulated_candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.dut.simulated.model import DriveModel, ModelFile
    from assay.simfit import Fit, Rig

_FILE = click.Path(path_type=Path)
_WITHIN = 0.25


@click.command()
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
    help="Drive models that are tried; 0: none.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the search.")
@click.option("--out", type=_FILE, help="DriveModel file to write. Default: DRIVE-fitted.toml.")
@click.option(
    "--refine",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    help="Rounds of least squares after the search.",
)
@click.option("--cross-validate", is_flag=True, help="Also fit without each row and column in turn, a quarter as long.")
def fit(drive: str, **options: Any) -> None:
    """Fit the parameters of DRIVE (a sim:NAME) to published figures and write its drive model.

    Only physical parameters are varied; what they cannot give is listed as a residual. The same seed gives the same
    drive model.
    """
    from multiprocessing import Pool  # noqa: PLC0415

    from assay.run.plan_file import load_plan  # noqa: PLC0415
    from assay.simfit import Rig, read_targets  # noqa: PLC0415

    model, drive_model = _flash(drive)
    targets = read_targets(options["against"], options["figures"])
    plan = load_plan(options["plan_file"], {"drive": drive})
    rig = Rig.of(plan, drive_model.capacity_bytes, drive_model.logical_block_bytes)
    rig.check(targets)
    with Pool() as pool:
        search = _Search(
            rig=rig,
            seed=options["seed"],
            evaluations=options["evaluations"],
            rounds=options["refine"],
            workers=pool.map,
        )
        found = search.run(drive_model, targets, lambda error: click.echo(f"best so far {error:.4f}", err=True))
        held_out = search.cross_validated(found.drive_model, targets) if options["cross_validate"] else []
    report = [*_report(found, rig, targets), *held_out]
    path = options["out"] or Path(f"{model.name}-fitted.toml")
    _write(path, found, model, report)
    for line in (*report, f"DriveModel: {path}"):
        click.echo(line)


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
        from assay.simfit import Fit, fit, refine  # noqa: PLC0415

        found = Fit(drive_model=start, error=math.inf, evaluations=0)
        if self.evaluations:
            count = max(self.evaluations // share, 60)
            found = fit(start, self.rig, targets, evaluations=count, seed=self.seed, show=show, workers=self.workers)
        if self.rounds:
            near = refine(found.drive_model, self.rig, targets, rounds=self.rounds, show=show)
            found = replace(near, evaluations=near.evaluations + found.evaluations)
        return found

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
        from assay.simfit import residuals, scattered  # noqa: PLC0415

        kept = {name: value for name, value in targets.items() if name not in left_out}
        drive_model = self.run(scattered(start, self.seed), kept, share=4).drive_model
        errors = residuals(drive_model, self.rig, {name: targets[name] for name in left_out})
        middle = median(abs(math.exp(error) - 1) for error in errors.values())
        return f"median error {middle:.1%} over {len(errors)} cells"


def _report(found: Fit, rig: Rig, targets: Mapping[str, float]) -> list[str]:
    from assay.simfit import residuals  # noqa: PLC0415
    from assay.simfit.drive_model_file import residual_lines  # noqa: PLC0415

    errors = residuals(found.drive_model, rig, targets)
    cells = [abs(math.exp(error) - 1) for name, error in errors.items() if name.startswith("iops")]
    inside = sum(error <= _WITHIN for error in cells)
    return [
        f"Fitted over {found.evaluations} drive models on a scaled drive; {inside} of {len(cells)} cells within 25 %,",
        f"median error {median(cells):.1%}. Simulated over published, the worst first:",
        *residual_lines(errors),
    ]


def _flash(drive: str) -> tuple[ModelFile, DriveModel]:
    """A simulated drive of flash; a disk has none of the parameters that the search varies."""
    from assay.dut.simulated.model import parse_simulated  # noqa: PLC0415
    from assay.errors import UsageError  # noqa: PLC0415

    simulated = parse_simulated(drive)
    if simulated.faults:
        raise UsageError(drive, "has faults, which nothing is fitted to", "name it without them")
    if simulated.drive_model.kind == "flash":
        return simulated.model, simulated.drive_model
    raise UsageError(drive, "is not a simulated drive of flash", "name one, such as sim:client-2011")


def _write(path: Path, found: Fit, model: ModelFile, report: list[str]) -> None:
    from assay.simfit.drive_model_file import write_drive_model  # noqa: PLC0415
    from assay.simfit.search import POWERS, RANGES  # noqa: PLC0415

    spans = {name: f"{low:g} to {high:g}" for name, (low, high) in RANGES.items()}
    spans |= {name: f"2^{low} to 2^{high}" for name, (low, high) in POWERS.items()}
    varied = {name: f"fitted to published figures inside {span}" for name, span in spans.items()}
    write_drive_model(path, found.drive_model, model, varied=varied, report="\n".join(report))
