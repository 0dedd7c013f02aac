"""What a run leaves on a drive, held against compressors: random data do not compress, others to their share."""

import shutil
import subprocess
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from assay.run.store.read import read_run
from conftest import FEW, PATIENT, allocate
from undisturbed import quiet_assay, undisturbed, verdict_code

pytestmark = pytest.mark.long

SIZE = 64 << 20
PIECE = 4096
PIECES = 128
ZSTD_HEADER = 13
"""Magic number, frame header of a few bytes, checksum."""


def run(folder: Path, test: str, data: str) -> tuple[Path, Path]:
    """The file that a short run wrote to, from one end to the other, and its run folder."""
    file, plan = allocate(folder / "target.img", SIZE), folder / "plan.toml"
    rounds = "\n".join(f"[{name}]\nround_limit = 5" for name in ("iops", "tp", "lat"))
    plan.write_text(f'schema = 1\nedition = "pts-e-1.1"\nscale = 0.001\nseed = 3\n{rounds}\n')
    chosen = ("--file-target", "--yes-destroy", str(file), "--test", test, "--data", data)
    options = ("run", str(plan), str(file), *chosen, *FEW, *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), folder)
    assert done.returncode == verdict_code(out), done.stderr
    return file, out


def gzip_share(content: bytes) -> float:
    """Share that gzip -1 stores, without its header."""
    press = zlib.compressobj(1, zlib.DEFLATED, -15)
    return (len(press.compress(content)) + len(press.flush())) / len(content)


def zstd_share(path: Path) -> float:
    """Share that zstd -3 stores of a file, seeing 128 MiB of it at a time."""
    zstd = shutil.which("zstd")
    if zstd is None:
        pytest.skip("SKIPPED: needs the Debian package zstd")
    done = subprocess.run([zstd, "-3", "--long=27", "-q", "-c", str(path)], capture_output=True, check=True)
    return (len(done.stdout) - ZSTD_HEADER) / path.stat().st_size


def pieces(content: bytes) -> list[bytes]:
    step = len(content) // PIECES // PIECE * PIECE
    return [content[place : place + PIECE] for place in range(0, len(content), step)]


@pytest.mark.parametrize("test", ["iops", "tp", "lat"])
def test_what_a_run_of_random_data_wrote_does_not_compress(test: str, memory_path: Path) -> None:
    file, out = run(memory_path, test, "random")
    assert gzip_share(file.read_bytes()) >= 0.999
    assert zstd_share(file) >= 0.999
    stored = read_run(out)
    assert int(stored.engine["data origin"], 16) > 0
    assert not any(line.startswith("data pattern") for line in stored.deviations)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_what_a_run_of_compressible_data_wrote_comes_to_its_share(share: float, memory_path: Path) -> None:
    file, _ = run(memory_path, "lat", f"compressible:{share}")
    content = file.read_bytes()
    zstd = pa.Codec("zstd", compression_level=3)
    for piece in pieces(content):
        assert gzip_share(piece) == pytest.approx(share, abs=0.02)
        assert (len(zstd.compress(piece)) - ZSTD_HEADER) / PIECE == pytest.approx(share, abs=0.02)
    assert gzip_share(content) == pytest.approx(share, abs=0.02)
    assert zstd_share(file) == pytest.approx(share, abs=0.02)


def test_stamped_data_compress_and_are_a_listed_deviation(memory_path: Path) -> None:
    file, out = run(memory_path, "lat", "stamped")
    assert gzip_share(file.read_bytes()) < 0.9
    (line,) = [line for line in read_run(out).deviations if line.startswith("data pattern")]
    assert line.startswith("data pattern stamped: 16 of every 512 bytes are fresh in each write")
