"""Links open sessions as long as they are valid, and no longer; tokens and cookies are kept nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.errors import UsageError
from assay.web.links import DAY_NS, FIRST_NS, OPERATOR_NS, Links

if TYPE_CHECKING:
    from pathlib import Path


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
    link, token = links.make("viewer", 2)
    opened = links.opened(token)
    assert opened
    session, cookie = opened
    assert (session.role, session.until_ns, links.session(cookie)) == ("viewer", link.until_ns, session)
    assert links.opened(token)
    assert [(one.id, count) for one, count in links.listed()] == [(link.id, 2)]
    content = state.read_text()
    assert token not in content
    assert cookie not in content
    clock.now_ns += 2 * DAY_NS
    assert links.session(cookie) is None
    assert links.opened(token) is None
    assert links.listed() == []


def test_the_link_of_a_start_opens_one_session_of_eight_hours(state: Path) -> None:
    del state
    clock = Clock()
    links = Links(clock)
    token = links.first()
    opened = links.opened(token)
    assert opened
    assert opened[0].until_ns == clock.now_ns + OPERATOR_NS
    assert links.opened(token) is None
    late = links.first()
    clock.now_ns += FIRST_NS
    assert links.opened(late) is None
    assert links.session(opened[1]) is not None


def test_a_revoked_link_ends_its_sessions(state: Path) -> None:
    links = Links()
    link, token = links.make("operator", 1)
    opened = links.opened(token)
    assert opened
    # Another process of this user.
    Links().revoke(link.id)
    assert links.session(opened[1]) is None
    assert links.opened(token) is None
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
    links = Links()
    token, other = links.make("program", 1)[1], links.make("viewer", 1)[1]
    assert links.opened(token) is None
    assert [links.program(one) for one in (token, other, "", "x" * 500, "\udcff")] == [True, False, False, False, False]


def test_lines_of_another_form_are_left_out(state: Path) -> None:
    links = Links()
    _, token = links.make("viewer", 1)
    with state.open("a") as file:
        file.write('{"link": {"id": 1}}\n[]\n{"session": 3}\nno json\n{"used": []}\n{"revoked": "x"}\n')
    assert links.opened(token)
