"""Reading ``run.json``, and the date of the report beside it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.engine.codec import canonical, decode, parse
from assay.errors import StoreError
from assay.run.store import RUN_DOCUMENT
from assay.run.store.forms import RUN_SCHEMA, PlanTexts, ReportDate, RunDocument
from assay.spec.files import exists_inside, read_inside, write_inside

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun

_REPORT_DATE = "report_date.json"
_BYTES_MAX, _VALUES_MAX = 16 << 20, 100_000
_PRINTED_OF_PLAN = ("claims", "baseline", "special_notes")


def read_document(folder: Path) -> tuple[bytes, RunDocument]:
    """``run.json`` as it is and as read.

    Raises StoreError where it is missing, damaged, of another form, or lacks or doubles a key.
    """
    path, head = folder / RUN_DOCUMENT, read_head(folder)
    content = parse(head, name=str(path), values_max=_VALUES_MAX)
    if fault := _schema_fault(content.get("schema")):
        raise StoreError(str(path), fault, "use the version that wrote it")
    document = decode(RunDocument, content, name=str(path))
    printed = {key: document.plan[key] for key in _PRINTED_OF_PLAN if key in document.plan}
    decode(PlanTexts, printed, name=f"{path}: plan")
    return head, document


def read_head(folder: Path) -> bytes:
    """``run.json`` as it is. Raises StoreError where there is none that can be read."""
    try:
        return read_inside(folder, RUN_DOCUMENT, bytes_max=_BYTES_MAX)
    except OSError as error:
        raise no_run_folder(folder, error) from None


def no_run_folder(folder: Path, error: OSError) -> StoreError:
    """That a folder holds no run, with the cause where the folder itself is not the reason."""
    if isinstance(error, FileNotFoundError) and folder.is_dir():
        return StoreError(str(folder), "is no run folder: it holds no run.json", f"list runs with: assay runs {folder}")
    return StoreError(str(folder), f"is no run folder ({error.strerror})", "list runs with: assay runs")


def _schema_fault(schema: object) -> str | None:
    """Why a folder of a schema is not read; None where it is."""
    if schema == RUN_SCHEMA:
        return None
    if isinstance(schema, int) and schema > RUN_SCHEMA:
        return f"written by a newer Assay (schema {schema}); this version reads up to {RUN_SCHEMA}"
    if isinstance(schema, int) and schema > 0:
        return f"written by an Assay before its first release (schema {schema}); this version reads {RUN_SCHEMA}"
    return "has a schema unknown to this version"


def report_date(folder: Path) -> int:
    """The instant of the first rendering, fixed from then on; now, where there was none."""
    path = folder / _REPORT_DATE
    try:
        content = read_inside(folder, _REPORT_DATE, bytes_max=1000)
        return decode(ReportDate, parse(content, name=str(path)), name=str(path)).wall_ns
    except FileNotFoundError:
        return time.time_ns()
    except (OSError, StoreError) as error:
        reason = error.reason if isinstance(error, StoreError) else error.strerror or "cannot be read"
        raise StoreError(str(path), reason, "remove it; a new report date is then fixed") from None


def has_report_date(folder: Path) -> bool:
    """Whether a run was rendered before into its own folder. Raises StoreError where the folder cannot be read."""
    try:
        return exists_inside(folder, _REPORT_DATE)
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be read", "name a folder that you may read") from None


def fix_report_date(folder: Path, run: StoredRun) -> None:
    """Store the report date of a first rendering. Raises StoreError where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not exists_inside(folder, _REPORT_DATE):
            write_inside(folder, _REPORT_DATE, canonical({"wall_ns": run.report_date_ns}))
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(
            str(folder / _REPORT_DATE), reason, "make the folder writable, or name another with assay report --out"
        ) from None
