"""The study of data integrity on files: an honest one passes, and each wrong sector is named with its LBA and kind."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
import timed_file as timed
from assay.archive.verify import verify_run
from assay.dut.dut import Answers
from assay.dut.real.sectors import AddressedData
from assay.engine.records import CheckData, DataCheck, DataPattern, StoredRun
from assay.engine.stimulus import written_data
from assay.errors import DeviceFailureError
from assay.report import records_of_tests
from assay.results.data_check import FakeCapacity, fake_capacity, sectors_held
from assay.results.step import issued_bytes
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from conftest import allocate, known_id
from quiet_host import CALM, QuietStimulus, QuietWatch
from timed_file import Service, timed_file

SIZE = 96 << 20
LATER = 3 << 20
"""A number of a write that no run here reaches."""
Damage = Callable[[int, int], None]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.dut.dut.HostWatch", QuietWatch)
    monkeypatch.setattr("assay.dut.dut.Stimulus", QuietStimulus)
    monkeypatch.setattr("assay.run.run.calibrate_host", lambda *_, **__: CALM)


def run(target: Path, out: Path, study: str, *, acknowledged: frozenset[str] = frozenset()) -> StoredRun:
    """A stored run of the study; one that the drive failed as well."""
    keys = {
        "drive": str(target),
        "file_target": True,
        "studies": (study,),
        "edition": "pts-c-1.0",
        "stall_limit_seconds": 3600,
    }
    answers = Answers(confirmation=str(target), acknowledged=acknowledged)
    try:
        run_plan(load_plan(None, keys), out=out, answers=answers, show=lambda _: None)
    except DeviceFailureError as error:
        failures.append(error)
    return read_run(out, histograms=True)


failures: list[DeviceFailureError] = []
"""What runs of a test ended with; emptied before each."""


@pytest.fixture(autouse=True)
def _no_failures() -> None:
    failures.clear()


def before_each_check(monkeypatch: pytest.MonkeyPatch, act: Callable[[AddressedData], None]) -> None:
    """Do something to the target between a write pass and its read-back."""
    check = AddressedData.check

    def damaged(self: AddressedData, asked: CheckData, show: Callable[[int], None]) -> DataCheck:
        act(self)
        return check(self, asked, show)

    monkeypatch.setattr(AddressedData, "check", damaged)


def ranges(check: DataCheck) -> list[tuple[int, int, str, int]]:
    return [(one.sector, one.count, one.kind, one.distance) for one in check.ranges]


@pytest.mark.parametrize("study", ["integrity", "integrity-quick"])
def test_an_honest_file_returns_every_sector(study: str, memory_path: Path) -> None:
    # The end is no multiple of a transfer.
    target = allocate(memory_path / "target.img", SIZE + 4096 * 3)
    stored = run(target, memory_path / "run", study)
    (test,) = stored.tests
    assert verify_run(memory_path / "run").answers == ()
    # A busy host may withhold the rates.
    assert (failures, [one.level for one in sectors_held(test.data_checks)]) == ([], ["pass"] * 2)
    assert [(one.after, one.flushed, one.wrong_count) for one in test.data_checks] == [
        ("first pass", False, 0),
        ("second pass", True, 0),
    ]
    written = [sum(issued_bytes(step.write) for step in one.steps) for one in test.sequences]
    assert [one.checked_count * 512 for one in test.data_checks] == written
    if study == "integrity":
        assert written == [SIZE + 4096 * 3] * 2
    assert test.data_checks[0].parts[-1][0] + test.data_checks[0].parts[-1][1] == SIZE + 4096 * 3


def test_each_wrong_sector_is_named_with_its_place_and_kind(memory_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, kept = allocate(memory_path / "target.img", SIZE), []
    foreign = written_data(DataPattern(kind="addressed"), secrets.randbits(64), 1024, LATER, 1, from_bytes=40 * 512)

    def damage(_: AddressedData) -> None:
        with target.open("r+b") as file:
            content = file.read(1 << 20)
            kept.append(content)
            if len(kept) == 1:
                return
            for sector, wrong in (
                (8, bytes(4096)),
                (24, kept[0][24 * 512 : 26 * 512]),
                (40, foreign),
                (64, content[1024 * 512 : 1028 * 512]),
                (100, bytes([content[100 * 512] ^ 1]) + content[100 * 512 + 1 : 101 * 512]),
                (102, secrets.token_bytes(512)),
            ):
                os.pwrite(file.fileno(), wrong, sector * 512)

    before_each_check(monkeypatch, damage)
    stored = run(target, memory_path / "run", "integrity")
    (test,) = stored.tests
    first, second = test.data_checks
    assert first.wrong_count == 0
    assert ranges(second) == [
        (8, 8, "zeros", 0),
        (24, 2, "stale", 0),
        (40, 2, "other-run", 0),
        (64, 4, "misdirected", 1024 - 64),
        (100, 1, "corrupt", 0),
        (102, 1, "corrupt", 0),
    ]
    assert second.counts == {"zeros": 8, "stale": 2, "other-run": 2, "misdirected": 4, "corrupt": 2}
    (failure,) = failures
    assert "LBA 8 returned zeros (18 of 196,608 sectors wrong after second pass)" in failure.reason
    assert failure.exit_code == 4
    # The rates are withheld, what was found is not.
    (report,) = records_of_tests(stored)
    known = {measure.key: measure.value for measure in report.measures if measure.quoted}
    assert (known["wrong_sectors"], known["first_wrong_lba"]) == (18, 8)


def test_data_that_an_earlier_run_left_are_no_data_of_this_one(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = allocate(memory_path / "target.img", SIZE)
    run(target, memory_path / "first", "integrity")
    left = target.read_bytes()[: 1 << 20]
    before_each_check(monkeypatch, lambda _: os.pwrite(os.open(target, os.O_RDWR), left, 0) and None)
    stored = run(target, memory_path / "second", "integrity")
    assert [ranges(one) for one in stored.tests[0].data_checks] == [[(0, 2048, "other-run", 0)]] * 2


@pytest.fixture
def served() -> None:
    if (reason := timed.missing()) is not None:
        pytest.skip(f"SKIPPED: {reason}")


@pytest.mark.long
@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("lie", ["drop", "age", "misdirect", "flip"])
def test_a_share_of_the_writes_that_a_drive_lies_about_is_found(lie: str, tmp_path: Path) -> None:
    share, writes = 0.03, SIZE >> 17
    service = Service(service_ns=20_000, servers=8, keep=1, lie=lie, lie_share=share, seed=5)
    with timed_file(service, SIZE) as file:
        stored = run(Path(file.path), tmp_path / "run", "integrity", acknowledged=frozenset({"unknown-backing"}))
    checks = stored.tests[0].data_checks
    assert len(failures) == 1
    # Transfers of 128 KiB are single writes: 23 lies of 768 expected, standard deviation 4.7.
    for one in checks:
        places = {
            index for part in one.ranges for index in range(part.sector // 256, -(-(part.sector + part.count) // 256))
        }
        assert writes * share / 3 < len(places) < writes * share * 3, (lie, len(places))
    # What a drive ages shows once something older lies there; a misdirected write shows where it landed, too.
    kinds = set(checks[-1].counts)
    expected = {"drop": {"zeros"}, "age": {"stale", "zeros"}, "flip": {"corrupt"}}
    assert kinds <= expected.get(lie, {"misdirected", "stale", "zeros"})
    assert all(fake_capacity(one) is None for one in checks)


@pytest.mark.long
@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("study", ["integrity", "integrity-quick"])
@pytest.mark.parametrize("true_mib", [600, 777, 1023])
def test_a_drive_whose_addresses_wrap_is_found_with_its_capacity(study: str, true_mib: int, tmp_path: Path) -> None:
    service = Service(service_ns=20_000, servers=8, keep=1, lie="wrap", lie_share=1.0, wrap_bytes=true_mib << 20)
    with timed_file(service, 1024 << 20) as file:
        stored = run(Path(file.path), tmp_path / "run", study, acknowledged=frozenset({"unknown-backing"}))
    assert [fake_capacity(one) for one in stored.tests[0].data_checks] == [
        FakeCapacity(how="wraps", capacity_bytes=true_mib << 20)
    ] * 2
    assert "addresses wrap" in failures[0].reason


def test_an_honest_loop_device_returns_every_sector(
    loop_drive_in_memory: Callable[[int], str], memory_path: Path
) -> None:
    path = loop_drive_in_memory(SIZE)
    keys = {"drive": path, "studies": ("integrity",), "edition": "pts-c-1.0"}
    keys |= {"stall_limit_seconds": 3600, "io_time_limit_seconds": 3600}
    out = memory_path / "run"
    run_plan(load_plan(None, keys), out=out, answers=Answers(confirmation=known_id(path)), show=lambda _: None)
    checks = read_run(out).tests[0].data_checks
    assert [(one.checked_count * 512, one.wrong_count) for one in checks] == [(SIZE, 0)] * 2
