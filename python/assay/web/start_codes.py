"""Codes for starts of real drives: a person reads one on the server's host and types it in the browser.

A code is for one start of one session. Neither the cookie nor the key of the session gives it, nor anything that the
page sent before. Simulated drives need none.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import ConfirmationError
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.web.sessions import Session

VALID_S = 600.0
TRIES_MAX, SESSION_MAX, ALL_MAX = 5, 16, 512
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without those that look alike."""
_CODE_LETTERS = 8
_TESTS_MAX = 100


@dataclass(slots=True, kw_only=True)
class Expected:
    """A start that may come. words : what would be started. real : a drive loses its data. code : empty until asked."""

    link: str
    words: str
    real: bool
    until_s: float
    code: str = ""
    tries: int = 0

    def line(self) -> str:
        """The line that a person compares before typing the code."""
        code = f"{self.code[: _CODE_LETTERS // 2]}-{self.code[_CODE_LETTERS // 2 :]}"
        return f"{code}  {self.words}, link {self.link}"


def start_words(drive: str, identity: str, tests: Iterable[str], what: str) -> str:
    """The words of a start, the drive first. what : tells it from another start of the same drive.

    Worked: ``/dev/sdb (S4EVNX0M123456): iops, check 1a2b3c4d``.
    """
    return visible(f"{drive} ({identity}): {', '.join(tests)[:_TESTS_MAX]}, {what}")


class StartCodes:
    """Starts by their key, such as the digest of a check. announce : takes the line of each code."""

    def __init__(self, announce: Callable[[str], None] = lambda _: None) -> None:
        self.announce = announce
        self._expected: dict[tuple[str, str], Expected] = {}

    def expect(self, key: str, session: Session, words: str, *, real: bool) -> None:
        """Keep what a key starts. The oldest of a session makes room, as the oldest of all does."""
        self._forget_old()
        if (session.digest, key) in self._expected:
            return
        of_session = [known for known in self._expected if known[0] == session.digest]
        if len(of_session) >= SESSION_MAX:
            del self._expected[of_session[0]]
        elif len(self._expected) >= ALL_MAX:
            del self._expected[next(iter(self._expected))]
        self._expected[session.digest, key] = Expected(
            link=session.link,
            words=words,
            real=real,
            until_s=time.monotonic() + VALID_S,
        )

    def admit(self, key: str, session: Session, typed: str) -> bool:
        """Whether a start may go on now; False if a code was made that is to be typed first.

        Raises ConfirmationError for a wrong code, and for a key that this session was not shown.
        """
        self._forget_old()
        expected = self._expected.get((session.digest, key))
        if expected is None:
            raise ConfirmationError("check", "is unknown or older than 10 min", "check the plan again")
        if not expected.real:
            return True
        if not expected.code:
            expected.code, expected.tries = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LETTERS)), 0
            self.announce(expected.line())
            return False
        return bool(typed) and self._is_right(expected, typed)

    def lines(self) -> list[str]:
        """A line for each code that may be typed."""
        self._forget_old()
        return [expected.line() for expected in self._expected.values() if expected.code]

    def _is_right(self, expected: Expected, typed: str) -> bool:
        """Use the code up, or a try of it. Raises ConfirmationError for another."""
        expected.tries += 1
        right = hmac.compare_digest(_plain(typed).encode(), expected.code.encode())
        if right or expected.tries >= TRIES_MAX:
            expected.code = ""
        if not right:
            remedy = "type it again" if expected.code else "press Start for another"
            raise ConfirmationError("code", "is not the code of this start", remedy)
        return True

    def _forget_old(self) -> None:
        now = time.monotonic()
        self._expected = {key: known for key, known in self._expected.items() if known.until_s > now}


def _plain(typed: str) -> str:
    """A code as it is kept. Worked: ``K7M2-P9QX`` -> ``k7m2p9qx``."""
    return "".join(letter for letter in typed[:100].lower() if letter.isalnum())
