"""The drives of this host are shown with or without an agent, and a drive that hangs stops no page."""

from __future__ import annotations

import asyncio
import threading
import tomllib
from typing import TYPE_CHECKING, Any

from agent_site import agent_in, check
from assay.agent.drives import Bounded
from assay.agent.messages import DriveFacts, Health
from assay.archive.index.folders import drive_address
from assay.engine.records import DriveIdentity
from assay.errors import StoreError
from assay.web import site as site_module
from assay.web.pages import drives as drives_page_module
from assay.web.pages.drives import drive_rows, lines_to_allow
from web_site import client_of, site_in

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def drive(**more: Any) -> DriveFacts:
    facts = {"path": "/dev/none9", "id": "S1", "kind": "block", "model": "M", "serial": "S1", "firmware": "F"}
    return DriveFacts(**{**facts, "capacity_bytes": 10**9, "refusals": (), "may_erase": False, **more})


def disk(path: str) -> DriveIdentity:
    return DriveIdentity(id=path, path=path, kind="block", capacity_bytes=10**9, logical_block_bytes=512)


def test_with_an_agent_the_drives_are_its_own(tmp_path: Path) -> None:
    with agent_in(tmp_path) as site:
        client = client_of(site, "viewer")
        shown = client.get("/drives/list").text
        assert ["sim:client-2011", "Simulated client SSD of 2011 SIM-CLIENT-2011"] in client.get(
            "/drives/names"
        ).json()["drives"]
    assert "no agent answers" not in shown
    assert 'href="/plan?drive=sim%3Aclient-2011"' in shown


def test_without_an_agent_the_page_says_what_is_missing_and_lists_drives(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "viewer")
    assert client.get("/drives").status_code == 200
    shown = client.get("/drives/list").text
    assert "no agent answers" in shown
    assert "root starts it: assay agent" in shown
    assert "sim:client-2011" in shown
    assert "May be erased" not in shown


def test_without_the_right_to_use_the_agent_the_page_says_who_gives_it(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    remedy = "root adds this user to the group in agent.toml"

    def refuse(_: object) -> None:
        raise StoreError("agent.sock", "may not be used by this user", remedy)

    site.agent._client.ask = refuse  # type: ignore[method-assign, assignment]
    client = client_of(site, "operator")
    shown = client.get("/drives/list").text
    assert "may not be used by this user" in shown
    assert remedy in shown
    assert remedy in client.get("/queue/list").text
    assert check(client)["refused"]["remedy"] == remedy


def test_a_drive_that_hangs_is_named_and_the_others_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = threading.Event()

    def examined(identity: DriveIdentity) -> DriveIdentity:
        if identity.path == "/dev/hung":
            hung.wait()
        return identity

    monkeypatch.setattr(site_module, "DRIVE_LOOK_S", 0.2)
    monkeypatch.setattr(site_module, "disks", lambda: [disk("/dev/hung"), disk("/dev/free")])
    monkeypatch.setattr(site_module, "examined", examined)
    bounded = Bounded()
    try:
        for _ in range(2):
            first, second, *simulated = site_module.local_drives(bounded)
            assert "has not answered for" in first.note
            assert first.refusals == (first.note,)
            assert (second.refusals, second.note) == ((), "")
            assert simulated
    finally:
        hung.set()


def test_a_look_is_shared_by_all_who_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(site_module, "local_drives", lambda _: (looks.append(1), ())[1])

    async def watch() -> None:
        drives = site_module.LocalDrives()
        assert await asyncio.gather(*(drives.get() for _ in range(9))) == [()] * 9

    asyncio.run(watch())
    assert len(looks) == 1


def test_health_is_shown_with_its_time_and_what_root_adds() -> None:
    health = Health(wall_ns=0, temperature_c=38.0, wear_used_pct=3.0, counts={"media_errors": 1234})
    (row,) = drive_rows([drive(health=health, refusals=("mounted on /\x1b",))], (), by_agent=True)
    assert row.health == (("Temperature", "38 \N{DEGREE SIGN}C"), ("Wear", "3 %"), ("Media errors", "1,234"))
    assert row.refusals == ("mounted on /\\x1b",)
    assert tomllib.loads(row.to_allow) == {"may_erase": ["S1"]}
    assert row.plan == "/plan?drive=%2Fdev%2Fnone9"


def test_nothing_is_to_be_added_where_a_drive_is_listed_or_nobody_says() -> None:
    assert drive_rows([drive(may_erase=True)], (), by_agent=True)[0].to_allow == ""
    assert drive_rows([drive()], (), by_agent=False)[0].to_allow == ""


def test_a_device_without_a_serial_number_is_named_with_its_backing_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loop:
        name = "loop9"

    monkeypatch.setattr(drives_page_module, "disk_at", lambda _: Loop())
    monkeypatch.setattr(drives_page_module, "disk_identity", disk)
    monkeypatch.setattr(drives_page_module, "loop_backing", lambda _: "/srv/drive.img")
    text = lines_to_allow(drive(path="/dev/loop9", serial=None))
    assert tomllib.loads(text) == {"devices": [{"path": "/dev/loop9", "backing": "/srv/drive.img"}]}


def test_a_drive_with_runs_leads_to_them() -> None:
    known = drive_address("M", "S1", "S1")
    assert drive_rows([drive()], {known}, by_agent=True)[0].history == known
    assert drive_rows([drive()], (), by_agent=True)[0].history == ""


def test_now_leads_to_the_queue_where_there_is_an_agent(tmp_path: Path) -> None:
    with agent_in(tmp_path) as site:
        assert '<a href="/queue">Queue</a> <a' in client_of(site, "viewer").get("/").text
    assert '<a href="/queue">Queue</a> <a' not in client_of(site, "viewer").get("/").text
