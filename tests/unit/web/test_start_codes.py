"""A start of a real drive needs a code that no request of the page ever brought."""

from __future__ import annotations

import pytest
from assay.errors import ConfirmationError
from assay.web import start_codes
from assay.web.sessions import Session
from assay.web.start_codes import ALL_MAX, SESSION_MAX, TRIES_MAX, StartCodes, start_words

WORDS = start_words("/dev/sdb", "S4\u202eE", ("iops",), "check 1")


def session(name: str = "a") -> Session:
    return Session(digest=name, key_digest="", link=f"link-{name}", role="operator", opened_ns=0, until_ns=1)


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def codes(told: list[str]) -> StartCodes:
    result = StartCodes(told.append)
    result.expect("plan", session(), WORDS, real=True)
    return result


def test_a_code_is_made_at_the_first_press_and_used_once(codes: StartCodes, told: list[str]) -> None:
    assert not codes.admit("plan", session(), "guess")
    assert codes.lines() == told
    code, text = told[0].split("  ")
    assert text == r"/dev/sdb (S4\u202eE): iops, check 1, link link-a"
    assert not codes.admit("plan", session(), ""), "pressed again: no other code"
    assert len(told) == 1
    assert codes.admit("plan", session(), f" {code.upper()} ")
    assert codes.lines() == []
    assert not codes.admit("plan", session(), code), "used: another is made"
    assert told[1].split("  ")[0] != code


def test_a_code_is_of_one_session_and_one_start(codes: StartCodes, told: list[str]) -> None:
    codes.expect("other", session("b"), WORDS, real=True)
    codes.admit("plan", session(), "")
    codes.admit("other", session("b"), "")
    mine, other = (line.split("  ")[0] for line in told)
    with pytest.raises(ConfirmationError, match="is not the code of this start"):
        codes.admit("other", session("b"), mine)
    for key in ("plan", "unknown"):
        with pytest.raises(ConfirmationError, match="unknown or older than 10 min"):
            codes.admit(key, session("b"), mine)
    assert codes.admit("other", session("b"), other)
    assert codes.admit("plan", session(), mine)


def test_a_code_ends_with_five_wrong_tries_and_with_time(
    codes: StartCodes, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    codes.admit("plan", session(), "")
    for _ in range(TRIES_MAX):
        with pytest.raises(ConfirmationError):
            codes.admit("plan", session(), "22222222")
    assert not codes.admit("plan", session(), told[0].split("  ")[0])
    assert len(told) == 2
    late = start_codes.time.monotonic() + start_codes.VALID_S
    monkeypatch.setattr(start_codes.time, "monotonic", lambda: late)
    with pytest.raises(ConfirmationError):
        codes.admit("plan", session(), told[1].split("  ")[0])
    assert codes.lines() == []


def test_a_drive_is_named_whole_whatever_is_tested() -> None:
    drive, identity = "/dev/disk/by-id/" + "x" * 200, "i" * 300
    words = start_words(drive, identity, ("iops",) * 99, "check 1a2b3c4d")
    assert words.startswith(f"{drive} ({identity}): iops, ")
    assert words.endswith(", check 1a2b3c4d")


def test_sessions_have_codes_of_their_own_for_one_job(codes: StartCodes, told: list[str]) -> None:
    for name in "ab":
        codes.expect("release job", session(name), WORDS, real=True)
        codes.admit("release job", session(name), "")
    codes.expect("release job", session("b"), WORDS, real=True)
    assert codes.admit("release job", session("a"), told[0].split("  ")[0])


def test_a_simulated_drive_needs_none(codes: StartCodes, told: list[str]) -> None:
    codes.expect("simulated", session(), WORDS, real=False)
    assert codes.admit("simulated", session(), "")
    assert told == []


def test_starts_are_limited_by_session_and_in_all(codes: StartCodes) -> None:
    for number in range(SESSION_MAX):
        codes.expect(f"b{number}", session("b"), WORDS, real=False)
    codes.expect("b-last", session("b"), WORDS, real=False)
    with pytest.raises(ConfirmationError):
        codes.admit("b0", session("b"), "")
    assert codes.admit("b1", session("b"), "")
    assert not codes.admit("plan", session(), ""), "others keep theirs"
    for number in range(ALL_MAX):
        codes.expect(f"c{number}", session(f"c{number}"), WORDS, real=False)
    with pytest.raises(ConfirmationError):
        codes.admit("plan", session(), "")
