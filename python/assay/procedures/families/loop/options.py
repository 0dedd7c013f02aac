"""The table of a test loop in a plan file, and rates of arrival."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field

from assay.engine.records import Demand
from assay.plan.options import DemandOptions, parse_arrival


def _is_arrival(text: str) -> str:
    parse_arrival(text)
    return text


class LoopOptions(DemandOptions):
    """Choices that the specification leaves to the tester, for one test loop.

    round_least : rounds before which a steady one does not end the test: 13 repeats a published window of rounds 9-13.
    arrival : ``fixed:RATE`` or ``poisson:RATE`` makes it an open loop, which is a listed deviation.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    round_least: int | None = Field(default=None, ge=5, le=1000)
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
