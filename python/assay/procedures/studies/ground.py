"""What the studies stand on: the steps that their variants are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from assay.engine.pattern import cell_pattern, fill_pattern
from assay.engine.records import Cell, DataPattern, Demand
from assay.errors import TooSmallError
from assay.procedures.planned import scaled_ns, whole_blocks
from assay.procedures.studies.settings import StudyStep
from assay.results import cell_label
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import Access, DriveIdentity
    from assay.plan.procedure import Request
    from assay.procedures.families.loop.plan import LoopTable
    from assay.procedures.studies.settings import StudyPlot, StudyReading, StudyVariant

CAPACITY_BYTES_MIN = 64 << 20
SAMPLE_SECONDS = 60.0
FILL_BYTES = 128 * KIB
SAMPLES_PER_PASS_MAX = 50
SMALL = 4 * KIB
LARGE = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as its file makes it; the fields are those of ``StudySettings``.

    words : of its sentences, as ``filled`` takes them.
    """

    variants: tuple[StudyVariant, ...]
    plots: tuple[StudyPlot, ...]
    reading: StudyReading
    settled_share: float = 1.0
    recovered_share: float = 0.95
    not_run: tuple[tuple[str, str], ...] = ()
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A plan on a drive: makes the steps of variants. Sizes are bytes. The options of the request have a demand."""

    request: Request[Any, Any]
    data: DataPattern = field(default_factory=DataPattern)

    @classmethod
    def of(cls, request: Request[Any, Any]) -> Self:
        """What studies of a request stand on.

        Raises TooSmallError below 64 MiB, and where the edition has no IOPS test to take demand and preconditioning
        from.
        """
        if request.drive.capacity_bytes < CAPACITY_BYTES_MIN:
            reason = "has less than the 64 MiB that studies need"
            raise TooSmallError(request.drive.path, reason, "use a larger drive")
        table = request.edition.table("iops")
        if table is None or not table.preconditioning_multiple.value:
            reason = f"cannot be studied by {request.edition.title}, which has no IOPS test that writes the drive"
            raise TooSmallError(request.drive.path, reason, "name an edition with an IOPS test")
        return cls(request=request, data=request.data)

    @property
    def drive(self) -> DriveIdentity:
        """The drive."""
        return self.request.drive

    @property
    def capacity(self) -> int:
        """Of the drive."""
        return self.drive.capacity_bytes

    @property
    def demand(self) -> Demand:
        """The tester's choice, or that of the IOPS test of the edition."""
        chosen: Demand = self.request.options.demand(self.iops_table.demand.value.to_demand())
        return chosen

    def share(self, share: float) -> int:
        """So much of the drive in whole blocks of 4 KiB or larger."""
        return whole_blocks(self.capacity * share, self.drive) // SMALL * SMALL

    def span_ns(self, seconds: float) -> int:
        """A duration after scaling."""
        return scaled_ns(seconds, self.request.scale)

    @property
    def iops_table(self) -> LoopTable:
        """The IOPS test of the edition."""
        result: LoopTable = self.request.edition.table("iops")
        return result

    def fill(self, length: int) -> StudyStep:
        """Workload-independent preconditioning of the first bytes, as often as the edition writes the drive."""
        multiple = self.iops_table.preconditioning_multiple.value
        return StudyStep(
            role="prepare",
            label="fill SEQ 128KiB 0/100",
            pattern=fill_pattern(FILL_BYTES, self.data),
            demand=self.demand,
            length_bytes=length,
            amount_bytes=round(multiple * length),
        )

    def cell(
        self,
        access: Access,
        size: int,
        read_pct: int,
        length: int,
        *,
        seconds: float = SAMPLE_SECONDS,
        samples: int = 1,
    ) -> StudyStep:
        """Measured accesses of one size over the first bytes, in samples of so many seconds."""
        pattern = cell_pattern(access, size, read_pct / 100, self.data)
        return StudyStep(
            role="measure",
            label=cell_label(Cell(read_pct=read_pct, transfer_bytes=size), access),
            pattern=pattern,
            demand=self.demand,
            length_bytes=length,
            span_ns=self.span_ns(seconds),
            samples=samples,
        )

    def saturated(self, length: int) -> tuple[StudyStep, StudyStep]:
        """Preparation of a drive once for several variants: a fill, and two hours of RND 4 KiB writes."""
        return self.fill(length), prepared(self.writes(length, 120))

    def writes(self, length: int, minutes: int) -> StudyStep:
        """RND 4 KiB writes in one-minute samples. Worked: two hours are 120 samples."""
        return self.cell("random", SMALL, 0, length, samples=minutes)

    def passes(self, length: int, count: int) -> StudyStep:
        """SEQ 128 KiB writes over the first bytes, ``count`` times, each pass in up to 50 samples of equal amount.

        A sample has at least 20 times the outstanding I/Os, since those in flight at its end are none of its rate.
        Worked: 256 GB are 50 samples of 5.12 GB.
        """
        least = 20 * self.demand.thread_count * self.demand.queue_depth * FILL_BYTES
        samples = min(max(length // least, 1), SAMPLES_PER_PASS_MAX)
        step = self.cell("sequential", FILL_BYTES, 0, length)
        amount = length // samples // FILL_BYTES * FILL_BYTES
        return replace(step, span_ns=0, amount_bytes=amount, samples=count * samples)


def prepared(step: StudyStep) -> StudyStep:
    """The same step as preparation, which is no part of the result."""
    return replace(step, role="prepare")
