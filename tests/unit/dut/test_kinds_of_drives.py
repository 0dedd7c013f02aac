"""The table of kinds of drives: each rule is one of the gate, each test is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.dut.real.gate import doubts, entry, users
from assay.dut.real.gate.levels import KINDS, Kind

RULES = {
    *users.USERS,
    *users.FILE_USERS,
    *users.PROCESSES,
    *doubts.DOUBTS,
    *entry.WISHES,
    *entry.HELD,
    # Refused where a drive is identified, before any table is asked.
    "partition",
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_names_a_rule_where_it_is_refused_and_tests_where_it_is_supported(kind: Kind) -> None:
    assert bool(kind.rule) == (kind.state == "refused")
    assert kind.state != "refused" or kind.rule in RULES
    assert kind.state != "supported" or kind.tried
    assert kind.state != "untested" or not kind.tried
    assert [path for path in kind.tried if not (Path(__file__).parents[2] / path).exists()] == []
