"""The OEM guide's method: what it is planned to do, its checks, and its table by the figures of the guide's example."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import IDLE, KernelCounters
from assay.errors import ValueRangeError
from assay.procedures.editions import load_edition
from assay.procedures.oem_guide.plan import (
    ALIGNED,
    BURN_IN_LABEL,
    COMPRESSIBLE,
    CORNERS,
    IDLE_LABEL,
    OFF,
)
from assay.procedures.oem_guide.record import comparison_table, guide_table
from assay.procedures.oem_guide.result import GuideRow, burn_in, idle_before
from assay.procedures.studies.result import StageValues
from assay.procedures.studies.run import StudySettings, StudyVariant
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from assay.spec.units import HOUR_SECONDS, SECOND_NS
from test_studies import identity, record

if TYPE_CHECKING:
    from assay.plan.procedure import PlannedTest

NAMES = ["128k_seq_100rd", "128k_seq_100wr", "4k_ran_100rd", "4k_ran_100wr"]
NOT_RUN = {OFF: "32,256 bytes are no multiple of the drive's 4096-byte logical block"}


def planned(block: int = 512, **keys: object) -> tuple[PlannedTest, StudySettings]:
    made = load_plan(None, {"drive": "sim:x", "suite": "oem-guide", **keys})
    (test,) = plan_suite(load_edition(made.edition_name), made, identity(block=block)).tests
    assert isinstance(test.settings, StudySettings)
    return test, test.settings


def runs(variant: StudyVariant) -> list[tuple[str, int]]:
    return [(step.label, step.demand.queue_depth) for step in variant.steps if step.role == "measure"]


def test_it_is_the_guides_tests_at_32_outstanding_then_at_1_to_32() -> None:
    _, settings = planned()
    aligned, off, compressible = settings.variants
    corners = [(name, 32) for name in NAMES]
    cycled = [(f"{name} QD {depth}", depth) for name in NAMES for depth in (1, 2, 4, 8, 16, 32)]
    assert runs(aligned) == corners + cycled
    assert runs(off) == runs(compressible) == corners
    assert {step.demand.thread_count for step in aligned.steps} == {0, 1}
    for variant in settings.variants:
        for ramp, run in zip(variant.steps, variant.steps[1:], strict=False):
            if run.role == "measure":
                assert (ramp.role, ramp.pattern, ramp.demand) == ("prepare", run.pattern, run.demand)
                assert (ramp.span_ns, run.span_ns) == (10 * SECOND_NS, 30 * SECOND_NS)


def test_the_drive_is_left_alone_for_ten_seconds_and_burned_in_for_two_hours_first() -> None:
    test, settings = planned()
    idle, burn_in = settings.variants[0].steps[:2]
    assert (idle.demand, idle.span_ns) == (IDLE, 10 * SECOND_NS)
    assert burn_in.label == BURN_IN_LABEL
    assert burn_in.span_ns * burn_in.samples == 2 * HOUR_SECONDS * SECOND_NS
    assert test.deviations == ("study oem-guide is no test of the specification",)
    assert test.purge_count == 3


@pytest.mark.parametrize(("hours", "told"), [(2.5, ()), (0.5, ("oem-guide: burn-in of 30 min instead of 2 h",))])
def test_the_burn_in_is_a_setting_and_one_that_is_shorter_is_listed(hours: float, told: tuple[str, ...]) -> None:
    test, settings = planned(oem_guide={"burn_in_hours": hours})
    burn_in = settings.variants[0].steps[1]
    assert burn_in.span_ns * burn_in.samples == round(hours * HOUR_SECONDS * SECOND_NS)
    assert test.deviations[1:] == told
    with pytest.raises(ValueRangeError, match="must be more than 0"):
        planned(oem_guide={"burn_in_hours": 0})


def test_the_offset_is_63_sectors_and_left_out_where_the_drive_has_no_such_place() -> None:
    _, settings = planned()
    starts = [{step.from_bytes for step in variant.steps if step.role == "measure"} for variant in settings.variants]
    assert starts == [{0}, {63 * 512}, {0}]
    _, native = planned(block=4096)
    assert [variant.label for variant in native.variants] == [ALIGNED, COMPRESSIBLE]
    assert dict(native.not_run) == NOT_RUN


def test_each_variant_begins_on_a_purged_drive_that_holds_its_own_data() -> None:
    _, settings = planned()
    assert all(variant.purge for variant in settings.variants)
    for variant in settings.variants:
        (data,) = {step.pattern.data for step in variant.steps}
        assert data.stored_share == (0.05 if variant.label == COMPRESSIBLE else 1)


def test_the_corners_are_named_by_their_accesses() -> None:
    assert [one.name for one in CORNERS] == NAMES
    titles = ["SEQ 128KiB reads", "SEQ 128KiB writes", "RND 4KiB reads", "RND 4KiB writes"]
    assert [one.title for one in CORNERS] == titles


def row(corner: int = 0, variant: str = ALIGNED, cpu_pct: float | None = None, **values: float) -> GuideRow:
    same: dict[str, Any] = {
        "rates": (),
        "latency_ms_mean": 1.0,
        "latency_ms_max": 1.0,
        "outstanding": 32.0,
        "asked": 32,
    }
    settled = StageValues(**{**same, **values}) if values else None
    return GuideRow(variant=variant, corner=CORNERS[corner], depth=32, cycled=False, settled=settled, cpu_pct=cpu_pct)


def test_the_columns_relate_as_in_the_example_of_the_guide() -> None:
    # AN0006 table 3-3: 46,227.62202 IOps of 512 bytes, 22.572081 MBps, 14.05168 % CPU, effectiveness 3,289.828927.
    found = row(iops=46227.62202, throughput=46227.62202 * 512 / 1e6, latency_ms_mean=0.69196, cpu_pct=14.05168)
    assert found.mibps == pytest.approx(22.572081, abs=1e-6)
    assert found.effectiveness == pytest.approx(3289.828927, abs=1e-3)
    # Outstanding over mean response time is the rate.
    assert found.depth / 0.69196e-3 == pytest.approx(46227.62202, rel=1e-3)
    assert guide_table([found]).rows[0][:4] == ("128k_seq_100rd", "46,227.6", "22.6", "23.7")


def test_what_did_not_run_is_n_a_and_shares_are_of_the_aligned_corner() -> None:
    rows = [
        row(3, iops=1000.0, throughput=4.096),
        row(3, OFF, iops=440.0, throughput=1.8),
        row(3, COMPRESSIBLE),
    ]
    printed = comparison_table(rows, NOT_RUN)
    assert printed.rows[3] == ("4k_ran_100wr", "IOPS", "1,000.0", "440.0 (44.0 %)", "n/a")
    assert printed.rows[0] == ("128k_seq_100rd", "MB/s", "n/a", "N/A", "N/A")
    assert any(f"{OFF} not run" in note for note in printed.notes)


def counters(read_bytes: int, write_bytes: int) -> KernelCounters:
    return KernelCounters(
        read_io_count=0,
        read_bytes=read_bytes,
        read_merge_count=0,
        write_io_count=0,
        write_bytes=write_bytes,
        write_merge_count=0,
    )


def idle_test(before: KernelCounters | None, after: KernelCounters | None) -> Any:
    step = replace(record(0), label=IDLE_LABEL, counters_before=before, counters_after=after)
    return SimpleNamespace(preconditioning=(step,))


def test_bytes_that_others_move_while_the_drive_is_left_alone_are_a_warning() -> None:
    quiet = idle_before(idle_test(counters(5, 7), counters(5, 7)))
    assert (quiet.level, quiet.measured) == ("pass", 0)
    busy = idle_before(idle_test(counters(5, 7), counters(5 + 4096, 7 + 8192)))
    assert (busy.level, busy.words) == ("warn", "12,288 bytes of others in 10 s")
    assert idle_before(idle_test(None, None)).level == "n/a"
    assert idle_before(SimpleNamespace(preconditioning=())).level == "unknown"  # type: ignore[arg-type]


def test_a_burn_in_that_was_cut_is_a_warning() -> None:
    def burned(count: int) -> Any:
        step = replace(record(1000, size=131072, span_s=600), label=BURN_IN_LABEL)
        return SimpleNamespace(preconditioning=(step,) * count)

    assert burn_in(burned(12)).level == "pass"
    assert (burn_in(burned(11)).level, burn_in(burned(11)).words.partition(",")[0]) == ("warn", "1 h 50 min")
