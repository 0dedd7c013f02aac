"""The numbers of a test loop cell by cell, with the same of every round of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.distribution import SHARES
from assay.pages.measure import Measure, percentile_name
from assay.procedures.loop.open_loop import window_sequences
from assay.procedures.loop.result import UNITS, window_times
from assay.procedures.loop.settings import LoopSettings
from assay.procedures.loop.variable import shown
from assay.results import cell_label, iops, mean_and_max_ms, merged, percentiles, step_times
from assay.spec.units import kib_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engine.records import Cell, StepRecord, StoredTest
    from assay.pages.measure import Key
    from assay.procedures.loop.values import LoopResult
    from assay.results import ResponseTimes

_MEAN, _MAX = "latency_ms_mean_of_ios", "latency_ms_max"


def loop_measures(test: StoredTest, result: LoopResult) -> Iterator[Measure]:
    """Variable, rate and response times of every cell over the measurement window; none without a result.

    Response times are of all I/Os of the five rounds, their ``rounds`` those of each round by itself.
    Worked: five rounds of 100, 110, 90, 100, 100 IOPS -> 100.0 with these five.
    """
    settings, sequences = test.settings_as(LoopSettings), window_sequences(test, result)
    rates = window_times(test, result)
    times = [found for sequence in sequences if (found := step_times(sequence))]
    steady = result.window is not None and result.window.reached
    for place, cell in enumerate(settings.cells):
        if cell in result.matrix:
            one = _Cell(cell, settings)
            yield one.variable(result, judged=steady and cell in settings.tracking)
            steps = [sequence.steps[place] for sequence in sequences]
            if settings.variable != "iops":
                yield one.rate(rates[cell].iops, steps)
            yield from one.response_times(steps, [found[place] for found in times])


class _Cell:
    """The measures of one cell."""

    def __init__(self, cell: Cell, settings: LoopSettings) -> None:
        self._cell, self._settings = cell, settings
        self._key: Key = (("block_kib", kib_value(cell.transfer_bytes)), ("read_pct", cell.read_pct))
        self._label = cell_label(cell, settings.access)

    def variable(self, result: LoopResult, *, judged: bool) -> Measure:
        """The test's own variable."""
        name, unit = shown(self._settings).column, UNITS[self._settings.variable]
        values = result.window_values(self._cell)
        return self._one(name, unit, result.matrix[self._cell], values, judged=judged)

    def rate(self, value: float, steps: Sequence[StepRecord]) -> Measure:
        """I/Os per second where the variable is another."""
        return self._one("iops", "IOPS", value, tuple(float(iops(step)) for step in steps))

    def response_times(self, steps: Sequence[StepRecord], times: Sequence[ResponseTimes]) -> Iterator[Measure]:
        """Mean, percentiles and maximum."""
        whole, by_round = _times(steps, times), [_times([step], []) for step in steps]
        for place, found in enumerate(times):
            by_round[place] |= _percentiles(found)
        for name, value in whole.items():
            yield self._one(name, "ms", value, _each(by_round, name))

    def _one(
        self, name: str, unit: str, value: float | None, rounds: tuple[float, ...], *, judged: bool = False
    ) -> Measure:
        return Measure(
            cell=self._key, label=self._label, name=name, unit=unit, value=value, rounds=rounds, judged=judged
        )


def _times(steps: Sequence[StepRecord], times: Sequence[ResponseTimes]) -> dict[str, float | None]:
    mean_ms, max_ms = mean_and_max_ms(steps)
    return {_MEAN: mean_ms, **(_percentiles(merged(times)) if times else {}), _MAX: max_ms}


def _percentiles(times: ResponseTimes) -> dict[str, float | None]:
    return {percentile_name(share): value for share, value in percentiles(times, SHARES).items()}


def _each(rounds: Sequence[Mapping[str, float | None]], name: str) -> tuple[float, ...]:
    """A value of every round; nothing where one has none."""
    found = [one.get(name) for one in rounds]
    return tuple(one for one in found if one is not None) if None not in found else ()
