"""Under a limit of addresses a command ends with a message, and never with an abort of a library."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from assay.cli.failure import LEAST_BYTES, is_of_memory
from assay.spec.units import KIB
from every_kind import run_of

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = "import sys; from assay.cli import main; sys.argv[0] = 'assay'; main()"


def limited(kib: int, *arguments: str | Path) -> tuple[int, str, str]:
    """A command within a limit: its exit code, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (kib * KIB, kib * KIB)),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("little") / "lat"
    run_of("lat", folder)
    return folder


@pytest.mark.parametrize("kib", [100_000, 150_000, 220_000, 280_000, 380_000])
def test_a_limit_that_is_too_low_is_named_with_the_one_that_is_needed(kib: int, run: Path) -> None:
    drive = ("run", "sim:client-2011?capacity=1GB", "--test", "lat", "--out", run.parent / "new")
    for arguments in (("show", run), ("report", run), ("verify", run), drive):
        code, _, errors = limited(kib, *arguments)
        wanted = f"assay: memory: is limited to {kib} KiB of addresses, and assay {arguments[0]} needs"
        assert (code, errors.startswith(wanted)) == (1, True), errors
    assert not (run.parent / "new").exists()


def test_a_report_is_made_within_the_least_limit(run: Path) -> None:
    code, _, errors = limited(LEAST_BYTES // KIB, "report", run, "--html", "--xlsx", "--csv")
    assert code == 0, errors


def test_help_and_light_commands_need_less() -> None:
    assert limited(280_000, "report", "--help")[0] == 0
    assert limited(280_000, "editions")[0] == 0


def test_a_library_that_finds_no_memory_is_told_from_one_that_is_missing() -> None:
    full = ImportError("libarrow.so.2600: failed to map segment from shared object")
    outer = ImportError("IMPORTANT: PLEASE READ THIS")
    outer.__cause__ = full
    assert is_of_memory(full)
    assert is_of_memory(outer)
    assert not is_of_memory(ImportError("No module named 'x'"))
    assert not is_of_memory(ValueError("failed to map segment"))
