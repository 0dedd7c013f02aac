"""Least squares around a drive model that is near already: tens of drive models where the search takes hundreds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.tools.simfit.measure import measured
from assay.tools.simfit.search import RANGES, Fit
from assay.tools.simfit.targets import log_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.dut.simulated.model import DriveModel
    from assay.tools.simfit.measure import Rig

REFINED_BYTES = 2_000_000_000
"""Larger than in the search, with cells of full length, since slopes are lost in noise."""

NEAR = 0.12
"""Errors well below count by their square, those well above by their size: what physics cannot give bends little."""

_STEP = 0.1
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
            found = log_errors(measured(_drive_model(start, names, vector), rig, scaled_bytes, 1.0), targets)
        except AssayError:
            # A drive model that the drive refuses, such as a buffer below four sequence units.
            return [_REFUSED] * len(targets)
        show(float(np.mean(np.abs(list(found.values())))))
        return [found[name] for name in targets]

    lower, upper = (np.log([RANGES[name][side] for name in names]) for side in (0, 1))
    centre = np.clip(np.log([start[name] for name in names]), lower + 1e-6, upper - 1e-6)
    found = least_squares(
        errors,
        centre,
        bounds=(lower, upper),
        loss="soft_l1",
        f_scale=NEAR,
        diff_step=_STEP / np.maximum(np.abs(centre), 1e-3),
        # The start counts as one, too.
        max_nfev=rounds + 1,
    )
    return Fit(
        drive_model=_drive_model(start, names, found.x), error=float(np.mean(np.abs(found.fun))), evaluations=tried
    )


def scattered(drive_model: DriveModel, seed: int, spread: float = 0.2) -> DriveModel:
    """The drive model with each varied parameter moved by a normal draw, so that what it was fitted to is forgotten."""
    import numpy as np  # noqa: PLC0415

    names = [name for name in RANGES if drive_model[name]]
    moves = np.random.default_rng(seed).normal(0, spread, len(names))
    return _drive_model(
        drive_model, names, [math.log(drive_model[name]) + move for name, move in zip(names, moves, strict=True)]
    )


def _drive_model(start: DriveModel, names: Sequence[str], vector: Sequence[float]) -> DriveModel:
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
