"""The search for parameters of a drive model, its refinement, and the file that the outcome is written to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from assay.dut.simulated.model import known_parameters
from assay.errors import AssayError, StoreError
from assay.tools.simfit.measure import Rig, log_errors, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from assay.dut.simulated.model import DriveModel, ModelFile


CLIPPED = 1.5
"""A cell that physics cannot give counts no more than this, so that it does not bend the others."""

_POPULATION = 24
EVALUATIONS_MIN = 2 * _POPULATION
"""The search begins with as many drive models as its population has, and changes each at least once."""

_FAILED = 10.0
_SEARCH_SPREAD = 0.35

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

    bounds = [*((math.log(low), math.log(high)) for low, high in RANGES.values()), *POWERS.values()]
    centre = np.array(_vector(start))
    lower, upper = (np.array([bound[side] for bound in bounds], float) for side in (0, 1))
    rng = np.random.default_rng(seed)
    members = centre + rng.normal(0, _SEARCH_SPREAD, (_POPULATION, len(bounds)))
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
    return Fit(drive_model=_searched_model(result.x, start), error=float(result.fun), evaluations=int(result.nfev))


def residuals(drive_model: DriveModel, rig: Rig, targets: Mapping[str, float]) -> dict[str, float]:
    """The natural logarithm of simulated over published, by name."""
    return log_errors(measured(drive_model, rig), targets)


def _cost(vector: Sequence[float], *, start: DriveModel, rig: Rig, targets: dict[str, float]) -> float:
    try:
        errors = log_errors(measured(_searched_model(vector, start), rig), targets)
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


def _vector(drive_model: DriveModel) -> list[float]:
    logs = [math.log(min(max(drive_model[name], low), high)) for name, (low, high) in RANGES.items()]
    return [*logs, *(round(math.log2(drive_model[name])) for name in POWERS)]


def _searched_model(vector: Sequence[float], start: DriveModel) -> DriveModel:
    values = [math.exp(value) for value in vector[: len(RANGES)]]
    changes: dict[str, Any] = {name: round(value) for name, value in zip(RANGES, values, strict=True)}
    changes["over_provisioning"] = round(values[0], 4)
    powers = zip(POWERS, vector[len(RANGES) :], strict=True)
    changes |= {name: 1 << round(exponent) for name, exponent in powers}
    unit = max(changes["program_unit_bytes"], start["map_unit_bytes"])
    buffer = max(changes["write_buffer_bytes"] // unit * unit, 8 * unit)
    changes |= {"program_unit_bytes": unit, "erase_unit_bytes": unit * 256, "write_buffer_bytes": buffer}
    return start.replaced(**changes)


REFINED_BYTES = 2_000_000_000
"""Larger than in the search, with cells of full length, since slopes are lost in noise."""

NEAR = 0.12
"""Errors well below count by their square, those well above by their size: what physics cannot give bends little."""

_REFINE_STEP = 0.1
_REFUSED = 3.0


def refine(
    start: DriveModel,
    rig: Rig,
    targets: Mapping[str, float],
    *,
    rounds: int,
    scaled_bytes: int = REFINED_BYTES,
    show: Callable[[float], None] = lambda _: None,
) -> Fit:
    """Move the parameters of a drive model by robust least squares as long as its errors become smaller.

    start : where it begins; what is not in ``RANGES`` stays. rounds : each tries one drive model per parameter
    and one more. Deterministic.
    """
    import numpy as np  # noqa: PLC0415 - heavy, needed here only
    from scipy.optimize import least_squares  # noqa: PLC0415

    names = [name for name in RANGES if start[name]]
    tried = 0

    def errors(vector: Sequence[float]) -> list[float]:
        nonlocal tried
        tried += 1
        try:
            logs = log_errors(measured(_refined_model(start, names, vector), rig, scaled_bytes, 1.0), targets)
        except AssayError:
            # A drive model that the drive refuses, such as a buffer below four sequence units.
            return [_REFUSED] * len(targets)
        show(float(np.mean(np.abs(list(logs.values())))))
        return [logs[name] for name in targets]

    lower, upper = (np.log([RANGES[name][side] for name in names]) for side in (0, 1))
    centre = np.clip(np.log([start[name] for name in names]), lower + 1e-6, upper - 1e-6)
    optimum = least_squares(
        errors,
        centre,
        bounds=(lower, upper),
        loss="soft_l1",
        f_scale=NEAR,
        diff_step=_REFINE_STEP / np.maximum(np.abs(centre), 1e-3),
        # The start counts as one, too.
        max_nfev=rounds + 1,
    )
    return Fit(
        drive_model=_refined_model(start, names, optimum.x),
        error=float(np.mean(np.abs(optimum.fun))),
        evaluations=tried,
    )


def scattered(drive_model: DriveModel, seed: int, spread: float = 0.2) -> DriveModel:
    """The drive model with each varied parameter moved by a normal draw, so that what it was fitted to is forgotten."""
    import numpy as np  # noqa: PLC0415

    names = [name for name in RANGES if drive_model[name]]
    moves = np.random.default_rng(seed).normal(0, spread, len(names))
    return _refined_model(
        drive_model, names, [math.log(drive_model[name]) + move for name, move in zip(names, moves, strict=True)]
    )


def _refined_model(start: DriveModel, names: Sequence[str], vector: Sequence[float]) -> DriveModel:
    """The drive model with these parameters as e to their values, inside their ranges."""
    changes: dict[str, Any] = {}
    for name, value in zip(names, vector, strict=True):
        low, high = RANGES[name]
        held = min(max(math.exp(value), low), high)
        changes[name] = round(held, 4) if name == "over_provisioning" else round(held)
    if "write_buffer_bytes" in changes:
        unit = start["program_unit_bytes"]
        changes["write_buffer_bytes"] = max(round(changes["write_buffer_bytes"] / unit), 4) * unit
    return start.replaced(**changes)


_NOT_IN_FILES = {"seed"}


def write_drive_model(
    path: Path, drive_model: DriveModel, model: ModelFile, *, varied: Mapping[str, str], report: str
) -> None:
    """Write a drive model with the source of every parameter.

    model : the drive model that the fit began with; what was not varied keeps its source. varied : notes of what was.
    report : lines of residuals, kept as comments. Raises StoreError where the file cannot be written.
    """
    try:
        path.write_text(model_text(drive_model, model, varied=varied, report=report), "utf-8")
    except OSError as error:
        raise StoreError(str(path), error.strerror or str(error), "name another file with --out") from None


def model_text(drive_model: DriveModel, model: ModelFile, *, varied: Mapping[str, str], report: str) -> str:
    """A drive model as TOML text. Parameters that a drive does not have are left out."""
    known = {name: datum.source for name, datum in model.parameters.items()}
    lines = [*(f"# {line}" for line in report.splitlines()), "schema = 1"]
    lines += [f"{name} = {_toml(getattr(model, name))}" for name in ("name", "model", "summary", "interface", "media")]
    lines += ["", "[parameters]"]
    for parameter in known_parameters(drive_model.kind):
        name, value = parameter.name, drive_model[parameter.name]
        if name in _NOT_IN_FILES or (name not in known and value == parameter.default):
            continue
        source = varied.get(name) or known.get(name) or "set by hand before the fit"
        lines.append(f"{name} = {{ value = {_toml(value)}, source = {_toml(source)} }}")
    return "\n".join(lines) + "\n"


def residual_lines(errors: Mapping[str, float]) -> list[str]:
    """One line per figure, the worst first: simulated over published in percent. Worked: 0.0953 -> ``+10.0 %``."""
    worst = sorted(errors.items(), key=lambda item: -abs(item[1]))
    return [f"{name:28} {100 * (math.exp(error) - 1):+8.1f} %" for name, error in worst]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return f"{value:_}" if isinstance(value, int) else f"{value!r}"
