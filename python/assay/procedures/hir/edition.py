"""Host idle recovery's table in an edition."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import DemandDatum, RangeDatum, SampledPreconditioning, Seconds, Unique


class IdleRecoveryTable(Strict):
    """Parameters of host idle recovery.

    wait_states : numbers of the wait states in the order they run; idle_seconds : after each of their bursts.
    cycles : bursts of a wait state. return_seconds : of bursts without idle time after them.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    preconditioning: SampledPreconditioning
    burst_seconds: Datum[Seconds]
    wait_states: Datum[Annotated[tuple[int, ...], Unique]]
    idle_seconds: Datum[Annotated[tuple[Seconds, ...], Unique]]
    cycles: Datum[Annotated[int, Field(ge=1, le=10_000)]]
    return_seconds: Datum[Seconds]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.wait_states.value) != len(self.idle_seconds.value):
            raise ValueError("every wait state needs its idle time")
        return self
