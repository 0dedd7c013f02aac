"""The examples of I/Os on their way down the stack, one function each.

Source: SSSI 2012 deck, "I/Os traversing the stack".
"""

from __future__ import annotations

import os
import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.dut.real.direct import create_file, cut_out
from assay.spec.units import KIB, MIB
from assay.tools.iostack.watch import AREA_BYTES, Application, Area, StackExample, in_order_share

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.dut.real.tracefs import BlockRequest
    from assay.tools.iostack.watch import StackPhase, Watch

SMALL_BYTES = 4 * KIB
SMALL_COUNT = 256
_STRAIGHT_COUNT, _FILE_COUNT = 100, 100
_STREAMS, _STREAM_BYTES, _STREAM_TRANSFER = 4, 2 * MIB, 16 * KIB
_PIECE_BYTES, _PIECES = 64 * KIB, 16
_SPLIT_FACTOR = 4
# Fewer than this many requests of the device begin where the one before ended, while each stream always does.
_MIXED_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where the examples run. area : see ``Area``. folder : for files of their own, None on a raw drive.

    limit_bytes : the largest request of the device, None where it does not say.
    """

    watch: Watch
    area: Area
    folder: Path | None
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class Received:
    """Requests of a phase that reached the device for an area."""

    reads: int
    read_bytes: int
    writes: int


def received(phase: StackPhase, area: Area) -> Received:
    """By the requests to the places of the area; by the counters of the device where either is not known."""
    if phase.requests is None or area.places is None:
        counted = phase.counted
        return Received(counted.read_count, counted.read_bytes, counted.write_count)
    reads = [own_request.length_bytes for own_request in own_requests(phase, area) if own_request.read]
    return Received(
        len(reads), sum(reads), len([own_request for own_request in own_requests(phase, area) if own_request.write])
    )


def own_requests(phase: StackPhase, area: Area) -> list[BlockRequest]:
    """Requests to the places of an area; others use the device, too."""
    return [request for request in phase.requests or () if request.length_bytes and area.holds(request.start_bytes)]


def _in_order(application: Application, area: Area, *, write: bool = False) -> None:
    act = application.write if write else application.read
    for nth in range(SMALL_COUNT):
        act(area, nth * SMALL_BYTES, SMALL_BYTES)


def straight(ground: Ground) -> StackExample:
    """Past the page cache, aligned and scattered: every I/O arrives as it is."""
    area = ground.area
    area.fresh(direct=True)
    # Every second block at most, so that no two lie side by side.
    places = random.Random(1).sample(range(0, AREA_BYTES // SMALL_BYTES, 2), _STRAIGHT_COUNT)  # noqa: S311 - no secret

    def act(application: Application) -> None:
        for place in places:
            application.read(area, place * SMALL_BYTES, SMALL_BYTES)

    phase = ground.watch.phase("direct random reads", act)
    own = received(phase, area)
    arrived = (own.reads, own.read_bytes) == (_STRAIGHT_COUNT, phase.issued_bytes)
    return StackExample(name="straight", phases=(phase,), shown=arrived)


def cached(ground: Ground) -> StackExample:
    """Reads a file twice: the second time it comes from memory."""
    ground.area.fresh(direct=False)
    first = ground.watch.phase("first pass", lambda application: _in_order(application, ground.area))
    second = ground.watch.phase("second pass", lambda application: _in_order(application, ground.area))
    shown = received(first, ground.area).reads > 0 and received(second, ground.area).reads == 0
    return StackExample(name="cached", phases=(first, second), shown=shown)


def read_ahead(ground: Ground) -> StackExample:
    """Small reads in order become few large ones, and reach further than requested."""
    ground.area.fresh(direct=False)
    phase = ground.watch.phase("buffered reads in order", lambda application: _in_order(application, ground.area))
    own = received(phase, ground.area)
    shown = 0 < own.reads < SMALL_COUNT // 4 and own.read_bytes >= phase.issued_bytes
    return StackExample(name="read-ahead", phases=(phase,), shown=shown)


def write_behind(ground: Ground) -> StackExample:
    """Small writes stay in memory until a sync, and leave it as large ones."""
    area = ground.area
    area.fresh(direct=False)
    written = ground.watch.phase("buffered writes", lambda application: _in_order(application, area, write=True))
    synced = ground.watch.phase("fsync", lambda application: _fsync(application, area.fd))
    shown = received(written, area).writes == 0 and 0 < received(synced, area).writes < SMALL_COUNT // 4
    return StackExample(name="write-behind", phases=(written, synced), shown=shown)


def fragmented(ground: Ground) -> StackExample:
    """One read of a file that lies in pieces becomes as many reads."""
    folder = ground.folder
    if folder is None:
        return _without_files("fragmented")
    fd = create_file(folder / "fragmented")
    try:
        _write_in_pieces(fd)
        area = Area(fd).located()
        area.fresh(direct=True)
        length = _PIECES * _PIECE_BYTES
        phase = ground.watch.phase("a direct read", lambda application: application.read(area, 0, length))
    finally:
        os.close(fd)
    pieces = "unknown" if area.places is None else str(len(area.places))
    return StackExample(
        name="fragmented",
        phases=(phase,),
        shown=received(phase, area).reads > 1 and (area.places is None or len(area.places) > 1),
        facts=(("Pieces of the file", pieces),),
    )


def _write_in_pieces(fd: int) -> None:
    """Cut every second piece out of a file, as its file system would scatter it after years of use."""
    area, writer = Area(fd), Application()
    for nth in range(2 * _PIECES):
        writer.write(area, nth * _PIECE_BYTES, _PIECE_BYTES)
    os.fsync(fd)
    for nth in range(1, _PIECES):
        cut_out(fd, nth * _PIECE_BYTES, _PIECE_BYTES)
    os.fsync(fd)


def split(ground: Ground) -> StackExample:
    """A transfer beyond the largest request of the device is cut."""
    area, limit = ground.area, ground.limit_bytes
    if limit is None:
        return StackExample(name="split", phases=(), shown=None, reason="the device states no largest request")
    length = min(max(MIB, _SPLIT_FACTOR * limit), AREA_BYTES)
    area.fresh(direct=True)
    phase = ground.watch.phase("a direct read", lambda application: application.read(area, 0, length))
    facts = (("Largest request", f"{limit // KIB} KiB"), ("Transfer", f"{length // KIB} KiB"))
    return StackExample(name="split", phases=(phase,), shown=received(phase, area).reads > 1, facts=facts)


def concurrent(ground: Ground) -> StackExample:
    """Streams that each go in order reach the device mixed."""
    area = ground.area
    area.fresh(direct=True)
    phase = ground.watch.phase(f"{_STREAMS} streams of direct reads", lambda application: _streams(application, area))
    share = in_order_share(own_requests(phase, area))
    at_device = "not watched" if share is None else f"{share:.0%}"
    facts = (("In order within each stream", "100%"), ("In order at the device", at_device))
    shown, reason = (None, "requests are not watched") if share is None else (share < _MIXED_SHARE, "")
    return StackExample(name="concurrent", phases=(phase,), shown=shown, reason=reason, facts=facts)


def _streams(application: Application, area: Area) -> None:
    """Each stream waits for its I/O before the next, as one reader of a file does."""
    streams = [Application(stream=nth) for nth in range(_STREAMS)]
    failures: list[OSError] = []
    ready = threading.Barrier(_STREAMS)

    def run(stream: Application) -> None:
        ready.wait()
        start = stream.stream * AREA_BYTES // _STREAMS
        try:
            for nth in range(_STREAM_BYTES // _STREAM_TRANSFER):
                stream.read(area, start + nth * _STREAM_TRANSFER, _STREAM_TRANSFER)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    application.issued.extend(one for stream in streams for one in stream.issued)


def metadata(ground: Ground) -> StackExample:
    """Files without a byte in them cause writes all the same."""
    folder = ground.folder
    if folder is None:
        return _without_files("metadata")

    def create(application: Application) -> None:
        for nth in range(_FILE_COUNT):
            os.close(create_file(folder / f"empty-{nth}"))
            application.other_count += 1

    created = ground.watch.phase("empty files created", create)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        synced = ground.watch.phase("fsync of the folder", lambda application: _fsync(application, descriptor))
    finally:
        os.close(descriptor)
    written = created.counted.write_count + synced.counted.write_count
    return StackExample(name="metadata", phases=(created, synced), shown=written > 0)


def _fsync(application: Application, fd: int) -> None:
    application.other_count += 1
    os.fsync(fd)


def _without_files(name: str) -> StackExample:
    return StackExample(name=name, phases=(), shown=None, reason="a raw drive holds no files")


EXAMPLES: tuple[tuple[str, Callable[[Ground], StackExample]], ...] = (
    ("straight", straight),
    ("cached", cached),
    ("read-ahead", read_ahead),
    ("write-behind", write_behind),
    ("fragmented", fragmented),
    ("split", split),
    ("concurrent", concurrent),
    ("metadata", metadata),
)
