"""Links open sessions as long as they are valid, and no longer; sessions end with their server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from assay.errors import UsageError
from assay.web import sessions as module
from assay.web.links import DAY_NS, FIRST_NS, OPERATOR_NS, Links
from assay.web.sessions import Sessions

if TYPE_CHECKING:
    from pathlib import Path

LINK_SESSIONS_MAX, ROLE_SESSIONS_MAX = 4, 16


class Clock:
    """A clock that a test sets."""

    now_ns = 10**18

    def __call__(self) -> int:
        """The time that was set."""
        return self.now_ns


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/assay/web.jsonl"


def test_a_link_opens_sessions_of_its_role_until_it_ends(state: Path) -> None:
    clock = Clock()
    links = Links(clock)
    sessions = Sessions(links)
    link, token = links.make("viewer", 2)
    opened = sessions.open(token)
    assert opened
    session = opened.session
    assert (session.role, session.until_ns) == ("viewer", link.until_ns)
    assert sessions.of_cookie(opened.cookie) == session
    assert sessions.open(token)
    assert links.listed() == [link]
    for secret in (token, opened.cookie, opened.key):
        assert secret not in state.read_text()
    clock.now_ns += 2 * DAY_NS
    assert sessions.of_cookie(opened.cookie) is None
    assert sessions.open(token) is None
    assert links.listed() == []


@pytest.mark.parametrize("days", [None, 30])
def test_the_link_of_an_operator_opens_one_session_of_eight_hours(state: Path, days: int | None) -> None:
    del state
    clock = Clock()
    links = Links(clock)
    sessions = Sessions(links)
    token = links.first() if days is None else links.make("operator", days)[1]
    opened = sessions.open(token)
    assert opened
    assert opened.session.until_ns == clock.now_ns + OPERATOR_NS
    assert sessions.open(token) is None
    # Those of another server of this user, too.
    assert Sessions(links).open(token) is None
    assert [link.until_ns for link in links.listed()] == [clock.now_ns + OPERATOR_NS]
    late = links.first()
    clock.now_ns += FIRST_NS
    assert sessions.open(late) is None
    assert sessions.of_cookie(opened.cookie) is not None


def test_threads_open_one_session_with_a_link_of_an_operator(state: Path) -> None:
    del state
    sessions = Sessions(Links())
    token, opened, barrier = sessions.links.first(), [], threading.Barrier(8)

    def enter() -> None:
        barrier.wait()
        opened.append(sessions.open(token))

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one is not None for one in opened) == 1


def test_a_session_ends_with_its_server(state: Path) -> None:
    del state
    links = Links()
    opened = Sessions(links).open(links.make("viewer", 1)[1])
    assert opened
    assert Sessions(links).of_cookie(opened.cookie) is None


def test_the_key_is_of_one_session_and_does_not_follow_from_its_cookie(state: Path) -> None:
    del state
    sessions = Sessions(Links())
    first, second = (sessions.open(sessions.links.first()) for _ in range(2))
    assert first
    assert second
    keys = (first.key, second.key, first.cookie, first.session.digest, first.session.key_digest, "")
    assert [first.session.has_key(key) for key in keys] == [True, False, False, False, False, False]


def test_sessions_are_limited_by_link_and_by_role(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINK_SESSIONS_MAX", LINK_SESSIONS_MAX)
    monkeypatch.setattr(module, "ROLE_SESSIONS_MAX", ROLE_SESSIONS_MAX)
    size = 0
    sessions = Sessions(Links())
    operator = sessions.open(sessions.links.first())
    busy, other = (sessions.links.make("viewer", 1)[1] for _ in range(2))
    kept = sessions.open(other)
    for count in range(3 * LINK_SESSIONS_MAX):
        assert sessions.open(busy)
        size = size or state.stat().st_size
        assert state.stat().st_size == size, count
    assert kept
    assert operator
    assert sessions.of_cookie(kept.cookie)
    for _ in range(ROLE_SESSIONS_MAX // LINK_SESSIONS_MAX + 1):
        token = sessions.links.make("viewer", 1)[1]
        for _ in range(LINK_SESSIONS_MAX):
            sessions.open(token)
    assert sessions.of_cookie(kept.cookie) is None
    assert sessions.of_cookie(operator.cookie), "viewers end no session of an operator"


def test_a_revoked_link_ends_its_sessions(state: Path) -> None:
    links = Links()
    sessions = Sessions(links)
    link, token = links.make("operator", 1)
    opened = sessions.open(token)
    assert opened
    assert sessions.ended({opened.session.digest}) == set()
    # Another process of this user.
    Links().revoke(link.id)
    assert sessions.of_cookie(opened.cookie) is None
    assert sessions.ended({opened.session.digest}) == {opened.session.digest}
    assert sessions.open(token) is None
    with pytest.raises(UsageError, match="is no link that is valid"):
        links.revoke(link.id)
    assert state.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("days", [0, -1, 367])
def test_days_have_limits(state: Path, days: int) -> None:
    del state
    with pytest.raises(UsageError, match="give 1 to 366"):
        Links().make("viewer", days)


def test_a_program_has_no_session_and_a_viewer_no_bearer(state: Path) -> None:
    del state
    sessions = Sessions(Links())
    token, other = sessions.links.make("program", 1)[1], sessions.links.make("viewer", 1)[1]
    assert sessions.open(token) is None
    known = [sessions.of_program(one) is not None for one in (token, other, "", "x" * 500, "\udcff")]
    assert known == [True, False, False, False, False]


def test_lines_of_another_form_are_left_out(state: Path) -> None:
    sessions = Sessions(Links())
    _, token = sessions.links.make("viewer", 1)
    with state.open("a") as file:
        file.write('{"link": {"id": 1}}\n[]\n{"session": 3}\nno json\n{"used": []}\n{"revoked": "x"}\n')
    assert sessions.open(token)
