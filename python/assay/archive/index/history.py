"""Histories from the index: a metric of a drive model over time, and all runs of one drive."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.archive.index.folders import given_name, site
from assay.archive.index.read import ORDER, parts
from assay.archive.index.search import all_of, scope
from assay.summary.measures import measure_words
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from assay.archive.index.driver import Connection, Row
    from assay.archive.index.search import Query
    from assay.summary.record import Key


COUNTED = ("steady", "not-settled", "not-judged", "no-rule")
"""Verdicts of tests whose numbers are compared, as in ``assay.compare``."""
NEWEST = 5
"""So many of the newest results of a test say which numbers it has."""
_RESULTS = "FROM assay_runs r JOIN assay_tests t ON t.run_key = r.key"
_COUNTS = (
    "r.missing_since_ns IS NULL AND r.fault IS NULL AND t.withheld IS NULL "
    f"AND t.verdict IN ({', '.join(repr(verdict) for verdict in COUNTED)})"
)
_OF_MODEL = "r.drive_model = ? AND r.drive_capacity_bytes = ?"
_KIND = ("test", "procedure", "edition", "conditions_key")
"""Columns that results of a test share in a history."""
_OF_NUMBER = ("cell", "label", "unit", "better")
_OF_POINT = ("address", "time_ns", "value", "bound", "mark", "firmware", "serial", "host")
_EARLIER = """
SELECT earlier.address FROM assay_runs AS earlier
JOIN assay_runs AS later ON later.drive_id = earlier.drive_id
WHERE later.address = ? AND earlier.site = ?
AND earlier.complete AND earlier.missing_since_ns IS NULL AND earlier.started_wall_ns < later.started_wall_ns
ORDER BY earlier.started_wall_ns DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveModel:
    """A drive model of the index. capacity_bytes : user capacity. run_count : of all its runs, copies included.

    counts : whether a test of any of them has results that count.
    """

    model: str
    capacity_bytes: int
    run_count: int
    newest_ns: int
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number that runs of a model have. label : of its cell. key : of the number, such as ``iops``.

    better : higher, lower or neither. conditions_key : digest of the conditions of the test; empty of rows that
    were read before they were kept. conditions : as JSON.
    """

    test: str
    procedure: str
    edition: str
    cell: str
    label: str
    key: str
    unit: str
    better: str
    conditions_key: str = ""
    conditions: str = ""

    @property
    def held(self) -> dict[str, Any]:
        """The conditions by their names."""
        return dict(json.loads(self.conditions or "{}"))

    @property
    def name(self) -> str:
        """Its name in addresses, unique within a test and an edition.

        Worked: ``iops`` of 4 KiB and 100 % reads -> ``"iops:block_kib=4,read_pct=100"``.
        """
        return f"{self.key}:{','.join(f'{name}={value}' for name, value in self.pairs)}"

    @property
    def pairs(self) -> Key:
        """Its cell."""
        return tuple((name, value) for name, value in json.loads(self.cell))

    @property
    def text(self) -> str:
        """The number in words. Worked: ``"RND 4KiB 100/0, IOPS"``; ``"RND 4KiB 0/100, mean response time (ms)"``."""
        words = measure_words(self.key)
        return f"{self.label}, {words if words == self.unit else f'{words} ({self.unit})'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """The number of one run. address : of the run. name : as it is named, else its folder. time_ns : start of the test.

    rounds : the same of each round, oldest first. bound, mark : the host's part, as in ``Measure``.
    firmware, serial : empty if the drive reports none. host : identifier of the test system, empty if unknown.
    """

    address: str
    name: str
    time_ns: int
    value: float
    rounds: tuple[float, ...]
    bound: float | None
    mark: str | None
    firmware: str
    serial: str
    host: str
    tags: tuple[str, ...]


def drive_models(reader: Connection) -> list[DriveModel]:
    """The drive models of the index: those with results that count first, then that of the newest run."""
    rows = reader.rows(
        "SELECT r.drive_model AS model, r.drive_capacity_bytes AS capacity_bytes, count(DISTINCT r.key) AS run_count, "
        "coalesce(max(r.started_wall_ns), 0) AS newest_ns, count(t.key) > 0 AS counts "
        f"FROM assay_runs r LEFT JOIN assay_tests t ON t.run_key = r.key AND {_COUNTS} "
        "WHERE r.drive_model IS NOT NULL AND r.drive_capacity_bytes IS NOT NULL "
        "AND r.missing_since_ns IS NULL AND r.fault IS NULL GROUP BY r.drive_model, r.drive_capacity_bytes"
    )
    models = [DriveModel(**{**row, "counts": bool(row["counts"])}) for row in rows]
    return sorted(models, key=lambda model: (not model.counts, -model.newest_ns, model.model, model.capacity_bytes))


def metrics_of(reader: Connection, model: DriveModel, *, newest: int | None = NEWEST) -> list[Metric]:
    """The numbers that runs of a model have and that count, by test and in the order of its tables.

    newest : how many results of each test are looked at; None looks at all, which takes seconds for thousands of runs.
    """
    results = reader.rows(
        f"SELECT t.key, {', '.join(f't.{name}' for name in _KIND)}, t.started_wall_ns, t.{ORDER} "
        f"{_RESULTS} WHERE {_OF_MODEL} AND {_COUNTS}",
        *(model.model, model.capacity_bytes),
    )
    kinds: dict[tuple[str, ...], list[Row]] = {}
    for row in sorted(results, key=lambda row: (-row["started_wall_ns"], row["key"])):
        kinds.setdefault(tuple(row[name] for name in _KIND), []).append(row)
    # Of a test under several conditions those of the newest run come first.
    ordered = sorted(kinds.values(), key=lambda rows: (rows[0][ORDER], *(rows[0][name] for name in _KIND[:-1])))
    return [metric for rows in ordered for metric in _metrics(reader, rows[:newest])]


def _metrics(reader: Connection, results: Sequence[Row]) -> Iterable[Metric]:
    """The numbers of a test under some conditions. results : its rows, the newest first."""
    (kept,) = reader.rows("SELECT conditions FROM assay_tests WHERE key = ?", results[0]["key"])
    kind = {name: results[0][name] for name in _KIND}
    asked = f"SELECT name, {', '.join(_OF_NUMBER)} FROM assay_measures WHERE test_key = ? AND value IS NOT NULL"
    numbers: dict[tuple[str, str, str], Metric] = {}
    for row in (row for result in results for row in reader.rows(f"{asked} ORDER BY {ORDER}", result["key"])):
        metric = Metric(**kind, **kept, key=row["name"], **{name: row[name] for name in _OF_NUMBER})
        numbers.setdefault((metric.cell, metric.key, metric.unit), metric)
    return numbers.values()


def history(
    reader: Connection, model: DriveModel, metric: Metric, *, without: Collection[str] = ()
) -> list[HistoryPoint]:
    """The number of every run of a model that has it and counts, the oldest first.

    without : addresses of runs to leave out, by default none; see ``excluded``.
    """
    rows = reader.rows(
        "SELECT r.key, r.site, r.parent, r.folder, r.run_id, r.journal_hash, r.address, r.name, r.host, m.value, "
        "m.rounds, m.bound, m.mark, t.started_wall_ns AS time_ns, coalesce(r.drive_firmware, '') AS firmware, "
        f"coalesce(r.drive_serial, '') AS serial {_RESULTS} JOIN assay_measures m ON m.test_key = t.key "
        f"WHERE {_OF_MODEL} AND {_COUNTS} AND m.value IS NOT NULL AND t.test = ? AND t.procedure = ? "
        f"AND t.edition = ? AND t.conditions_key = ? AND m.cell = ? AND m.name = ? AND m.unit = ? ORDER BY t.{ORDER}",
        *(model.model, model.capacity_bytes, metric.test, metric.procedure, metric.edition),
        *(metric.conditions_key, metric.cell, metric.key, metric.unit),
    )
    tags = parts(reader, "assay_tags", "run_key", [row["key"] for row in rows], ("tag",))
    points = [
        HistoryPoint(
            **{name: row[name] for name in _OF_POINT},
            name=row["name"] or unicode_name(given_name(row["folder"])),
            rounds=tuple(json.loads(row["rounds"])),
            tags=tuple(tag["tag"] for tag in tags.get(row["key"], ())),
        )
        for row in _distinct(rows)
        if row["address"] not in without
    ]
    return sorted(points, key=lambda point: (point.time_ns, point.address))


def excluded(reader: Connection) -> frozenset[str]:
    """Addresses of the runs that a user hid or marked as bad; they leave every history."""
    return frozenset(row["address"] for row in reader.rows("SELECT address FROM assay_notes WHERE hidden OR bad"))


def _distinct(rows: Iterable[Row]) -> Iterable[Row]:
    """A row per run: of copies that of this host, else the first by its folder; of a test that ran twice, the first."""
    here = site()
    runs: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: (row["site"] != here, row["site"], row["parent"], row["folder"])):
        runs.setdefault((row["run_id"], row["journal_hash"]), row)
    return runs.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Runs that have something in common. first_ns, last_ns : when the first and the last began, None if unknown."""

    name: str
    run_count: int
    first_ns: int | None
    last_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveHistory:
    """All runs of a drive; a run that lies in several folders counts once.

    written_bytes : sum over the runs of which it is known; unknown_count : the others.
    firmwares, hosts : from the first run on; hosts by their IDs. capacities : in bytes, ascending. ids : identities.
    """

    run_count: int
    written_bytes: int
    unknown_count: int
    firmwares: tuple[Span, ...]
    hosts: tuple[Span, ...]
    capacities: tuple[int, ...]
    ids: tuple[str, ...]


def drive_history(reader: Connection, query: Query) -> DriveHistory:
    """Sum up the runs of the drive and folders of a query, also those that are hidden or missing.

    Worked: two runs that wrote 10 GB each, the second of them also in another folder -> 2 runs, 20 GB.
    """
    where = all_of(scope(query))
    names = "run_id, written_bytes, started_wall_ns, drive_firmware, host, drive_capacity_bytes, drive_id"
    rows = reader.rows(f"SELECT {names} FROM assay_runs r WHERE {where.text}", *where.values)
    written: dict[str, int | None] = {}
    for row in rows:
        known = (written.get(row["run_id"]), row["written_bytes"])
        written[row["run_id"]] = max((count for count in known if count is not None), default=None)
    return DriveHistory(
        run_count=len(written),
        written_bytes=sum(count for count in written.values() if count is not None),
        unknown_count=sum(count is None for count in written.values()),
        firmwares=_spans(rows, "drive_firmware"),
        hosts=_spans(rows, "host"),
        capacities=tuple(sorted({row["drive_capacity_bytes"] for row in rows})),
        ids=tuple(sorted({row["drive_id"] for row in rows})),
    )


def run_before(reader: Connection, address: str) -> str | None:
    """The address of the whole run of the same drive on this host that began last before another; None without one.

    address : of that other.
    """
    rows = reader.rows(_EARLIER, address, site())
    return str(rows[0]["address"]) if rows else None


def _spans(rows: Sequence[Row], column: str) -> tuple[Span, ...]:
    """The values of a column, in the order of their first runs."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column] or ""].append(row)
    spans = []
    for name, runs in groups.items():
        began = [run["started_wall_ns"] for run in runs if run["started_wall_ns"] is not None]
        first_ns, last_ns = min(began, default=None), max(began, default=None)
        run_count = len({run["run_id"] for run in runs})
        spans.append(Span(name=name, run_count=run_count, first_ns=first_ns, last_ns=last_ns))
    return tuple(sorted(spans, key=lambda span: (span.first_ns or 0, span.name)))
