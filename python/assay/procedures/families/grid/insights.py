"""What a test over demands says of the drive: where it saturates, and points that cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.depths import depth_insights
from assay.procedures.families.grid.facts import CLOSE_SHARE
from assay.procedures.families.grid.result import by_total_oio, demand_label
from assay.procedures.families.grid.settings import DemandSettings
from assay.procedures.steadiness import not_steady
from assay.procedures.subjects import pattern_subject
from assay.procedures.waits import Waited, stalls, tails
from assay.results import iops, missed_steady_state
from assay.spec.units import MILLISECOND_NS
from assay.summary.insight import insight
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredTest
    from assay.procedures.families.grid.result import DemandResult, PointRun
    from assay.summary.insight import Insight

_NAMES = ("Max", "Mid", "Min")


def demand_insights(test: StoredTest, result: DemandResult) -> Iterator[Insight]:
    """Everything that its grid and its operating points say; none without a window."""
    if not result.cells or result.window is None:
        return
    settings = test.settings_as(DemandSettings)
    about = pattern_subject(settings.pattern)
    if missed_steady_state(test):
        verdict = result.window.verdicts[demand_label(settings, settings.tracking)]
        yield from not_steady([(pattern_subject(settings.pattern, settings.tracking), verdict)], len(result.rounds))
    yield from depth_insights(about, by_total_oio(result.cells))
    yield from indistinct(result.points)
    for run in result.points:
        yield from tails(pattern_subject(settings.pattern, run.point.demand), run.times)
    yield from stalls(about, (one for run in result.points for one in _waited(run)))


def indistinct(points: Sequence[PointRun]) -> Iterator[Insight]:
    """Neighbours of the operating points whose IOPS lie within 5 %, as measured at length or as the grid has them.

    Worked: Max of 2,642, Mid of 2,616 and Min of 1,000 IOPS -> Max and Mid.
    """
    rates = {str(run.point.name): float(iops(run.step)) if run.step else float(run.point.iops) for run in points}
    known = [name for name in _NAMES if rates.get(name)]
    near = [
        name
        for index, name in enumerate(known)
        if any(_is_near(rates[name], rates[other]) for other in known[max(index - 1, 0) : index + 2] if other != name)
    ]
    if near:
        yield insight("indistinct", names=tuple(near))


def _is_near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE_SHARE * max(one, other)


def _waited(run: PointRun) -> Iterator[Waited]:
    if run.step and run.times:
        yield Waited(times=run.times, slots=outstanding(run.point.demand), span_ms=run.step.span_ns / MILLISECOND_NS)
