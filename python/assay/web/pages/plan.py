"""Planning a test and starting it: a form, checks while it is edited, and the start of what was checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from starlette.responses import JSONResponse

from assay.agent.messages import CheckRequest, StartRequest
from assay.errors import AssayError, StoreError, UsageError
from assay.run.foreseen import TOOL_MEMORY, fills_label, span_label
from assay.run.store.document import read_document
from assay.run.store.write import FREE_BYTES_MIN
from assay.spec.model_faults import model_faults
from assay.spec.toml_file import toml_table
from assay.spec.units import gigabytes_label
from assay.web.pages.drives import drives_of
from assay.web.pages.run import folder_of
from assay.web.pages.shell import FORM_LOST, aside, claimed, error_json, operator_of, refused, sent_object, shown
from assay.web.plan_form import (
    all_fields,
    choosing_fields,
    left_out,
    plan_toml,
    procedure_titles,
    read_typed,
    sections,
    values_of,
)
from assay.web.start_codes import start_words
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.agent.messages import CheckAnswer, DriveFacts
    from assay.web.plan_form import Typed, TypedPlan
    from assay.web.site import Site


_MILLISECOND_NS = 10**6
_NOT_REPEATED = ("seed", "drive", "owner")
"""Of a run that is made again: another seed is drawn, and the drive is chosen."""


def shown_check(answer: CheckAnswer, drives: Iterable[DriveFacts]) -> dict[str, Any]:
    """A check for a script: the text of ``assay plan``, totals, refusals, and the data that the run destroys.

    drives : where model and serial number are taken from. Times are in ms since the Unix epoch.
    """
    facts = answer.facts
    real = is_real(answer)
    refused = answer.refused
    return {
        "text": answer.text,
        "totals": _totals(facts),
        "refused": refused and {key: refused[key] for key in ("thing", "reason", "remedy")},
        "identity": answer.identity,
        "digest": answer.digest,
        "until_ms": answer.until_wall_ns and answer.until_wall_ns // _MILLISECOND_NS,
        "typed": real,
        "loss": _loss(facts, drives) if real and facts["written_bytes_max"] else [],
    }


def is_real(answer: CheckAnswer) -> bool:
    """Whether a drive could lose data."""
    return bool(answer.facts["drive"]["kind"] != "simulated")


def _totals(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the resources of a run. Worked: 64 GB on a drive of 32 GB -> ``up to 64.00 GB (2 fills)``."""
    written, fills = facts["written_bytes_max"], facts["drive_fills_max"]
    return [
        ("Time", span_label(facts["span_ns_least"], facts["span_ns_most"])),
        ("Writes", f"up to {gigabytes_label(written)} ({fills_label(fills)} fills)" if written else "nothing"),
        ("Memory", f"{gigabytes_label(facts['memory_bytes'])} plus {TOOL_MEMORY}"),
        ("Disk", f"{max(facts['disk_bytes'], FREE_BYTES_MIN) / 1e6:,.0f} MB"),
    ]


def _loss(facts: Mapping[str, Any], drives: Iterable[DriveFacts]) -> list[tuple[str, str]]:
    """Names and values of the data that are destroyed."""
    drive = facts["drive"]
    known = next((listed for listed in drives if listed.path == drive["path"]), None)
    rows = (
        ("Drive", drive["path"]),
        ("Model", (known.model if known else None) or "unknown"),
        ("Serial number", (known.serial if known else None) or "none reported"),
        ("Capacity", gigabytes_label(drive["capacity_bytes"])),
        ("Contents", facts["contents"]),
        ("Findings", "; ".join(facts["refusals"])),
        ("Written", f"up to {gigabytes_label(facts['written_bytes_max'])}"),
    )
    return [(name, visible(value)) for name, value in rows if value]


async def plan_page(site: Site, request: Request) -> Response:
    """The form; with ``?run=ADDRESS`` filled in as that run was planned, with ``?drive=DRIVE`` for that drive."""
    address, drive = request.query_params.get("run", ""), request.query_params.get("drive", "")
    table: dict[str, Any] = {}
    if address:
        try:
            table = await aside(lambda: _plan_of_run(site, address))
        except AssayError as error:
            return refused(site, request, 404, (error.thing, error.reason, error.remedy))
    repeated = {key: value for key, value in table.items() if key not in _NOT_REPEATED}
    values = _typed_values(repeated)
    if values is None:
        return refused(site, request, 409, ("Run", "has a plan of another form", "check the run: assay verify"))
    typed = await aside(lambda: read_typed(values, drive))
    return shown(
        site,
        request,
        "plan",
        drive=drive or str(table.get("drive", "")),
        run=address,
        notices=await aside(lambda: _notices(repeated)),
        values=values,
        typed=typed,
        choosing=choosing_fields(),
        sections=sections(),
        titles=procedure_titles(),
    )


async def check_plan(site: Site, request: Request) -> Response:
    """Check the typed values: faults by key, the tables of options that apply, and the check by the agent."""
    try:
        drive, values = await _sent(request)
    except UsageError as error:
        return error_json(error, 400)
    typed = await aside(lambda: read_typed(values, drive))
    answer = {
        "faults": typed.faults,
        "general": typed.general,
        "tables": typed.tables,
        "tests": [procedure_titles()[name] for name in typed.tests],
    }
    if drive and not typed.has_faults:
        answer |= await _foreseen(site, request, typed, drive)
    return JSONResponse(answer)


async def start_plan(site: Site, request: Request) -> Response:
    """Put a checked plan into the agent's queue: ``digest``, ``identity`` as it was typed, and the ``code`` if any.

    Where a code is wanted first, the answer says so; it is then shown on the server's host.
    """
    try:
        content = await sent_object(request)
        code = str(content.pop("code", ""))
        start = StartRequest.model_validate({**content, "claimed": claimed(request)})
    except (UsageError, ValidationError):
        return error_json(FORM_LOST, 400)
    try:
        if not site.codes.admit(start.digest, operator_of(request), code):
            return JSONResponse({"code": site.code_command}, 202)
        await site.agent.change(start)
    except AssayError as error:
        return error_json(error, 409)
    return JSONResponse({"to": f"{site.prefix}/queue"})


async def plan_file(_site: Site, request: Request) -> Response:
    """The typed values as the text of a plan file."""
    try:
        drive, values = await _sent(request)
    except UsageError as error:
        return error_json(error, 400)
    typed = await aside(lambda: read_typed(values, drive))
    if not drive or typed.has_faults:
        return error_json(UsageError("plan", "has faults" if drive else "names no drive", "correct it first"), 400)
    return JSONResponse({"toml": plan_toml(typed.table, drive)})


async def open_plan(_site: Site, request: Request) -> Response:
    """Typed values of a plan file: ``toml``, its text."""
    try:
        content = await sent_object(request)
        table = toml_table(str(content.get("toml", "")), Path("plan file"))[0]
    except UsageError as error:
        return error_json(error, 400)
    values, notices = await aside(lambda: (_typed_values(table), _notices(table)))
    if values is None:
        return error_json(UsageError("plan file", "has tables where values belong", "see docs/guide/plans.md"), 400)
    return JSONResponse({"drive": str(table.get("drive", "")), "values": values, "notices": notices})


def _typed_values(table: dict[str, Any]) -> dict[str, Typed] | None:
    """A plan as typed values; None if the form cannot show it."""
    try:
        return values_of(table)
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None


async def _foreseen(site: Site, request: Request, typed: TypedPlan, drive: str) -> dict[str, Any]:
    """The check by the agent, or why there is none."""
    table = {"drive": drive, "plan": typed.table, "consents": typed.consents, "on_end": typed.on_end}
    try:
        check = CheckRequest.model_validate({**table, "claimed": claimed(request)})
    except ValidationError as error:
        faults = model_faults(error, CheckRequest, table)
        keys = {field.key for field in all_fields()}
        return {"faults": {fault.key: f"{fault.reason}; {fault.remedy}" for fault in faults if fault.key in keys}}
    try:
        answer = await site.agent.check(check)
        drives = (await drives_of(site))[0] if is_real(answer) else ()
    except AssayError as error:
        missing = isinstance(error, StoreError) and error.thing == str(site.agent.path)
        return {"refused": {"thing": error.thing, "reason": error.reason, "remedy": error.remedy, "agent": missing}}
    if answer.digest:
        written = f"writes up to {gigabytes_label(answer.facts['written_bytes_max'])}, check {answer.digest[:8]}"
        words = start_words(answer.facts["drive"]["path"], answer.identity, typed.tests, written)
        site.codes.expect(answer.digest, operator_of(request), words, real=is_real(answer))
    return {"checked": shown_check(answer, drives)}


def _plan_of_run(site: Site, address: str) -> dict[str, Any]:
    """The plan that a run of this host stored. Raises StoreError."""
    folder = folder_of(site, address)
    if folder is None:
        raise StoreError("Run", "is not in the folders of this server", "choose another from the list of runs")
    return dict(read_document(Path(folder))[1].plan)


def _notices(table: dict[str, Any]) -> list[str]:
    """The keys of a plan that the form lacks."""
    return [f"Left out, because it names a file or is not known here: {name}" for name in left_out(table)]


async def _sent(request: Request) -> tuple[str, dict[str, Typed]]:
    """Drive and typed values. Raises UsageError for another form."""
    content = await sent_object(request)
    drive, values = content.get("drive"), content.get("values")
    if (
        not isinstance(drive, str)
        or not isinstance(values, dict)
        or not all(map(_is_typed, [drive, *values, *values.values()]))
    ):
        raise FORM_LOST
    return drive.strip(), values


def _is_typed(value: object) -> bool:
    return isinstance(value, bool) or all(map(_is_text, value if isinstance(value, list) else [value]))


def _is_text(value: object) -> bool:
    """Whether a value is a text without half a character, which neither a file nor a message can hold."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
