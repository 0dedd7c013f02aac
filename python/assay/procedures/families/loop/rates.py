"""The rates of a test loop that other tests may have at another demand or in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.figures import PREFIX
from assay.procedures.families.loop.open_loop import window_sequences
from assay.procedures.families.loop.settings import LoopSettings
from assay.results import iops
from assay.spec.units import KIB
from assay.summary.pages.rate import Rate
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.procedures.families.loop.values import LoopResult

_QUOTED_BYTES = 4 * KIB
_LARGE_BYTES = 128 * KIB
_SIDES = {100: "R", 0: "W"}


def loop_rates(test: StoredTest, result: LoopResult) -> Iterator[Rate]:
    """IOPS of reads and writes of 4 KiB and of 128 KiB and more in the rounds of the window; none of open loops.

    Worked: eight outstanding, 3,180.1 IOPS of 4 KiB writes in each round -> ``RND``, ``W``, 4,096 bytes, 8,
    five times 3180.1.
    """
    settings = test.settings_as(LoopSettings)
    sequences = () if settings.demand.arrivals_per_s is not None else window_sequences(test, result)
    for index, cell in enumerate(settings.cells):
        if cell.read_pct not in _SIDES or not _is_told(cell.transfer_bytes):
            continue
        values = tuple(float(iops(sequence.steps[index])) for sequence in sequences)
        if any(values):
            yield Rate(
                order=PREFIX[settings.access],
                side=_SIDES[cell.read_pct],
                transfer_bytes=cell.transfer_bytes,
                outstanding=outstanding(settings.demand),
                values=values,
            )


def _is_told(transfer_bytes: int) -> bool:
    return transfer_bytes == _QUOTED_BYTES or transfer_bytes >= _LARGE_BYTES
