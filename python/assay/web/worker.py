"""The child process of a server: reads a job a line, and answers each with a line; at idle priority."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import shutil
import signal
import sys
import time
import traceback
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.web.made_files import BUNDLE, CSV_FILE, RUN_FORMATS, checked_run, keep_verified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.engine.records import StoredRun

MEMORY_BYTES_MAX = 8 << 30
"""Of address space, of which a report uses a small part."""
_TEXT_MAX = 4000
_SET_DEATH_SIGNAL = 1
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_WHO_PROCESS, _IDLE_CLASS = 1, 3 << 13


def report(folder: str, out: str, address: str) -> None:
    """Make the page of a run, and keep its level and the rules that it breaks.

    folder : of the run. out : folder of the page. address : where style and script are.
    """
    from assay.archive.rendering import render_stored  # noqa: PLC0415 - heavy

    path = Path(folder)
    run, verified = checked_run(path)

    def make(draft: Path) -> None:
        render_stored(run, path, ["html"], out=draft, assets_at=address)
        keep_verified(draft, verified)

    _write_whole(Path(out), make)


def comparison(folders: list[str], out: str, address: str, options: dict[str, bool]) -> None:
    """Make the pages of a comparison, with its workbook, CSV and JSON.

    address : as of ``report``; empty for a page that has style and script inside. options : of ``compare.Options``.
    """
    from assay.compare.comparison import Options, compare_runs  # noqa: PLC0415 - heavy
    from assay.report.comparison.files import loaded_run, write_comparison  # noqa: PLC0415

    runs = [loaded_run(_read(Path(folder)), folder) for folder in folders]
    result = compare_runs(runs, Options(despite=options["despite"], repeats=options["repeats"]))

    def make(draft: Path) -> None:
        written = write_comparison(result, draft, assets_at=address)
        _archive(draft / CSV_FILE, [path for path in written if path.suffix == ".csv"])

    _write_whole(Path(out), make)


def file(folder: str, out: str, kind: str) -> None:
    """Make a file of a run in the folder ``out``. kind : of ``RUN_FORMATS``."""
    make = _bundle if kind == BUNDLE else _report_file
    _write_whole(Path(out), lambda draft: make(Path(folder), draft, kind))


def unpack(bundle: str, into: str, draft_name: str) -> None:
    """Check a bundle and unpack its run into a folder of runs; the file is removed however that ends.

    draft_name : as of ``import_bundle``.
    """
    from assay.archive.bundle import import_bundle  # noqa: PLC0415

    try:
        import_bundle(Path(bundle), Path(into), draft_name=draft_name)
    finally:
        Path(bundle).unlink(missing_ok=True)


def update(index: dict[str, Any], folders: list[str]) -> None:
    """Bring an index up to folders of runs. index : fields of ``archive.index.location.Place``."""
    from assay.archive.index import current  # noqa: PLC0415 - heavy
    from assay.archive.index.location import Place  # noqa: PLC0415
    from assay.dut.real.platform import host_id  # noqa: PLC0415

    path = None if index["path"] is None else Path(index["path"])
    place, means = Place(**{**index, "path": path}), current.Means(host_id=host_id)
    current.despite_damage(place, means, lambda: current.update(place, map(Path, folders), means))


JOBS: dict[str, Callable[..., object]] = {
    "report": report,
    "comparison": comparison,
    "file": file,
    "unpack": unpack,
    "update": update,
}


def _read(folder: Path) -> StoredRun:
    """A run with its level, checked where it was not yet."""
    from assay.archive.levels import with_level  # noqa: PLC0415 - heavy
    from assay.archive.rendering import stored_run  # noqa: PLC0415
    from assay.dut.real.platform import host_id  # noqa: PLC0415

    return with_level(stored_run(folder), folder, host_id())


def _bundle(folder: Path, draft: Path, kind: str) -> None:
    from assay.archive.bundle import export_run  # noqa: PLC0415

    export_run(folder, draft / RUN_FORMATS[kind].file, key=None, redacted=False, log=False, further=None)


def _report_file(folder: Path, draft: Path, kind: str) -> None:
    from assay.archive.rendering import render_stored  # noqa: PLC0415 - heavy

    written = render_stored(_read(folder), folder, [kind], out=draft)  # type: ignore[list-item]
    if kind == "csv":
        _archive(draft / CSV_FILE, written)


def _archive(path: Path, files: Iterable[Path]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file_path in files:
            archive.write(file_path, file_path.name)


def main() -> None:
    """Do one job after the other until standard input ends, or the server."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _at_idle_priority()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    for line in sys.stdin:
        job = json.loads(line)
        _allow(job["cpu_s"])
        sys.stdout.write(json.dumps({"error": _done(job)[:_TEXT_MAX]}) + "\n")
        sys.stdout.flush()


def _allow(cpu_s: int) -> None:
    """So much processor time from now on; the kernel ends a process that takes more."""
    limit_s = int(time.process_time()) + cpu_s + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))


def _done(job: dict[str, Any]) -> str:
    """Why a job could not be done; empty if it was."""
    try:
        JOBS[job["kind"]](**job["arguments"])
    except AssayError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or 'a file'}: {error.strerror or error}; see that the folder is there"
    except MemoryError:
        return f"takes more than {MEMORY_BYTES_MAX >> 30} GiB of memory; make it with assay on the command line"
    except Exception as error:  # noqa: BLE001 - a defect ends this job and no other
        traceback.print_exc()
        return f"stopped by a defect of Assay ({type(error).__name__}); report it with the log of the server"
    return ""


def _at_idle_priority() -> None:
    with suppress(OSError, PermissionError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    number = _IOPRIO_SET.get(platform.machine())
    if number is not None:
        ctypes.CDLL(None, use_errno=True).syscall(number, _WHO_PROCESS, 0, _IDLE_CLASS)


def _write_whole(out: Path, make: Callable[[Path], object]) -> None:
    """Have a folder whole or not at all."""
    draft = out.with_name(f".{out.name}-{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True, mode=0o700)
    try:
        make(draft)
        shutil.rmtree(out, ignore_errors=True)
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


if __name__ == "__main__":
    main()
