"""Least squares around a card that is near already: tens of cards where the search takes hundreds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.calibrate.measure import measured
from assay.calibrate.search import RANGES, Fit
from assay.calibrate.targets import log_errors
from assay.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from assay.calibrate.measure import Rig
    from assay.device.simulated import Card

    Row = NDArray[np.float64]

REFINED_BYTES = 2_000_000_000
"""Larger than in the search, with cells of full length, since slopes are lost in noise."""

NEAR = 0.12
"""Errors well below count by their square, those well above by their size: what physics cannot give bends little."""

_STEP = 0.1
_LONGEST = 0.5
_DAMPINGS = (0.02, 0.2, 1.0, 4.0)
_SHRUNK = 0.6


@dataclass(slots=True, kw_only=True)
class _Bench:
    """Where cards are measured, and how many were."""

    rig: Rig
    targets: dict[str, float]
    scaled_bytes: int
    evaluations: int = 0

    def errors(self, card: Card) -> Row | None:
        """The errors in the order of the targets; None for a card that the drive refuses."""
        import numpy as np  # noqa: PLC0415 - heavy, needed here only

        self.evaluations += 1
        try:
            found = log_errors(measured(card, self.rig, self.scaled_bytes, 1.0), self.targets)
        except AssayError:
            return None
        return np.array([found[name] for name in self.targets])


def refine(
    start: Card,
    rig: Rig,
    targets: Mapping[str, float],
    *,
    rounds: int,
    scaled_bytes: int = REFINED_BYTES,
    show: Callable[[float], None] = lambda _: None,
) -> Fit:
    """Move the parameters of a card by damped least squares as long as its errors become smaller.

    start : where it begins; what is not in ``RANGES``, or zero there, stays. rounds : each tries a card per parameter
    and up to four more. Deterministic.
    """
    bench = _Bench(rig=rig, targets=dict(targets), scaled_bytes=scaled_bytes)
    card, step = start, _STEP
    errors = bench.errors(start)
    if errors is None:
        return Fit(card=start, error=math.inf, evaluations=1)
    for _ in range(rounds):
        better = _round(bench, card, errors, step)
        if better is None:
            step *= _SHRUNK
        else:
            card, errors = better
        show(_cost(errors))
    return Fit(card=card, error=_cost(errors), evaluations=bench.evaluations)


def scattered(card: Card, seed: int, spread: float = 0.2) -> Card:
    """The card with every varied parameter moved by a normal draw, so that what it was fitted to is forgotten."""
    import numpy as np  # noqa: PLC0415

    rng = np.random.default_rng(seed)
    return _moved(card, {name: float(rng.normal(0, spread)) for name in _varied(card)})


def _round(bench: _Bench, card: Card, errors: Row, step: float) -> tuple[Card, Row] | None:
    """One step down the slopes; None where no damping makes the errors smaller."""
    import numpy as np  # noqa: PLC0415

    names = _varied(card)
    slopes = np.zeros((len(errors), len(names)))
    for place, name in enumerate(names):
        moved = _moved(card, {name: step})
        taken = math.log(getattr(moved, name) / getattr(card, name))
        found = bench.errors(moved) if taken else None
        if found is not None:
            slopes[:, place] = (found - errors) / taken
    weights = 1 / np.sqrt(1 + (errors / NEAR) ** 2)
    square = slopes.T @ (weights[:, None] * slopes)
    for damping in _DAMPINGS:
        matrix = square + damping * np.diag(np.diag(square) + 1e-3)
        change = np.clip(-np.linalg.solve(matrix, slopes.T @ (weights * errors)), -_LONGEST, _LONGEST)
        moved = _moved(card, dict(zip(names, map(float, change), strict=True)))
        found = bench.errors(moved)
        if found is not None and _cost(found) < _cost(errors):
            return moved, found
    return None


def _cost(errors: Row) -> float:
    """The mean of the errors' size, rounded off near zero."""
    import numpy as np  # noqa: PLC0415

    return float(NEAR * np.mean(np.sqrt(1 + (errors / NEAR) ** 2) - 1))


def _varied(card: Card) -> list[str]:
    return [name for name in RANGES if getattr(card, name)]


def _moved(card: Card, steps: Mapping[str, float]) -> Card:
    """The card with parameters multiplied by e to their step, inside their ranges."""
    changes: dict[str, Any] = {}
    for name, step in steps.items():
        low, high = RANGES[name]
        value = min(max(getattr(card, name) * math.exp(step), low), high)
        changes[name] = round(value, 4) if name == "over_provisioning" else round(value)
    if "write_buffer_bytes" in changes:
        unit = card.program_unit_bytes
        changes["write_buffer_bytes"] = max(round(changes["write_buffer_bytes"] / unit), 4) * unit
    return replace(card, **changes)
