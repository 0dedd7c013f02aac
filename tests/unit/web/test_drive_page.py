"""The page of a drive: runs, firmware, hosts, health, and the parameters of a simulated drive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from assay.archive.index.folders import drive_address, site
from assay.dut.simulated.model import load_drive_model
from assay.summary.forms import ListedDrive
from index_runs import drive, listed_run, store
from web_site import client_of, site_with

if TYPE_CHECKING:
    from pathlib import Path

_ADDRESS = drive_address("M", "S1", "")
_GB = 10**9


def test_a_drive_has_its_runs_firmware_hosts_and_bytes(tmp_path: Path) -> None:
    shown = site_with(
        tmp_path,
        listed_run("a", started_wall_ns=0, host="h1", drive_facts=drive(firmware="1.0")),
        listed_run("b", started_wall_ns=86_400 * _GB, host="h2", drive_facts=drive(firmware="1.1")),
        listed_run("c", drive_facts=drive(serial="S2")),
        written_bytes=10 * _GB,
        wear_pct_last=3.0,
        temperature_c_max=41.5,
        health={"media_errors": 2, "host_written_bytes": 5 * _GB},
    )
    text = client_of(shown, "viewer").get(f"/drives/{_ADDRESS}").text
    assert "<h1>M</h1>" in text
    assert "20.00 GB" in text
    assert re.findall(r'<td class="run"><a [^>]*>(.)</a>', text) == ["b", "a"]
    for cell in ("1.0", "1.1", "h1", "h2", "3 %", "41.5 \N{DEGREE SIGN}C", "Media errors", "5.00 GB"):
        assert f">{cell}<" in text, cell
    assert "Wear before" not in text
    assert "S2" not in text
    assert "Simulated drive" not in text


def test_a_simulated_drive_has_its_parameters_with_their_sources(tmp_path: Path) -> None:
    facts = ListedDrive(id="sim:client-2011?capacity=32GB", path="sim:client-2011?capacity=32GB", model="Sim",
                        firmware="f", capacity_bytes=32 * _GB, kind="simulated", serial="SIM")  # fmt: skip
    shown = site_with(tmp_path, listed_run("a", drive_facts=facts))
    text = client_of(shown, "viewer").get(f"/drives/{drive_address('Sim', 'SIM', '')}").text
    parameters = load_drive_model("client-2011").parameters
    assert text.count("<td><code>") == len(parameters)
    assert parameters["read_ns"].source in text
    assert ">50,000<" in text


@pytest.mark.parametrize("drive_id", ["sim:/etc/passwd", "sim:mine.toml", "sim:no-such"])
def test_a_model_that_is_not_shipped_is_not_looked_for(tmp_path: Path, drive_id: str) -> None:
    facts = ListedDrive(id=drive_id, path=drive_id, model="Sim", firmware=None, capacity_bytes=1, kind="simulated",
                        serial=None)  # fmt: skip
    shown = site_with(tmp_path, listed_run("a", drive_facts=facts))
    answer = client_of(shown, "viewer").get(f"/drives/{drive_address('Sim', None, drive_id)}")
    assert (answer.status_code, "Simulated drive" in answer.text) == (200, False)


@pytest.mark.parametrize("address", ["0" * 20, "%2e%2e", "%00", "x" * 5000])
def test_a_drive_that_is_not_there_is_refused(tmp_path: Path, address: str) -> None:
    shown = site_with(tmp_path, listed_run("a", drive_facts=drive()), listed_run("b", fault="x"))
    assert client_of(shown, "viewer").get(f"/drives/{address}").status_code == 404


def test_runs_of_other_folders_are_no_part_of_the_page(tmp_path: Path) -> None:
    shown = site_with(tmp_path)
    store(shown.place, [listed_run("a", drive_facts=drive())], site(), "/private")
    assert client_of(shown, "viewer").get(f"/drives/{_ADDRESS}").status_code == 404
