"""What ``assay check`` says beside its lines."""

import json

import pytest
from assay.cli import assay
from assay.cli.check import verdict
from assay.host.certificate import VALID_DAYS
from assay.host.checks import CHECKS
from assay.host.limits import Limits
from assay.results.finding import Check, Checked, Finding, Level
from click.testing import CliRunner


def checked(title: str, level: Level) -> Checked:
    check: Check[object] = Check(name="x", title=title, passes="", answer=lambda _: (), remedy="repair", untold="look")
    return Checked(check=check, finding=Finding(level=level))


def test_the_verdict_names_what_it_rests_on() -> None:
    stalls, heat, link = checked("Stalls", "invalid"), checked("Temperature", "unknown"), checked("Link", "warn")
    assert verdict([stalls, heat]) == "Not fit to test: invalid: Stalls; unknown: Temperature"
    assert verdict([link]) == "Fit to test, with a warning: nothing is invalid; beyond its limit: Link"
    assert verdict([checked("Clock", "pass")]) == "Fit to test: nothing is invalid"


def test_what_cannot_be_told_has_a_remedy_of_its_own() -> None:
    assert [checked("x", level).remedy for level in ("warn", "invalid", "unknown", "pass")] == [
        "repair",
        "repair",
        "look",
        "",
    ]
    # The remedy of the write cache is to ask the drive: it is for what cannot be told.
    assert {check.name for check in CHECKS if not check.untold} <= {
        "write-cache",
        "clock-cost",
        "tool-ceiling",
        "host-limits",
        "host-stalls",
        "other-io",
    }


def test_help_lists_every_limit_with_its_default() -> None:
    text = CliRunner().invoke(assay, ["check", "--help"]).stdout
    for name, value in Limits().model_dump(exclude={"reason"}).items():
        line = next(line for line in text.splitlines() if line.split()[:1] == [name])
        assert line.endswith(f"; default {value:g}")


def test_a_certificate_passes_as_long_as_runs_take_it() -> None:
    assert Limits().certificate_days_pass == VALID_DAYS.value


def test_putting_back_says_what_was_done_and_that_there_was_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.host.audit.audit_host", lambda *_: [])
    command = ["check", "sim:ideal", "--put-back"]
    nothing = "Put back: nothing, no run has left anything changed"
    assert CliRunner().invoke(assay, command).stdout.splitlines()[1] == nothing
    monkeypatch.setattr("assay.dut.real.put_back.put_back", lambda _: ["nomerges is 0 again", "b"])
    assert CliRunner().invoke(assay, command).stdout.splitlines()[1] == "Put back: nomerges is 0 again; b"
    facts = json.loads(CliRunner().invoke(assay, [*command, "--json"]).stdout)
    assert facts["put_back"] == ["nomerges is 0 again", "b"]
