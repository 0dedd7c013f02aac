"""The pages of a report: count, titles, determination data, banners, labels."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest
from assay.engine.records import Demand, PurgeRecord
from assay.errors import StoreError, VerificationError
from assay.procedures.conformity import conformity_label
from assay.report import build_report
from assay.results.outcome import stored_exit_codes
from assay.spec.steady import steady_state
from assay.spec.units import KIB
from assay.summary.pages.model import Box, Figure, Table, Text
from assay.words.printed import fit_formula, printable, utc
from report_run import (
    FALLING,
    GOLDEN,
    HOSTILE,
    START_NS,
    balanced,
    synthetic_direction,
    synthetic_run,
    synthetic_test,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import StoredRun
    from assay.summary.pages.model import Block, Page, Report

TWO = Demand(thread_count=2, queue_depth=8)
TITLES_1_0 = (
    "Steady State Convergence Plot - All Block Sizes",
    "Steady State Measurement Window",
    "Steady State Measurement Window - RND/4KiB",
    "Client IOPS - ALL RW Mix & BS - Tabular Data",
    "Client IOPS - ALL RW Mix & BS - 2D Plot",
    "Client IOPS - ALL RW Mix & BS - 3D Columns",
)
WINDOW_TITLES_2_0 = (
    "Steady State Measurement Window - RND/4KiB 0/100",
    "Steady State Measurement Window - RND/64KiB 65/35",
    "Steady State Measurement Window - RND/1024KiB 100/0",
)


def only(blocks: Iterable[Block], kind: type[Block]) -> Block:
    """Return the one block of a kind."""
    (found,) = [block for block in blocks if isinstance(block, kind)]
    return found


def tables(blocks: Iterable[Block]) -> list[Table]:
    """Return the tables among blocks."""
    return [block for block in blocks if isinstance(block, Table)]


def matrix_page(report: Report) -> Table:
    """Return the table of the tabular page."""
    page = next(page for page in report.pages if "Tabular" in page.subtitle)
    return tables(page.blocks)[0]


def own_pages(run: StoredRun) -> tuple[Page, ...]:
    """Return the pages of the run's only test, without the summaries around them."""
    return build_report(run).pages[2:-1]


def header_entries(page: Page) -> dict[str, str]:
    """Return every entry of the header by name."""
    return {name: value for group in page.header.groups for name, value in group.entries}


def test_a_form_1_0_report_has_the_six_titles_in_order() -> None:
    pages = own_pages(synthetic_run())
    assert tuple(page.subtitle for page in pages) == TITLES_1_0
    assert {page.title for page in pages} == {"Client IOPS (REQUIRED) - Report Page"}
    assert [page.place for page in pages] == [f"{place} of 8" for place in range(3, 9)]


@pytest.mark.parametrize("edition", ["pts-e-1.0", "pts-e-1.1"])
def test_enterprise_titles_name_the_market(edition: str) -> None:
    pages = own_pages(synthetic_run(synthetic_test(edition)))
    assert pages[0].title == "Enterprise IOPS (REQUIRED) - Report Page"
    assert pages[3].subtitle == "Enterprise IOPS - ALL RW Mix & BS - Tabular Data"


@pytest.mark.parametrize("edition", ["pts-c-2.0", "pts-e-2.0"])
def test_a_form_2_0_report_has_eight_pages_and_a_window_page_per_tracking_variable(edition: str) -> None:
    pages = own_pages(synthetic_run(synthetic_test(edition)))
    assert len(pages) == 8
    assert tuple(page.subtitle for page in pages[2:5]) == WINDOW_TITLES_2_0
    groups = [group.title for group in pages[0].header.groups]
    assert groups == ["Test Platform", "Device Under Test", "Set Up Parameters", "Test Parameters"]


def test_the_golden_window_prints_its_published_determination_data() -> None:
    box = only(own_pages(synthetic_run())[2].blocks, Box)
    assert isinstance(box, Box)
    assert dict(box.entries) == {
        "Tracking Variable": "IOPS, RND 4KiB 0/100",
        "Measurement Window": "Rounds 1-5",
        "Average IOPS": "3,147.0",
        "Allowed Maximum Data Excursion": "629.4",
        "Measured Maximum Data Excursion": "542.4",
        "Allowed Maximum Slope Excursion": "314.7",
        "Measured Maximum Slope Excursion": "217.6",
        "Least Squares Linear Fit Formula": "-54.407 * R + 3,310.267",
        "Steady": "YES",
    }


def test_the_slope_line_is_the_fit_and_not_the_line_from_first_to_last_point() -> None:
    figure = only(own_pages(synthetic_run())[2].blocks, Figure)
    assert isinstance(figure, Figure)
    (fit,) = [series for series in figure.series if series.label == "Least Squares Fit"]
    assert fit.x == (1.0, 5.0)
    assert fit.y == pytest.approx((3255.86, 3038.232))
    assert fit.y[0] != GOLDEN[0]


@pytest.mark.parametrize(
    ("values", "formula"),
    [
        ((1.0, 1.0, 1.0, 1.0, 1.0), "0.000 * R + 1.000"),
        ((0.0, 1.0, 2.0, 3.0, 4.0), "1.000 * R - 21.000"),
    ],
)
def test_the_fit_formula_shows_the_sign_of_the_intercept(values: tuple[float, ...], formula: str) -> None:
    assert fit_formula(steady_state((21, 22, 23, 24, 25), values)) == formula


def test_the_matrix_has_ascending_sizes_and_read_shares_with_one_decimal() -> None:
    table = matrix_page(build_report(synthetic_run()))
    assert table.columns[1:] == ("0/100", "5/95", "35/65", "50/50", "65/35", "95/5", "100/0")
    assert [row[0] for row in table.rows] == ["0.5", "4", "8", "16", "32", "64", "128", "1024"]
    assert table.rows[1][1] == "3,147.0"
    assert table.notes[0] == "Average of rounds 1-5."


def test_a_size_that_the_drive_cannot_run_is_a_row_of_its_own_with_the_reason() -> None:
    sizes = tuple(kib * KIB for kib in (1024, 128, 64, 32, 16, 8, 4))
    test = synthetic_test(sizes_bytes=sizes, not_applicable={512: "the logical block is 4096 bytes"})
    table = matrix_page(build_report(synthetic_run(test)))
    assert table.rows[0] == ("0.5", *("N/A",) * 7)
    assert "N/A: 0.5KiB - the logical block is 4096 bytes" in table.notes


def test_the_header_reports_convergence_and_never_guesses_it() -> None:
    reached = header_entries(own_pages(synthetic_run())[0])
    assert reached["Convergence"] == "YES"
    assert reached["Rounds"] == "1-5"
    assert (reached["AR AMOUNT"], reached["AR Segments"], reached["PC AR"]) == ("16 GiB", "2,048", "100 %")
    missed = header_entries(own_pages(synthetic_run(synthetic_test(tracked=FALLING, ended="round-limit")))[0])
    assert (missed["Convergence"], missed["Rounds"]) == ("NO", "3-7")
    cut = header_entries(own_pages(synthetic_run(synthetic_test(ended="interrupted")))[0])
    assert (cut["Convergence"], cut["Rounds"]) == ("NO", "n/a")


def test_unknown_facts_are_printed_as_unknown() -> None:
    page = own_pages(synthetic_run(serial=None, firmware="  ", media=None))[0]
    entries = header_entries(page)
    assert {entries[name] for name in ("Serial No.", "Firmware Rev", "NAND Type")} == {"unknown"}
    assert ("DUT Vendor", "unknown") in page.header.parties


def test_a_test_that_asks_for_no_steady_state_does_not_shout_that_there_is_none() -> None:
    run = synthetic_run(synthetic_test(tracked=FALLING, ended="round-limit", steady_required=False))
    report = build_report(run)
    assert {page.banner for page in report.pages} == {None}
    assert stored_exit_codes(run) == ()
    assert "NOT STEADY" not in str(report.pages)


def test_dates_are_printed_in_utc() -> None:
    assert utc(START_NS) == "2026-06-09 10:13 UTC"
    assert utc(None) == "unknown"


@pytest.mark.parametrize(
    ("tracked", "ended", "errors", "banner"),
    [
        (GOLDEN, "steady", 0, None),
        (FALLING, "round-limit", 0, "STEADY STATE NOT REACHED in 7 rounds"),
        (
            GOLDEN,
            "steady",
            2,
            "STEADY STATE NOT REACHED: no round was measured whole - NO HEADLINE: 10 I/O errors in the test",
        ),
        (GOLDEN[:3], "interrupted", 0, "INTERRUPTED - STEADY STATE NOT REACHED in 3 rounds"),
        (GOLDEN[:1], None, 0, "UNFINISHED - STEADY STATE NOT REACHED in 1 round"),
        (
            (),
            "device-failure",
            0,
            "DEVICE FAILURE - STEADY STATE NOT REACHED: no round was measured whole",
        ),
    ],
)
def test_every_page_carries_the_banner_of_how_the_test_ended(
    tracked: tuple[float, ...], ended: str | None, errors: int, banner: str | None
) -> None:
    report = build_report(synthetic_run(synthetic_test(tracked=tracked, ended=ended, errors=errors)))
    assert len(report.pages) == 9
    assert {page.banner for page in report.pages[1:-1]} == {banner}
    assert {report.pages[0].banner, report.pages[-1].banner} == {banner and f"IOPS: {banner}"}


def test_a_run_with_errors_prints_no_matrix_and_no_determination_data() -> None:
    report = build_report(synthetic_run(synthetic_test(errors=1)))
    table = matrix_page(report)
    assert {cell for row in table.rows for cell in row[1:]} == {"n/a"}
    box = only(report.pages[4].blocks, Box)
    assert isinstance(box, Box)
    assert dict(box.entries)["Average IOPS"] == "n/a"
    assert report.pages[6].blocks == (Text(paragraphs=("n/a: 5 I/O errors in the test",)),)


@pytest.mark.parametrize(
    ("ended", "note"),
    [
        ("round-limit", "n/a: 4 complete rounds, a measurement window needs five"),
        ("interrupted", "n/a: the test did not run to its end"),
    ],
)
def test_fewer_than_five_rounds_say_so(ended: str, note: str) -> None:
    report = build_report(synthetic_run(synthetic_test(tracked=GOLDEN[:4], ended=ended)))
    assert matrix_page(report).notes == (note,)


def test_a_verdict_that_its_rounds_do_not_give_is_refused() -> None:
    test = synthetic_test()
    assert test.verdict is not None
    forged = replace(test, verdict=replace(test.verdict, reached=False))
    with pytest.raises(VerificationError):
        build_report(synthetic_run(forged))


def test_a_run_without_tests_is_refused() -> None:
    with pytest.raises(StoreError):
        build_report(replace(synthetic_run(), tests=()))


@pytest.mark.parametrize(
    ("kind", "found", "label"),
    [
        ("block", (), "conforming"),
        ("block", ("scaled by 0.1", "no purge"), "not conforming: scaled by 0.1; no purge"),
        ("file", (), "not conforming: a file on a file system instead of a block device"),
        (
            "file",
            ("scaled by 0.1",),
            "not conforming: scaled by 0.1; a file on a file system instead of a block device",
        ),
        ("simulated", (), "simulated drive"),
        ("simulated", ("scaled by 0.1",), "simulated drive; not conforming: scaled by 0.1"),
    ],
)
def test_the_label_tells_how_far_a_run_conforms(kind: str, found: tuple[str, ...], label: str) -> None:
    assert conformity_label(synthetic_run(kind=kind, deviations=found)) == label


def test_a_purge_that_was_less_than_a_purge_is_never_conforming() -> None:
    purge = PurgeRecord(method="discard", proof="reads zero", deviation="discard is not a purge", span_ns=1)
    run = synthetic_run(replace(synthetic_test(), purge=purge), kind="block")
    assert conformity_label(run) == "not conforming: discard is not a purge"


def test_the_first_page_states_objective_baseline_samples_and_notes() -> None:
    run = synthetic_run(description={"samples": "1 of 3", "notes": "two\nlines"})
    strip = only(own_pages(run)[0].blocks, Box)
    assert isinstance(strip, Box)
    assert strip.entries == (
        ("Objective", "Lay out synthetic rounds"),
        ("Samples", "1 of 3"),
        ("Notes", "two lines"),
        ("Baseline", "not stated"),
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("", "unknown"),
        (None, "unknown"),
        ("  blank  ", "blank"),
        ("a\x00b\nc", "a\\x00b\\nc"),
        ("\u202egnp", "\\u202egnp"),
        ("\udcff", "\\udcff"),
    ],
)
def test_characters_that_do_not_print_become_visible(text: str | None, shown: str) -> None:
    assert printable(text) == shown


def test_a_report_is_plain_json_whatever_the_drive_calls_itself() -> None:
    for name in HOSTILE:
        report = build_report(synthetic_run(serial=name, model_number=name, description={"sponsor": name}))
        assert json.loads(json.dumps(asdict(report)))["pages"][0]["place"] == "1 of 8"


def test_the_appendix_gives_every_profile_datum_its_source_and_every_cell_its_queue_depth() -> None:
    tables = {block.caption: block for block in build_report(synthetic_run()).appendix if isinstance(block, Table)}
    sources = tables["IOPS: PTS-C 1.0 edition data and their sources"]
    assert all(row[2] for row in sources.rows)
    depths = tables["IOPS: effective queue depth (I/Os outstanding on the drive, mean; ! where off by more than 0.5 %)"]
    assert len(depths.rows) == 56
    assert depths.columns[1:] == ("Round 1", "Round 2", "Round 3", "Round 4", "Round 5")
    assert depths.rows[0][1] == "8.00"


@pytest.mark.parametrize(("queue_depth", "printed"), [(8.0, "8.00"), (7.96, "7.96"), (7.95, "7.95 !"), (8.1, "8.10 !")])
def test_a_cell_that_lost_queue_depth_is_marked_and_not_among_those_that_held_it(
    queue_depth: float, printed: str
) -> None:
    test = synthetic_test()
    fill, first, *others = test.sequences
    lost = balanced(replace(first.steps[0], outstanding_ns=round(first.steps[0].span_ns * queue_depth)))
    changed = replace(first, steps=(lost, *first.steps[1:]))
    report = build_report(synthetic_run(replace(test, sequences=(fill, changed, *others))))
    depths = next(table for table in tables(report.appendix) if "effective queue depth" in table.caption)
    assert (depths.rows[0][1], depths.rows[1][1]) == (printed, "8.00")
    (page,) = (page for page in report.disclosure if "Integrity" in page.subtitle)
    *_, integrity = tables(page.columns[0])
    held = integrity.rows[0][integrity.columns.index("Steps that held TC x QD within 0.5 %")]
    assert held == f"{281 - printed.endswith('!')} of 281"


@pytest.mark.parametrize(("fewest", "most", "printed"), [(None, None, "unknown"), (99, 101, "2.00")])
def test_the_appendix_tells_how_far_the_threads_of_a_cell_lay_apart(
    fewest: int | None, most: int | None, printed: str
) -> None:
    test = synthetic_test()
    fill, first, *others = test.sequences
    read, write = synthetic_direction(160, 4096), synthetic_direction(40, 4096)
    step = replace(first.steps[0], read=read, write=write, thread_io_count_min=fewest, thread_io_count_max=most)
    changed = replace(first, steps=(step, *first.steps[1:]))
    run = synthetic_run(replace(test, sequences=(fill, changed, *others), settings=replace(test.settings, demand=TWO)))
    spread = next(table for table in tables(build_report(run).appendix) if "threads apart" in table.caption)
    assert spread.rows[0][1] == printed
