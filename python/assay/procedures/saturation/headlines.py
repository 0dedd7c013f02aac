"""The numbers of a write saturation that people quote: fresh, settled, their ratio, and what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.headline import Headline
from assay.pages.printed import minutes_label, outstanding_label
from assay.procedures.saturation.result import settled_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.saturation.result import SaturationResult
    from assay.procedures.saturation.settings import SaturationSettings


def saturation_headlines(settings: SaturationSettings, result: SaturationResult) -> tuple[Headline, ...]:
    """First sample, settled average of the five-point rule, settled over first, gigabytes written.

    Where no level was reached the last sample is among them.

    Worked: 10,000 IOPS in the first sample and 2,500 settled -> ratio 0.25.
    """
    label, demand = settings.label, outstanding_label(settings.demand)
    first = result.iops[0] if result.iops and not result.withheld else None
    settled, values = result.steady_iops, settled_values(settings, result)
    none = f"n/a: {result.withheld}" if result.withheld else "n/a: no settled level"
    return (
        Headline(
            item=f"{label}, first sample",
            unit="IOPS",
            value=first,
            basis=f"up to {minutes_label(result.minutes[0])}, {result.fills[0]:.2f} drive fills; {demand}"
            if first
            else none,
            baseline="wsat_first_iops",
        ),
        Headline(
            item=f"{label}, settled",
            unit="IOPS",
            value=settled,
            values=values,
            basis=f"average of the last five verdict samples, {demand}" if values else none,
            claim="rnd_4k_write_iops" if label == "RND 4KiB 0/100" else None,
            last=result.iops[-1] if first and settled is None else None,
            baseline="wsat_settled_iops",
        ),
        *(_last(settings, result) if first and settled is None else ()),
        Headline(
            item=f"{label}, settled over first",
            unit="x",
            value=settled / first if settled and first else None,
            basis="the two above" if settled and first else none,
        ),
        Headline(
            item="Written",
            unit="GB",
            value=result.written_gb[-1] if result.written_gb else None,
            basis=f"{result.fills[-1]:.2f} drive fills in {minutes_label(result.minutes[-1])}"
            if result.fills
            else none,
        ),
    )


def _last(settings: SaturationSettings, result: SaturationResult) -> Iterator[Headline]:
    """The last sample, where it is all that is known of the end."""
    basis = f"at {result.fills[-1]:.2f} drive fills, not settled; {outstanding_label(settings.demand)}"
    yield Headline(item=f"{settings.label}, last sample", unit="IOPS", value=result.iops[-1], basis=basis)
