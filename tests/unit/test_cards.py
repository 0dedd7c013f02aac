"""The cards of the first page: what stands on each, what leads, and baselines beside the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from assay.pages.effect import Effect, ranked
from assay.pages.headline import Headline
from assay.report import build_report, render
from assay.report.claims import _farthest, _side
from assay.report.together import in_numbers
from report_run import FALLING, synthetic_run, synthetic_test
from saturation_run import saturation_test

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.pages.model import Card

RATES = [50_000.0] * 100 + [2_500.0] * 1340


def suite(**changes: object) -> StoredRun:
    return replace(synthetic_run(), tests=(saturation_test(RATES), synthetic_test()), **changes)  # type: ignore[arg-type]


def cards(run: StoredRun) -> dict[str, Card]:
    (page,) = build_report(run).opening
    return {card.name: card for card in page.cards}


def test_each_test_has_a_card_with_its_verdict_numbers_sentences_and_picture() -> None:
    found = cards(suite())
    assert list(found) == ["all", "WSAT", "IOPS"]
    iops = found["IOPS"]
    assert (iops.outcome, iops.facts) == ("steady state: YES", ("rounds 1-5", "pages 7-13"))
    assert iops.anchor == "iops"
    assert iops.basis == "average of rounds 1-5, 8 outstanding"
    assert [(one.of, one.value, one.unit, one.lines) for one in iops.quotes][1] == (
        "RND 4KiB W", "3,147.0", "IOPS", ("\u2195\u00a02,903.1 - 3,445.4",),
    )  # fmt: skip
    assert iops.picture is not None
    assert [one.of for one in found["WSAT"].quotes][-1] == "Written"
    assert {one.met for one in iops.quotes} == {""}


def test_a_number_that_is_not_known_says_why_below_itself() -> None:
    run = replace(synthetic_run(), tests=(saturation_test([50_000.0, 2_500.0]), synthetic_test()))
    settled = next(one for one in cards(run)["WSAT"].quotes if one.of.endswith("settled"))
    assert (settled.value, settled.unit, settled.lines) == ("n/a", "", ("no settled level",))


def test_a_claim_stands_below_its_number_with_whether_it_is_met() -> None:
    found = cards(suite(plan={"claims": {"rnd_4k_write_iops": 3_000.0}, "baseline": {"rnd_4k_write_iops": 6_294.0}}))
    write = found["IOPS"].quotes[1]
    assert (write.claim, write.met) == ("claimed at least 3,000: 105 %", "YES")
    assert found["all"].said[0].startswith("Data sheet: ")


def test_a_baseline_stands_beside_its_number_in_every_output_and_judges_nothing(tmp_path: Path) -> None:
    run = suite(plan={"baseline": {"rnd_4k_write_iops": 6_294.0, "wsat_first_iops": 100_000.0}})
    found = cards(run)
    first, write = found["WSAT"].quotes[0], found["IOPS"].quotes[1]
    assert (first.claim, first.share, first.met) == ("baseline 100,000.0: -50.0 %", 0.5, "")
    assert write.claim == "baseline 6,294.0: -50.0 %"
    tables = {one.caption: one for one in build_report(run).opening[0].all_blocks if one.block == "table"}
    assert tables["Against the baseline"].rows[0] == (
        "WSAT", "RND 4KiB 0/100, first sample", "50,000.0", "IOPS", "100,000.0", "50 %",
    )  # fmt: skip
    paths = {path.name: path for path in render(run, tmp_path, formats=["json", "csv"])}
    stored = json.loads(paths["results.json"].read_text("ascii"))
    assert [one["baseline"] for one in stored["baseline"]] == [100_000.0, 6_294.0]
    assert stored["claims"] == []
    assert len(paths["baseline.csv"].read_text("ascii").splitlines()) == 3
    (selected,) = (one for one in build_report(run).pages[-1].all_blocks if one == tables["Against the baseline"])
    assert len(selected.rows) == 2


def test_the_first_page_says_how_far_the_numbers_lie_from_the_baseline() -> None:
    whole = 100 * 3_147 / 110.6
    run = suite(plan={"baseline": {"rnd_4k_write_iops": whole, "wsat_first_iops": 50_000 / 0.931}})
    assert cards(run)["all"].said[0] == (
        "Against the baseline: 1 better, +10.6 % (IOPS RND 4KiB W); "
        "1 worse, -6.9 % (WSAT RND 4KiB 0/100, first sample)."
    )
    alone = cards(suite(plan={"baseline": {"rnd_4k_write_iops": whole}}))["all"].said[0]
    assert alone == "Against the baseline: 1 better, +10.6 % (IOPS RND 4KiB W)."


def test_what_stands_out_of_several_tests_leads_and_of_one_is_on_its_card_alone() -> None:
    several, alone = cards(suite())["all"], cards(synthetic_run(synthetic_test()))
    assert several.said[0] == "RND 4KiB 0/100 falls to 5 % of its first sample, where it settles."
    # What two tests found to differ by more than a quarter leads as well.
    assert several.said[3].startswith("Measured twice: ")
    assert several.lead == 5
    assert "all" not in alone


def test_a_test_without_steady_state_has_no_effect() -> None:
    run = replace(synthetic_run(), tests=(synthetic_test(tracked=FALLING, ended="round-limit"),) * 2)
    assert "all" not in cards(run)


def test_effects_are_ranked_by_size_one_of_a_kind_and_what_is_missing_last() -> None:
    found = [
        Effect(kind="small", times=1.9, text="small"),
        Effect(kind="sides", times=3.0, text="three"),
        Effect(kind="sides", times=5.0, text="five"),
        Effect(kind="fall", times=20.0, text="twenty"),
        Effect(kind="level", times=256.0, text="missing", expected=True),
    ]
    assert ranked(found, 9) == ["twenty", "five", "missing"]
    assert ranked(found, 1) == ["twenty"]
    queues = [Effect(kind="queue", times=times, text=f"{times} times", also=f"{times}") for times in (256.0, 512.0)]
    assert ranked(queues, 9) == ["512.0 times; likewise 256.0"]


def test_the_numbers_of_a_data_sheet_are_told_in_one_line_from_three_on() -> None:
    def quoted(item: str, unit: str, value: float | None) -> Headline:
        return Headline(item=item, unit=unit, value=value, basis="", claim=item)

    def told(steady: str, *headlines: Headline) -> Any:
        return SimpleNamespace(test=synthetic_test(), headlines=lambda: headlines, facts=SimpleNamespace(steady=steady))

    write, read = quoted("RND 4KiB W", "IOPS", 3_180.1), quoted("RND 4KiB R", "IOPS", 33_333.3)
    saturation = told("not judged: ended after 65 min", replace(write, value=9_000.0), quoted("lost", "IOPS", None))
    two = [saturation, told("YES", read, write), told("N/A")]
    assert list(in_numbers(two)) == []
    (said,) = in_numbers([*two, told("YES", quoted("SEQ 1024KiB R", "MB/s", 275.0))])
    assert said == (
        "In numbers: RND 4KiB W 3,180.1, RND 4KiB R 33,333.3 IOPS; SEQ 1024KiB R 275.0 MB/s; steady in 2 of 3 tests."
    )


def test_a_longer_response_time_is_worse_than_the_baseline_and_of_several_the_farthest_is_named() -> None:
    assert (_side(1.064, "ms"), _side(0.981, "ms"), _side(1.1, "IOPS"), _side(1.0, "ms")) == (
        "worse", "better", "better", "the same",
    )  # fmt: skip
    assert _farthest([(0.02, "+2.0 % (A)"), (0.1, "-10.0 % (B)")]) == ", most -10.0 % (B)"
