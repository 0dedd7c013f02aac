"""Puts the files of a report in place, so that a format that cannot be made costs no other."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.errors import AssayError, StoreError, joined
from assay.spec.files import write_inside

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
Name = TypeVar("Name", bound=str)
Contents = Iterable[tuple[str, bytes]]
"""Files by name."""
Maker = Callable[[], Contents]


def write_formats(
    folder: Path,
    makers: Mapping[Name, Maker],
    below: str = "",
    *,
    shown: Callable[[str, int, int], None] = lambda *_: None,
) -> dict[Name, list[Path]]:
    """Make the files of each format in turn and write them; the paths by format.

    folder : made if missing. below : a folder in it that they go into. shown : called as each is begun, with its
    name, its number from 1, and their count.
    Raises the first fault as an AssayError that names all formats that failed, once the others are written.
    """
    written: dict[Name, list[Path]] = {}
    faults: dict[Name, AssayError] = {}
    for number, (name, make) in enumerate(makers.items(), 1):
        shown(name, number, len(makers))
        try:
            written[name] = [_write(folder, f"{below}/{file}" if below else file, content) for file, content in make()]
        except Exception as error:  # noqa: BLE001 - whatever it is, the other formats are written
            faults[name] = _fault(str(folder / below), name, error)
    if faults:
        raise _all_faults(faults, written)
    return written


def foreign(work: Callable[[], T], thing: str) -> T:
    """Do what records that anybody may have made can upset.

    Raises StoreError naming ``thing`` where they are each well formed and yet do not fit together.
    """
    try:
        return work()
    except AssayError:
        raise
    except Exception as error:
        remedy = "the run was changed or damaged; if nobody changed it, report this as a defect"
        raise StoreError(thing, f"its records do not fit together ({told(error)})", remedy) from error


def _write(folder: Path, name: str, content: bytes) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_inside(folder, name, content, durable=False)
    except OSError as error:
        raise StoreError(
            str(folder / name), error.strerror or str(error), "write elsewhere: assay report RUN --out FOLDER"
        ) from None
    return folder / name


def _fault(folder: str, name: str, error: Exception) -> AssayError:
    """An error of the making of a format as one that a user can read."""
    if isinstance(error, AssayError):
        return error
    remedy = "render the other formats alone with assay report; if nobody changed the run, report this as a defect"
    fault = StoreError(folder, f"its {name} report could not be made ({told(error)})", remedy)
    fault.__cause__ = error
    return fault


def told(error: Exception) -> str:
    """What went wrong, and where in the program, on one line. Worked: ``KeyError in loop.py, line 7``."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in last)
    return type(error).__name__ + place


def _all_faults(faults: Mapping[Name, AssayError], written: Mapping[Name, list[Path]]) -> AssayError:
    """The first fault, with those of other formats that differ, and where the others are."""
    unlike: dict[tuple[str, str], AssayError] = {}
    for fault in faults.values():
        unlike.setdefault((fault.reason, fault.remedy), fault)
    *errors, last = unlike.values()
    files = [
        str(paths[0]) if len(paths) == 1 else f"{len(paths)} {name} files in {paths[0].parent}"
        for name, paths in written.items()
        if paths
    ]
    rest = f"; written all the same: {', '.join(files)}" if files else ""
    whole = joined([*errors, type(last)(last.thing, last.reason + rest, last.remedy)])
    whole.__cause__ = next((fault.__cause__ for fault in faults.values() if fault.__cause__), None)
    return whole
