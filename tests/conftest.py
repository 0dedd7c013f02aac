"""Shared by all tests: the builders of synthetic records are importable by name, and a test worker stays small."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import signal
import sys
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.archive.index.location import Place
    from assay.engine.records import StoredRun
    from chromium import Page

# A test run started in the background ignores Ctrl-C, and so would every process that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

_UNIT = Path(__file__).parent / "unit"
# Helpers lie in the folder itself; tests of one package take from those of another.
sys.path[:0] = [str(_UNIT), *sorted(str(path) for path in _UNIT.iterdir() if path.is_dir())]

WORKER_BYTES_MAX, _GROWN_BYTES = 1_400 * 10**6, 50 * 10**6
"""Resident memory of a test worker at its largest, so that the tests run beside others on a small host.

Two libraries of frames and one of databases, which the tool loads for one command at a time, are some 250 MB of it.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two users share the tests: the second leaves out what passed for the first."""
    parser.addoption("--keep-passed", metavar="FILE", help="write the ids of the tests that pass to FILE")
    parser.addoption("--without-passed", metavar="FILE", help="leave out the tests that FILE names")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what passes, once: workers report to the process that began them."""
    if (path := config.getoption("--keep-passed")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Passed(Path(path)))


# Last, because a worker adds the group of a test to its id.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before, and begin with groups: their tests follow each other in a single worker."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    if path := config.getoption("--without-passed"):
        passed = set(Path(path).read_text("utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Fail the test in which the worker's resident memory went beyond its limit."""
    _give_back()
    peak = _status_bytes("VmHWM")
    if peak > WORKER_BYTES_MAX:
        _forget_peak()
        pytest.fail(f"the test worker held {peak / 10**6:,.0f} MB; the limit is {WORKER_BYTES_MAX / 10**6:,.0f} MB")


@pytest.fixture(scope="session", autouse=True)
def _own_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Index and cache that are not those of whoever runs the tests; processes that tests start have them, too."""
    for kind in ("state", "cache"):
        os.environ[f"XDG_{kind.upper()}_HOME"] = str(tmp_path_factory.mktemp(kind))
    os.environ.pop("ASSAY_INDEX", None)


@pytest.fixture(scope="session", autouse=True)
def _session_runs(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> None:
    """The folder of runs that tests only read; the folder of a worker lies in that of the session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "session-runs"
    folder.mkdir(exist_ok=True)
    os.environ["ASSAY_TEST_RUNS"] = str(folder)


@pytest.fixture(scope="session", autouse=True)
def _terminal() -> None:
    """A terminal that can draw, whatever that of whoever runs the tests can: panels are left out on a dumb one."""
    os.environ["TERM"] = "xterm-256color"


@pytest.fixture(scope="session")
def quiet() -> Callable[[str], StoredRun]:
    """A run of a kind to which nothing happens, read once in each worker.

    Records are frozen, so that no test changes it for another.
    """
    from every_kind import stored_of  # noqa: PLC0415 - takes a second, which most tests need not wait for

    return cache(stored_of)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of Debian's Chromium. Modules that need it are of a group, so that each starts it once."""
    from chromium import browser  # noqa: PLC0415 - few tests need its driver

    with browser() as found:
        yield found


@pytest.fixture(scope="session")
def new_postgresql() -> Iterator[Callable[[], Place]]:
    """Makes empty databases of one server, which the tests of the group ``postgresql`` share.

    Skips the test where Debian's package is missing.
    """
    from assay.archive.index.location import named_place  # noqa: PLC0415 - as below
    from postgresql_server import new_database, postgresql_server  # noqa: PLC0415 - few tests need its driver

    numbers = count()
    with postgresql_server() as folder:
        yield lambda: named_place(new_database(folder, f"index{next(numbers)}"))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where an index will be, in either database."""
    from assay.archive.index.location import named_place  # noqa: PLC0415 - few tests need it

    if request.param == "sqlite":
        return named_place(str(tmp_path / "index.sqlite"))
    made: Place = request.getfixturevalue("new_postgresql")()
    return made


class _Passed:
    """Writes the ids of the tests that pass to a file."""

    def __init__(self, path: Path) -> None:
        path.write_text("", "utf-8")
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")


_KEPT = [WORKER_BYTES_MAX // 2]
"""Resident memory behind the last time that the unused part was given back."""


def _give_back() -> None:
    """Give back what libraries keep and do not use, once that has grown: what counts is what tests need."""
    if _status_bytes("VmRSS") > _KEPT[0] + _GROWN_BYTES:
        gc.collect()
        if "pyarrow" in sys.modules:
            sys.modules["pyarrow"].default_memory_pool().release_unused()
        ctypes.CDLL(None).malloc_trim(0)
        _KEPT[0] = max(_KEPT[0], _status_bytes("VmRSS"))


def _status_bytes(name: str) -> int:
    """A line of what the kernel says of this process. Worked: ``VmHWM``, the peak of its resident memory."""
    status = Path("/proc/self/status").read_text("ascii")
    (kib,) = re.findall(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kib) * 1024


def _forget_peak() -> None:
    """Let the peak begin again at what is held now, so that only the test that made it fails."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
