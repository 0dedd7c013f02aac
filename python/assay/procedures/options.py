"""What tables of tests in a plan file have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from assay.datum import Strict
from assay.records import Demand

if TYPE_CHECKING:
    from collections.abc import Mapping


class Options(Strict):
    """The tester's choices for one test: those that the specification leaves open, and departures from it."""

    @classmethod
    def chosen(cls, choices: Mapping[str, Any]) -> dict[str, Any]:
        """What of the command line's choices goes into this table: those that it has a key for.

        Worked: a thread count for a test that has demands of its own -> nothing.
        """
        return {key: value for key, value in choices.items() if key in cls.model_fields}

    def of_suite(self, table: Any) -> Self:  # noqa: ARG002 - those who need it name it
        """The same where the test is part of a suite. table : its table of the edition."""
        return self

    def check(self) -> None:
        """Raise UsageError where the options name what is not there."""


class DemandOptions(Options):
    """The demand, which the specification leaves to the tester in most tests."""

    thread_count: int | None = Field(default=None, ge=1, le=1024)
    queue_depth: int | None = Field(default=None, ge=1, le=4096)

    def demand(self, default: Demand) -> Demand:
        """The tester's demand, or the profile's where the tester has not chosen.

        Worked: a queue depth of 16 over a default of 1 x 8 -> 1 x 16.
        """
        return Demand(
            thread_count=self.thread_count or default.thread_count,
            queue_depth=self.queue_depth or default.queue_depth,
        )
