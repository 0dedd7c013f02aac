"""Nothing is decided by words: with all of them replaced, states, ranks, codes, numbers and verdicts are the same."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.rendering import run_summary, whole_run
from assay.compare.comparison import Options, compare_runs
from assay.compare.gate import GateOptions, run_gate
from assay.compare.limits.judge import judge
from assay.compare.limits.model import limits_of_plan
from assay.report import records_of_tests
from assay.report.formats.terminal.lines import terminal_lines
from assay.report.formats.terminal.listed import listed_run
from assay.summary.verdict import level_of
from assay.words import text as words
from compared_runs import short_run, variant

if TYPE_CHECKING:
    from assay.engine.records import StoredRun

PLAN = {
    "limits": [{"test": "wsat", "measure": "iops", "at_least": 10_000}, {"findings": "host", "at_most": 0}],
    "claims": {"rnd_4k_write_iops": 20_000},
}


@pytest.fixture(scope="module", params=["wsat", "lat", "hir", "ecw"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    more = PLAN if request.param == "wsat" else {}
    return short_run(tmp_path_factory.mktemp("worded") / "run", test=request.param, edition="pts-e-1.1", **more)


def replaced(template: str) -> str:
    """A template with other words around the same values."""
    return re.sub(r"(\{[^}]*\}|[\[\]])|[^\[\]{}]+", lambda found: found[1] or " word ", template)


def decided(run: StoredRun) -> dict[str, Any]:
    """Everything that outputs decide or count."""
    tests, summary = records_of_tests(run), run_summary(run, Path("RUN"))
    listed = listed_run(run, "RUN")
    runs = [variant(run, number, slower=slower) for number, slower in ((1, 0.0), (2, 0.1), (3, 0.0))]
    compared = compare_runs(runs, Options(despite=True))
    gated = run_gate(runs[:1], runs[1:2], GateOptions(limit=0.05))
    return {
        "levels": [level_of(one.verdict) for one in summary.tests],
        "colours": [one.level for one in terminal_lines(summary)],
        "exit codes": [summary.exit_codes, listed.exit_codes, whole_run(run).results.exit_codes],
        "states": [one.verdict for one in listed.tests],
        "caveats": [(one.level, one.said.code) for one in summary.caveats],
        "numbers": [(one.identity, one.name, one.value, one.rounds, one.stat) for one in tests[0].measures],
        "index": [[(one.item, one.value, one.claim) for one in test.headlines] for test in listed.tests],
        "limits": [(one.name, one.value, one.verdict) for one in judge(run, tests, limits_of_plan(run))],
        "ranks": [(one.name.key, [(e.ratio, e.low, e.rank, e.order) for e in one.sides]) for one in compared.numbers],
        "gate": [(one.name.key, one.verdict, one.worse) for one in gated.gated],
        "held": summary.held and asdict(summary.held),
    }


def test_with_all_words_replaced_nothing_else_changes(run: StoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    before, said = decided(run), [one.text for one in terminal_lines(run_summary(run, Path("RUN")))]
    for code, template in words.TEMPLATES.items():
        monkeypatch.setitem(words.TEMPLATES, code, replaced(template))
    assert decided(run) == before
    assert [one.text for one in terminal_lines(run_summary(run, Path("RUN")))] != said
