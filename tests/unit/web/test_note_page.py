"""Notes on runs: who may write them, and what they have to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.folders import run_address, site
from assay.archive.index.read import notes_of, reading
from index_runs import listed_run
from web_site import client_of, site_with

if TYPE_CHECKING:
    from pathlib import Path

    from assay.web.site import Site

_NOTE = {"hidden": False, "bad": True, "reason": "fan failed", "note": "see log"}


@pytest.fixture
def shown(tmp_path: Path) -> Site:
    return site_with(tmp_path, listed_run("a"))


def path(shown: Site, name: str = "a") -> str:
    return f"/runs/{run_address(site(), shown.parents[0], name)}/note"


def test_an_operator_writes_a_note(shown: Site) -> None:
    answer = client_of(shown, "operator").post(path(shown), json=_NOTE)
    assert answer.status_code == 200
    told = answer.json()
    assert told.pop("at_ns") > 0
    assert told == {**_NOTE, "role": "operator"}
    with reading(shown.place) as reader:
        assert reader
        (note,) = notes_of(reader, [run_address(site(), shown.parents[0], "a")]).values()
    assert (note.bad, note.reason, note.role) == (True, "fan failed", "operator")


def test_a_viewer_writes_none(shown: Site) -> None:
    answer = client_of(shown, "viewer").post(path(shown), json=_NOTE)
    assert (answer.status_code, "Only an operator" in answer.json()["error"]) == (403, True)


def test_a_page_of_another_session_writes_none(shown: Site) -> None:
    answer = client_of(shown, "operator").post(path(shown), json=_NOTE, headers={"x-assay-key": "0"})
    assert answer.status_code == 403


def test_a_run_that_is_not_there_has_no_note(shown: Site) -> None:
    assert client_of(shown, "operator").post(path(shown, "b"), json=_NOTE).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {}, {**_NOTE, "more": 1}, {**_NOTE, "bad": 1}, {**_NOTE, "reason": None}, [], "text", None,
        {**_NOTE, "reason": "  "}, {**_NOTE, "note": "x" * 2001},
    ],
)  # fmt: skip
def test_another_form_is_refused(shown: Site, body: Any) -> None:
    answer = client_of(shown, "operator").post(path(shown), json=body)
    assert (answer.status_code, bool(answer.json()["error"])) == (400, True)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 60_000, b"\xff"])
def test_what_is_no_json_is_refused(shown: Site, body: bytes) -> None:
    assert client_of(shown, "operator").post(path(shown), content=body).status_code == 400


def test_half_a_character_is_kept_escaped(shown: Site) -> None:
    body = b'{"hidden": true, "bad": false, "reason": "", "note": "a\\ud83d\\u0000"}'
    assert client_of(shown, "operator").post(path(shown), content=body).json()["note"] == "a\\ud83d\\x00"
