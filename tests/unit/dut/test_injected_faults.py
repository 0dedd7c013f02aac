"""Files of faults: what they may say, and that each mistake is one line with its place, reason and remedy."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from assay._native import check_faults
from assay.dut.dut import find_drive
from assay.dut.real.user_watch import check_present
from assay.dut.simulated.fault_watch import FaultWatch
from assay.dut.simulated.injected_faults import Fault, fault_label, faults_text, read_fault_file
from assay.dut.simulated.model import load_drive_model, parse_simulated
from assay.dut.simulated.shipped import shipped_names
from assay.engine.records import DriveIdentity
from assay.errors import AssayError, DeviceFailureError, PlanError, ValueRangeError
from assay.run.plan_file import load_plan
from report_run import synthetic_settings, synthetic_step

MODELS = Path(__file__).parents[3] / "python/assay/dut/simulated/models"
GUIDE = Path(__file__).parents[3] / "docs/guide/simulated-drives.md"
STALL = 'kind = "stall"\nat_s = 30\nduration_s = 5\n'
CAPACITY, BLOCK = 128_000_000, 512


def written(folder: Path, *faults: str) -> Path:
    path = folder / "faults.toml"
    path.write_text("schema = 1\n" + "".join(f"[[faults]]\n{fault}\n" for fault in faults), "utf-8")
    return path


def drive(path: Path) -> str:
    return f"sim:ideal?capacity=128MB&faults={path}"


def guide_example() -> str:
    (found,) = (
        part.split("```")[0] for part in GUIDE.read_text("utf-8").split("```toml\n")[1:] if "[[faults]]" in part
    )
    return found


def test_the_faults_of_a_file_are_named_with_its_hash_in_the_identity(tmp_path: Path) -> None:
    path = written(tmp_path, STALL, 'kind = "gone"\nafter_commands = 1000')
    identity = parse_simulated(drive(path)).identity
    assert identity.faults == ("stall of 5 s, at 30 s", "gone, after 1,000 commands")
    assert identity.faults_sha256 == (hashlib.sha256(path.read_bytes()).hexdigest(),)
    assert identity.faults_label == "stall of 5 s, at 30 s; gone, after 1,000 commands"
    assert identity.id == drive(path)
    assert parse_simulated("sim:ideal").identity.faults_label is None


def test_of_many_faults_three_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    found = parse_simulated(drive(written(tmp_path, *[STALL] * 5))).identity
    assert found.faults_label == "; ".join(["stall of 5 s, at 30 s"] * 3 + ["and 2 more"])


@pytest.mark.parametrize("name", ["ideal", "client-tlc", "hdd-15k"])
def test_a_drive_model_has_faults_of_its_own_before_those_of_a_file(name: str, tmp_path: Path) -> None:
    model = tmp_path / "mine.toml"
    model.write_text((MODELS / f"{name}.toml").read_text("utf-8") + f"\n[[faults]]\n{STALL}", "utf-8")
    path = written(tmp_path, 'kind = "gone"\nat_s = 60')
    target = parse_simulated(f"sim:{model}?faults={path}")
    assert target.identity.faults == ("stall of 5 s, at 30 s", "gone, at 60 s")
    assert target.identity.faults_sha256 == tuple(
        hashlib.sha256(file.read_bytes()).hexdigest() for file in (model, path)
    )


def test_no_shipped_model_has_faults() -> None:
    assert not [name for name in shipped_names() if load_drive_model(name).faults]


@pytest.mark.parametrize(
    ("place", "words", "fault"),
    [
        (":3:1 faults.0.kind", 'did you mean "stall"?', 'kind = "stal"\nat_s = 1\nduration_s = 1'),
        (":4:1 faults.0.durations_s", 'did you mean "duration_s"?', 'kind = "stall"\ndurations_s = 1'),
        (":4:1 faults.0.errno", 'did you mean "EREMOTEIO"?', 'kind = "media-error"\nerrno = "EREMOTE"\nrate = 1'),
        (":4:1 faults.0.outcome", 'did you mean "retry"?', 'kind = "reset"\noutcome = "retries"\nrate = 1'),
        (":4:1 faults.0.direction", "is 7, none of read, write, both", 'kind = "timeout"\ndirection = 7\nrate = 1'),
        (":4:1 faults.0.at_s", 'is "1", not a number', 'kind = "gone"\nat_s = "1"'),
        (":4:1 faults.0.rate", "must be a finite number", 'kind = "gone"\nrate = nan'),
        (":4:1 faults.0.count", "is 1.5, not a whole number", 'kind = "gone"\ncount = 1.5\nat_s = 1'),
        (":4:1 faults.0.first_lba", "is -1, and must be at least 0", 'kind = "timeout"\nfirst_lba = -1\nrate = 1'),
        (":4:1 faults.0.until_written", "is 1, not true or false", 'kind = "media-error"\nuntil_written = 1\nrate = 1'),
        (":2:1 faults.0.kind", "is missing; add it", "at_s = 1"),
    ],
)
def test_a_mistake_in_a_file_of_faults_is_named_with_its_place(
    place: str, words: str, fault: str, tmp_path: Path
) -> None:
    path = written(tmp_path, fault)
    with pytest.raises(PlanError) as caught:
        parse_simulated(drive(path))
    assert caught.value.thing.startswith(f"{path}{place}"), caught.value.thing
    assert words in f"{caught.value.reason}; {caught.value.remedy}"
    assert not caught.value.further, "one mistake is said once"


@pytest.mark.parametrize(
    ("key", "words", "remedy", "fault"),
    [
        ("duration_s", "is missing", "state it", 'kind = "stall"\nat_s = 1'),
        ("duration_s", "is outside 0.001 to 3600", "choose a value inside", STALL.replace("5", "3601")),
        ("trigger", "needs exactly one of at_s, every_s", "state one", 'kind = "gone"'),
        ("trigger", "has 2", "state one", 'kind = "gone"\nat_s = 1\nrate = 0.1'),
        ("rate", "is outside 0 to 1", "inside", 'kind = "media-error"\nrate = 1.1'),
        ("lba_count", "beyond the 250000 blocks", "smaller range", 'kind = "timeout"\nrate = 1\nlba_count = 250001'),
        ("capacity_bytes", "no multiple of 512", "whole blocks", 'kind = "shrink"\nat_s = 1\ncapacity_bytes = 100'),
        ("errno", "is of no use here", "leave it out", STALL + 'errno = "EIO"'),
        ("count", "for what can happen again", "leave the count out", STALL + "count = 2"),
    ],
)
def test_a_fault_that_the_drive_cannot_have_is_refused_before_the_run(
    key: str, words: str, remedy: str, fault: str, tmp_path: Path
) -> None:
    path = written(tmp_path, 'kind = "gone"\nat_s = 9', fault)
    with pytest.raises(ValueRangeError) as caught:
        find_drive(load_plan(None, {"drive": drive(path)}))
    assert caught.value.thing == f"{path}: fault 2: {key}"
    assert words in caught.value.reason
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("faults", "sim:ideal?faults="),
        ("there", "sim:ideal?faults=/not/there.toml"),
        ("leave out state or faults", "sim:client-2011?capacity=1GB&faults={file}&state={folder}/mine"),
        ("faults=FILE", "sim:ideal?x={file}"),
        ('did you mean "faults"', "sim:ideal?fault={file}"),
    ],
)
def test_a_name_with_faults_that_cannot_be_meant_is_refused(words: str, name: str, tmp_path: Path) -> None:
    path = written(tmp_path, STALL)
    with pytest.raises(AssayError, match=words) as caught:
        parse_simulated(name.format(file=path, folder=tmp_path))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "content", ["", "schema = 1\n", "schema = 1\nfaults = []\n", "schema = 2\n[[faults]]\n" + STALL]
)
def test_a_file_without_faults_or_of_another_schema_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(content, "utf-8")
    with pytest.raises(PlanError):
        read_fault_file(path)


def test_the_native_module_knows_every_key_and_no_other() -> None:
    values = {"kind": "media-error", "direction": "read", "outcome": "retry", "errno": "EIO", "until_written": True}
    for key in Fault.model_fields:
        # Without a trigger, or with two, it is refused for what it says, not as something that nobody knows.
        stated = {"kind": "gone", key: values.get(key, 1)} | ({} if key != "at_s" else {"rate": 1})
        with pytest.raises(ValueRangeError) as caught:
            check_faults(json.dumps([stated, {"kind": "gone"}]), CAPACITY, BLOCK)
        assert caught.value.thing.startswith("fault "), (key, caught.value.reason)
    for text in ('[{"kind": "gone", "at_s": 1, "more": 1}]', '[{"kind": "other"}]', '{"kind": "gone"}', "[", ""):
        with pytest.raises(ValueRangeError):
            check_faults(text, CAPACITY, BLOCK)


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        ("stall of 5 s, at 30 s", {"kind": "stall", "at_s": 30, "duration_s": 5}),
        (
            "media-error, at a rate of 0.001 per command, reads only, from LBA 8 to 15, until written, EIO",
            {
                "kind": "media-error",
                "rate": 0.001,
                "direction": "read",
                "first_lba": 8,
                "lba_count": 8,
                "until_written": True,
                "errno": "EIO",
            },
        ),
        (
            "reset of 0.4 s, every 10 s and up to 2 s, at most 3 times, commands failed",
            {"kind": "reset", "every_s": 10, "jitter_s": 2, "duration_s": 0.4, "count": 3, "outcome": "error"},
        ),
        (
            "shrink, after 1,000,000 bytes written, to 64,000,000 bytes",
            {"kind": "shrink", "after_written_bytes": 1_000_000, "capacity_bytes": 64_000_000},
        ),
        (
            "timeout, after 10 commands, commands sent again",
            {"kind": "timeout", "after_commands": 10, "outcome": "retry"},
        ),
    ],
)
def test_a_fault_is_one_line_for_people_and_a_json_object_for_the_drive(label: str, fault: dict[str, object]) -> None:
    made = Fault.model_validate(fault)
    assert fault_label(made) == label
    assert json.loads(faults_text((made,))) == [fault]
    check_faults(faults_text((made,)), CAPACITY, BLOCK)


def test_the_guide_names_every_key_and_its_example_is_a_file_of_faults(tmp_path: Path) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(guide_example(), "utf-8")
    found = read_fault_file(path)
    check_faults(faults_text(found.faults), 32_000_000_000, BLOCK)
    guide = GUIDE.read_text("utf-8")
    assert not [key for key in Fault.model_fields if f"`{key}`" not in guide]


def test_events_belong_to_the_step_in_which_they_happened() -> None:
    step = synthetic_step(synthetic_settings().cells[0], 1000)
    steps = [replace(step, start_ns=start, span_ns=100) for start in (0, 100, 200)]
    events = [(-1, 4, "before"), (100, 4, "first"), (101, 3, "second"), (400, 6, "after")]
    watch = FaultWatch(lambda: (events, 2), lambda: None)
    watch.begin()
    found = watch.finished(steps)
    assert [[event.text for event in step.drive_events] for step in found] == [
        ["before", "first"],
        ["second"],
        ["after"],
    ]
    assert watch.record is not None
    assert (watch.record.lost_count, watch.record.after.controller) == (2, "dead")


@pytest.mark.parametrize(("left", "words"), [(None, "it is gone"), (512, "changed from 32,000 to 512 bytes")])
def test_a_drive_that_is_not_whole_has_failed(left: int | None, words: str) -> None:
    identity = DriveIdentity(id="a", path="a", kind="simulated", capacity_bytes=32_000, logical_block_bytes=512)
    check_present(identity, 32_000)
    with pytest.raises(DeviceFailureError, match=words):
        check_present(identity, left)
