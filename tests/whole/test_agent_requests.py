"""Requests to the agent with seeded mistakes: each is read, and its plan allowed, or refused in our own words, soon.

``make soak`` does so for an hour of CPU time, or for as many seconds as ``ASSAY_FUZZ_SECONDS`` says.
"""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from assay.agent.checks import allowed_answers, allowed_plan, plan_text
from assay.agent.config import AgentConfig
from assay.agent.messages import CheckRequest, read_request
from assay.run.plan_file import plan_of
from fuzzed_readers import SOAK_TIMEOUT, Outcome, Reader
from mistaken_files import RAW

if TYPE_CHECKING:
    import random

SAMPLE = 1_000
PLANS: list[dict[str, Any]] = [
    {"suite": "quick", "tests": ["iops"], "scale": 0.5, "iops": {"thread_count": 2, "queue_depth": 16}},
    {"suite": "enterprise", "report": {"tags": ["a"], "notes": "b"}, "claims": {"rnd_4k_read_iops": 1.0}},
    {"studies": ["workload"], "workload": {"stages": [{"name": "a", "time_s": 2, "streams": []}]}},
    {"tests": ["wsat"], "wsat": {"stop": "first"}, "data": "compressible:0.5", "limits": []},
    {"studies": ["replay"], "replay": {"speed": "max"}, "special_notes": [{"item": "a"}], "pin": "0-3"},
]
ORIGINALS: list[dict[str, Any]] = [
    {"verb": "drives"},
    *({"verb": "check", "drive": "sim:client-2011?capacity=8GB", "plan": plan} for plan in PLANS),
    {"verb": "check", "drive": "/dev/sda", "plan": {}, "consents": {"acknowledge": ["reader:x"]}, "claimed": "me"},
    {"verb": "start", "digest": "0" * 64, "identity": "S1"},
    {"verb": "stop", "job": "0" * 12},
    {"verb": "queue", "action": "move", "job": "0" * 12, "position": 3},
]
VALUES = (
    None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", "../etc", "/etc/passwd", "a.toml", "file:/etc/passwd", "quick",
    "iops", "sim:ideal?state=x", "\x00", "\ud83d", "٣", [], {}, ["iops"], ["iops", "iops"], [[]], "9" * 400, [{}],
    {"path": "/x", "kind": "file"}, {"trace": "/x"},
)  # fmt: skip


def mistaken(draw: random.Random) -> bytes:
    """One of the requests with a few values, keys or letters other than they were."""
    message: dict[str, Any] = json.loads(json.dumps(draw.choice(ORIGINALS)))
    for _ in range(draw.choice([0, 1, 1, 2, 4])):
        table = within(message, draw)
        key = draw.choice([*table, "drive", "plan", "edition", "file_target", "x"])
        table[key] = deepcopy(draw.choice(VALUES))
    line = bytearray(json.dumps(message), "utf-8")
    for _ in range(draw.choice([0, 0, 0, 1, 3])):
        line[draw.randrange(len(line))] = draw.randrange(256)
    return bytes(line)


def within(message: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """A table of the message, at any depth."""
    tables, at = [message], 0
    while at < len(tables):
        tables += [inner for inner in tables[at].values() if isinstance(inner, dict)]
        at += 1
    return draw.choice(tables)


def tried(draw: random.Random, outcome: Outcome) -> None:
    """Read the request, and its plan as far as no drive is looked at."""
    request = read_request(mistaken(draw))
    outcome.stage = "read"
    if isinstance(request, CheckRequest):
        config = AgentConfig(acknowledge=("reader:x",))
        allowed_answers(config, request.consents)
        plan = allowed_plan(config, request)
        assert plan_of(tomllib.loads(plan_text(request, request.drive))).resolved() == plan
        assert "/etc/passwd" not in plan.model_dump_json(exclude={"drive", "report"})
        outcome.stage = "allowed"


REQUESTS = Reader(kind="request", tried=tried, exits=(2, 3), raw=RAW)


def test_a_request_with_mistakes_is_read_or_refused() -> None:
    outcomes = [REQUESTS.answered(seed) for seed in range(SAMPLE)]
    assert outcomes.count("refused") > SAMPLE // 10
    assert outcomes.count("allowed") > SAMPLE // 20


@pytest.mark.soak
@pytest.mark.timeout(SOAK_TIMEOUT)
def test_requests_with_mistakes_are_read_or_refused_for_an_hour() -> None:
    assert REQUESTS.answers_for_an_hour(SAMPLE) > 0
