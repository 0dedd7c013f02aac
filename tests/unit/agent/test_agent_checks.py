"""A check says what a run would do, and allows one start to whoever had it made."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import assay.agent.checks
import pytest
from agent_trial import DRIVE, PLAN
from assay.agent.checks import (
    USER_CHECKS_MAX,
    Checks,
    _boot,
    changed,
    facts_of,
    listed_drive,
    look_ahead,
    may_erase,
    node_of,
    plan_text,
)
from assay.agent.config import AgentConfig, NamedDevice
from assay.agent.jobs import AFTER_RUN
from assay.agent.messages import CheckRequest, Consents
from assay.dut.real.gate import contents, sampled
from assay.engine.records import DriveIdentity
from assay.errors import AssayError, ConfirmationError, GateRefusedError, IdentityError, PlanError, UsageError
from assay.run.plan_file import Plan, load_plan, plan_of


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


@pytest.mark.parametrize(
    "drive", ["/etc/passwd", "/dev/none", "/dev/null", "/proc/self/root/etc", "x", "/dev/disk/by-id/x"]
)
def test_of_other_paths_nothing_is_said(config: AgentConfig, drive: str) -> None:
    with pytest.raises(
        GateRefusedError, match=f"^{drive}: is not a whole disk of this host; choose from assay drives$"
    ):
        look_ahead(config, request(drive=drive))


@pytest.mark.parametrize("value", [None, [None], 1 << 80, float("nan"), "\ud800", {"a": {"b": None}}])
def test_what_no_plan_file_can_have_is_refused(config: AgentConfig, value: Any) -> None:
    given = CheckRequest.model_construct(
        drive=DRIVE, plan={**PLAN, "seed": value}, consents=Consents(), on_end="", claimed=""
    )
    with pytest.raises(UsageError, match=r"seed|plan: has a value that no plan file can have"):
        look_ahead(config, given)


def test_the_text_of_a_plan_is_the_plan(tmp_path: Path) -> None:
    assert (
        plan_text(CheckRequest(drive="sim:ideal", plan={"scale": 0.5}), "sim:ideal")
        == 'scale = 0.5\ndrive = "sim:ideal"\n'
    )
    given = request(report={"notes": 'a "quoted" text\nof \x1f two lines'}, iops={"queue_depth": 4})
    (tmp_path / "plan.toml").write_text(plan_text(given, DRIVE), "utf-8")
    read = load_plan(tmp_path / "plan.toml", {})
    assert read == plan_of({**given.plan, "drive": DRIVE}).resolved()


def test_files_of_drives_lie_in_the_folder_of_root(config: AgentConfig, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    allowed = config.model_copy(update={"drive_files": str(tmp_path / "d")})
    assert look_ahead(allowed, request(drive=f"sim:client-2011?state={tmp_path}/d/s")).refusal is None
    for name in (f"{tmp_path}/s", f"{tmp_path}/d/../s", f"{tmp_path}/d/e/s", "d/s", f"{tmp_path}/d/.s"):
        with pytest.raises(UsageError, match="names the file"):
            look_ahead(allowed, request(drive=f"sim:client-2011?state={name}"))
    (tmp_path / "d").chmod(0o777)
    with pytest.raises(PlanError, match="can be written by other users"):
        look_ahead(allowed, request(drive=f"sim:client-2011?state={tmp_path}/d/s"))


def test_links_of_udev_lead_to_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "os.readlink", {"/dev/disk/by-id/nvme-X": "../../nvme0n1", "/dev/mapper/m": "../dm-3"}.__getitem__
    )
    assert node_of("/dev/disk/by-id/nvme-X") == "/dev/nvme0n1"
    assert node_of("/dev/mapper/m") == "/dev/dm-3"
    # The kernel follows a link before it goes up; no such path is taken apart.
    for path in ("/dev/mapper/../mapper/m", "/dev/l/../nvme0n1", "/dev/mapper/..", "/dev//nvme0n1"):
        assert node_of(path) == path
    assert node_of(f"{tmp_path}/x") == f"{tmp_path}/x"


def known_disks(monkeypatch: pytest.MonkeyPatch, *known: DriveIdentity) -> None:
    monkeypatch.setattr(assay.agent.checks, "disks", lambda: iter(known))


def test_a_path_that_leads_elsewhere_erases_nothing(
    config: AgentConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, other = drive(serial="S1"), drive(id="S2", serial="S2", path="/dev/sdy")
    known_disks(monkeypatch, listed, other)
    may = config.model_copy(update={"may_erase": ("S1",)})
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a/b")
    (tmp_path / "a/sdz").symlink_to("/dev/sdy")
    for path in (f"{tmp_path}/link/../sdz", f"{tmp_path}/a/sdz", "/dev/./sdz"):
        with pytest.raises(GateRefusedError, match="is not a whole disk of this host"):
            look_ahead(may, request(drive=path))
    # What is looked at is the node that was listed, and what it has become must be listed, too.
    asked: list[str] = []

    def become(plan: Plan) -> DriveIdentity:
        asked.append(plan.drive)
        return other

    monkeypatch.setattr("assay.agent.checks.identified_drive", become)
    with pytest.raises(GateRefusedError, match=r"/dev/sdy: \(S2\) is not listed"):
        look_ahead(may, request(drive="/dev/sdz"), "job 1")
    with pytest.raises(IdentityError, match="/dev/sdz: has become /dev/sdy"):
        look_ahead(may.model_copy(update={"may_erase": ("S1", "S2")}), request(drive="/dev/sdz"), "job 1")
    assert asked == ["/dev/sdz", "/dev/sdz"]


def test_a_purge_of_all_namespaces_needs_each_of_them_listed(
    config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, other = (
        drive(id=f"S1:{number}", serial="S1", path=f"/dev/{name}", controller=name[:5])
        for number, name in ((1, "nvme0n1"), (2, "nvme0n2"), (3, "nvme1n1"))
    )
    known_disks(monkeypatch, first, second, other)
    may = config.model_copy(update={"may_erase": ("S1:1",)})
    assert listed_drive(may, "/dev/nvme0n1") == first
    with pytest.raises(GateRefusedError, match=r"/dev/nvme0n2: \(S1:2\) is not listed"):
        listed_drive(may, "/dev/nvme0n1", 2)
    both = config.model_copy(update={"may_erase": ("S1:1", "S1:2")})
    assert listed_drive(both, "/dev/nvme0n1", 2) == first
    # One that is attached to no host has no name here.
    with pytest.raises(GateRefusedError, match="all_namespaces = 3: but 2 of the controller are disks of this host"):
        listed_drive(both, "/dev/nvme0n1", 3)
    known_disks(monkeypatch, drive(serial="S1"))
    with pytest.raises(GateRefusedError, match="but 0 of the controller"):
        listed_drive(config.model_copy(update={"may_erase": ("S1",)}), "/dev/sdz", 1)


def test_an_identity_without_a_serial_number_holds_for_a_boot() -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    assert _boot(drive()) == boot
    assert (_boot(drive(serial="S1")), _boot(drive(wwn="W1")), _boot(drive(kind="simulated"))) == ("", "", "")


def test_a_device_is_listed_by_a_name_of_udev(config: AgentConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.readlink", lambda _: "../../sdz")
    listed = config.model_copy(update={"devices": (NamedDevice(path="/dev/disk/by-path/x"),)})
    assert may_erase(listed, drive())
    assert not may_erase(listed, drive(path="/dev/sdy"))


def test_the_oldest_check_of_a_user_makes_room(config: AgentConfig) -> None:
    checks = Checks(config)
    foreseen = look_ahead(config, request())
    other = checks._kept(request(), foreseen, 8)
    digests = [checks._kept(request(), foreseen, 7) for _ in range(USER_CHECKS_MAX + 1)]
    assert len(checks._known) == USER_CHECKS_MAX + 1
    assert {other, *digests[1:]} == set(checks._known)


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
    assert changed({**before, "disk sequence number": "4"}, before) == ("disk sequence number",)
    other_drive = facts_of(look_ahead(config, request(drive="sim:client-2011?capacity=9GB")))
    assert {"drive", "drive model"} <= set(changed(before, other_drive))


def test_writes_are_compared_within_a_boot_alone() -> None:
    before = {"contents": "a", "writes": "boot-1 100"}
    assert changed(before, before) == ()
    assert changed(before, {"contents": "a", "writes": "boot-1 612"}) == ("writes",)
    assert changed(before, {"contents": "a", "writes": "boot-2 0"}) == ()
    assert changed(before, {"contents": "b", "writes": "boot-2 0"}) == ("contents",)
    assert changed(dict.fromkeys(before, AFTER_RUN), before) == ("contents",)


@pytest.mark.parametrize("size", [512, 1 << 20, (1 << 20) + 512, 3 << 20, (64 << 20) + 512, 10**12 // 512 * 512])
def test_the_places_that_are_looked_at_lie_on_the_drive_and_are_spread(size: int) -> None:
    places = list(contents._places(size))
    assert all(start % 512 == 0 and start + length <= size for start, length in places)
    assert (places[0][0], sum(places[-1])) == (0, size)
    gaps = [after - start - length for (start, length), (after, _) in pairwise(places)]
    assert max(gaps) <= max(size / 256, 1 << 20)


def test_a_change_at_a_place_is_seen_and_none_elsewhere(tmp_path: Path) -> None:
    size = 64 << 20
    with (tmp_path / "image").open("wb") as image:
        image.truncate(size)
    before = sampled(str(tmp_path / "image"))
    for start, length in list(contents._places(size))[::51]:
        with (tmp_path / "image").open("r+b") as image:
            image.seek(start + length - 1)
            image.write(b"x")
        assert sampled(str(tmp_path / "image")) != before
        with (tmp_path / "image").open("r+b") as image:
            image.seek(start + length - 1)
            image.write(b"\0")
    assert sampled(str(tmp_path / "image")) == before
    with pytest.raises(IdentityError, match="its contents are unknown"):
        sampled(str(tmp_path / "none"))


def test_a_refused_check_has_no_digest(config: AgentConfig, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("no folder")
    check = Checks(config).check(request(), uid=0)
    assert check.digest is None
    assert check.refused
    assert check.refused["exit_code"] == 6


def test_only_errors_of_the_tool_come_out(config: AgentConfig) -> None:
    with pytest.raises(AssayError):
        Checks(config).check(request(drive="sim:client-2011?capacity=999PB"), uid=0)
