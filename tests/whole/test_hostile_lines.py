"""Command lines that nobody means, with seeds: each ends soon, with a code of the table, in words of our own.

``make soak`` runs 200 as commands and 5,000 in this process, or as many as ``ASSAY_LINE_CASES`` says.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from assay.cli import _COMMANDS, assay
from mistaken_files import CPU_SECONDS_MAX, EXITS, RAW, mistaken
from on_terminal import ASSAY
from same_process import assay as in_process

ROOT = Path(__file__).parents[2]
COMMANDS, SAMPLE = 200, 6
LINES = int(os.environ.get("ASSAY_LINE_CASES", "5000"))
CHUNK = 100
PATHS = {
    "plan.toml": ROOT / "plans/mlc-a-2012.toml",
    "plan.txt": ROOT / "plans/mlc-a-2012.toml",
    "model.toml": ROOT / "python/assay/dut/simulated/models/client-2011.toml",
    "edition.toml": ROOT / "python/assay/spec/editions/pts-c-1.0.toml",
    "m.csv": ROOT / "published/mlc-a_iops.csv",
    "f.csv": ROOT / "published/mlc-a_figures.csv",
}
"""Files in the folder that a line is given in, each with mistakes."""

DRIVES = (
    "sim:client-2011?capacity=1GB", "sim:client-2011", "sim:clinet", "client-2011", "sdb", "/dev/null", "/dev/no",
    "sim:", "sim:?", "sim:client-2011?capacity=", "sim:client-2011?capacity=1GB&capacity=2GB", "sim:client-2011?x",
    "sim:client-2011?capacity=99999999999999999999TB", "sim:client-2011?seed=-1", "sim:client-2011?state=/",
    "sim:model.toml", "sim:model.toml?capacity=1GB", "sim:edition.toml", "sim:" + "../" * 50 + "x.toml", ".", "",
    "\udcff", "東芝", "\x1b[2J", "a" * 5000, "-", "--", "sim:ideal?faults=model.toml", "/proc/self/mem", "m.csv",
)  # fmt: skip
VALUES = (
    "", "0", "-1", "1", "x", "nan", "inf", "1e999", "9" * 400, "0.5", "lat", "LAT, wsat", "iopps", ",", "trim",
    "clinet", "client", "basic", "pts-c-1.0", "pts-9", "edition.toml", "model.toml", "none", "random", "😀", "\udcff",
    "compressible:x", "file:m.csv", "file:/dev/zero", "fixed:1e9", "poisson:", "off", "auto", "0-1,99999", "\x1b[31m",
    "a\nb", "/dev/null", "m.csv", "f.csv", "plan.toml",
)  # fmt: skip
LAST = {"plan": [], "drives": [], "runs": [], "report": [], "fit": ["--evaluations", "5"]}
"""What stands behind a command so that it measures nothing; those that are not here get an option that none has."""


def line_of(draw: random.Random) -> list[str]:
    """A command with targets, options and values; one in ten has a command that there is not."""
    command = draw.choice((*_COMMANDS, *LAST, *LAST))
    words = [draw.choice(("plann", "", "--foo", "--version", "-h")) if draw.random() < 0.05 else command]
    options = _options(command)
    for _ in range(draw.randrange(5) if options else 0):
        option = draw.choice(options)
        words += [option if draw.random() < 0.9 else option[:-1] + "x", draw.choice(VALUES)]
    words += [draw.choice((*DRIVES, *PATHS)) for _ in range(draw.choice((0, 1, 1, 1, 2)))]
    if draw.random() < 0.2:
        words.append("--json")
    return [*words, *LAST.get(command, ["--no-such-option"])]


def _options(command: str) -> list[str]:
    context = assay.make_context("assay", ["--help"], resilient_parsing=True)
    found = assay.get_command(context, command)
    assert found is not None
    return [name for one in found.params for name in one.opts if name.startswith("-")]


def files_in(folder: Path, draw: random.Random) -> None:
    for name, original in PATHS.items():
        text = original.read_text("utf-8")
        (folder / name).write_bytes(mistaken(text, draw) if draw.random() < 0.7 else text.encode())


def check(seed: str, code: int, said: str, words: list[str]) -> None:
    case = f"seed {seed}: assay {words}: {code}: {said}"
    assert code in EXITS, case
    assert not any(word in said for word in RAW), case
    for line in said.splitlines() if code == 2 and "--help" not in words else ():
        assert line.startswith(("assay: ", "{", "Usage", " ", "Options", "Commands")) or not line, case
    if code and "--json" in words and "Usage" not in said:
        assert json.loads(said.splitlines()[-1])["exit_code"] == code, case
    assert "\x1b" not in said, case


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed < SAMPLE else pytest.mark.soak) for seed in range(COMMANDS)]
)
def test_a_command_line_that_nobody_means_ends_in_our_words(seed: int, tmp_path: Path) -> None:
    draw = random.Random(f"line {seed}")  # noqa: S311 - the same every time
    files_in(tmp_path, draw)
    words = line_of(draw)
    shown = [word.encode("utf-8", "surrogateescape") for word in words if "\0" not in word]
    begun = os.times().children_user
    done = subprocess.run([ASSAY, *shown], capture_output=True, check=False, cwd=tmp_path)
    check(str(seed), done.returncode, done.stderr.decode("utf-8", "replace"), words)
    assert os.times().children_user - begun < CPU_SECONDS_MAX, f"seed {seed}: assay {words}"


@pytest.mark.parametrize(
    "chunk", [pytest.param(chunk, marks=[] if chunk < 1 else pytest.mark.soak) for chunk in range(LINES // CHUNK)]
)
def test_command_lines_that_nobody_means_end_so_in_this_process_too(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        draw = random.Random(f"inner {seed}")  # noqa: S311 - the same every time
        files_in(tmp_path, draw)
        words, begun = line_of(draw), time.process_time()
        done = in_process(*words)
        check(f"inner {seed}", done.returncode, done.stderr, words)
        assert time.process_time() - begun < CPU_SECONDS_MAX, f"seed inner {seed}: assay {words}"
