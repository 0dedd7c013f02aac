"""A second implementation of the numbers that people quote, from the files of a run folder alone.

It reads the Parquet tables with polars and ``journal.jsonl`` as plain JSON, as docs/formats/run-folder.md says, and
imports nothing of the product. ``python tests/unit/second_values.py RUN results.json`` prints what differs.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl

Json = dict[str, Any]
Number = float | None

NINES = {"50": Fraction(1, 2), "90": Fraction(9, 10), "95": Fraction(19, 20), "99": Fraction(99, 100)}
NINES |= {"99.9": Fraction(999, 1000), "99.99": Fraction(9999, 10000), "99.999": Fraction(99999, 100000)}
MS, SECOND, MINUTE = 10**6, 10**9, 60 * 10**9
WHOLE = "stop-rule"


@dataclass(frozen=True)
class Step:
    """A step of a sequence: what the journal says of it, what was asked, and its rows of the tables."""

    record: Json
    asked: Json
    completed: int
    moved: int
    commands: int
    buckets: dict[int, int]
    seconds: dict[int, int]

    @property
    def rate(self) -> Fraction:
        """Reads and writes per second."""
        return Fraction(self.completed * SECOND, self.record["span_ns"])

    @property
    def command_rate(self) -> Fraction:
        """Trims and flushes per second."""
        return Fraction(self.commands * SECOND, self.record["span_ns"])

    @property
    def mb_per_s(self) -> Fraction:
        """Megabytes per second."""
        return Fraction(self.moved * SECOND, self.record["span_ns"] * 10**6)

    @property
    def sides(self) -> list[Json]:
        """Reads, writes, and I/Os of no direction where there are any."""
        return [self.record[name] for name in ("read", "write", "other") if self.record.get(name)]

    @property
    def latency_ms(self) -> Fraction:
        """Mean of its I/Os."""
        count = sum(side["latency_io_count"] for side in self.sides)
        return Fraction(sum(side["latency_ns_sum"] for side in self.sides), count * MS) if count else Fraction(0)

    @property
    def cell(self) -> tuple[float, int]:
        """Block size in KiB and share of reads in per cent."""
        pattern = self.asked["pattern"]
        return pattern["sizes"][0][0] / 1024, round(pattern["read_share"] * 100)

    @property
    def demand(self) -> tuple[int, int]:
        """Threads and queue depth."""
        return self.asked["demand"]["thread_count"], self.asked["demand"]["queue_depth"]


@dataclass(frozen=True)
class Test:
    """A test: its settings, its sequences with stage and index, and name and role of each."""

    settings: Json
    sequences: list[tuple[str, int, list[Step]]]
    roles: list[tuple[str, str]]

    __test__ = False

    def steps(self, stage: str, index: int | None = None) -> list[Step]:
        """The steps of a stage, of one index where it is given."""
        found = [steps for name, at, steps in self.sequences if name == stage and index in {None, at}]
        return [step for steps in found for step in steps]


def read_tests(folder: Path) -> list[Test]:
    """Every test of a run folder."""
    tests: list[Test] = []
    specs: Json = {}
    for line in map(json.loads, (folder / "journal.jsonl").read_text("utf-8").splitlines()):
        data = line["data"]
        if line["kind"] == "test_started":
            tests.append(Test(data["settings"], [], []))
        elif line["kind"] == "asked":
            specs |= data["specs"]
        elif line["kind"] == "steps":
            steps = _steps(folder, data, [specs[name] for name in data["asked"]])
            tests[-1].sequences.append((data["stage"], data["index"], steps))
            tests[-1].roles.append((data["name"], data["role"]))
    return tests


def _steps(folder: Path, data: Json, asked: list[Json]) -> list[Step]:
    tables = {name.partition("/")[0]: pl.read_parquet(folder / name) for name in data["tables"]}
    other = pl.col("direction") == "other"
    sums = tables["series"].group_by("step", other.alias("other")).agg(pl.col("io_count").sum(), pl.col("bytes").sum())
    moved = {(step, kind): (count, size) for step, kind, count, size in sums.iter_rows()}
    buckets: dict[int, dict[int, int]] = {}
    for step, bucket, count in tables["histograms"].select("step", "bucket", "count").iter_rows():
        found = buckets.setdefault(step, {})
        found[bucket] = found.get(bucket, 0) + count
    seconds: dict[int, dict[int, int]] = {}
    for step, second, count in tables["series"].select("step", "second", "io_count").iter_rows():
        counted = seconds.setdefault(step, {})
        counted[second] = counted.get(second, 0) + count
    return [
        Step(
            record,
            spec,
            *moved.get((place, False), (0, 0)),
            moved.get((place, True), (0, 0))[0],
            buckets.get(place, {}),
            seconds.get(place, {}),
        )
        for place, (record, spec) in enumerate(zip(data["steps"], asked, strict=False))
    ]


def percentile(steps: list[Step], share: Fraction) -> Number:
    """In ms, of all I/Os of several steps; None with fewer than ten beyond."""
    counts: dict[int, int] = {}
    for step in steps:
        for bucket, count in step.buckets.items():
            counts[bucket] = counts.get(bucket, 0) + count
    total = sum(counts.values())
    rank = math.ceil(total * share)
    if total - rank < 10:
        return None
    seen = 0
    for bucket in sorted(counts):
        seen += counts[bucket]
        if seen >= rank:
            break
    middle = (_lowest(bucket) + _lowest(bucket + 1) - 1) / 2
    sides = [side for step in steps for side in step.sides]
    least = min(side["latency_ns_min"] for side in sides if side["latency_ns_min"] is not None)
    most = max(side["latency_ns_max"] for side in sides if side["latency_ns_max"] is not None)
    return min(max(middle, least), most) / MS


def _lowest(bucket: int) -> int:
    octave = max(0, bucket // 512 - 1)
    return (bucket - octave * 512) << octave


def is_steady(values: list[Fraction], settings: Json) -> bool:
    """Whether five values are steady: their range, and four times their slope, within shares of the mean."""
    mean = sum(values) / 5
    slope = sum((place - 2) * value for place, value in enumerate(values)) / 10
    allowed = [Fraction(str(settings[name])) * mean for name in ("range_limit", "slope_limit")]
    return max(values) - min(values) <= allowed[0] and abs(slope) * 4 <= allowed[1]


def headlines(test: Test) -> dict[tuple[str, str], Number]:
    """Item and unit of each number that people quote, with its value."""
    kind = test.settings["procedure"]
    return _KINDS.get(kind, _study)(test)


def window(test: Test) -> list[list[Step]]:
    """The cells of the last five rounds."""
    return [steps for stage, _, steps in test.sequences if stage == "round"][-5:]


def matrix(test: Test) -> dict[tuple[float, int], float]:
    """The average of each cell of a loop over the window."""
    values = {"iops": lambda step: step.rate, "throughput": lambda step: step.mb_per_s}
    value = values.get(test.settings["variable"], lambda step: step.latency_ms)
    cells = zip(*window(test), strict=True)
    return {steps[0].cell: float(sum(value(step) for step in steps) / 5) for steps in cells}


def spread(test: Test) -> dict[tuple[float, int], dict[str, Number]]:
    """Percentiles of each cell of a loop over the window."""
    cells = [list(steps) for steps in zip(*window(test), strict=True)]
    return {steps[0].cell: {name: percentile(steps, share) for name, share in NINES.items()} for steps in cells}


def longest(test: Test) -> dict[tuple[float, int], float]:
    """The slowest I/O of each cell of a loop over the window, in ms."""
    found: dict[tuple[float, int], float] = {}
    for step in (step for steps in window(test) for step in steps):
        largest = max((side["latency_ns_max"] or 0) / MS for side in step.sides)
        found[step.cell] = max(found.get(step.cell, 0), largest)
    return found


def grid(test: Test) -> dict[tuple[int, int], tuple[float, Number]]:
    """IOPS and mean response time in ms of each demand of a grid over the window."""
    found = {}
    for steps in zip(*window(test), strict=True):
        if steps[0].asked["pattern"]["read_share"]:
            found[steps[0].demand] = (float(sum(step.rate for step in steps) / 5), mean_ms(list(steps)))
    return found


def _loop(test: Test) -> dict[tuple[str, str], Number]:
    variable, found = test.settings["variable"], matrix(test)
    size = test.settings["sizes_bytes"][0] // 1024 if variable == "throughput" else 4
    result: dict[tuple[str, str], Number] = {}
    for read_pct, letter in ((100, "R"), (0, "W")):
        value = found[size, read_pct]
        if variable == "iops":
            result[f"RND 4KiB {letter}", "IOPS"] = value
        elif variable == "throughput":
            result[f"SEQ {size}KiB {letter}", "MB/s"] = value
        else:
            result[f"RND 4KiB {letter}, 1 outstanding, average", "ms"] = value
            for name in ("99.9", "99.99"):
                result[f"RND 4KiB {letter}, 1 outstanding, {name} %", "ms"] = spread(test)[size, read_pct][name]
            result[f"RND 4KiB {letter}, 1 outstanding, maximum", "ms"] = longest(test)[size, read_pct]
    return result


def _settled(samples: list[Step], settings: Json) -> Number:
    """The average of the last five verdict samples, where they are steady."""
    every = settings["samples_per_verdict"]
    values = [step.rate for step in samples[(settings["first_verdict_sample"] or every) - 1 :: every]][-5:]
    return float(sum(values) / 5) if len(values) == 5 and is_steady(values, settings) else None


def _saturation(test: Test) -> dict[tuple[str, str], Number]:
    label, samples = test.settings["label"], test.steps("sample")
    first, settled = float(samples[0].rate), _settled(samples, test.settings)
    parts = ("lead_in_bytes", "window_bytes", "tail_bytes")
    return {
        (f"{label}, first sample", "IOPS"): first,
        (f"{label}, settled", "IOPS"): settled,
        **({} if settled else {(f"{label}, last sample", "IOPS"): float(samples[-1].rate)}),
        (f"{label}, settled over first", "x"): settled / first if settled else None,
        ("Written", "GB"): sum(step.record["write"][part] for step in samples for part in parts) / 10**9,
    }


def _idle_recovery(test: Test) -> dict[tuple[str, str], Number]:
    settings = test.settings
    label, cycles = settings["label"], settings["cycles"]
    baseline = _settled(test.steps("sample"), settings["preconditioning"])
    states = []
    for place, idle_ns in enumerate(settings["idles_ns"], 1):
        bursts = test.steps("segment", place)[: 2 * cycles : 2]
        states.append((idle_ns / SECOND, fmean(float(step.rate) for step in bursts)))
    states.sort(key=lambda one: one[0])
    found: dict[tuple[str, str], Number] = {(f"{label}, baseline", "IOPS"): baseline}
    found |= {(f"{label}, burst after {idle:g} s idle", "IOPS"): mean for idle, mean in (states[0], states[-1])}
    longest, mean = states[-1]
    found[f"{label}, burst after {longest:g} s idle over baseline", "x"] = mean / baseline if baseline else None
    return found


def _cross_stimulus(test: Test) -> dict[tuple[str, str], Number]:
    groups = test.settings["groups"]
    steps = [test.steps("group", place) for place in range(1, len(groups) + 1)]
    rates = [[float(step.mb_per_s) for step in one] for one in steps]
    found: dict[tuple[str, str], Number] = {}
    for number, (group, values) in enumerate(zip(groups, rates, strict=True), 1):
        last = values[-max(round(len(values) / 10), 1) :]
        found[f"{group['label']}, group {number} at its end", "MB/s"] = fmean(last)
    found["Slowest I/O", "ms"] = max(
        (side["latency_ns_max"] or 0) / MS for one in steps for step in one for side in step.sides
    )
    share = test.settings["recovered_share"]
    reached = [place for place, rate in enumerate(rates[-1]) if rate >= share * fmean(rates[0])]
    spans = [step.record["span_ns"] for step in steps[-1]]
    minutes = sum(spans[: reached[0] + 1]) / MINUTE if reached else None
    found[f"Recovery time to {share * 100:g} % of the first group's mean", "min"] = minutes
    return found


def _demands(test: Test) -> dict[tuple[str, str], Number]:
    found: dict[tuple[str, str], Number] = {}
    for name, (_, _, steps) in zip(
        ("Max", "Mid", "Min"), (one for one in test.sequences if one[0] == "point"), strict=False
    ):
        step = steps[-1]
        item = f"{name} ({test.settings['label']} TC{step.demand[0]}-QD{step.demand[1]})"
        found[item, "IOPS"] = float(step.rate)
        found[f"{item}, average response time", "ms"] = float(step.latency_ms)
    return found


@dataclass(frozen=True)
class Stage:
    """A measured stage of a variant of a study. settled : the last of its samples, whose mean it is known by."""

    label: str
    place: Number
    samples: list[Step]
    settled: list[Step]

    @property
    def iops(self) -> float:
        """Of its settled samples."""
        return sum(step.completed for step in self.settled) * SECOND / _span_ns(self.settled)

    @property
    def latency_ms(self) -> float:
        """The same."""
        return mean_ms(self.settled) or 0.0

    @property
    def score(self) -> float | None:
        """The share of its whole seconds that lie within a tenth of their median, in per cent; None below 100 I/Os."""
        whole = ((step, step.record["span_ns"] // SECOND) for step in self.samples)
        rates = [step.seconds.get(second, 0) for step, count in whole for second in range(count)]
        middle = median(rates)
        return 100 * sum(abs(rate - middle) <= middle / 10 for rate in rates) / len(rates) if middle >= 100 else None


def mb_per_s(steps: list[Step]) -> float:
    """Megabytes per second of several steps in a row."""
    return sum(step.moved for step in steps) * SECOND / _span_ns(steps) / 10**6


def mean_ms(steps: list[Step], name: str = "latency") -> Number:
    """Mean response time of all I/Os of several steps, None without any. name : of the time in the record."""
    sides = [side for step in steps for side in step.sides]
    count = sum(side["latency_io_count"] for side in sides)
    return sum(side[f"{name}_ns_sum"] or 0 for side in sides) / count / MS if count else None


def _span_ns(steps: list[Step]) -> int:
    return sum(step.record["span_ns"] for step in steps)


def variants(test: Test) -> list[tuple[str, list[Stage]]]:
    """The variants of a study by label, each with its measured stages."""
    found = []
    for index, variant in enumerate(test.settings["variants"], 1):
        steps, stages = test.steps("variant", index), []
        for planned in (one for one in variant["steps"] if one["role"] == "measure"):
            own, steps = steps[: planned["samples"]], steps[planned["samples"] :]
            last = max(round(len(own) * test.settings["settled_share"]), 1)
            stages.append(Stage(planned["label"], planned["place"], own, own[-last:]))
        found.append((variant["label"], stages))
    return found


def _study(test: Test) -> dict[tuple[str, str], Number]:
    found: dict[tuple[str, str], Number] = {}
    every = [(label, stages) for label, stages in variants(test) if stages]
    first = every[0][1][0].label
    accesses = {stages[0].label for _, stages in every}
    own = 1 < len(accesses) == len(every) and all(len(stages) == 1 for _, stages in every)
    ordered = sorted((stages[0].iops, label) for label, stages in every if stages[0].label == first)
    for rate, label in (ordered[0], ordered[-1]):
        found[_stage_name(label, first, own=own), "IOPS"] = rate
    if len(ordered) > 1:
        found["Fastest variant over slowest", "x"] = ordered[-1][0] / ordered[0][0]
    for label, stages in every:
        if test.settings["reading"] == "demand":
            proposed = _proposed(stages)
            threads, depth = proposed.samples[0].demand
            found[f"{label}, proposed TC {threads} x QD {depth}", "IOPS"] = proposed.iops
        if test.settings["reading"] == "stability":
            for stage in stages:
                item = f"{_stage_name(label, stage.label, own=own)}, seconds within 10 % of the median"
                found[item, "%"] = stage.score
    return found


def _stage_name(variant: str, stage: str, *, own: bool) -> str:
    return variant if own or stage in {variant, ""} else f"{variant}, {stage}"


def _proposed(stages: list[Stage]) -> Stage:
    """Of those at 95 % of the highest rate the one of the fewest I/Os outstanding, then of the lowest latency."""
    highest = max(stage.iops for stage in stages)
    good = [stage for stage in stages if stage.iops >= 0.95 * highest]
    return min(good, key=lambda stage: (math.prod(stage.samples[0].demand), stage.latency_ms))


def _five_steps(test: Test) -> dict[tuple[str, str], Number]:
    passes, surface, stable, independence = (stages for _, stages in variants(test)[:4])
    before, after = (one for one in independence if one.label == independence[0].label)
    kept = mb_per_s(after.samples[: len(before.samples)]) / mb_per_s(before.samples)
    return {
        ("five steps, SEQ 128KiB writes", "MB/s"): mb_per_s(passes[0].settled),
        ("five steps, RND 4KiB 0/100", "IOPS"): next(one.iops for one in surface if one.label == "RND 4KiB 0/100"),
        ("five steps, seconds within 10 % of the median", "%"): stable[0].score,
        ("five steps, drop of sequential writes after random writes", "%"): 100 * (1 - kept),
    }


_CORNERS = {
    "128k_seq_100rd": ("SEQ 128KiB reads", "MB/s"),
    "128k_seq_100wr": ("SEQ 128KiB writes", "MB/s"),
    "4k_ran_100rd": ("RND 4KiB reads", "IOPS"),
    "4k_ran_100wr": ("RND 4KiB writes", "IOPS"),
}


def _oem_guide(test: Test) -> dict[tuple[str, str], Number]:
    rates: dict[str, dict[str, float]] = {}
    for label, stages in variants(test):
        corners = [(stage.label.partition(" ")[0], stage) for stage in stages if stage.place is None]
        known = ((name, stage, _CORNERS[name][1]) for name, stage in corners if name in _CORNERS)
        rates[label] = {name: stage.iops if unit == "IOPS" else mb_per_s(stage.settled) for name, stage, unit in known}
    aligned, found = rates["entropy 100 % aligned"], dict[tuple[str, str], Number]()
    found |= {(f"OEM guide, {title}", unit): aligned[name] for name, (title, unit) in _CORNERS.items()}
    if off := rates.get("entropy 100 % offset 32,256 B"):
        item = "OEM guide, slowest corner off the alignment over aligned"
        found[item, "x"] = min(off[name] / aligned[name] for name in off)
    return found


def _workload(test: Test) -> dict[tuple[str, str], Number]:
    found: dict[tuple[str, str], Number] = {}
    for (name, role), (_, _, steps) in zip(test.roles, test.sequences, strict=True):
        if role == "measure":
            item = f"{name}, {steps[0].asked['label'] if len(steps) == 1 else 'all streams'}"
            kinds = {step.asked["pattern"]["operation"] for step in steps}
            if "transfer" in kinds:
                found[item, "IOPS"] = float(sum(step.rate for step in steps))
                found[item, "MB/s"] = float(sum(step.mb_per_s for step in steps))
            if kinds != {"transfer"}:
                found[item, "commands/s"] = float(sum(step.command_rate for step in steps))
            found[item, "ms"] = mean_ms(steps)
            found |= _streams(name, steps)
    return found


def _streams(name: str, steps: list[Step]) -> dict[tuple[str, str], Number]:
    """Rate and mean response time of each of several streams."""
    found: dict[tuple[str, str], Number] = {}
    for step in steps if len(steps) > 1 else ():
        item = f"{name}, {step.asked['label']}"
        moves = step.asked["pattern"]["operation"] == "transfer"
        rate, unit = (step.rate, "IOPS") if moves else (step.command_rate, "commands/s")
        found |= {(item, unit): float(rate), (f"{item}, average", "ms"): mean_ms([step])}
    return found


def _replay(test: Test) -> dict[tuple[str, str], Number]:
    (step,) = next(
        steps for (_, role), (_, _, steps) in zip(test.roles, test.sequences, strict=True) if role == "measure"
    )
    start, name = ("issue", "latency") if step.record["offered_io_count"] is None else ("due", "intended")
    return {
        ("Rate", "IOPS"): float(step.rate),
        ("Throughput", "MB/s"): float(step.mb_per_s),
        (f"Response time from {start}, mean", "ms"): mean_ms([step], name),
    }


_KINDS = {
    "wsat": _saturation,
    "iops": _loop,
    "tp": _loop,
    "lat": _loop,
    "hir": _idle_recovery,
    "xsr": _cross_stimulus,
    "ecw": _demands,
    "dirth": _demands,
    "xsr-reverse": _cross_stimulus,
    "five-steps": _five_steps,
    "oem-guide": _oem_guide,
    "workload": _workload,
    "replay": _replay,
}


def rows(test: Json, name: str) -> list[Json]:
    """The rows of a table of a test by the end of its name, values by column."""
    (table,) = (table for table in test["tables"] if re.search(f"_{name}(_\\d+)?$", table["key"]))
    keys = [column["key"] for column in table["columns"]]
    return [dict(zip(keys, row, strict=True)) for row in table["rows"]]


def differing(folder: Path, results: Json) -> list[str]:
    """Every number of ``results.json`` that this comes to another value for, a line each."""
    lines: list[str] = []
    for test, theirs in zip(read_tests(folder), results["tests"], strict=True):
        pairs: dict[object, tuple[Number, Number]] = {}
        mine = headlines(test)
        for one in (one for one in theirs["measures"] if one["quoted"]):
            pairs[one["name"], one["unit"]] = (mine.pop((one["name"], one["unit"]), math.nan), one["value"])
        pairs |= {key: (value, math.nan) for key, value in mine.items()}
        pairs |= _tables(test, theirs)
        name = test.settings["test"]
        lines += [f"{name}: {what}: {ours} is {stated}" for what, (ours, stated) in pairs.items() if _off(ours, stated)]
    return lines


def _tables(test: Test, theirs: Json) -> dict[object, tuple[Number, Number]]:
    found: dict[object, tuple[Number, Number]] = {}
    kind = test.settings["procedure"]
    if kind in {"iops", "tp", "lat"}:
        means, times = matrix(test), spread(test)
        value = {"iops": "iops", "throughput": "mb_per_s"}.get(test.settings["variable"], "latency_ms_mean_of_rounds")
        for row in rows(theirs, "matrix"):
            found["matrix", row["block_kib"], row["read_pct"]] = (means[row["block_kib"], row["read_pct"]], row[value])
        for row in rows(theirs, "percentiles"):
            cell = row["block_kib"], row["read_pct"]
            found |= {("p", *cell, name): (times[cell][name], row[f"latency_ms_p{name}"]) for name in NINES}
    elif kind == "wsat":
        for row in rows(theirs, "percentiles"):
            part = _phase(test, row)
            found |= {
                (row["phase"], name): (percentile(part, share), row[f"latency_ms_p{name}"])
                for name, share in NINES.items()
            }
    elif kind in {"ecw", "dirth"}:
        for row in rows(theirs, "grid"):
            rate, mean_ms = grid(test)[row["thread_count"], row["queue_depth"]]
            found["grid", row["thread_count"], row["queue_depth"], "iops"] = (rate, row["iops"])
            found["grid", row["thread_count"], row["queue_depth"], "ms"] = (mean_ms, row["latency_ms_mean"])
        points = [steps[-1] for stage, _, steps in test.sequences if stage == "point"]
        for row, step in zip(rows(theirs, "points"), points, strict=True):
            for name in ("50", "90", "99", "99.9", "99.99", "99.999"):
                found[row["point"], name] = (percentile([step], NINES[name]), row[f"latency_ms_p{name}"])
    return found


def _phase(test: Test, row: Json) -> list[Step]:
    """The samples of a phase of write saturation; of the window those alone that the verdict is of."""
    if row["phase"] == "window":
        every = test.settings["samples_per_verdict"]
        return test.steps("sample")[row["sample_first"] - 1 : row["sample_last"] : every]
    return test.steps("sample")[row["sample_first"] - 1 : row["sample_last"]]


def _off(ours: Number, stated: Number) -> bool:
    if ours is None or stated is None:
        return ours is not stated
    return not math.isclose(ours, stated, rel_tol=1e-12)


if __name__ == "__main__":
    off = differing(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8")))
    sys.stdout.write("".join(f"{line}\n" for line in off) or "no difference\n")
    sys.exit(bool(off))
