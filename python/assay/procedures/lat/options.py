"""Latency's table in a plan file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from assay.procedures.families.loop.options import LoopOptions

if TYPE_CHECKING:
    from collections.abc import Mapping


class LatencyOptions(LoopOptions):
    """The same for latency. histogram_minutes : of the response-time histogram behind it; None means the edition's."""

    histogram_minutes: float | None = Field(default=None, ge=0, le=24 * 60)

    @classmethod
    def chosen(cls, choices: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing without a rate of arrivals: latency has one I/O outstanding, whatever the demand of other tests."""
        return super().chosen(choices) if "arrival" in choices else {}
