"""The table of a test loop in a plan file, and rates of arrival."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from assay.procedures.options import DemandOptions
from assay.records import Demand

_ARRIVAL = re.compile(r"(fixed|poisson):(\d{1,10}(?:\.\d{1,6})?)")


_ARRIVALS_MIN, _ARRIVALS_MAX = 0.001, 1e9


def parse_arrival(text: str) -> tuple[Literal["fixed", "poisson"], float]:
    """Read how I/Os arrive: the process, and I/Os per second over all threads, above 0.001 and at most 1e9.

    Raises ValueError for anything else. Worked: ``poisson:5000`` -> ``("poisson", 5000.0)``.
    """
    match = _ARRIVAL.fullmatch(text)
    if match is None or not _ARRIVALS_MIN < float(match[2]) <= _ARRIVALS_MAX:
        raise ValueError(f"{text!r} is not fixed:RATE or poisson:RATE with 0.001 < RATE <= 1e9 I/Os per second")
    return ("fixed" if match[1] == "fixed" else "poisson"), float(match[2])


def _is_arrival(text: str) -> str:
    parse_arrival(text)
    return text


class LoopOptions(DemandOptions):
    """Choices that the specification leaves to the tester, for one test loop.

    arrival : ``fixed:RATE`` or ``poisson:RATE`` makes it an open loop, which is a listed deviation.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    arrival: Annotated[str, AfterValidator(_is_arrival)] | None = None

    def demand(self, default: Demand) -> Demand:
        """The same with the rate at which I/Os arrive; TC x QD then only limits how many are outstanding.

        Worked: ``fixed:5000`` over a default of 1 x 8 -> at most 8 outstanding of 5,000 a second.
        """
        closed = DemandOptions.demand(self, default)
        if self.arrival is None:
            return closed
        process, rate = parse_arrival(self.arrival)
        return replace(closed, arrivals_per_s=rate, arrival_process=process)
