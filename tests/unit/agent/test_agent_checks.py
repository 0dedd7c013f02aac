"""A check says what a run would do, and allows one start to whoever had it made."""

import time
from pathlib import Path
from typing import Any

import pytest
from agent_trial import DRIVE, PLAN
from assay.agent.allowed import may_erase
from assay.agent.checks import Checks, changed, facts_of, look_ahead
from assay.agent.config import AgentConfig, NamedDevice
from assay.agent.messages import CheckRequest, Consents
from assay.engine.records import DriveIdentity
from assay.errors import AssayError, ConfirmationError, GateRefusedError, UsageError


def request(drive: str = DRIVE, consents: dict[str, Any] | None = None, on_end: str = "", **plan: Any) -> CheckRequest:
    return CheckRequest(drive=drive, plan={**PLAN, **plan}, consents=Consents(**consents or {}), on_end=on_end)


def test_a_check_has_the_words_and_numbers_of_a_plan(config: AgentConfig) -> None:
    check = Checks(config).check(request(), uid=0)
    assert check.text.startswith(f"Drive     {DRIVE}: Simulated client SSD of 2011, 8.00 GB")
    assert check.facts["drive"]["capacity_bytes"] == 8_000_000_000
    assert check.refused is None
    assert check.identity == DRIVE


def test_a_digest_is_used_once(config: AgentConfig) -> None:
    checks = Checks(config)
    digest = checks.check(request(), uid=7).digest
    assert digest
    assert checks.use(digest, DRIVE, 7).tests == ("iops",)
    with pytest.raises(ConfirmationError, match="is unknown, used, or older than 10 min; check the plan again"):
        checks.use(digest, DRIVE, 7)


def test_a_digest_is_of_its_user(config: AgentConfig) -> None:
    checks = Checks(config)
    digest = checks.check(request(), uid=7).digest
    assert digest
    with pytest.raises(ConfirmationError, match="is unknown"):
        checks.use(digest, DRIVE, 8)
    assert checks.use(digest, DRIVE, 7)


def test_a_wrong_identity_may_be_typed_again(config: AgentConfig) -> None:
    checks = Checks(config)
    digest = checks.check(request(), uid=7).digest
    assert digest
    with pytest.raises(ConfirmationError, match=r"'sim:other' is not its identity; type sim:client"):
        checks.use(digest, "sim:other", 7)
    assert checks.use(digest, DRIVE, 7)


def test_a_check_grows_old(config: AgentConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = Checks(config)
    digest = checks.check(request(), uid=7).digest
    assert digest
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 601)
    with pytest.raises(ConfirmationError, match="older than 10 min"):
        checks.use(digest, DRIVE, 7)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (request(data={"kind": "file", "path": "/etc/shadow"}), "plan: data.path: names a file"),
        (request(data="file:/etc/shadow"), "plan: data.path: names a file"),
        (request(replay={"trace": "/etc/shadow"}), "plan: replay.trace: names a file"),
        (request(edition="/srv/e.toml"), "plan: edition: names a file"),
        (request(drive="sim:/srv/model.toml"), "names the file /srv/model.toml"),
        (request(drive="sim:client-2011?state=/srv/x"), "names the file /srv/x"),
        (request(drive="sim:client-2011?faults=/srv/x"), "names the file /srv/x"),
        (request(file_target=True), "plan: names the drive or a file target"),
        (request(drive="sim:nothing"), "no simulated drive has this name"),
        (request(drive="/etc/passwd"), "is a regular file"),
        (CheckRequest(drive=DRIVE, plan={"drive": "/dev/sda"}), "plan: names the drive or a file target"),
        (request(scale=3), "scale: "),
        (request(nonsense=1), "nonsense: "),
    ],
)
def test_a_plan_names_no_file_and_has_no_faults(config: AgentConfig, given: CheckRequest, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        look_ahead(config, given)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (request(consents={"destroy_signatures": ["ext4"]}), 'destroy_signatures "ext4": is not allowed'),
        (request(consents={"acknowledge": ["reader:x"]}), 'acknowledge "reader:x": is not allowed'),
        (request(consents={"drive_writes_max": 31}), "drive_writes_max = 31: is beyond 30, which is allowed"),
        (request(consents={"all_namespaces": 2}), "all_namespaces = 2: is beyond none, which is allowed"),
        (request(on_end="rm -rf /"), 'on_end "rm -rf /": is not allowed; root allows it in agent.toml'),
    ],
)
def test_what_root_does_not_allow_is_refused(config: AgentConfig, given: CheckRequest, named: str) -> None:
    with pytest.raises(GateRefusedError, match=named):
        look_ahead(config.model_copy(update={"drive_writes_max": 30.0}), given)


def test_what_root_allows_is_allowed(config: AgentConfig) -> None:
    allowed = config.model_copy(update={"on_end": ("true",), "acknowledge": ("reader:x",), "drive_writes_max": 30.0})
    given = request(consents={"acknowledge": ["reader:x"], "drive_writes_max": 30}, on_end="true")
    assert look_ahead(allowed, given).refusal is None


def drive(**facts: Any) -> DriveIdentity:
    known = {"id": "S1", "path": "/dev/sdz", "kind": "block", "capacity_bytes": 10**9, "logical_block_bytes": 512}
    return DriveIdentity(**{**known, **facts})


def test_only_listed_drives_may_be_erased(config: AgentConfig) -> None:
    listed = config.model_copy(update={"may_erase": ("S1", "/srv/file")})
    assert may_erase(listed, drive(serial="S1"))
    assert not may_erase(config, drive(serial="S1"))
    assert not may_erase(listed, drive(id="S2", serial="S2"))
    assert not may_erase(listed, drive(id="/srv/file", path="/srv/file", kind="file"))
    assert may_erase(config, drive(kind="simulated"))


def test_a_device_without_serial_number_is_named_by_path_and_backing(config: AgentConfig) -> None:
    listed = config.model_copy(update={"may_erase": ("S1",), "devices": (NamedDevice(path="/dev/sdz"),)})
    assert may_erase(listed, drive())
    assert not may_erase(listed, drive(path="/dev/sdy"))
    backed = config.model_copy(update={"devices": (NamedDevice(path="/dev/sdz", backing="/srv/x.img"),)})
    assert not may_erase(backed, drive())


def test_what_differs_is_named(config: AgentConfig) -> None:
    before = facts_of(look_ahead(config, request()))
    assert changed(before, facts_of(look_ahead(config, request()))) == ()
    after = facts_of(look_ahead(config, request(scale=0.03)))
    assert "plan" in changed(before, after)
    assert changed({**before, "disk sequence number": 4}, before) == ("disk sequence number",)


def test_a_refused_check_has_no_digest(config: AgentConfig, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("no folder")
    check = Checks(config).check(request(), uid=0)
    assert check.digest is None
    assert check.refused
    assert check.refused["exit_code"] == 6


def test_only_errors_of_the_tool_come_out(config: AgentConfig) -> None:
    with pytest.raises(AssayError):
        Checks(config).check(request(drive="sim:client-2011?capacity=999PB"), uid=0)
