"""A file whose service times are known, for tests and benchmarks: what was served when is in a log.

It is served by the program ``assay-timed-file`` (``crates/timed-file``), which ``make test`` and ``make bench`` build.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "target/release/assay-timed-file"
UMOUNT = "/usr/bin/umount"
COMMAND_SECONDS = 30

LOG_RECORD = np.dtype(
    [
        ("arrival_ns", np.uint64),
        ("due_ns", np.uint64),
        ("answered_ns", np.uint64),
        ("offset_bytes", np.uint64),
        ("length_bytes", np.uint32),
        ("write", np.uint32),
    ]
)
"""As ``crates/timed-file/src/log.rs`` writes it; instants are those of the monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """How requests are served, in order of arrival.

    service_ns : time of one, above 0. servers : that many at a time. slow_ns : time of a ``slow_share`` of them, drawn
    independently from ``seed``. stall_every_ns, stall_ns : nothing is served or answered while the monotonic clock
    modulo the one is below the other; 0 for never.
    keep : 1 keeps what is written, in memory; 0 reads zeros. lie, lie_share : what becomes of a share of the writes,
    drawn from ``seed``: ``drop``, ``wrap`` (modulo ``wrap_bytes``), ``misdirect``, ``age`` or ``flip``.
    Worked: 2,000,000 ns and one server are 500 I/Os per second, however many are outstanding.
    """

    service_ns: int
    servers: int = 1
    slow_ns: int = 0
    slow_share: float = 0.0
    seed: int = 1
    stall_every_ns: int = 0
    stall_ns: int = 0
    keep: int = 0
    lie: str = "none"
    lie_share: float = 0.0
    wrap_bytes: int = 0

    @property
    def options(self) -> list[str]:
        """The same for the program."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return [word for name, value in named.items() for word in (f"--{name.replace('_', '-')}", str(value))]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedFile:
    """A mounted file. path : where it is. log_path : what was served, read by ``log``."""

    path: str
    size_bytes: int
    log_path: Path

    def log(self) -> NDArray[Any]:
        """Every I/O that was answered, in the order of the answers, with the fields of ``LOG_RECORD``."""
        whole = self.log_path.stat().st_size // LOG_RECORD.itemsize
        return np.fromfile(self.log_path, LOG_RECORD, count=whole)


def missing() -> str | None:
    """Why no such file can be had here; None where it can."""
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK):
        return "needs root and /dev/fuse to mount a file of known service times"
    if not PROGRAM.exists():
        return "needs the program assay-timed-file: cargo build --release -p assay-timed-file"
    return None


@contextmanager
def timed_file(service: Service, size_bytes: int = 1 << 40) -> Iterator[TimedFile]:
    """Serve a file; it is unmounted afterwards, and its log is gone.

    size_bytes : a multiple of 4096. It takes no space, but for data that the service keeps.
    Raises RuntimeError where it cannot be served, with what the program says.
    """
    with tempfile.TemporaryDirectory(prefix="assay-timed-", dir="/dev/shm") as scratch:
        folder, log = Path(scratch) / "mounted", Path(scratch) / "log"
        folder.mkdir()
        command = [str(PROGRAM), str(folder), "--log", str(log), "--size-bytes", str(size_bytes), *service.options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            try:
                if server.stdout is None or server.stdout.readline() != "ready\n":
                    raise RuntimeError(server.communicate(timeout=COMMAND_SECONDS)[1])
                yield TimedFile(path=str(folder / "drive"), size_bytes=size_bytes, log_path=log)
            finally:
                # It unmounts by itself; one that was killed leaves a mount without a server.
                server.terminate()
                server.wait(timeout=COMMAND_SECONDS)
                if os.path.ismount(folder):
                    subprocess.run([UMOUNT, "--lazy", str(folder)], check=True, timeout=COMMAND_SECONDS)


def answered_count(log: NDArray[Any], start_ns: int, end_ns: int) -> int:
    """I/Os answered in (start_ns, end_ns]."""
    answered = log["answered_ns"].astype(np.int64)
    return int(np.count_nonzero((answered > start_ns) & (answered <= end_ns)))


def seen_count_bounds(log: NDArray[Any], start_ns: int, end_ns: int, outstanding: int) -> tuple[int, int]:
    """The fewest and the most completions that a client can have seen in (start_ns, end_ns].

    outstanding : what the client never exceeds. By an instant it has seen no more than was answered, and no fewer than
    what it needed to see to have sent the rest, however late its host lets it run.
    Worked: 10 answered, 12 arrived, 4 outstanding -> it has seen 8 to 10.
    """
    least, most = zip(*(_seen_by(log, instant, outstanding) for instant in (start_ns, end_ns)), strict=True)
    return least[1] - most[0], most[1] - least[0]


def _seen_by(log: NDArray[Any], instant_ns: int, outstanding: int) -> tuple[int, int]:
    arrived, answered = (int(np.count_nonzero(log[name] <= instant_ns)) for name in ("arrival_ns", "answered_ns"))
    return max(0, arrived - outstanding), answered


def latency_bounds(log: NDArray[Any], start_ns: int, outstanding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The shortest and the longest response time in ns that each I/O of the log can have had for a client of one ring.

    start_ns : nothing was sent before. outstanding : I/Os that the client always has sent, up to the log's end. The
    n-th is seen before the one is sent that takes its place, and sent after the one was answered whose place it takes.
    Those that nothing follows have no upper bound: the largest number.
    """
    arrival, answered = (log[name].astype(np.int64) for name in ("arrival_ns", "answered_ns"))
    none_follows = np.full(outstanding, np.iinfo(np.int64).max)
    seen_before = np.concatenate([np.sort(arrival)[outstanding:], none_follows])[: len(log)]
    sent_after = np.concatenate([np.full(outstanding, start_ns), answered])[: len(log)]
    in_order_of_arrival = np.argsort(np.argsort(arrival, kind="stable"), kind="stable")
    followed = seen_before != np.iinfo(np.int64).max
    longest = np.where(followed, seen_before - sent_after[in_order_of_arrival], np.iinfo(np.int64).max)
    return answered - arrival, longest
