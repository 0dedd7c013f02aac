"""The examples of I/Os on their way down, on a file system and on a raw drive that the test made itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import LoopDrive, command

if TYPE_CHECKING:
    from collections.abc import Iterator

# Two traces at once see each other.
pytestmark = pytest.mark.xdist_group("tracing")

SIZE = 128 << 20
KIB, MIB = 1024, 1 << 20
TRACING = "/sys/kernel/tracing"
# A mount namespace of its own, so that tracing may be mounted for the command and for nobody else.
WITH_TRACING = f'mountpoint -q {TRACING} || mount -t tracefs tracefs {TRACING} || exit 99; exec "$@"'


def run(*arguments: str, tracing: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, with the kernel's tracing at hand or without."""
    tool = [str(Path(sys.executable).parent / "assay"), *arguments]
    hidden = f'umount {TRACING} 2>/dev/null; exec "$@"'
    script = WITH_TRACING if tracing else hidden
    done = subprocess.run(
        ["/usr/bin/unshare", "--mount", "bash", "-c", script, "bash", *tool],
        capture_output=True,
        text=True,
        check=False,
    )
    if tracing and done.returncode == 99:
        pytest.skip("SKIPPED: the kernel has no tracefs to be mounted")
    return done


@pytest.fixture
def folder(loop_drive: LoopDrive, tmp_path: Path) -> Iterator[Path]:
    """A fresh ext4 on a loop device."""
    if shutil.which("mkfs.ext4", path="/usr/sbin:/sbin:/usr/bin") is None:
        pytest.skip("SKIPPED: needs mkfs.ext4")
    node, point = loop_drive(SIZE), tmp_path / "mounted"
    point.mkdir()
    # Tables written lazily would go to the device while we look.
    command("mkfs.ext4", "-q", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", node)
    command("mount", node, str(point))
    yield point
    command("umount", str(point))


def examples(facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {example["name"]: example for example in facts["examples"]}


def sizes(phase: dict[str, Any], letter: str) -> list[int]:
    found = [one for one in phase["requests"] if letter in one["kind"] and one["length_bytes"]]
    return [one["length_bytes"] for one in found]


def check_counted(phase: dict[str, Any]) -> None:
    """What was watched one by one is what the kernel counted."""
    counted = phase["counted"]
    assert (len(sizes(phase, "R")), sum(sizes(phase, "R"))) == (counted["read_count"], counted["read_bytes"])
    assert sum(sizes(phase, "W")) == counted["write_bytes"]


@pytest.mark.usefixtures("needs_root")
def test_every_example_is_shown_on_a_file_system_and_nothing_is_left_behind(folder: Path, tmp_path: Path) -> None:
    kept = folder / "mine.txt"
    kept.write_text("mine", "utf-8")
    done = run("trace-stack", str(kept), "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    found = examples(facts)
    assert {name: one["shown"] for name, one in found.items()} == dict.fromkeys(found, True), done.stderr
    assert (facts["file_system"], facts["untraced"], len(found)) == ("ext4", "", 8)
    assert sorted(path.name for path in folder.iterdir()) == ["lost+found", "mine.txt"]
    assert kept.read_text("utf-8") == "mine"

    (straight,) = found["straight"]["phases"]
    assert sizes(straight, "R") == [4 * KIB] * 100
    places = [(one["place_bytes"], one["length_bytes"]) for one in straight["issued"]]
    assert [(one["start_bytes"], one["length_bytes"]) for one in straight["requests"]] == places

    first, second = found["cached"]["phases"]
    assert (len(second["issued"]), first["counted"]["read_count"] > 0, sizes(second, "R")) == (256, True, [])
    (ahead,) = found["read-ahead"]["phases"]
    assert max(sizes(ahead, "R")) > 64 * KIB

    written, synced = found["write-behind"]["phases"]
    assert (sum(one["length_bytes"] for one in written["issued"]), sizes(written, "W")) == (MIB, [])
    assert sum(sizes(synced, "W")) >= MIB

    (pieces,) = found["fragmented"]["phases"]
    assert sizes(pieces, "R") == [64 * KIB] * 16
    assert found["fragmented"]["facts"] == [["Pieces of the file", "16"]]

    (cut,) = found["split"]["phases"]
    limit = int(facts["settings"]["max_sectors_kb"]) * KIB
    assert (len(cut["issued"]), sum(sizes(cut, "R"))) == (1, cut["issued"][0]["length_bytes"])
    assert max(sizes(cut, "R")) <= limit

    (mixed,) = found["concurrent"]["phases"]
    assert sorted({one["stream"] for one in mixed["issued"]}) == [0, 1, 2, 3]
    assert sizes(mixed, "R") == [16 * KIB] * 512

    created, flushed = found["metadata"]["phases"]
    assert (created["issued"], created["other_count"], flushed["counted"]["write_count"] > 0) == ([], 100, True)
    for example in found.values():
        for phase in example["phases"]:
            check_counted(phase)
    assert [Path(path).name for path in facts["report"]] == ["stack.json", "report.pdf", "report.html"]


@pytest.mark.usefixtures("needs_root")
def test_without_tracing_the_counts_are_shown_and_it_is_said(folder: Path, tmp_path: Path) -> None:
    done = run("trace-stack", str(folder), "--out", str(tmp_path / "out"), tracing=False)
    assert done.returncode == 0, done.stderr
    if not done.stdout.startswith("Counts only: tracing is not mounted"):
        pytest.skip("SKIPPED: tracing is mounted where it cannot be hidden")
    assert "cached: shown" in done.stderr
    assert "concurrent: cannot be told: requests are not watched" in done.stderr


@pytest.mark.usefixtures("needs_root")
def test_a_raw_drive_shows_what_needs_no_files_once_it_is_confirmed(loop_drive: LoopDrive, tmp_path: Path) -> None:
    node = loop_drive(SIZE)
    refused = run("trace-stack", "--drive", node, "--yes-destroy", "another", "--out", str(tmp_path / "no"))
    assert refused.returncode == 3, refused.stderr
    identity = json.loads(command(str(Path(sys.executable).parent / "assay"), "drives", "--describe", node, "--json"))
    done = run(
        "trace-stack", "--drive", node, "--yes-destroy", identity["id"], "--out", str(tmp_path / "out"), "--json"
    )
    assert done.returncode == 0, done.stderr
    found = examples(json.loads(done.stdout))
    without_files = {"fragmented", "metadata"}
    assert {name for name, one in found.items() if one["shown"]} == set(found) - without_files, done.stderr
    assert all("holds no files" in found[name]["reason"] for name in without_files)
    with Path(node).open("rb") as drive:
        drive.seek(16 * MIB)
        assert not any(drive.read(MIB))


@pytest.mark.usefixtures("needs_root")
def test_a_trace_leaves_no_tracing_behind(folder: Path, tmp_path: Path) -> None:
    assay = str(Path(sys.executable).parent / "assay")
    script = f'{assay} trace-stack "{folder}" --out "{tmp_path}/out" && ls {TRACING}/instances'
    done = subprocess.run(
        ["/usr/bin/unshare", "--mount", "bash", "-c", WITH_TRACING, "bash", "bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "cached: shown" in done.stderr
    left = [name for name in done.stdout.split() if name.startswith("assay-")]
    # Another that runs at the same time has its own, named after its process.
    assert not [name for name in left if not Path(f"/proc/{name.split('-')[1]}").exists()]
