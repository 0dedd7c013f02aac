"""Whoever opens many connections ends older ones of nobody, and none of a session."""

from __future__ import annotations

import pytest
from assay.web.connections import ADDRESS_MAX, SESSION_MAX, UNKNOWN_MAX, Places


class Counted:
    """Stands for a connection: whether it was ended."""

    def __init__(self, places: Places, address: str = "127.0.0.1") -> None:
        self.ended = False
        self._places = places
        places.take(self, address)  # type: ignore[arg-type]

    def end(self) -> None:
        """As ``Connection.end``."""
        self.ended = True
        self._places.leave(self)  # type: ignore[arg-type]

    def belongs(self, session: str) -> Counted:
        """As ``Connection.belongs``."""
        self._places.belongs(self, session)  # type: ignore[arg-type]
        return self


def test_the_oldest_of_an_address_makes_room_and_no_session_does() -> None:
    places = Places()
    kept, other = Counted(places).belongs("operator"), Counted(places, "192.0.2.1")
    flood = [Counted(places) for _ in range(3 * ADDRESS_MAX)]
    assert [one.ended for one in flood] == [True] * 2 * ADDRESS_MAX + [False] * ADDRESS_MAX
    assert not kept.ended
    assert not other.ended
    late = Counted(places).belongs("operator")
    assert not late.ended


def test_many_addresses_share_one_limit() -> None:
    places = Places()
    kept = Counted(places).belongs("operator")
    flood = [Counted(places, f"192.0.2.{number}") for number in range(UNKNOWN_MAX + 10)]
    assert sum(not one.ended for one in flood) == UNKNOWN_MAX
    assert not kept.ended


@pytest.mark.parametrize("sessions", [1, 3])
def test_a_session_has_places_of_its_own_and_no_more(sessions: int) -> None:
    places = Places()
    opened = [Counted(places).belongs(str(number % sessions)) for number in range(2 * SESSION_MAX * sessions)]
    assert sum(not one.ended for one in opened) == SESSION_MAX * sessions
    assert opened[0].belongs("again").ended, "one that has ended takes no place"
