"""The form of a plan has every key that may be typed, and what is typed is the plan."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from assay.procedures.registry import procedures
from assay.run.plan_file import Plan, load_plan, plan_of
from assay.web.plan_form import (
    FormField,
    all_fields,
    choosing_fields,
    left_out,
    plan_toml,
    read_typed,
    sections,
    values_of,
)

if TYPE_CHECKING:
    from pathlib import Path

DRIVE = "sim:client-2011?capacity=8GB"
FULL: dict[str, Any] = {
    "suite": "client",
    "edition": "pts-c-1.0",
    "tests": ["wsat", "iops", "dirth", "ecw"],
    "studies": ["oio", "workload"],
    "seed": 7,
    "scale": 0.5,
    "read_only": True,
    "pin": "0,2",
    "io_path": "synchronous",
    "iops": {"queue_depth": 16, "arrival": "poisson:5000"},
    "wsat": {"workloads": ["oltp", "vod"], "time_hours": 1.5},
    "ecw": {"thread_counts": [1, 2, 4]},
    "dirth": {"patterns": ["rnd-4k-write"]},
    "study": {"thread_count": 2},
    "workload": {"purge": False, "left_out": ["a, b", "c"]},
    "report": {"name": "night", "tags": ["a", "b, c"], "notes": "two\nlines"},
    "special_notes": [{"item": "x", "notation": "y"}],
    "claims": {"rnd_4k_read_iops": 1000.5},
    "data": {"kind": "compressible", "stored_share": 0.5},
    "limits": [{"test": "iops", "measure": "iops", "cell": {"Block Size": "RND 4KiB"}, "at_least": 1000}],
}


def field(key: str) -> FormField:
    return next(one for one in all_fields() if one.key == key)


def test_what_is_typed_is_the_plan_it_came_from(tmp_path: Path) -> None:
    expected = plan_of({**FULL, "drive": DRIVE})
    typed = read_typed(values_of(FULL), DRIVE)
    assert (typed.faults, typed.general) == ({}, ())
    assert plan_of({**typed.table, "drive": DRIVE}) == expected
    path = tmp_path / "plan.toml"
    path.write_text(plan_toml(typed.table, DRIVE), "utf-8")
    assert load_plan(path, {}) == expected.resolved()


def test_the_plan_that_a_run_stored_is_typed_again() -> None:
    plan = plan_of({**FULL, "drive": DRIVE}).resolved()
    stored = plan.model_dump(mode="json", by_alias=True)
    typed = read_typed(values_of(stored), DRIVE)
    assert plan_of({**typed.table, "drive": DRIVE}).resolved() == plan
    assert left_out(stored) == ()


def test_an_empty_form_is_the_default_plan() -> None:
    typed = read_typed(values_of({}), DRIVE)
    assert plan_of({**typed.table, "drive": DRIVE}) == plan_of({"drive": DRIVE, "suite": "client"})
    assert set(typed.table) == {"suite"}


def test_every_option_of_every_test_is_there_but_files_and_what_the_tool_fills_in() -> None:
    keys = {one.key for one in all_fields()}
    files = {"study.data_file", "replay.trace", "replay.facts"}
    options = {f"{test.key}.{name}" for test in procedures() for name in test.options.model_fields}
    assert options - keys == files
    assert {"data.path", "drive", "schema", "file_target"} & keys == set()
    assert set(Plan.model_fields) - {"schema_version", "drive", "file_target"} <= {
        key.partition(".")[0] for key in keys
    }


def test_a_field_says_kind_range_default_and_help() -> None:
    depth = field("iops.queue_depth")
    assert (depth.kind, depth.legal, depth.default) == ("integer", "Whole number from 1 to 4096", None)
    assert field("ecw.thread_counts").legal == "Whole number from 1 to 1024; several with commas"
    assert (field("io_time_limit_seconds").label, field("seed").label) == ("I/O time limit (s)", "Seed")
    assert field("replay.queue_depth").default == 256
    assert field("replay.speed").kind == "mixed"
    assert field("wsat.workloads").kind == "choices"
    assert field("limits").kind == "toml"
    assert field("capture").choices == ("none", "times", "addresses")
    assert field("scale").help.startswith("Multiplies durations")
    assert field("iops.arrival").help.startswith("fixed:RATE")
    assert [one.key for one in choosing_fields()] == ["suite", "edition", "tests", "studies"]
    assert "pts-c-1.0" in field("edition").choices
    assert {"iops", "run", "report", "consents"} <= {section.key for section in sections()}


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("iops.queue_depth", "5000", "is 5000, and must be at most 4096"),
        ("iops.queue_depth", "many", 'is "many", not a whole number'),
        ("iops.arrival", "soon", "is not fixed:RATE"),
        ("scale", "2", "must be at most 1"),
        ("scale", "nan", "must be"),
        ("limits", '[[limits]]\ntest = "ipos"\nmeasure = "iops"\nat_least = 1', 'did you mean "iops"?'),
        ("limits", "[[limits", "is no TOML"),
        ("limits", "x = 1", "holds other keys than limits"),
        ("data.kind", "file", "is not listed"),
        ("data.kind", "repeating", "a repeating pattern needs pool_kib"),
        ("edition", "/etc/passwd", "is not listed"),
        ("read_only", "yes", "has another form"),
        ("tests", "iops", "has another form"),
        ("tests", ["nothing"], "none of wsat"),
        ("capture", "some", "is not listed"),
    ],
)
def test_a_fault_stands_at_its_field(key: str, text: Any, reason: str) -> None:
    typed = read_typed({"suite": "quick", key: text}, DRIVE)
    texts = typed.faults.get(key) or typed.faults.get(key.split(".", maxsplit=1)[0]) or " ".join(typed.general)
    assert reason in texts
    assert typed.has_faults


def test_options_of_other_tests_are_left_out() -> None:
    typed = read_typed({"suite": "quick", "wsat.queue_depth": "9999", "iops.queue_depth": "3"}, DRIVE)
    assert typed.tables == ("iops", "tp", "lat")
    assert typed.table == {"suite": "quick", "iops": {"queue_depth": 3}}


def test_what_needs_a_file_is_no_choice() -> None:
    assert "replay" not in field("studies").choices
    assert {"oio", "workload"} <= set(field("studies").choices)
    assert field("data.kind").choices == ("random", "compressible", "stamped", "repeating", "addressed")
    table = {"studies": ["oio", "replay"], "replay": {"trace": "/x"}, "data": {"kind": "file", "path": "/y"}}
    assert left_out(table) == ("studies", "replay.trace", "data.kind", "data.path")


def test_studies_alone_need_no_suite() -> None:
    assert read_typed({"suite": "", "studies": ["oio"]}, DRIVE).tests == ("oio",)
    assert read_typed({"suite": "quick", "studies": ["oio"]}, DRIVE).tests == ("iops", "tp", "lat", "oio")


def test_no_plan_brings_consents_along() -> None:
    table = {"consents": {"acknowledge": ["word"]}, "on_end": "/bin/rm"}
    values = values_of(table)
    assert (values["consents.acknowledge"], values["on_end"]) == ("", "")
    assert left_out(table) == ("consents", "on_end")


def test_keys_that_no_form_has_are_named() -> None:
    assert left_out({"drive": "x", "edition": "/x.toml"}) == ("edition",)
    table = {"drive": "x", "data": {"kind": "file", "path": "/x"}, "replay": {"trace": "/y", "speed": 2}, "other": 1}
    assert left_out(table) == ("data.kind", "data.path", "replay.trace", "other")


@pytest.mark.parametrize("seed", range(40))
def test_values_of_another_form_are_refused_and_nothing_else_happens(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - test data
    odd = [None, 3, -1.5, True, "x", [], [1], ["x", None], {}, {"a": 1}, {"a": [{"b": None}]}, "\x1b[2J", "9" * 40]
    stored = plan_of({"drive": DRIVE}).model_dump(mode="json", by_alias=True)
    for _ in range(20):
        table = {key: deepcopy(draw.choice(odd) if draw.random() < 0.2 else value) for key, value in stored.items()}
        for inner in (value for value in table.values() if isinstance(value, dict)):
            inner |= {key: deepcopy(draw.choice(odd)) for key in inner if draw.random() < 0.1}
        left_out(table)
        try:
            values = values_of(table)
        except (TypeError, ValueError, AttributeError):
            continue
        read_typed({key: draw.choice([value, "x", ["x"], True]) for key, value in values.items()}, DRIVE)
