"""Files that people write, or that only look as if: every fault is one line with its place, and none takes long."""

import os
import time
from pathlib import Path

import pytest
from assay._native import toml_positions
from assay.dut.simulated.model import parse_simulated
from assay.errors import AssayError, PlanError
from assay.run.plan_file import load_plan
from assay.spec.toml_file import read_toml


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "plan.toml"
    path.write_bytes(content)
    return path


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    table, positions = read_toml(written(tmp_path, b'\xef\xbb\xbfdrive = "x"\n'))
    assert (table, positions) == ({"drive": "x"}, {"drive": (1, 1)})


@pytest.mark.parametrize(
    ("place", "content"),
    [
        (":2:2[0-9]", b'drive = "x"\niops = {thread_count = 1,}'),
        (":1:", b"a = {\n b = 1 }"),
        (":1:", b'a = "\\e"'),
        (":1:", b'a = "\\x41"'),
        ("", b"a = " + b"[" * 3000),
        ("", b"a = " + b"9" * 5000),
        (":1:", b"a"),
    ],
)
def test_what_is_no_toml_of_version_1_0_is_a_plan_error_with_its_place(
    place: str, content: bytes, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match=rf"plan\.toml{place}"):
        read_toml(written(tmp_path, content))


def test_a_pipe_and_a_device_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.toml")
    for path in (tmp_path / "plan.toml", Path("/dev/zero")):
        with pytest.raises(PlanError, match="not a regular file"):
            read_toml(path)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"key{number} = 1" for number in range(60_000)),
        "a = {" + ",".join(f"k{number}=1" for number in range(90_000)) + "}",
        "a = [" + "1," * 400_000 + "]",
        f"[{'a' * 500_000}]\n" + "\n".join(f"k{number}=1" for number in range(40_000)),
    ],
    ids=["lines", "one line", "list", "long path"],
)
def test_places_take_time_in_proportion_to_the_text(text: str) -> None:
    # The square of a megabyte takes minutes, whatever the host.
    begun = time.process_time()
    toml_positions(text, "plan.toml")
    assert time.process_time() - begun < 20


def test_places_count_characters_and_not_bytes() -> None:
    positions = toml_positions('"é" = 1\n"東" = {b = 2, "ß" = 3}\n', "p")
    assert positions == {"é": (1, 1), "東": (2, 1), "東.b": (2, 8), "東.ß": (2, 15)}


@pytest.mark.parametrize("number", ["inf", "nan", "-inf"])
def test_no_number_of_a_plan_is_endless(number: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="finite"):
        load_plan(written(tmp_path, f'drive = "sim:x"\n[claims]\nrnd_4k_write_iops = {number}\n'.encode()), {})


def test_more_tables_than_the_memory_holds_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("\n".join(f"k{number}{'.a' * 70} = 1" for number in range(1429)), "utf-8")
    with pytest.raises(PlanError, match=r"plan\.toml: has more than 100,000 dots; make it smaller"):
        read_toml(path)


def test_of_many_faults_the_first_ten_are_named(tmp_path: Path) -> None:
    keys = "\n".join(f"k{number} = 1" for number in range(500))
    with pytest.raises(PlanError) as caught:
        load_plan(written(tmp_path, f'drive = "sim:x"\n{keys}\n'.encode()), {})
    assert str(caught.value).count("is not known here") == 10
    assert str(caught.value).endswith("plan.toml: has 490 more faults; correct these first")


MODEL = (Path(__file__).parents[3] / "python/assay/dut/simulated/models/client-2011.toml").read_text("utf-8")
DISK = (Path(__file__).parents[3] / "python/assay/dut/simulated/models/hdd-15k.toml").read_text("utf-8")


@pytest.mark.parametrize("name", ["channel_count", "read_ns", "capacity_bytes"])
def test_a_number_below_zero_is_named_with_its_place(name: str, tmp_path: Path) -> None:
    lines = [_with(line, "-1") if line.startswith(f"{name} = ") else line for line in MODEL.splitlines()]
    path = tmp_path / "drive_model.toml"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(
        PlanError, match=rf"drive_model\.toml:\d+:\d+ parameters\.{name}: is -1, not a whole number of 0"
    ):
        parse_simulated(f"sim:{path}")


@pytest.mark.parametrize("text", [MODEL, DISK], ids=["flash", "disk"])
@pytest.mark.parametrize("number", ["9223372036854775808", "4294967296000000000000", "nan", "1e400"])
def test_a_number_that_no_parameter_can_have_is_named_with_its_place(number: str, text: str, tmp_path: Path) -> None:
    names = [line.partition(" =")[0] for line in text.splitlines() if "{ value = " in line]
    for name in names:
        lines = [_with(line, number) if line.startswith(f"{name} = ") else line for line in text.splitlines()]
        path = tmp_path / "drive_model.toml"
        path.write_text("\n".join(lines), "utf-8")
        try:
            parse_simulated(f"sim:{path}")
        except AssayError as error:
            assert error.thing.startswith(f"{path}:"), name  # noqa: PT017 - what a float of 1e400 is, is inf
        else:
            raise AssertionError(name)


def _with(line: str, number: str) -> str:
    head, _, tail = line.partition("{ value = ")
    return f"{head}{{ value = {number},{tail.partition(',')[2]}"
