"""What comes over the socket is a request of a known form, or refused in words."""

import json
from typing import Any

import pytest
from assay.agent.messages import DrivesRequest, Request, StartRequest, read_request
from assay.errors import UsageError
from hypothesis import given
from hypothesis import strategies as st

VALID: list[dict[str, Any]] = [
    {"verb": "drives"},
    {"verb": "check", "drive": "sim:ideal", "plan": {"suite": "quick"}, "consents": {"acknowledge": ["reader:x"]}},
    {"verb": "start", "digest": "0" * 64, "identity": "x", "claimed": "me"},
    {"verb": "stop", "job": "0" * 12},
    {"verb": "queue", "action": "move", "job": "0" * 12, "position": 1},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def test_every_verb_is_read() -> None:
    assert read_request(b'{"verb": "drives"}') == DrivesRequest()
    assert [read_request(json.dumps(one).encode()).verb for one in VALID] == [one["verb"] for one in VALID]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "request: is not JSON"),
        (b"[]", "request: is no JSON object; see docs/formats/agent.md"),
        (b'{"verb": "erase"}', "request: verb: is not known"),
        (b'{"verb": ["stop"]}', "request: verb: is not known"),
        (b'{"verb": "stop", "job": "../x"}', "request: job"),
        (b'{"verb": "start", "digest": "0"}', "request: digest"),
        (b'{"verb": "drives", "more": 1}', "request: more"),
        (b"\xff" * 40, "is not JSON"),
        (b'{"verb":' + b"[" * 30_000, "is nested too deeply"),
    ],
)
def test_faults_are_named(line: bytes, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        read_request(line)


def is_refused_or_read(line: bytes) -> Request | None:
    try:
        return read_request(line)
    except UsageError:
        return None


@given(st.binary(max_size=2000))
def test_any_bytes_are_refused_or_read(line: bytes) -> None:
    is_refused_or_read(line)


@given(
    st.sampled_from(VALID),
    st.sampled_from(["verb", "drive", "plan", "digest", "job", "position", "consents", "z"]),
    JSON,
)
def test_any_value_at_any_key_is_refused_or_read(message: dict[str, Any], key: str, value: object) -> None:
    is_refused_or_read(json.dumps({**message, key: value}).encode())


@given(st.sampled_from(VALID), st.data())
def test_a_damaged_request_is_refused_or_read(message: dict[str, Any], data: st.DataObject) -> None:
    line = bytearray(json.dumps(message).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))
    read = is_refused_or_read(bytes(line))
    assert not isinstance(read, StartRequest) or len(read.digest) == 64
