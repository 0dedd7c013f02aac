"""What tables of tests in a plan file have in common."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field

from assay.engine.records import Demand
from assay.spec.datum import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping


class Options(Strict):
    """The tester's choices for one test: those that the specification leaves open, and departures from it.

    needs_file : a plan must name a file in them.
    """

    needs_file: ClassVar[bool] = False

    @classmethod
    def chosen(cls, choices: Mapping[str, Any]) -> dict[str, Any]:
        """What of the command line's choices goes into this table: those that it has a key for.

        Worked: a thread count for a test that has demands of its own -> nothing.
        """
        return {key: value for key, value in choices.items() if key in cls.model_fields}

    def of_suite(self, table: Any) -> Self:  # noqa: ARG002 - those who need it name it
        """These options for a test that is part of a suite. table : its table of the edition."""
        return self

    def looked(self) -> Self:
        """These options with the facts of the files that they name filled in.

        Raises UsageError where it names what is not there.
        """
        return self


class DemandOptions(Options):
    """The demand, which the specification leaves to the tester in most tests."""

    thread_count: int | None = Field(default=None, ge=1, le=1024)
    queue_depth: int | None = Field(default=None, ge=1, le=4096)

    def demand(self, default: Demand) -> Demand:
        """The tester's demand, or the edition's where the tester has not chosen.

        Worked: a queue depth of 16 over a default of 1 x 8 -> 1 x 16.
        """
        return Demand(
            thread_count=self.thread_count or default.thread_count,
            queue_depth=self.queue_depth or default.queue_depth,
        )


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
