"""What was asked of each stored step, beside what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results.sequence_names import step_places
from assay.results.step import group_of, place_before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import AccessPattern, Cell, Demand, StepRecord, StepSpec, StoredSequence, StoredTest
    from assay.words.coded import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStep:
    """One step that issued I/Os, with what was asked of it.

    where : its name on paper. place : in its sequence, from 0. before : the step right before it in the same sequence,
    None for the first or behind an idle one.
    """

    where: Place
    sequence: StoredSequence
    place: int
    record: StepRecord
    before: StepRecord | None
    spec: StepSpec

    @property
    def demand(self) -> Demand:
        """How many I/Os at once."""
        return self.spec.demand

    @property
    def pattern(self) -> AccessPattern:
        """Which accesses."""
        return self.spec.pattern

    @property
    def group(self) -> range:
        """Places in its sequence of the steps that run side by side with it, itself among them."""
        return group_of(self.sequence.asked, self.place)

    @property
    def has_known_shares(self) -> bool:
        """Whether sizes and reads are drawn I/O by I/O: neither in bursts of several lines, nor trims or flushes."""
        return self.pattern.operation == "transfer" and not _has_bursts(self.pattern)

    @property
    def range_bytes(self) -> int:
        """LBAs that it may touch. Worked: 2,048 segments of 8 MiB -> 17179869184."""
        return self.spec.active_range.segment_bytes * len(self.spec.active_range.segment_starts)

    def asks(self, cell: Cell) -> bool:
        """Whether its accesses are those of a cell of a test loop, one size and one share of reads.

        Worked: reads of 1 MiB -> of the cell 100/0 of 1 MiB, of no other.
        """
        pattern = self.pattern
        sizes = [size for size, _ in pattern.sizes]
        return sizes == [cell.transfer_bytes] and round(100 * pattern.read_share) == cell.read_pct

    @property
    def aligned(self) -> bool:
        """Whether starts lie on a grid of the transfer's own size, uniformly over the range."""
        pattern = self.spec.pattern
        uniform = (
            not pattern.lba_groups
            and not pattern.lines
            and pattern.alignment_bytes in {0, *(size for size, _ in pattern.sizes)}
        )
        return uniform and (len(pattern.sizes) == 1 or pattern.alignment_bytes == 0)


def goes_on_by_draw(pattern: AccessPattern) -> bool:
    """Whether it is drawn I/O by I/O which are random, some are not, and the rule of continuation is known."""
    known = pattern.cursor != "per_direction" and pattern.operation in {"transfer", "trim"}
    return known and pattern.random_share < 1 and not _has_bursts(pattern)


def _has_bursts(pattern: AccessPattern) -> bool:
    return len(pattern.lines) > 1 and any(line.burst_io_count > 1 for line in pattern.lines)


def asked_steps(test: StoredTest) -> Iterator[AskedStep]:
    """Every stored step of a test that issued I/Os, in the order they ran.

    Worked: the first cell of a PTS-C 1.0 round asks for reads only, one size of 1 MiB, TC 1 x QD 8.
    """
    for sequence in test.sequences:
        places = step_places(sequence)
        for place, (record, spec) in enumerate(zip(sequence.steps, sequence.asked, strict=False)):
            if record.first_submission_ns is None:
                continue
            follows = place_before(sequence.asked, place)
            before = None if follows is None else sequence.steps[follows]
            if before is not None and before.first_submission_ns is None:
                before = None
            yield AskedStep(
                where=places[place], sequence=sequence, place=place, record=record, before=before, spec=spec
            )
