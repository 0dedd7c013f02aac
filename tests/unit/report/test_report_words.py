"""What a drive, a platform and a clock are called in reports: nothing is named what it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from assay.procedures.families.loop.record import loop_facts
from assay.procedures.families.loop.result import loop_result
from assay.procedures.studies.plan import filled
from assay.report import build_report, records_of_tests, render
from assay.report.annex.disclosure import settings_entries
from assay.summary.pages.header import model_label, platform_label, serial_label, system_label
from assay.summary.pages.model import Table
from assay.words.printed import words
from report_run import synthetic_run, synthetic_test
from result_rows import table_rows

if TYPE_CHECKING:
    from pathlib import Path

LOOP = {"id": "loop:10011431:3898", "kind": "block", "model_number": None, "serial": None}


def test_a_loop_device_is_called_one_and_has_its_identity_for_a_serial_number() -> None:
    run = synthetic_run(**LOOP)
    assert (model_label(run), serial_label(run)) == ("loop device on a file", "loop:10011431:3898")
    report = build_report(run)
    assert report.pages[-1].subtitle == "loop device on a file - Summary Performance - Selected"
    entries = [entry for group in report.pages[0].header.groups for entry in group.entries]
    assert ("File System", "unknown: the target is a loop device on a file") in entries
    assert ("Serial No.", "loop:10011431:3898") in entries


def test_a_model_that_names_a_capacity_says_with_which_it_was_made() -> None:
    run = synthetic_run(id="sim:mlc-a?capacity=4GB", model_number="Simulated MLC-A, 256 GB", capacity_bytes=4 * 10**9)
    assert model_label(run) == "Simulated MLC-A, 256 GB; made with 4.00 GB"
    assert model_label(synthetic_run()) == "Synthetic MLC"


def test_the_cpu_is_no_name_of_the_system() -> None:
    run = synthetic_run()
    unnamed = replace(run, platform=replace(run.platform, system=None))
    assert platform_label(run) == "Synthetic test bench; Assay 0.1.0"
    assert platform_label(unnamed) == "CPU Synthetic CPU, 8 cores; Assay 0.1.0"
    assert (system_label(run), system_label(unnamed)) == ("Synthetic test bench", "unknown")
    systems = {entry[1] for group in build_report(unnamed).pages[0].header.groups for entry in group.entries[:1]}
    assert "unknown" in systems


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logical_cpu_count", "logical CPU count"),
        ("preconditioning_block_kib", "preconditioning block (KiB)"),
        ("amount_gib", "amount (GiB)"),
        ("stop", "stop"),
    ],
)
def test_names_of_facts_become_words_with_their_unit(name: str, expected: str) -> None:
    assert words(name) == expected


def test_a_test_that_allows_everything_has_no_limits_of_the_rule() -> None:
    def settings(range_limit: float, slope_limit: float) -> dict[str, str]:
        test = synthetic_test()
        changed = replace(test.settings, range_limit=range_limit, slope_limit=slope_limit)
        run = replace(synthetic_run(), tests=(replace(test, settings=changed, verdict=None),))
        (report,) = records_of_tests(run)
        return dict(settings_entries(report))

    assert settings(1.0, 1.0)["Steady-state rule"] == "none"
    assert "Allowed data excursion" not in settings(1.0, 1.0)
    assert settings(0.2, 0.1)["Allowed data excursion"] == "20 %"


@pytest.mark.parametrize(("kind", "name"), [("simulated", "start_drive_ns"), ("block", "start_wall_ns")])
def test_the_clock_of_a_simulated_drive_is_not_called_a_wall_clock(kind: str, name: str, tmp_path: Path) -> None:
    (path,) = render(synthetic_run(kind=kind), tmp_path, formats=["json"])
    (test,) = json.loads(path.read_text("ascii"))["tests"]
    found = {key for key in table_rows(test, "steps")[0] if key.startswith("start_")}
    assert found == {name}
    assert "started_wall_ns" in test


def test_a_sentence_of_a_study_has_the_lengths_of_its_run() -> None:
    sentence = "RND 4KiB writes for {120} over {amounts}."
    assert filled(sentence, 6 * 10**9, {"amounts": "1 GiB"}) == "RND 4KiB writes for 12 min over 1 GiB."
    assert filled(sentence, 60 * 10**9, {"amounts": "16 GiB"}) == "RND 4KiB writes for 2 h over 16 GiB."


def test_a_loop_of_fewer_than_five_rounds_is_not_judged() -> None:
    test = synthetic_test(tracked=(3000.0, 3001.0, 3002.0, 3003.0), ended="round-limit")
    table = next(one for one in build_report(synthetic_run(test)).pages[0].blocks if isinstance(one, Table))
    assert table.rows[0][-1] == "not judged: the rule needs five values"


def test_a_contiguous_range_is_a_share_and_an_amount_is_no_bare_duration() -> None:
    test = synthetic_test()
    changed = replace(test.settings, range_amount_bytes=256 * 10**9, segment_count=None)
    facts = loop_facts(synthetic_run(), replace(test, settings=changed), loop_result(test))
    assert facts.test_range == "100 %"
    assert facts.independent_amount.startswith("2X capacity, ")
