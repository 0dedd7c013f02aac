"""Options of a test in a plan file, and the files that they name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field

from assay.engine.records import Demand
from assay.errors import UsageError
from assay.spec.datum import Strict
from assay.spec.files import open_named

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


DATA_FILE_BYTES_MAX = 1 << 30


def check_data_file(path: str) -> None:
    """Raise UsageError where a file to write from cannot be read, is empty or is larger than 1 GiB."""
    try:
        with open_named(Path(path)) as file:
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise UsageError(path, error.strerror or "cannot be read", "name a readable data file") from None
    if not 0 < size <= DATA_FILE_BYTES_MAX:
        raise UsageError(path, "is no regular file of 1 byte to 1 GiB", "name a file with data")
