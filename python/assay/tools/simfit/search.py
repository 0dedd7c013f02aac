"""The search for parameters: differential evolution around a starting drive model, the same for the same seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.tools.simfit.measure import Rig, measured
from assay.tools.simfit.targets import log_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.dut.simulated.model import DriveModel

CLIPPED = 1.5
"""A cell that physics cannot give counts no more than this, so that it does not bend the others."""

_POPULATION = 24
EVALUATIONS_MIN = 2 * _POPULATION
"""The search begins with as many drive models as its population has, and changes each at least once."""

_FAILED = 10.0
_SPREAD = 0.35

RANGES: dict[str, tuple[float, float]] = {
    "over_provisioning": (0.02, 1.5),
    "read_ns": (15e3, 400e3),
    "program_ns": (100e3, 5e6),
    "channel_bytes_per_s": (10e6, 800e6),
    "link_bytes_per_s": (80e6, 900e6),
    "read_command_ns": (1e3, 120e3),
    "write_command_ns": (1e3, 400e3),
    "read_extra_ns": (1, 60e3),
    "write_extra_ns": (1, 120e3),
    "partial_write_ns": (1, 10e6),
    "protocol_ns": (1, 200e3),
    "write_buffer_bytes": (131_072, 67_108_864),
}
"""Parameters that are varied, each on a logarithmic scale inside its physical range."""

POWERS: dict[str, tuple[int, int]] = {"dies_per_channel": (0, 4), "program_unit_bytes": (12, 17)}
"""Parameters that are powers of two, by their exponents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The best drive model found. error : mean of the clipped absolute logarithms. evaluations : so many were tried."""

    drive_model: DriveModel
    error: float
    evaluations: int


def fit(
    start: DriveModel,
    rig: Rig,
    targets: Mapping[str, float],
    *,
    evaluations: int,
    seed: int,
    show: Callable[[float], None] = lambda _: None,
    workers: Callable[..., Any] | None = None,
) -> Fit:
    """Vary the parameters of a drive model until it gives the published values as well as it can.

    start : where the search begins; what is not in ``RANGES`` and ``POWERS`` stays as it is there.
    evaluations : how many drive models are tried at most; ``EVALUATIONS_MIN`` or more.
    workers : a ``map`` that runs on several processes.
    Deterministic for a seed, whatever ``workers`` is.
    """
    import numpy as np  # noqa: PLC0415 - heavy, needed here only
    from scipy.optimize import differential_evolution  # noqa: PLC0415

    bounds = [*_log_bounds(), *POWERS.values()]
    centre = np.array(_vector(start))
    lower, upper = (np.array([bound[side] for bound in bounds], float) for side in (0, 1))
    rng = np.random.default_rng(seed)
    members = centre + rng.normal(0, _SPREAD, (_POPULATION, len(bounds)))
    members[:, len(RANGES) :] = centre[len(RANGES) :] + rng.integers(-1, 2, (_POPULATION, len(POWERS)))
    members[0] = centre
    result = differential_evolution(
        partial(_cost, start=start, rig=rig, targets=dict(targets)),
        bounds,
        init=np.clip(members, lower, upper),
        maxiter=max(evaluations // _POPULATION - 1, 1),
        integrality=[*(False,) * len(RANGES), *(True,) * len(POWERS)],
        mutation=(0.4, 0.9),
        recombination=0.7,
        polish=False,
        tol=0,
        rng=seed,
        updating="deferred",
        workers=workers or map,
        callback=lambda intermediate_result: show(float(intermediate_result.fun)),
    )
    return Fit(drive_model=_drive_model(result.x, start), error=float(result.fun), evaluations=int(result.nfev))


def residuals(drive_model: DriveModel, rig: Rig, targets: Mapping[str, float]) -> dict[str, float]:
    """The natural logarithm of simulated over published, by name."""
    return log_errors(measured(drive_model, rig), targets)


def _cost(vector: Sequence[float], *, start: DriveModel, rig: Rig, targets: dict[str, float]) -> float:
    try:
        errors = log_errors(measured(_drive_model(vector, start), rig), targets)
    except AssayError:
        # A drive model that the drive refuses, such as a buffer below four sequence units.
        return _FAILED
    return misfit(errors)


def misfit(errors: Mapping[str, float]) -> float:
    """How far a drive model is from the figures, from its ``residuals``: the smaller, the nearer.

    Worked: one cell 10 % too fast and no other figure -> 0.0953.
    """
    cells = [min(abs(error), CLIPPED) for name, error in errors.items() if name.startswith("iops")]
    figures = [min(abs(error), CLIPPED) for name, error in errors.items() if not name.startswith("iops")]
    # Six figures weigh as much as a third of the cells.
    return fmean(cells) + (fmean(figures) / 3 if figures else 0.0)


def _log_bounds() -> list[tuple[float, float]]:
    return [(math.log(low), math.log(high)) for low, high in RANGES.values()]


def _vector(drive_model: DriveModel) -> list[float]:
    logs = [math.log(min(max(drive_model[name], low), high)) for name, (low, high) in RANGES.items()]
    return [*logs, *(round(math.log2(drive_model[name])) for name in POWERS)]


def _drive_model(vector: Sequence[float], start: DriveModel) -> DriveModel:
    values = [math.exp(value) for value in vector[: len(RANGES)]]
    changes: dict[str, Any] = {name: round(value) for name, value in zip(RANGES, values, strict=True)}
    changes["over_provisioning"] = round(values[0], 4)
    powers = zip(POWERS, vector[len(RANGES) :], strict=True)
    changes |= {name: 1 << round(exponent) for name, exponent in powers}
    unit = max(changes["program_unit_bytes"], start["map_unit_bytes"])
    buffer = max(changes["write_buffer_bytes"] // unit * unit, 8 * unit)
    changes |= {"program_unit_bytes": unit, "erase_unit_bytes": unit * 256, "write_buffer_bytes": buffer}
    return start.replaced(**changes)
