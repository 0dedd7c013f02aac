"""The drives of this host, and the page of a drive: its runs, health, wear and temperature, or its simulated model."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import tomli_w
from starlette.responses import JSONResponse

from assay.archive.index.folders import drive_address
from assay.archive.index.history import drive_history
from assay.archive.index.read import reading
from assay.archive.index.search import Query, find_runs
from assay.dut.real.identity import disk_identity
from assay.dut.real.loop import loop_backing
from assay.dut.real.sysfs import disk_at
from assay.dut.simulated.model import known_parameters, load_drive_model
from assay.dut.simulated.shipped import shipped_models
from assay.errors import AssayError
from assay.spec.units import gigabytes_label
from assay.web.pages.runs import run_table
from assay.web.pages.shell import aside, refused, shown
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.agent.messages import DriveFacts, Health
    from assay.archive.index.history import DriveHistory
    from assay.archive.index.search import FoundRun, FoundRuns
    from assay.web.site import Site


_BYTES = "_bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Runs that stored a value, in their order, with printed cells; columns without a value are left out."""

    heads: tuple[str, ...]
    rows: tuple[tuple[FoundRun, list[str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A drive model that this version ships. parameters : name, value, meaning, and source of the value."""

    drive: str
    title: str
    summary: str
    parameters: tuple[tuple[str, str, str, str], ...]


def readings(runs: Sequence[FoundRun]) -> Readings:
    """Bytes written by each run, and values of its health logs.

    Worked: a run that wrote 10 GB on a drive without a health log -> the column ``Written by us`` alone.
    """
    health = list(dict.fromkeys(name for run in runs for name in run.use.health))
    columns: dict[str, Callable[[FoundRun], str]] = {
        "Written by us": lambda run: _bytes(run.use.written_bytes),
        "Wear before": lambda run: _number(run.use.wear_pct_first, " %"),
        "Wear after": lambda run: _number(run.use.wear_pct_last, " %"),
        "Highest temperature": lambda run: _number(run.use.temperature_c_max, " \N{DEGREE SIGN}C"),
        **{_title(name): _health_cell(name) for name in health},
    }
    kept = {title: cell for title, cell in columns.items() if any(map(cell, runs))}
    rows = ((run, [cell(run) for cell in kept.values()]) for run in runs)
    return Readings(heads=tuple(kept), rows=tuple((run, cells) for run, cells in rows if any(cells)))


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


def _health_cell(name: str) -> Callable[[FoundRun], str]:
    def cell(run: FoundRun) -> str:
        value = run.use.health.get(name)
        return _bytes(value) if name.endswith(_BYTES) else _number(value, "")

    return cell


def _title(name: str) -> str:
    """Worked: ``media_errors`` -> ``Media errors``; ``available_spare_pct`` -> ``Available spare (%)``."""
    words = name.removesuffix(_BYTES).replace("_pct", " (%)").replace("_", " ")
    return words[:1].upper() + words[1:]


def _bytes(value: int | None) -> str:
    return "" if value is None else gigabytes_label(value)


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:,g}{unit}"


def _value(value: float | str) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else str(value)


async def drive_page(site: Site, request: Request) -> Response:
    """A drive by the digest of its identity."""
    query = Query(drive=request.path_params["drive"], parents=site.parents, hidden=True, missing=True)
    result = await aside(lambda: _loaded(site, query))
    if result is None or not result[1].runs:
        return refused(site, request, 404, ("Drive", "has no run in the index", "Choose a drive in the list of runs."))
    history, listed, simulated = result
    facts = next(run.listed.drive_facts for run in listed.runs)
    return shown(
        site,
        request,
        "drive",
        facts=facts,
        history=history,
        capacity=", ".join(map(gigabytes_label, history.capacities)),
        written=gigabytes_label(history.written_bytes),
        table=run_table(listed.runs),
        total=listed.total,
        readings=readings(listed.runs),
        simulated=simulated,
    )


def _loaded(site: Site, query: Query) -> tuple[DriveHistory, FoundRuns, Simulated | None] | None:
    """The drive with its newest runs, at most a page of them; None without an index."""
    with reading(site.place) as reader:
        if reader is None:
            return None
        history, listed = drive_history(reader, query), find_runs(reader, query)
    kinds = {run.listed.drive_facts.kind for run in listed.runs if run.listed.drive_facts}
    return history, listed, simulated_of(next(iter(kinds), ""), history.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveRow:
    """A drive. plan : address of its plan. history : address of its page; may be empty.

    to_allow : lines of ``agent.toml``; empty if it may be erased, or without an agent. health : names and values.
    """

    facts: DriveFacts
    model: str
    capacity: str
    plan: str
    history: str
    to_allow: str
    refusals: tuple[str, ...]
    health: tuple[tuple[str, str], ...]


def drive_rows(drives: Iterable[DriveFacts], known: Collection[str], *, by_agent: bool) -> list[DriveRow]:
    """Drives in their order.

    known : addresses of drives that have runs. by_agent : the agent says what may be erased.
    """
    return [_drive_row(drive, known, by_agent=by_agent) for drive in drives]


def lines_to_allow(drive: DriveFacts) -> str:
    """Lines that root adds to ``agent.toml`` so that a drive may be erased.

    Worked: a drive of the identity ``S1`` -> ``may_erase = ["S1"]``, to be joined with the list that is there; a loop
    device is named with its backing file, in a table for the end of the file.
    """
    disk = disk_at(drive.path)
    if disk is None or drive.serial is not None or disk_identity(disk.name).wwn is not None:
        return tomli_w.dumps({"may_erase": [drive.id]})
    backing = loop_backing(disk)
    named = {"path": drive.path} | ({"backing": str(backing)} if backing else {})
    return f"[[devices]]\n{tomli_w.dumps(named)}"


def _drive_row(drive: DriveFacts, known: Collection[str], *, by_agent: bool) -> DriveRow:
    address = drive_address(drive.model or "unknown", drive.serial, drive.id)
    listed = not by_agent or drive.may_erase
    return DriveRow(
        facts=drive,
        model=visible(drive.model or "Unknown model"),
        capacity=gigabytes_label(drive.capacity_bytes),
        plan=f"/plan?drive={quote(drive.path, safe='')}",
        history=address if address in known else "",
        to_allow="" if listed else lines_to_allow(drive),
        refusals=tuple(map(visible, drive.refusals)),
        health=_health_rows(drive.health) if drive.health else (),
    )


def _health_rows(health: Health) -> tuple[tuple[str, str], ...]:
    """Health as names and printed values. Worked: 38.0 degrees -> ``("Temperature", "38 °C")``."""
    known = (
        ("Temperature", health.temperature_c, " \N{DEGREE SIGN}C"),
        ("Wear", health.wear_used_pct, " %"),
    )
    values = [(name, f"{value:g}{unit}") for name, value, unit in known if value is not None]
    counts = [(name.replace("_", " ").capitalize(), f"{count:,}") for name, count in health.counts.items()]
    return (*values, *counts)


async def drives_page(site: Site, request: Request) -> Response:
    """The frame of the list, which its script fills in: a drive may take seconds to answer."""
    return shown(site, request, "drives")


async def drives_list(site: Site, request: Request) -> Response:
    """The list, as a part of the page."""
    drives, error = await drives_of(site)
    known = await aside(lambda: _known(site))
    rows = drive_rows(drives, known, by_agent=error is None)
    return shown(site, request, "drives_list", rows=rows, error=error)


async def drive_names(site: Site, _request: Request) -> Response:
    """Names of drives in plans: the path, and the model with its serial number."""
    drives, _ = await drives_of(site)
    names = [(drive.path, visible(" ".join(filter(None, (drive.model, drive.serial))))) for drive in drives]
    return JSONResponse({"drives": names})


async def drives_of(site: Site) -> tuple[tuple[DriveFacts, ...], AssayError | None]:
    """The drives by the agent; without it those that this process reads, and the error of the agent."""
    try:
        return (await site.agent.drives()).drives, None
    except AssayError as error:
        return await site.local.get(), error


def _known(site: Site) -> set[str]:
    """The addresses of the drives that have runs in the index; without an index that can be read no drive has any."""
    with suppress(AssayError), reading(site.place) as reader:
        rows = reader.rows("SELECT DISTINCT drive_address FROM assay_runs") if reader else []
        return {row["drive_address"] for row in rows}
    return set()
