"""The bar of a run lists the rules that it breaks, also where that was worked out before."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from assay.archive.verify import verify_run
from assay.cli.index import update
from assay.web import worker
from assay.web.made_files import BrokenRule, Verified, checked_run, keep_verified, kept_verified
from assay.web.pages.run import report_job
from assay.words.outcomes import BREAKS_RULES
from every_kind import run_of
from synthetic_runs import _journal
from web_site import client_of, indexed, site_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "run"
    run_of("tp", folder)
    return folder


@pytest.fixture
def forged(good: Path, tmp_path: Path) -> Path:
    """A run whose response times are half of what was measured, the hash chain made good."""
    folder = tmp_path / "runs/run"
    shutil.copytree(good, folder)
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_bytes().splitlines()]
    for line in lines:
        if line["kind"] == "steps":
            for step in line["data"]["steps"]:
                for side in ("read", "write"):
                    step[side]["latency_ns_sum"] //= 2
    (folder / "journal.jsonl").write_bytes(_journal(lines, (folder / "run.json").read_bytes(), 0))
    return folder


def test_broken_rules_are_listed_with_statement_and_location(forged: Path, tmp_path: Path) -> None:
    site = site_in(tmp_path)
    update(site.place, site.folders)
    job = report_job(site, indexed(site)[0])
    assert worker._done({"kind": job.kind, "arguments": job.arguments}) == ""
    text = client_of(site, "viewer").get(f"/runs/{indexed(site)[0].address}").text
    rules = {answer.rule for answer in verify_run(forged).answers if not answer.rule.startswith("R-")}
    assert rules
    assert set(re.findall(r"<b>([A-Z]-\d+)</b>", text)) == rules
    (summary,) = re.findall(r'<summary class="bad">Verification: (.*?) broken', text)
    assert set(summary.split(", ")) == rules
    assert f"<span>{BREAKS_RULES}</span>" in text
    # What is kept of the check says only that it failed.
    assert checked_run(forged)[1] == kept_verified(site.cache / job.key)


def test_a_run_that_keeps_all_rules_has_no_list(good: Path) -> None:
    assert checked_run(good)[1].broken == ()


def test_a_long_list_is_folded_and_its_texts_are_escaped(good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "runs/run")
    site = site_in(tmp_path)
    update(site.place, site.folders)
    folder = site.cache / report_job(site, indexed(site)[0]).key
    folder.mkdir()
    (folder / "report.html").write_text("<html><head></head><body></body></html>")
    rule = BrokenRule(rule="W-01", statement="s", location="<script>\x1b[2J", actual="", expected="")
    for count, is_open in ((3, True), (4, False)):
        keep_verified(folder, Verified(level="<x>", broken=(rule,) * count))
        text = client_of(site, "viewer").get(f"/runs/{indexed(site)[0].address}").text
        assert ('<details class="broken-rules" open>' in text) is is_open
        assert text.count("&lt;script&gt;\\x1b[2J") == count
        assert "<span>&lt;x&gt;</span>" in text
