"""The read-only API: what commands print with ``--json``, for programs with a token and for sessions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from starlette.responses import JSONResponse, Response

from assay.archive.index.read import EVERY, listed_runs, name_everywhere, reading, stored_runs
from assay.archive.index.search import VERDICTS, Wanted, since_ns, until_ns
from assay.errors import AssayError, StoreError, UsageError
from assay.report.comparison.facts import ComparisonFacts
from assay.run.store.status import GoingRuns, run_state
from assay.summary.forms import LabelClass
from assay.web.forms import (
    AddressedRun,
    RunStatus,
    StartedTest,
    TrendChange,
    TrendDrive,
    TrendFacts,
    TrendLevelFacts,
    TrendMetric,
    TrendRun,
    TrendSeriesFacts,
)
from assay.web.jobs import status_of
from assay.web.pages.compare import RUNS_MAX, RUNS_MIN, comparison_job
from assay.web.pages.run import indexed_run
from assay.web.pages.shell import aside, link_of
from assay.web.trend import GROUPINGS, drive_word, interval_of, metric_word, trend_choice, trend_words
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from assay.archive.index.driver import Connection, Row
    from assay.archive.index.history import HistoryPoint
    from assay.run.store.status import RunState
    from assay.web.site import Site
    from assay.web.trend import TrendChoice, TrendSeries, TrendView

API = "/api/v1"
LAST, LAST_MAX = 100, 10_000
"""Runs of a list, unless ``last`` says otherwise; the newest."""
_LABELS = get_args(LabelClass)
_FLAG = ("true", "false")
_FILTERS = {
    "drive": "Only where serial, identity or path has this text.",
    "model": "Only of drives whose model has this text.",
    "firmware": "Only where the firmware has this text.",
    "test": "Only with this test or study.",
    "edition": "Only by this edition.",
    "verdict": "Only where a test has this verdict.",
    "label": "Only with this label.",
    "host": "Only where host, system or lab has this text.",
    "name": "Only where the name of the run has this text.",
    "tag": "Only with this tag.",
}
"""As the options of ``assay runs``; values of one are alternatives, different ones must all match."""
_WORDS = {"verdict": VERDICTS, "label": _LABELS}


def running_states(folders: Iterable[Path]) -> list[RunStatus]:
    """The state of each active run below some folders; reads the journals of these runs only."""
    states = []
    for run in GoingRuns(folders).look():
        with suppress(AssayError, OSError):
            states.append(run_state(run.folder))
    # A run may have ended since.
    return [run_status(state) for state in states if state.state in {"running", "suspended"}]


def run_status(state: RunState) -> RunStatus:
    """A state as commands print it."""
    tests = tuple(StartedTest(test=test, ended=ended) for test, ended in state.tests)
    return RunStatus.of_records(state, run=unicode_name(str(state.folder)), tests=tests)


def trend_facts(choice: TrendChoice) -> TrendFacts:
    """A choice with its history as JSON; numbers are unrounded."""
    view = choice.view
    return TrendFacts.of_records(
        choice.words,
        conditions=view.metric.held if view else {},
        baseline=view.baseline.address if view and view.baseline else "",
        series=tuple(_trend_series(view, series) for series in view.series) if view else (),
        drives=tuple(TrendDrive.of_records(model, drive=drive_word(model)) for model in choice.models),
        tests=tuple(choice.tests),
        metrics=tuple(
            TrendMetric.of_records(metric, metric=metric_word(metric), label=metric.text) for metric in choice.metrics
        ),
        notices=choice.notices,
    )


def _trend_series(view: TrendView, series: TrendSeries) -> TrendSeriesFacts:
    return TrendSeriesFacts(
        group=series.name,
        not_judged=series.trend.reason,
        runs=tuple(_trend_run(view, point) for point in series.points),
        levels=tuple(map(TrendLevelFacts.of_records, series.trend.levels)),
        changes=tuple(TrendChange.of_records(judged.change, judged) for judged in series.changes),
    )


def _trend_run(view: TrendView, point: HistoryPoint) -> TrendRun:
    low, high = interval_of(point) or (None, None)
    return TrendRun.of_records(
        point,
        run=unicode_name(point.name),
        interval_low=low,
        interval_high=high,
        from_baseline=view.from_baseline(point),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a query. repeated : values are alternatives. words : the only values; empty for any text."""

    name: str
    text: str
    repeated: bool = False
    words: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAddress:
    """An address of the API. form : of its answer. jobs : it answers 202 until a job has made the answer."""

    path: str
    text: str
    answer: Callable[[Site, Request], Awaitable[Response]]
    form: Any
    parameters: tuple[Parameter, ...] = ()
    jobs: bool = False


async def _runs(site: Site, request: Request) -> Response:
    """The runs of the index that match the query, the oldest first."""
    wanted, last = _wanted(request.query_params), _last(request.query_params)
    missing = request.query_params.get("missing") == "true"
    return JSONResponse(await aside(lambda: _listed(site, wanted, last, missing=missing)))


async def _run(site: Site, request: Request) -> Response:
    address = request.path_params["run"]
    runs = await aside(lambda: _of_address(site, address))
    if not runs:
        return error_response(UsageError(address, "is no run of the index", f"list the runs: {API}/runs"), 404)
    return JSONResponse(runs[0])


async def _status(site: Site, _: Request) -> Response:
    states = await aside(lambda: running_states(site.folders))
    return JSONResponse([state.as_json() for state in states])


async def _trend(site: Site, request: Request) -> Response:
    words = trend_words(request.query_params)

    def facts() -> dict[str, Any]:
        with reading(site.place) as reader:
            return trend_facts(trend_choice(reader, words)).as_json()

    return JSONResponse(await aside(facts))


async def _compare(site: Site, request: Request) -> Response:
    """The facts of a comparison; 202 until the child process has made them."""
    addresses = request.query_params.getlist("run")
    if not RUNS_MIN <= len(addresses) <= RUNS_MAX:
        raise UsageError("run", f"is given {len(addresses)} times", f"give {RUNS_MIN} to {RUNS_MAX} addresses of runs")
    runs = await aside(lambda: [indexed_run(site, address) for address in addresses])
    local = [run for run in runs if run is not None and run.folder is not None]
    if len(local) < len(addresses):
        raise UsageError("run", "names a run that is not on this host", f"list the runs: {API}/runs")
    options = {name: request.query_params.get(name) == "true" for name in ("despite", "repeats")}
    job = comparison_job(site, local, options)
    try:
        return Response((site.cache / job.key / "comparison.json").read_bytes(), media_type="application/json")
    except OSError:
        pass
    failure = site.jobs.failure(job.key)
    if failure is not None:
        # The next request tries anew.
        site.jobs.forget(job.key)
        raise StoreError("comparison", failure.text, "check the runs: assay verify RUN")
    site.jobs.ask(job, link_of(request))
    return JSONResponse({"state": site.jobs.state(job.key)}, 202, headers={"retry-after": "2"})


def answered(address: ApiAddress) -> Callable[[Site, Request], Awaitable[Response]]:
    """An address that refuses parameters that it does not have, and answers errors as JSON."""
    known = {parameter.name: parameter for parameter in address.parameters}

    async def answer(site: Site, request: Request) -> Response:
        try:
            for name, value in request.query_params.multi_items():
                _check(name, value, known)
            return await address.answer(site, request)
        except UsageError as error:
            return error_response(error, 400)
        except AssayError as error:
            return error_response(error, status_of(error, 503))

    return answer


def error_response(error: AssayError, status: int) -> Response:
    """An error as JSON. status : of HTTP."""
    facts = {"error": error.slug, "thing": error.thing, "reason": error.reason, "remedy": error.remedy}
    return JSONResponse(facts, status)


def _check(name: str, value: str, known: dict[str, Parameter]) -> None:
    """Raise UsageError for an unknown parameter or value."""
    if name not in known:
        raise UsageError(name, "is no parameter of this address", f"use {', '.join(known) or 'none'}")
    words = known[name].words
    if words and value not in words:
        raise UsageError(name, f"is {value!r}", f"give {', '.join(words)}")


def _wanted(query: QueryParams) -> Wanted:
    """The filter of a query, as the options of ``assay runs``. Raises UsageError for a text that is no time."""
    texts: dict[str, Any] = {f"{name}s": tuple(query.getlist(name)) for name in _FILTERS}
    return Wanted(**texts, since_ns=since_ns(query.get("since")), until_ns=until_ns(query.get("until")))


def _last(query: QueryParams) -> int:
    text = query.get("last", str(LAST))
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(LAST_MAX)) and 1 <= int(text) <= LAST_MAX):
        raise UsageError("last", f"is {text!r}", f"give 1 to {LAST_MAX}")
    return int(text)


def _listed(site: Site, wanted: Wanted, last: int, *, missing: bool) -> list[dict[str, Any]]:
    """The newest of the runs that are wanted, the oldest first, with the numbers of their tests."""
    with reading(site.place) as reader:
        if reader is None:
            return []
        rows = stored_runs(reader, EVERY if missing else "missing_since_ns IS NULL")
        runs = zip(rows, listed_runs(reader, rows, name_everywhere, numbers=False), strict=True)
        kept = sorted(
            ((run.started_wall_ns or 0, run.run, row["key"], row) for row, run in runs if wanted(run)),
            key=lambda entry: entry[:3],
        )
        return _as_json(reader, [row for *_, row in kept[-last:]])


def _of_address(site: Site, address: str) -> list[dict[str, Any]]:
    with reading(site.place) as reader:
        return _as_json(reader, stored_runs(reader, "address = ? ORDER BY key LIMIT 1", address)) if reader else []


def _as_json(reader: Connection, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Runs as ``assay runs --everywhere --json`` prints them, with their addresses."""
    runs = zip(rows, listed_runs(reader, rows, name_everywhere, numbers=True), strict=True)
    return [{"address": row["address"], **run.as_json()} for row, run in runs]


ADDRESSES = (
    ApiAddress(
        path=f"{API}/runs",
        text="Runs of the index, the oldest first",
        answer=_runs,
        form=tuple[AddressedRun, ...],
        parameters=(
            *(
                Parameter(name=name, text=text, repeated=True, words=_WORDS.get(name, ()))
                for name, text in _FILTERS.items()
            ),
            Parameter(name="since", text="Begun at or after this time, such as 2026-11-22 (UTC)."),
            Parameter(name="until", text="Begun at or before this time; a day includes all its hours."),
            Parameter(name="last", text=f"Only the newest. Default: {LAST}.", minimum=1, maximum=LAST_MAX),
            Parameter(name="missing", text="Also runs whose folder is gone. Default: false.", words=_FLAG),
        ),
    ),
    ApiAddress(path=f"{API}/runs/{{run}}", text="A run of the index", answer=_run, form=AddressedRun),
    ApiAddress(
        path=f"{API}/status", text="Runs of the served folders that go on", answer=_status, form=tuple[RunStatus, ...]
    ),
    ApiAddress(
        path=f"{API}/trend",
        text="A metric of a drive model over time, with marked changes",
        answer=_trend,
        form=TrendFacts,
        parameters=(
            Parameter(name="drive", text="Capacity in bytes and model, as in drives. Default: the first."),
            Parameter(name="test", text="Name and edition, as in tests. Default: the first."),
            Parameter(name="metric", text="As in metrics. Default: the first."),
            Parameter(name="by", text="How runs are grouped. Default: time.", words=GROUPINGS),
            Parameter(name="baseline", text="Address of a run. Default: the first run."),
        ),
    ),
    ApiAddress(
        path=f"{API}/compare",
        text="A comparison of runs",
        answer=_compare,
        form=ComparisonFacts,
        jobs=True,
        parameters=(
            Parameter(name="run", text=f"Address of a run, {RUNS_MIN} to {RUNS_MAX} times.", repeated=True),
            Parameter(name="despite", text="Compare despite unlike conditions. Default: false.", words=_FLAG),
            Parameter(name="repeats", text="The runs repeat the same test. Default: false.", words=_FLAG),
        ),
    ),
)  # fmt: skip
"""Every address of the API; the OpenAPI text is made from these."""
