"""``assay check`` on drives that need no hardware, and on a loop device where there is one."""

import json
from pathlib import Path

import pytest
from assay.cli import assay, check
from click.testing import CliRunner

OF_THE_DRIVE = {
    *("write-cache", "scheduler", "queue", "queue-depth", "alignment", "link", "temperature", "power", "numa"),
    "host-limits",
}


def test_what_does_not_apply_to_a_simulated_drive_is_said(tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text('reason = "a crowded build machine"\nlate_ms_max_invalid = 1e5\nstalled_share_invalid = 1.0\n')
    limits.write_text(limits.read_text() + "steal_share_invalid = 1.0\n")
    arguments = ["check", "sim:client-2011", "--seconds", "0.1", "--json", "--limits", str(limits)]
    done = CliRunner().invoke(assay, arguments, standalone_mode=False)
    facts = json.loads(done.stdout)
    found = {check["name"]: check for check in facts["checks"]}
    assert {slug for slug, check in found.items() if check["level"] == "n/a"} == OF_THE_DRIVE
    assert all(check["reason"] and check["passes"] for check in facts["checks"])
    assert found["clock-source"]["level"] in {"pass", "warn"}
    assert facts["limits"]["reason"] == "a crowded build machine"
    invalid = [check for check in facts["checks"] if check["level"] == "invalid"]
    assert done.return_value == (5 if invalid else 0)
    assert {check["name"] for check in invalid} <= {"memory"}
    assert facts["fit"] == (not invalid)


def test_the_certificate_of_the_host_is_an_answer(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path)}
    arguments = ["check", "sim:client-2011", "--seconds", "0.1", "--json"]
    levels = []
    for command in (arguments, ["calibrate", "--seconds", "0.05"], arguments):
        done = CliRunner().invoke(assay, command, env=home, standalone_mode=False)
        if command is arguments:
            found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
            levels.append(found["tool-ceiling"]["level"])
    assert levels == ["unknown", "pass"]
    assert "IOPS" in found["tool-ceiling"]["reason"]


def test_lines_name_the_remedy_of_what_does_not_pass() -> None:
    done = CliRunner().invoke(assay, ["check", "sim:client-2011", "--seconds", "0.1"], standalone_mode=False)
    lines = done.stdout.splitlines()
    troubled = [place for place, line in enumerate(lines) if line.startswith(("warn", "invalid", "unknown"))]
    assert all(lines[place + 1].startswith("        ") for place in troubled)
    assert any(line.startswith("n/a      Link of the drive") for line in lines)
    assert lines[0] == "sim:client-2011 may be tested."
    assert lines[-1].startswith("Not fit to test: invalid: " if done.return_value else "Fit to test")


def test_the_first_line_says_why_a_drive_may_not_be_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_refusals", lambda _: ("mounted on /srv", "no permission to write it", "c", "d"))
    done = CliRunner().invoke(assay, ["check", "sim:client-2011", "--seconds", "0.1"], standalone_mode=False)
    assert done.return_value == 3
    expected = "sim:client-2011 may not be tested: mounted on /srv; no permission to write it; and 2 more."
    assert done.stdout.splitlines()[0] == expected
