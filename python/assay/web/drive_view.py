"""A drive as its page shows it: what its runs stored of health, wear and temperature, and the model it simulates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.dut.simulated.model import known_parameters, load_drive_model
from assay.dut.simulated.shipped import shipped_models
from assay.spec.units import gigabytes_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.archive.index.search import FoundRun

_BYTES = "_bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one run stored of the drive. cells : printed, empty where the drive did not report it."""

    address: str
    began_wall_ns: int | None
    began_text: str
    firmware: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Runs that stored anything, in the order they came in; a column that none of them has is left out."""

    heads: tuple[str, ...]
    rows: tuple[Reading, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A drive model that this version ships. parameters : name, value, what it is, and the source of the value."""

    drive: str
    title: str
    summary: str
    parameters: tuple[tuple[str, str, str, str], ...]


def readings(runs: Sequence[FoundRun]) -> Readings:
    """Bytes written by each run, and what its health logs say.

    Worked: a run that wrote 10 GB on a drive without a health log -> the column ``Written by us`` alone.
    """
    health = list(dict.fromkeys(name for run in runs for name in run.use.health))
    columns: dict[str, Callable[[FoundRun], str]] = {
        "Written by us": lambda run: _bytes(run.use.written_bytes),
        "Wear before": lambda run: _number(run.use.wear_pct_first, " %"),
        "Wear after": lambda run: _number(run.use.wear_pct_last, " %"),
        "Highest temperature": lambda run: _number(run.use.temperature_c_max, " \N{DEGREE SIGN}C"),
        **{_title(name): _health(name) for name in health},
    }
    kept = {title: cell for title, cell in columns.items() if any(map(cell, runs))}
    rows = [_reading(run, [cell(run) for cell in kept.values()]) for run in runs]
    return Readings(heads=tuple(kept), rows=tuple(row for row in rows if any(row.cells)))


def simulated_of(kind: str, ids: Sequence[str]) -> Simulated | None:
    """The model of a simulated drive with its parameters; None for another drive, and a model of a user's file.

    kind : of the drive. ids : its identities, such as ``sim:client-2011?capacity=32GB``.
    """
    if kind != "simulated":
        return None
    drives = {drive_id.partition("?")[0] for drive_id in ids}
    model = next((model for model in shipped_models() if model.drive in drives), None)
    if model is None:
        return None
    file = load_drive_model(model.name)
    about = {parameter.name: parameter.about for parameter in known_parameters(file.kind)}
    parameters = (
        (name, _value(datum.value), about.get(name, ""), datum.source) for name, datum in file.parameters.items()
    )
    return Simulated(drive=model.drive, title=file.model, summary=file.summary, parameters=tuple(parameters))


def _health(name: str) -> Callable[[FoundRun], str]:
    def cell(run: FoundRun) -> str:
        value = run.use.health.get(name)
        return _bytes(value) if name.endswith(_BYTES) else _number(value, "")

    return cell


def _title(name: str) -> str:
    """Worked: ``media_errors`` -> ``Media errors``; ``available_spare_pct`` -> ``Available spare (%)``."""
    words = name.removesuffix(_BYTES).replace("_pct", " (%)").replace("_", " ")
    return words[:1].upper() + words[1:]


def _reading(run: FoundRun, cells: list[str]) -> Reading:
    drive = run.listed.drive_facts
    return Reading(
        address=run.address,
        began_wall_ns=run.listed.started_wall_ns,
        began_text=run.listed.started,
        firmware=(drive.firmware or "") if drive else "",
        cells=tuple(cells),
    )


def _bytes(value: int | None) -> str:
    return "" if value is None else gigabytes_label(value)


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:,g}{unit}"


def _value(value: float | str) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else str(value)
