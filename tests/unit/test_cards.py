"""The cards of the first page: what stands on each, what leads, and baselines beside the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from assay.pages.headline import Headline
from assay.report import build_report, render
from assay.report.claims import held_to_baseline
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
    assert found["all"].said[0].startswith("1 of 1 claims missed, ")


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
    assert cards(run)["all"].said[3] == (
        "1 of 2 numbers worse than the baseline, most RND 4KiB 0/100, first sample by 6.9 %; 1 better."
    )
    better = cards(suite(plan={"baseline": {"rnd_4k_write_iops": whole}}))["all"].said
    assert not [line for line in better if "baseline" in line]


def test_what_several_tests_say_leads_once_and_what_one_says_is_on_its_card_alone() -> None:
    several, alone = cards(suite()), cards(synthetic_run(synthetic_test()))
    assert several["all"].said[:2] == (
        "Sustained random 4 KiB writes keep 5 % of fresh speed (50k to 2.5k IOPS).",
        "5 % writes cost 30 % of the IOPS of random 4 KiB reads.",
    )
    assert several["WSAT"].said == several["IOPS"].said == ()
    assert "all" not in alone
    assert alone["IOPS"].said == several["all"].said[1:]


def test_a_test_without_steady_state_says_so_and_nothing_of_costs_or_facts() -> None:
    run = replace(synthetic_run(), tests=(synthetic_test(tracked=FALLING, ended="round-limit"),))
    first, second = cards(run)["IOPS"].said
    assert first.startswith("Random 4 KiB writes did not get steady in ")
    assert second.startswith("47 untracked cells varied by more than 20 %")


def test_a_longer_response_time_is_worse_than_the_baseline() -> None:
    times = [
        Headline(item=name, unit=unit, value=110.0, basis="", claim=name) for name, unit in (("a", "ms"), ("b", "x"))
    ]
    report: Any = SimpleNamespace(label="LAT", test=synthetic_test(), headlines=lambda: times)
    run = replace(synthetic_run(), plan={"baseline": {"a": 100.0, "b": 100.0}})
    assert [round(one.worse, 6) for one in held_to_baseline(run, [report])] == [0.1, -0.1]
