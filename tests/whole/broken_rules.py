"""A change of a good run for each rule that breaks this rule alone; the hash chain is made good behind it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from assay.engine.codec import canonical
from folder_faults import Folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa


@dataclass(frozen=True)
class Breaking:
    """How a rule is broken. base : the kind of run that it is broken in. work : changes the folder in memory.

    after : changes the bytes of the journal, which are then left as they are.
    """

    base: str
    work: Callable[[Folder], object] = lambda _: None
    after: Callable[[list[bytes]], None] | None = None

    def make(self, good: Path, path: Path, report: dict[str, bytes]) -> None:
        """Write the broken run. report : files of the good run's report, which most rules do without."""
        folder = Folder.read(good)
        folder.raw |= report
        self.work(folder)
        folder.write(path)
        if self.after:
            journal = path / "journal.jsonl"
            lines = journal.read_bytes().splitlines()
            self.after(lines)
            journal.write_bytes(b"".join(line + b"\n" for line in lines))


def data(folder: Folder, kind: str, number: int = 0) -> dict[str, Any]:
    """What the line of a kind holds. number : which of them, from 0; -1 for the last."""
    found: dict[str, Any] = [line["data"] for line in folder.lines if line["kind"] == kind][number]
    return found


def step(folder: Folder, sequence: int, place: int) -> dict[str, Any]:
    """One step record."""
    found: dict[str, Any] = data(folder, "steps", sequence)["steps"][place]
    return found


def table(folder: Folder, name: str, work: Callable[[pa.Table], pa.Table]) -> None:
    """Change a table."""
    target = BytesIO()
    pq.write_table(work(pq.read_table(BytesIO(folder.tables[name]))), target, compression="zstd")
    folder.tables[name] = target.getvalue()


def with_column(content: pa.Table, name: str, work: Callable[[list[Any]], list[Any]]) -> pa.Table:
    """The same table with other values in a column."""
    import pyarrow as pa  # noqa: PLC0415

    place, kind = content.column_names.index(name), content.schema.field(name).type
    return content.set_column(place, name, pa.array(work(content[name].to_pylist()), kind))


def chained_from(lines: list[bytes], first: int) -> None:
    """Make the chain good again from a line on, whose own hash is right."""
    for number in range(first, len(lines)):
        previous = hashlib.sha256(lines[number - 1] + b"\n").hexdigest()
        lines[number] = sealed_again({**json.loads(lines[number]), "previous": previous})


def sealed_again(entry: dict[str, Any]) -> bytes:
    entry.pop("hash", None)
    body = canonical(entry)[:-1]
    return body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}'


def _own_hash(lines: list[bytes]) -> None:
    lines[3] = lines[3][:-3] + (b"0" if lines[3][-3:-2] != b"0" else b"1") + lines[3][-2:]
    chained_from(lines, 4)


def _previous(lines: list[bytes]) -> None:
    lines[3] = sealed_again({**json.loads(lines[3]), "previous": "0" * 64})
    chained_from(lines, 4)


def _kind(folder: Folder) -> None:
    folder.lines[0]["kind"] = "strange"


def _asked(folder: Folder) -> None:
    spec = next(iter(data(folder, "asked")["specs"].values()))
    spec["label"] += " "


def _order(folder: Folder) -> None:
    place = next(place for place, line in enumerate(folder.lines) if line["kind"] == "purged")
    start = next(place for place, line in enumerate(folder.lines) if line["kind"] == "test_started")
    folder.lines.insert(start, folder.lines.pop(place))


def _behind_the_end(folder: Folder) -> None:
    folder.lines.append(folder.lines[0])


def _flipped_table(folder: Folder) -> None:
    name = "histograms/000002.parquet"
    folder.raw[name] = bytes([*folder.tables[name][:-9], folder.tables[name][-9] ^ 1, *folder.tables[name][-8:]])


def _lost_table(folder: Folder) -> None:
    name = "series/000002.parquet"
    del data(folder, "steps", 1)["tables"][name], folder.tables[name]


def _strange_table(folder: Folder) -> None:
    folder.tables["series/999999.parquet"] = folder.tables["series/000001.parquet"]


def _renamed_column(folder: Folder) -> None:
    table(folder, "series/000002.parquet", lambda one: one.rename_columns([f"{name}s" for name in one.column_names]))


def _reversed_rows(folder: Folder) -> None:
    table(folder, "histograms/000002.parquet", lambda one: one.take(list(range(one.num_rows))[::-1]))


def _lost_trace(folder: Folder) -> None:
    del folder.tables[next(name for name in folder.tables if name.startswith("traces/"))]


def _carried(folder: Folder) -> None:
    one = next(one for one in data(folder, "steps", 1)["steps"][1:] if one["carried_in_ns"] > 5)
    one["carried_in_ns"] -= 5
    one["outstanding_ns"] -= 5


def _too_deep(folder: Folder) -> None:
    one = step(folder, 1, 1)
    one["outstanding_ns"] += 3 * one["span_ns"]
    one["carried_in_ns"] += 3 * one["span_ns"]


def _late(folder: Folder) -> None:
    one = step(folder, 1, 1)
    one["last_submission_ns"] = one["start_ns"] + one["span_ns"] + 1


def _shifted(folder: Folder) -> None:
    steps = data(folder, "steps", 1)["steps"]
    steps[-1]["start_ns"] += 1


def _too_large(folder: Folder) -> None:
    step(folder, 1, 1)["read"]["tail_bytes"] += 512
    data(folder, "steps", 1)["steps"][-1]["counters_after"]["read_bytes"] += 512


def _too_long(folder: Folder) -> None:
    step(folder, 1, 1)["read"]["latency_ns_max"] += 10**12


def _contradicting(folder: Folder) -> None:
    step(folder, 1, 1)["outstanding_ns"] = 1


def _one_io_less(folder: Folder) -> None:
    side = next(
        side for one in data(folder, "steps", 1)["steps"] for side in (one["read"], one["write"])
        if side["tail_io_count"]
    )  # fmt: skip
    side["tail_bytes"] -= side["tail_bytes"] // side["tail_io_count"]
    side["tail_io_count"] -= 1


def _counters(folder: Folder) -> None:
    names = [f"{side}_{what}" for side in ("read", "write") for what in ("io_count", "bytes", "merge_count")]
    for one in data(folder, "steps", 1)["steps"]:
        one["counters_before"] = one["counters_after"] = dict.fromkeys(names, 7)


def _bytes_of_a_second(folder: Folder) -> None:
    change = lambda one: with_column(one, "bytes", lambda values: [values[0] + 512, *values[1:]])  # noqa: E731
    table(folder, "series/000002.parquet", change)


def _captured_latency(folder: Folder) -> None:
    name = next(name for name in folder.tables if name.startswith("traces/"))
    change = lambda one: with_column(one, "latency_ns", lambda values: [*values[:-1], values[-1] - 1])  # noqa: E731
    table(folder, name, change)


def _ended(reason: str, code: int) -> Callable[[Folder], None]:
    def work(folder: Folder) -> None:
        data(folder, "test_ended")["reason"] = reason
        data(folder, "run_ended")["exit_code"] = code

    return work


def _stall(folder: Folder) -> None:
    place = next(place for place, line in enumerate(folder.lines) if line["kind"] == "steps")
    noted = {"sequence": "round 1", "stall_ns": 2 * 10**9, "step": "x"}
    folder.lines.insert(place + 1, {**folder.lines[place], "kind": "stall", "data": noted})


def _read_back(folder: Folder) -> None:
    """A check of written data in the middle of a test, and none at its end."""
    place = next(place for place, line in enumerate(folder.lines) if line["kind"] == "steps")
    counts = dict.fromkeys(("given_count", "unknown_count", "wrong_count"), 0)
    record = {"after": "round 1", "checked_count": 64, "known_count": 64, **counts, "span_ns": 1, "limit_ns": 10**9}
    folder.lines.insert(place + 1, {**folder.lines[place], "kind": "read_back", "data": record})


def _verdict(folder: Folder) -> None:
    one = next(iter(data(folder, "verdict", -1)["window"]["verdicts"].values()))
    one["excursion_measured"] += 0.01


def _report(name: str, old: str, new: str) -> Callable[[Folder], None]:
    def work(folder: Folder) -> None:
        text = folder.raw[f"report/{name}"].decode()
        assert old in text, name
        folder.raw[f"report/{name}"] = text.replace(old, new, 1).encode()

    return work


def _finding(folder: Folder) -> None:
    results = json.loads(folder.raw["report/results.json"])
    results["findings"]["rows"].pop()
    folder.raw["report/results.json"] = (json.dumps(results, indent=1) + "\n").encode()


def _one_more(folder: Folder) -> None:
    """The file of a replay holds its first I/O twice."""
    import pyarrow as pa  # noqa: PLC0415

    (name,) = (name for name in folder.tables if name.startswith("replays/"))
    table(folder, name, lambda rows: pa.concat_tables([rows.slice(0, 1), rows]))


QUIET_HOST = {
    "span_ns": 10**9, "cpu_count": 2, "late_ns_p999": 0, "late_ns_max": 0, "stalled_ns": 0, "stalls": [], "run_ns": 0,
    "gauge_cpu_ns": 0, "steal_ns": 0, "switches_involuntary": 0,
}  # fmt: skip
"""What nobody disturbed, as the journal has it."""


def _looked(folder: Folder) -> None:
    """The test says that it looked at all processes."""
    place = next(place for place, line in enumerate(folder.lines) if line["kind"] == "test_ended")
    looks = {"arrivals": [], "look_count": 1, "process_look_count": 1, "process_span_ns_max": 1, "span_ns_max": 1}
    folder.lines.insert(place, {**folder.lines[place], "kind": "looked", "data": looks})


def _set(kind: str, key: str, value: Any) -> Callable[[Folder], object]:
    return lambda folder: data(folder, kind).update({key: value})


def _withheld(work: Callable[[Folder], object]) -> Callable[[Folder], None]:
    """The same change in a run whose exit code says that its results are withheld, as every reader sees."""

    def changed(folder: Folder) -> None:
        work(folder)
        data(folder, "run_ended")["exit_code"] = 5

    return changed


BREAKINGS: dict[str, Breaking] = {
    "F-01": Breaking("lat", lambda folder: folder.document.pop("identity")),
    "F-02": Breaking("lat", after=_own_hash),
    "F-03": Breaking("lat", after=_previous),
    "F-04": Breaking("lat", _kind),
    "F-05": Breaking("lat", _asked),
    "F-06": Breaking("lat", _order),
    "F-07": Breaking("lat", _behind_the_end),
    "F-08": Breaking("lat", lambda folder: folder.raw.update({"report_date.json": b'{"wall_ns":-1}'})),
    "T-01": Breaking("lat", _flipped_table),
    "T-02": Breaking("lat", _lost_table),
    "T-03": Breaking("lat", _strange_table),
    "T-04": Breaking("lat", _renamed_column),
    "T-05": Breaking("lat", _reversed_rows),
    "T-06": Breaking("captured", _lost_trace),
    "W-01": Breaking("lat", lambda folder: step(folder, 1, 1).update(label="RND 4KiB 1/99")),
    "W-02": Breaking("wsat", _shifted),
    "W-03": Breaking("wsat", _withheld(_carried)),
    "W-04": Breaking("lat", _withheld(_contradicting)),
    "W-05": Breaking("lat", _withheld(_too_deep)),
    "W-06": Breaking("lat", _late),
    "W-07": Breaking("lat", _withheld(lambda folder: step(folder, 1, 1).update(thread_io_count_min=10**9))),
    "W-08": Breaking("open", lambda folder: step(folder, 1, 1).update(offered_io_count=None)),
    "W-09": Breaking("lat", _withheld(_too_large)),
    "W-10": Breaking("lat", _withheld(_counters)),
    "W-11": Breaking("lat", _withheld(_one_io_less)),
    "W-12": Breaking("lat", _withheld(_too_long)),
    "W-13": Breaking("lat", _withheld(_bytes_of_a_second)),
    "W-14": Breaking("captured", _captured_latency),
    "W-15": Breaking("replayed", _one_more),
    "W-16": Breaking("lat", lambda folder: step(folder, 1, 1).update(misaligned_io_count=1)),
    "D-01": Breaking("lat", lambda folder: folder.document["identity"].update(id="/dev/nvme0n1")),
    "D-02": Breaking("lat", lambda folder: data(folder, "purged").update(method="NVMe Format (user data erase)")),
    "D-03": Breaking("lat", lambda folder: data(folder, "steps", 1).update(host=QUIET_HOST)),
    "D-04": Breaking("lat", lambda folder: step(folder, 1, 1).update(cpu_ns=1)),
    "D-05": Breaking("lat", _looked),
    "V-01": Breaking("lat", lambda folder: data(folder, "test_started")["settings"].update(void_limit=2)),
    "V-02": Breaking("lat", lambda folder: folder.document["deviations"].pop()),
    "V-03": Breaking("lat", lambda folder: data(folder, "steps", 1).update(on_void="repeat")),
    "V-04": Breaking("lat", _verdict),
    "V-05": Breaking("lat", _ended("round-limit", 7)),
    "V-06": Breaking("lat", _stall),
    "V-07": Breaking("lat", _set("run_ended", "exit_code", 7)),
    "V-08": Breaking("lat", _read_back),
    "R-01": Breaking("lat", _report("results.json", '"label": "simulated drive', '"label": "conforming')),
    "R-02": Breaking("lat", _finding),
    "R-03": Breaking("lat", _report("results.json", '"ended": "steady"', '"ended": "time"')),
    "R-04": Breaking("lat", _report("lat_matrix.csv", "\n4", "\n8")),
}
"""By the ID of the rule."""
