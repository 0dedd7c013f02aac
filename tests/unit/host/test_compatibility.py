"""The compatibility file: what it says of a drive, and that it says nothing of whose it is."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from assay.engine.records import DriveIdentity
from assay.errors import StoreError
from assay.host.compatibility import compatibility, write_compatibility
from assay.results.finding import Check, Checked, Finding
from assay.words.coded import coded

if TYPE_CHECKING:
    from pathlib import Path

DRIVE = DriveIdentity(
    id="S123:1",
    path="/dev/assay-none",
    kind="block",
    capacity_bytes=1 << 30,
    logical_block_bytes=4096,
    model_number="Model X",
    serial="S123",
    wwn="eui.0011",
    interface="NVMe (pcie)",
)
CHECK: Check[None] = Check(name="power", title="Power", passes="off", answer=lambda _: Finding(level="pass"))


def written(*refusals: str) -> str:
    found = [
        Checked(
            check=CHECK, finding=Finding(level="warn", reason=coded("reason", reason="of S123")), judged=1, marked=1
        )
    ]
    return json.dumps(compatibility(DRIVE, found, refusals))


def test_it_has_the_kind_of_drive_and_no_serial_path_or_host() -> None:
    refusal = (
        f"mounted on /home/jane/S123 of {os.uname().nodename}; open for writing by process 7 (dd), /dev/sdb is S123:1"
    )
    text = written(refusal)
    content = json.loads(text)
    assert content["drive"]["model_number"] == "Model X"
    assert content["known"] == {"serial": True, "wwn": True, "eui": False, "nguid": False}
    assert content["checks"] == [{"name": "power", "level": "warn", "measured": None, "limit": None}]
    assert content["refusals"] == [
        "mounted on PATH of REDACTED; open for writing by process 7 (dd), /dev/sdb is REDACTED"
    ]
    assert not [secret for secret in ("S123", "eui.0011", "jane", os.uname().nodename) if secret in text]


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_compatibility(path, {"schema": 1})
    assert json.loads(path.read_text("utf-8")) == {"schema": 1}
    with pytest.raises(StoreError, match="exists"):
        write_compatibility(path, {})
