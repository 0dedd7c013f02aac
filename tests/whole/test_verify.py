"""`assay verify`: good runs of every kind break no rule, and a run that breaks one rule is found by that rule."""

from __future__ import annotations

import json
import random
import re
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import rules_page
from assay.archive.rendering import render_run
from assay.archive.verify import RULES, verify_run
from assay.cli import assay
from assay.dut.dut import Answers
from assay.engine.records import REAL_PURGES
from assay.errors import DeviceFailureError, StoreError
from assay.procedures.registry import procedures
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from broken_rules import BREAKINGS, QUIET_HOST, data
from click.testing import CliRunner
from every_kind import EVERY, KINDS, REAL_ONLY, TRACE, plan_of
from folder_faults import Folder, change
from session_runs import copied_run, session_run

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
DRIVE = "sim:client-2011?capacity=1GB"
GOOD: dict[str, dict[str, Any]] = {
    "lat": {"tests": ["lat"]},
    "wsat": {"tests": ["wsat"]},
    "captured": {"tests": ["lat"], "capture": "addresses"},
    "replayed": {"studies": ["replay"], "replay": {"trace": str(TRACE)}},
    "open": {"tests": ["lat"], "lat": {"arrival": "fixed:2000"}},
    "limited": {
        "tests": ["lat"],
        "limits": [
            {
                "id": "L-1",
                "test": "lat",
                "item": "RND 4KiB R, 1 outstanding, average",
                "measure": "latency_ms",
                "at_most": 1e-6,
            }
        ],
    },
}
"""Small runs that rules are broken in."""


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A good run of a kind, with CSV and JSON of its report, made once in each worker."""
    folder = tmp_path_factory.mktemp("good")

    def of(kind: str) -> Path:
        path = folder / kind
        if not path.exists():
            plan = load_plan(None, {"drive": DRIVE, "seed": 1, "scale": 0.001, "edition": "pts-e-1.1", **GOOD[kind]})
            copied_run(plan, path)
            render_run(path, ["csv", "json"])
        return path

    return of


def broken(path: Path) -> set[str]:
    return {one.rule for one in verify_run(path).answers}


def test_a_report_of_an_older_form_is_left_unchecked_and_the_run_is_verified(
    good: Callable[[str], Path], tmp_path: Path
) -> None:
    shutil.copytree(good("wsat"), tmp_path / "run")
    stored = tmp_path / "run/report/results.json"
    content = json.loads(stored.read_text("ascii"))
    stored.write_text(json.dumps({**content, "schema": 1, "insights": ["as it was"]}), "ascii")
    found = verify_run(tmp_path / "run")
    assert (found.passed, found.unchecked) == (True, ("R-02", "R-03", "R-04"))
    done = CliRunner().invoke(assay, ["verify", str(tmp_path / "run")], standalone_mode=False)
    assert "3 rules not checked: the report is of an older form: assay report writes it anew." in done.stdout
    stored.write_text(json.dumps({**content, "insights": ["as it was"]}), "ascii")
    assert broken(tmp_path / "run") == {"R-03"}


def invoke(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(assay, ["verify", *arguments], standalone_mode=False)
    return done.return_value, done.stdout, done.stderr


@pytest.mark.parametrize("kind", EVERY)
def test_a_run_that_nobody_changed_breaks_no_rule(kind: str) -> None:
    found = verify_run(session_run(plan_of(kind)))
    assert (found.answers, found.unchecked, found.complete) == ((), (), True)
    assert found.rules == tuple(rule.id for rule in RULES)


def test_every_test_of_the_registry_is_among_the_kinds() -> None:
    # Those that need a drive that holds data are verified in tests/device/test_integrity.py.
    assert {procedure.label for procedure in procedures()} - {f"study-{name}" for name in REAL_ONLY} <= set(KINDS)


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_run_with_its_report_breaks_no_rule(kind: str, good: Callable[[str], Path]) -> None:
    before = {path: path.read_bytes() for path in good(kind).rglob("*") if path.is_file()}
    assert verify_run(good(kind)).answers == ()
    assert {path: path.read_bytes() for path in good(kind).rglob("*") if path.is_file()} == before


def test_every_rule_has_an_id_of_its_own_and_a_way_to_break_it() -> None:
    assert [rule.id for rule in RULES] == list(BREAKINGS)
    assert len({rule.sentence for rule in RULES}) == len({rule.check for rule in RULES}) == len(RULES)


def test_the_page_of_rules_is_the_table() -> None:
    assert rules_page.PAGE.read_text("utf-8") == rules_page.page()


@pytest.mark.parametrize("rule", BREAKINGS)
def test_a_run_that_breaks_one_rule_is_found_by_it_alone(
    rule: str, good: Callable[[str], Path], tmp_path: Path
) -> None:
    base = good(BREAKINGS[rule].base)
    names = ("report_date.json", *(f"report/{path.name}" for path in (base / "report").iterdir()))
    report = {name: (base / name).read_bytes() for name in names} if rule.startswith("R") else {}
    BREAKINGS[rule].make(base, tmp_path / "run", report)
    found = verify_run(tmp_path / "run")
    assert {one.rule for one in found.answers} == {rule}, found.answers
    assert all(one.place and one.found and one.expected for one in found.answers)
    assert str(tmp_path) not in str(found.answers)


def test_a_rule_that_is_broken_in_many_places_names_the_first_and_counts_the_others(
    good: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Folder.read(good("wsat"))
    for line in folder.lines:
        for step in line["data"].get("steps", ()):
            step["label"] = "x"
    folder.write(tmp_path / "run")
    found = verify_run(tmp_path / "run").answers
    assert len(found) == 21
    assert found[-1].found.startswith("and in ")


def test_a_seed_that_is_not_that_of_the_plan_is_found(good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Folder.read(good("lat"))
    folder.document["seed"] += 1
    folder.write(tmp_path / "run")
    assert "run.json: seed" in {answer.place for answer in verify_run(tmp_path / "run").answers}


def test_a_forged_journal_whose_chain_was_made_good_is_found(good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Folder.read(good("lat"))
    for line in folder.lines:
        for step in line["data"].get("steps", ()):
            for side in (step["read"], step["write"]):
                side["latency_ns_sum"] //= 10
    folder.write(tmp_path / "run")
    assert {"W-04", "W-12", "W-13", "V-04"} <= broken(tmp_path / "run")


def test_a_simulated_run_that_says_it_is_of_a_real_drive_is_found(good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Folder.read(good("lat"))
    real = {"kind": "block", "id": "S6PXNS0T", "path": "/dev/nvme0n1", "serial": "S6PXNS0T"}
    folder.document["identity"].update(model_number="Samsung SSD 980 PRO 1TB", firmware="5B2QGXA7", **real)
    folder.document["plan"]["drive"] = "/dev/nvme0n1"
    folder.write(tmp_path / "run")
    found = verify_run(tmp_path / "run")
    assert {"D-02", "D-03", "D-04"} <= {answer.rule for answer in found.answers}
    assert "D-05" in found.unchecked


def test_a_start_later_than_the_journal_is_found(good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Folder.read(good("lat"))
    folder.document["started_wall_ns"] = folder.lines[-1]["wall_ns"] + 1
    folder.write(tmp_path / "run")
    (answer,) = [answer for answer in verify_run(tmp_path / "run").answers if answer.rule == "F-06"]
    assert answer.place == "run.json: started_wall_ns"


def test_what_an_earlier_version_did_not_store_is_said_to_be_not_checked(
    good: Callable[[str], Path], tmp_path: Path
) -> None:
    """As of a real drive, with all that this version stores but the looks for other users."""
    folder = Folder.read(good("wsat"))
    folder.document["identity"].update(kind="file", id="drive.img", path="drive.img")
    data(folder, "purged").update(method="overwrite")
    for line in folder.lines:
        if line["kind"] == "steps":
            line["data"].update(host=QUIET_HOST)
            line["data"]["steps"][0]["cpu_ns"] = 1
    folder.write(tmp_path / "run")
    found = verify_run(tmp_path / "run")
    assert found.unchecked == ("D-05",)
    assert "D" not in {answer.rule[0] for answer in found.answers}


def test_every_purge_of_a_real_drive_is_known() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "python/assay/dut/real/purge").glob("*.py")]
    labels = [label for text in texts for label in re.findall(r'label=f?"([^"{]+)', text)]
    assert len(labels) == 8
    assert all(label.startswith(REAL_PURGES) for label in labels)


def test_what_is_no_run_or_of_a_newer_form_cannot_be_verified(good: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no run folder"):
        verify_run(tmp_path)
    folder = Folder.read(good("lat"))
    folder.document["schema"] = 99
    folder.write(tmp_path / "newer")
    with pytest.raises(StoreError, match=r"has form 99; this version knows \d+; verify it with a newer version"):
        verify_run(tmp_path / "newer")


def test_a_run_that_was_cut_short_is_verified_as_far_as_it_goes(good: Callable[[str], Path], tmp_path: Path) -> None:
    for count in range(1, len(Folder.read(good("lat")).lines)):
        folder = Folder.read(good("lat"))
        del folder.lines[count:]
        kept = {name for line in folder.lines for name in line["data"].get("tables", ())}
        folder.tables = {name: content for name, content in folder.tables.items() if name in kept}
        folder.write(tmp_path / "run")
        found = verify_run(tmp_path / "run")
        assert (found.answers, found.complete) == ((), False), count


def test_the_command_prints_versions_and_rules_and_exits_with_5_where_one_is_broken(
    good: Callable[[str], Path], tmp_path: Path
) -> None:
    code, text, _ = invoke(str(good("lat")))
    assert (code, f"verified, {len(RULES)} rules hold" in text) == (0, True), text
    assert "Checked by Assay" in text
    assert "edition pts-e-1.1" in text
    BREAKINGS["W-04"].make(good("lat"), tmp_path / "run", {})
    code, text, _ = invoke(str(good("lat")), str(tmp_path / "run"))
    assert (code, "NOT VERIFIED: broken W-04" in text) == (5, True), text
    code, text, errors = invoke(str(tmp_path / "run"), str(tmp_path))
    assert (code, "CANNOT BE READ" in text, "is no run folder" in errors) == (6, True, True), text


def test_json_has_every_run_in_the_form_of_its_schema(good: Callable[[str], Path], tmp_path: Path) -> None:
    BREAKINGS["T-01"].make(good("lat"), tmp_path / "run", {})
    code, text, _ = invoke("--json", str(good("lat")), str(tmp_path / "run"), str(tmp_path))
    well, changed, none = json.loads(text)
    assert (code, well["passed"], well["exit_code"], well["unchecked"], well["edition"]) == (
        6, True, 0, [], "pts-e-1.1",
    )  # fmt: skip
    assert [one["rule"] for one in changed["broken"]] == ["T-01"]
    assert changed["broken"][0]["place"] == "histograms/000002.parquet"
    assert changed["unchecked"][:3] == ["T-04", "T-05", "W-01"]
    assert (none["passed"], none["exit_code"], "is no run folder" in none["error"]) == (False, 6, True)


def test_what_the_run_withholds_stays_withheld(good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Folder.read(good("lat"))
    del folder.lines[-3:]
    folder.write(tmp_path / "run")
    code, text, _ = invoke(str(tmp_path / "run"))
    assert (code, f"verified, {len(RULES)} rules hold, results withheld by the run itself" in text) == (5, True), text
    assert "That stands, whatever was verified" in text


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_run_that_was_killed_before_anything_was_measured_is_not_called_verified(
    count: int, good: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Folder.read(good("lat"))
    del folder.lines[count:]
    folder.tables.clear()
    folder.write(tmp_path / "run")
    code, text, _ = invoke(str(tmp_path / "run"))
    assert (code, text.splitlines()[0]) == (5, f"{tmp_path}/run: NOTHING MEASURED: there is no result to verify")
    assert "verified," not in text
    assert json.loads(invoke("--json", str(tmp_path / "run"))[1])[0]["sequence_count"] == 0


def test_a_table_of_the_run_in_flight_when_it_was_killed_breaks_no_rule(
    good: Callable[[str], Path], tmp_path: Path
) -> None:
    shutil.copytree(good("lat"), tmp_path / "run")
    shutil.rmtree(tmp_path / "run/report")
    lines = (tmp_path / "run/journal.jsonl").read_bytes().splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if b'"kind":"steps"' in line)
    (tmp_path / "run/journal.jsonl").write_bytes(b"".join(lines[:last]) + lines[last][:-20])
    assert broken(tmp_path / "run") == set()


@pytest.mark.parametrize("kind", ["lat", "captured"])
def test_a_folder_that_anybody_changed_gets_an_answer(kind: str, good: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Folder.read(good(kind))
    for seed in range(25):
        draw, changed = random.Random(f"{kind} {seed}"), folder.copied()  # noqa: S311 - the same every time
        done = change(changed, draw)
        changed.write(tmp_path / "run")
        try:
            found = verify_run(tmp_path / "run")
        except StoreError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {kind} {seed}: {done}") from error
        assert set(found.rules) | set(found.unchecked) == {rule.id for rule in RULES}, done


@pytest.mark.parametrize(
    ("fault", "ends"),
    [
        ('kind = "stall"\nduration_s = 3', "regularly"),
        ('kind = "reset"\nduration_s = 0.1\noutcome = "error"', "early"),
        ('kind = "gone"', "early"),
    ],
    ids=["stalled", "failed", "gone"],
)
def test_a_run_on_a_drive_that_fails_breaks_no_rule(fault: str, ends: str, tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text(f"schema = 1\n[[faults]]\n{fault}\nat_s = 5\n", "utf-8")
    keys = {"drive": f"sim:ideal?capacity=128MB&faults={faults}", "tests": ["iops"], "seed": 1, "scale": 0.001}
    with nullcontext() if ends == "regularly" else pytest.raises(DeviceFailureError):
        run_plan(load_plan(None, keys), out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    found = verify_run(tmp_path / "run")
    assert (found.answers, found.unchecked, bool(found.withheld)) == ((), (), ends == "early")
