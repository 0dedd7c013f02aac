"""How the list of runs of a server grows: 1,000, 10,000 and 100,000 runs in the index.

Goal: with 10,000 runs every page in less than 50 ms of the server, from the request to the last byte of the answer.
The runs are one short throughput run with other identities, put into the index without reading a folder each; those of
the newest page have folders, whose files are looked at. Best of seven, in this process, without a network.
Non-goals: the numbers of measures, which no list reads; the first request, which loads modules. ``--smoke`` takes 20
and 200 runs. Printed is a hash of what was listed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from measured_command import command
from synthetic_runs import synthetic_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.archive.index.write import ReadRun

COUNTS, SMOKE_COUNTS = (1_000, 10_000, 100_000), (20, 200)
GOAL_COUNT, GOAL_MS = 10_000, 50.0
TIMES, PAGE, APART_NS = 7, 100, 3600 * 10**9
VIEWS = {
    "newest": "",
    "model": "?model=ideal",
    "serial": "?drive=syn0003",
    "test": "?test=tp-1024&verdict=steady",
    "words": "?q=night+bay",
    "key result": "?sort=tp-1024&sort=SEQ+1024KiB+W&sort=MB/s",
    "by drive": "?sort=drive",
    "last page": "?page={last}",
    "none": "?name=zzz",
}


def main() -> None:
    """Print the figures of each size, in ms and as a ratio to the first."""
    counts = SMOKE_COUNTS if "--smoke" in sys.argv else COUNTS
    print(f"{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, homes(Path(name))):
        folder = Path(name)
        command(folder, "run", "sim:ideal?capacity=1GB", "--test", "tp", "--scale", "0.01", "--seed", "1",
            "--no-report", "--out", str(folder / "one"))  # fmt: skip
        figures = {count: measured(folder, count, counts) for count in counts}
    print("view      " + "".join(f"{count:>12,} runs" for count in counts))
    for view in VIEWS:
        first = figures[counts[0]][view]
        cells = (f"{figures[count][view]:>8.1f} ms {figures[count][view] / first:>4.1f}x" for count in counts)
        print(f"{view:<10}" + "".join(f"{cell:>17}" for cell in cells))
    slow = {view: ms for view, ms in figures.get(GOAL_COUNT, {}).items() if ms > GOAL_MS}
    if slow:
        sys.exit(f"slower than {GOAL_MS:.0f} ms with {GOAL_COUNT:,} runs: {slow}")


def homes(folder: Path) -> dict[str, str]:
    """Where this process keeps sessions and pages."""
    return {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}


def measured(folder: Path, count: int, counts: tuple[int, ...]) -> dict[str, float]:
    """Milliseconds of each view with so many runs. counts : all sizes, which are filled up one after the other."""
    before = max((other for other in counts if other < count), default=0)
    fill(folder, before, count)
    synthetic_runs(folder / "one", folder / "runs", PAGE, first=max(count - PAGE, before))
    answer, digest, result = server(folder), hashlib.sha256(), {}
    for view, address in VIEWS.items():
        query = address.format(last=-(-count // PAGE)).removeprefix("?")
        bodies = [timed(answer, query) for _ in range(TIMES)]
        result[view] = min(ms for ms, _ in bodies)
        digest.update(b"".join(part for part in bodies[0][1].split(b'"') if b"/runs/" in part))
    print(f"{count:,} runs: hash {digest.hexdigest()[:12]}")
    return result


def fill(folder: Path, first: int, count: int) -> None:
    """Put runs into the index. first : number of the first."""
    from assay.archive.index.folders import parent_of, site  # noqa: PLC0415
    from assay.archive.index.write import store_runs, writing  # noqa: PLC0415

    (folder / "runs").mkdir(exist_ok=True)
    with writing(place(folder)) as connection:
        store_runs(connection, site(), parent_of(folder / "runs"), others(read(folder / "one"), first, count))


def read(path: Path) -> ReadRun:
    """The run as the index has it."""
    from assay.archive.index import current  # noqa: PLC0415

    (run,) = current._read_runs(current.Means(host_id=lambda: None), [(path, "one", "")])  # noqa: SLF001
    return replace(run, measures=tuple(tuple(one for one in of_test if one.quoted) for of_test in run.measures))


def others(run: ReadRun, first: int, count: int) -> Iterator[ReadRun]:
    """The same run with other identities, an hour apart, as ``synthetic_runs`` makes folders."""
    listed = run.listed
    began = listed.started_wall_ns or 0
    for number in range(first, count):
        facts = listed.drive_facts and listed.drive_facts.model_copy(
            update={"serial": f"SYN{number % 40:04}", "firmware": f"1.{number % 5}"}
        )
        values = {
            "run_id": f"{number:016x}",
            "name": f"night {number}",
            "tags": (f"bay {number % 40}", "nightly"),
            "started_wall_ns": began + number * APART_NS,
            "drive_facts": facts,
        }
        yield replace(run, folder=f"run-{number:05}", listed=listed.model_copy(update=values))


def place(folder: Path) -> Any:
    """The index below a folder."""
    from assay.archive.index.location import named_place  # noqa: PLC0415

    return named_place(str(folder / "index.sqlite"))


def server(folder: Path) -> Callable[[str], Any]:
    """What answers the list of runs for a query, by a viewer's session; its jobs are never begun."""
    from assay.web.app import make_app  # noqa: PLC0415
    from assay.web.serving import Serving, site_of  # noqa: PLC0415

    site = site_of(Serving(folders=(folder / "runs",), place=place(folder)), "1", lambda: True)
    _, token = site.sessions.links.make("viewer", 1)
    opened = site.sessions.open(token)
    cookie = f"{site.rules.cookie}={opened.cookie if opened else ''}"
    app = make_app(site)

    def answer(query: str) -> Any:
        return app(
            {
                "type": "http", "method": "GET", "path": "/runs", "raw_path": b"/runs", "root_path": "",
                "query_string": query.encode(), "scheme": "http", "http_version": "1.1", "state": {},
                "headers": [(b"host", b"localhost"), (b"cookie", cookie.encode())],
            },
            received,
            sent,
        )  # fmt: skip

    parts: list[bytes] = []

    async def received() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def sent(message: Any) -> None:
        parts.append(message.get("body", b""))

    async def whole(query: str) -> bytes:
        parts.clear()
        await answer(query)
        return b"".join(parts)

    return whole


def timed(answer: Callable[[str], Any], query: str) -> tuple[float, bytes]:
    """Milliseconds of a request, and its body."""

    async def work() -> tuple[float, bytes]:
        began = time.perf_counter()
        body = await answer(query)
        return (time.perf_counter() - began) * 1e3, body

    return asyncio.run(work())


if __name__ == "__main__":
    main()
