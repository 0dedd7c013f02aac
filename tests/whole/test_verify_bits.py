"""One bit of a stored file is changed: `assay verify` finds it, or nothing that is printed rests on it.

``make soak`` changes a bit of every byte of a 64 KiB sample of each stored file, and 200 through the command line. Of a
capture and of a file of the report it changes 1,024: no digest holds these, so that each takes the whole verification.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.archive.rendering import render_run
from assay.archive.verify import verify_run
from assay.errors import StoreError
from assay.run.plan_file import load_plan
from on_terminal import ASSAY
from session_runs import copied_run

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

SAMPLE_BYTES, COMMANDS = 1 << 16, 200
FEW_BYTES, FEW_COMMANDS = 12, 2
SLOW_BYTES = {"traces": (1024, 4), "report": (1024, 2), "report_date.json": (1024, 3)}
"""Of files that no digest holds: in the soak, and in the sample of it."""
CHUNK = 2048
KINDS = ("run.json", "journal.jsonl", "report_date.json", "series", "histograms", "lead-ins", "traces", "report")


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with every kind of file that numbers come from, and its report, against which all results are held."""
    path = tmp_path_factory.mktemp("bits") / "run"
    keys = {"drive": "sim:client-2011?capacity=1GB", "seed": 1, "scale": 0.001, "tests": ["tp"], "capture": "times"}
    copied_run(load_plan(None, keys), path)
    render_run(path, ["csv", "json"])
    return path


def files(run: Path, kind: str) -> list[str]:
    """The files of a kind: one file, or all in a folder."""
    found = (str(path.relative_to(run)) for path in run.rglob("*") if path.is_file())
    return sorted(name for name in found if name == kind or name.startswith(f"{kind}/"))


def changes(run: Path, name: str, byte_count: int, chunk: int = 0, chunks: int = 1) -> Iterator[tuple[int, int]]:
    """Places in a file and a bit of each, the same ones every time. chunk : of so many ``chunks`` of all."""
    draw, size = random.Random(name), (run / name).stat().st_size  # noqa: S311 - the same every time
    places = range(size) if size <= byte_count else sorted(draw.sample(range(size), byte_count))
    chosen = [(place, draw.randrange(8)) for place in places]
    yield from chosen[chunk::chunks]


def outcome(run: Path) -> str:
    """What is found of a run: the first rule that it breaks, ``unreadable``, or nothing."""
    try:
        answers = verify_run(run).answers
    except StoreError:
        return "unreadable"
    return answers[0].rule if answers else ""


def flipped(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def hold(run: Path, name: str, where: Iterator[tuple[int, int]]) -> None:
    """Change each of these bits, one at a time.

    A run whose report is there passes only where all its numbers are rendered as they were, so that what passes is
    harmless: in captures the time of a completion, of which only the order is used. All else is in a digest, or in the
    report itself, and is found.
    """
    content = (run / name).read_bytes()
    for place, bit in where:
        (run / name).write_bytes(flipped(content, place, bit))
        assert outcome(run) or name.startswith("traces/"), f"{name}: bit {bit} of byte {place}"
    (run / name).write_bytes(content)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_bit_is_found_or_harmless(kind: str, good: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(good, tmp_path / "run"))
    names = files(good, kind)
    assert names
    draw = random.Random(kind)  # noqa: S311 - the same every time
    for name in draw.sample(names, min(len(names), 2)):
        hold(run, name, changes(run, name, SLOW_BYTES.get(kind, (0, FEW_BYTES))[1]))
    assert outcome(run) == ""


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("chunk", range(SAMPLE_BYTES // CHUNK))
@pytest.mark.parametrize("kind", KINDS)
def test_a_bit_of_every_byte_is_found_or_harmless(kind: str, chunk: int, good: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(good, tmp_path / "run"))
    for name in files(good, kind):
        byte_count = SLOW_BYTES.get(kind, (SAMPLE_BYTES, 0))[0]
        hold(run, name, changes(run, name, byte_count, chunk, SAMPLE_BYTES // CHUNK))


@pytest.mark.parametrize(
    "number", [*range(FEW_COMMANDS), *(pytest.param(n, marks=pytest.mark.soak) for n in range(FEW_COMMANDS, COMMANDS))]
)
def test_a_changed_bit_is_found_on_the_command_line(number: int, good: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(good, tmp_path / "run"))
    draw = random.Random(number)  # noqa: S311 - the same every time
    name = draw.choice(files(good, draw.choice([kind for kind in KINDS if kind != "traces"])))
    content = (run / name).read_bytes()
    (run / name).write_bytes(flipped(content, draw.randrange(len(content)), draw.randrange(8)))
    done = subprocess.run([ASSAY, "verify", str(run)], capture_output=True, text=True, check=False)
    assert done.returncode in {5, 6}, (name, done.stdout)
    assert "Traceback" not in done.stderr
