"""Reads addressed data back whole, and says which sectors a drive did not return as they were written."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from assay._native import check_addressed
from assay.engine.records import DataCheck, WrongRange
from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.dut.real.gate import OpenDrive
    from assay.engine.records import CheckData, WrongKind
    from assay.engine.stimulus import Stimulus

THREADS = 8
"""That read 1 MiB each at a time."""


@dataclass(slots=True)
class AddressedData:
    """What a run wrote to a drive with addresses. since : by worker, the first write that counts."""

    drive: OpenDrive
    stimulus: Stimulus
    since: list[int] = field(default_factory=list, init=False)

    def begin(self) -> None:
        """What is written from now on counts."""
        self.since = [count for _, count in self.stimulus.written()]

    def check(self, request: CheckData, show: Callable[[int], None]) -> DataCheck:
        """Read and compare all parts; what is written afterwards counts for the next check.

        show : takes the bytes that are done.
        Raises DeviceFailureError where the flush fails or no read returns for a minute.
        """
        written = self.stimulus.written()
        since = self.since or [0] * len(written)
        if request.flush:
            self._flush()
        result = check_addressed(
            self.drive.fd,
            self.drive.identity.logical_block_bytes,
            list(request.parts),
            written[0][0],
            since,
            [count for _, count in written],
            THREADS,
            show,
        )
        self.begin()
        counts = {cast("WrongKind", kind): count for kind, count in result.counts}
        ranges = (WrongRange(sector=sector, count=count, kind=cast("WrongKind", kind), distance=distance)
                  for sector, count, kind, distance in result.ranges)  # fmt: skip
        return DataCheck(
            after=request.after,
            block_bytes=self.drive.identity.logical_block_bytes,
            flushed=request.flush,
            parts=request.parts,
            checked_count=result.checked_count,
            span_ns=result.span_ns,
            counts=counts,
            ranges=tuple(ranges),
            unlisted_count=result.unlisted_count,
        )

    def _flush(self) -> None:
        try:
            os.fdatasync(self.drive.fd)
        except OSError as error:
            reason = f"flush failed ({error.strerror})"
            raise DeviceFailureError(self.drive.identity.path, reason, "check the drive and its cabling") from error
