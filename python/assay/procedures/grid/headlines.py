"""The numbers of a test over demands that people quote: what each operating point gave, measured at length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.headline import Headline
from assay.pages.printed import one_decimal
from assay.procedures.grid.facts import limit_label
from assay.procedures.grid.result import demand_label
from assay.results import iops, mean_and_max_ms
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.grid.result import DemandResult
    from assay.procedures.grid.settings import DemandSettings


def demand_headlines(settings: DemandSettings, result: DemandResult) -> Iterator[Headline]:
    """IOPS and average response time of each operating point in its own measurement, not those of its cell in the grid.

    Worked: Max, Mid and Min -> six numbers.
    """
    for run in result.points:
        item = f"{run.point.name} ({demand_label(settings, run.point.demand)})"
        if run.step is None:
            yield Headline(item=item, unit="IOPS", value=None, basis="n/a: the point did not run")
            continue
        length = f"in {duration_label(run.step.span_ns)}"
        by_limit = run.point.name == "Max" and run.point.below_limit
        chosen = f", the most with {limit_label(settings)}" if by_limit else ""
        basis = f"{length}; {one_decimal(run.point.iops)} in the grid{chosen}"
        yield Headline(item=item, unit="IOPS", value=float(iops(run.step)), basis=basis)
        mean_ms, _ = mean_and_max_ms([run.step])
        yield Headline(item=f"{item}, average response time", unit="ms", value=mean_ms, basis=length, of=item)
