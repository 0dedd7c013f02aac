"""Searches of the index choose the same runs in SQLite, in PostgreSQL, and by ``Wanted`` itself."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.folders import drive_address, run_address, site
from assay.archive.index.history import drive_history
from assay.archive.index.location import Place, named_place
from assay.archive.index.read import RunNote, listed_runs, notes_of, reading, stored_runs
from assay.archive.index.search import SORTS, KeyColumn, Query, Wanted, find_runs, key_columns, key_results, run_at
from assay.archive.index.write import clear, write_note, writing
from assay.errors import StoreError, ValueRangeError
from index_runs import LABELS, TEXTS, VERDICTS, a_test, drawn_run, drive, listed_run, store

if TYPE_CHECKING:
    from assay.archive.index.search import FoundRuns

pytestmark = pytest.mark.xdist_group("postgresql")
_ALL = Query(hidden=True, missing=True)


@pytest.fixture
def index(place: Place) -> Place:
    """The index of a test."""
    return place


def chosen(index: Place, query: Query, **more: Any) -> FoundRuns:
    with reading(index) as reader:
        assert reader
        return find_runs(reader, query, **more)


def names(index: Place, query: Query) -> list[str]:
    return [Path(run.listed.run).name for run in chosen(index, query).runs]


def drawn_wanted(draw: random.Random) -> Wanted:
    """Few conditions each, so that some runs are chosen."""

    def some(texts: Any, share: float = 0.2) -> Any:
        return tuple(draw.choice(texts) for _ in range(draw.randint(1, 2))) if draw.random() < share else ()

    pieces = [part for one in TEXTS for part in (one, one[:3], one.swapcase())]
    times = (None, None, None, -(1 << 70), -5, 0, 10, 25, (1 << 63) - 1, 1 << 70)
    return Wanted(
        drives=some([*pieces, "/DEV", "sim:"]), models=some(pieces), hosts=some(pieces), firmwares=some(pieces),
        names=some(pieces), tags=some(pieces), tests=some(["iops", "TP", "tp-128", "lat", "nul\0"]),
        editions=some(["e", "F"]), verdicts=some([*VERDICTS, "measured", "unreadable"]), labels=some(LABELS),
        since_ns=draw.choice(times), until_ns=draw.choice(times),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sql_and_python_choose_the_same_runs(index: Place, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same every time
    store(index, [drawn_run(draw, f"run-{number}") for number in range(80)], site())
    with reading(index) as reader:
        assert reader
        runs = listed_runs(reader, stored_runs(reader), lambda row: str(row["folder"]), numbers=True)
        sizes = set()
        for _ in range(250):
            wanted = drawn_wanted(draw)
            expected = {run.run for run in runs if wanted(run)}
            result = find_runs(reader, replace(_ALL, wanted=wanted))
            assert {Path(run.listed.run).name for run in result.runs} == expected, f"seed {seed}: {wanted}"
            assert result.total == len(expected)
            sizes.add(len(expected))
        assert len(sizes) > 10


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("NIGHT bay", ["a"]), ("sn-9", ["b"]), ("fw2", ["b"]), ("lab 7", ["a"]), ("tp-128", ["b"]),
        ("night sn-9", []), ("%", []), ("_", []), ("nul\0", []), ("  ", ["a", "b"]),
    ],
)  # fmt: skip
def test_free_text_asks_for_each_word_in_any_text_of_a_run(index: Place, words: str, expected: list[str]) -> None:
    store(
        index,
        [
            listed_run("a", name="Night 4", tags=("bay 2",), lab="Lab 7", tests=(a_test(),)),
            listed_run("b", drive_facts=drive("Model", "SN-9", "FW2"), tests=(a_test("tp-128"),)),
        ],
        site(),
    )
    assert sorted(names(index, replace(_ALL, text=words))) == expected


def test_pages_follow_each_other_and_count_all(index: Place) -> None:
    store(index, [listed_run(f"r{number:03}", started_wall_ns=number) for number in range(25)], site())
    pages = [chosen(index, replace(_ALL, page=page), page_runs=10) for page in (1, 2, 3, 4)]
    assert [(len(page.runs), page.total) for page in pages] == [(10, 25), (10, 25), (5, 25), (0, 25)]
    assert [run.listed.started_wall_ns for page in pages for run in page.runs] == list(range(24, -1, -1))


@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_turns_round(index: Place, sort: str) -> None:
    runs = [
        listed_run(f"r{number}", name=f"N{number}", started_wall_ns=number, exit_code=number, host=f"h{number}",
                   drive_facts=drive(f"M{number}", firmware=f"F{number}"))
        for number in range(3)
    ]  # fmt: skip
    for number, run in enumerate(runs):
        store(index, [run], site(), written_bytes=number)
    assert names(index, replace(_ALL, sort=sort, descending=False)) == ["r0", "r1", "r2"]
    assert names(index, replace(_ALL, sort=sort, descending=True)) == ["r2", "r1", "r0"]


def test_a_key_result_sorts_and_runs_without_it_come_last(index: Place) -> None:
    column = KeyColumn("iops", "reads", "IOPS")
    store(
        index,
        [
            listed_run("low", tests=(a_test(reads=5.0),)),
            listed_run("high", tests=(a_test("tp-128", reads=1.0), a_test(reads=50.0))),
            listed_run("none", tests=(a_test("tp-128", reads=99.0),)),
        ],
        site(),
    )
    assert names(index, replace(_ALL, sort=column)) == ["high", "low", "none"]
    assert names(index, replace(_ALL, sort=column, descending=False)) == ["low", "high", "none"]


def test_columns_follow_from_the_runs_of_the_page(index: Place) -> None:
    store(index, [listed_run("a", tests=(a_test(reads=1.0),)), listed_run("b", tests=(a_test(w=2.0, reads=3.0),))],
          site())  # fmt: skip
    runs = chosen(index, _ALL).runs
    assert set(key_columns(runs)) == {KeyColumn("iops", "reads", "IOPS"), KeyColumn("iops", "w", "IOPS")}
    assert key_columns(runs, 1) == (KeyColumn("iops", "reads", "IOPS"),)
    values = {run.listed.run: key_results(run.listed)[KeyColumn("iops", "reads", "IOPS")].value for run in runs}
    assert sorted(values.values()) == [1.0, 3.0]


def test_a_run_has_the_address_of_its_folder_and_its_numbers(index: Place) -> None:
    run = listed_run("a", drive_facts=drive(), tests=(a_test(reads=1.0),))
    store(index, [run], site(), written_bytes=7, wear_pct_last=2.0, health={"media_errors": 3})
    with reading(index) as reader:
        assert reader
        result = run_at(reader, run_address(site(), "/runs", "a"))
        assert run_at(reader, "0" * 20) is None
    assert result
    assert (result.folder, result.parent, result.drive) == ("/runs/a", "/runs", drive_address("M", "S1", "S1"))
    assert result.listed.tests[0].headlines[0].value == 1.0
    assert (result.use.written_bytes, result.use.wear_pct_last, result.use.health) == (7, 2.0, {"media_errors": 3})


def test_runs_of_other_hosts_are_listed_and_other_folders_of_this_are_not(index: Place) -> None:
    store(index, [listed_run("mine")], site(), "/runs")
    store(index, [listed_run("private")], site(), "/private")
    store(index, [listed_run("theirs")], "bench-7", "/private")
    runs = {Path(run.listed.run).name: run for run in chosen(index, replace(_ALL, parents=("/runs",))).runs}
    assert runs.keys() == {"mine", "theirs"}
    assert (runs["theirs"].folder, runs["theirs"].listed.level) == (None, "not checked here")
    assert chosen(index, _ALL).total == 3
    assert chosen(index, replace(_ALL, parents=())).total == 1


def test_a_drive_is_chosen_by_model_and_serial_number(index: Place) -> None:
    drives = {"a": drive(drive_id="one"), "b": drive(drive_id="two"), "c": drive(serial="S2"), "d": None}
    store(index, [listed_run(name, drive_facts=facts) for name, facts in drives.items()], site())
    assert sorted(names(index, replace(_ALL, drive=drive_address("M", "S1", "x")))) == ["a", "b"]
    assert drive_address("M", None, "a") != drive_address("M", None, "b")


def test_the_history_of_a_drive_counts_a_run_in_two_folders_once(index: Place) -> None:
    store(index, [listed_run("a", drive_facts=drive(), host="h1", started_wall_ns=5)], site(), written_bytes=10)
    store(index, [listed_run("a", drive_facts=drive(), host="h1", started_wall_ns=5)], "bench-7", written_bytes=10)
    store(index, [listed_run("b", drive_facts=drive(firmware="F0"), started_wall_ns=9)], "bench-7", written_bytes=1)
    store(index, [listed_run("c", drive_facts=drive(firmware=None))], "bench-7")
    store(index, [listed_run("d", drive_facts=drive(serial="S2"))], site(), written_bytes=99)
    with reading(index) as reader:
        assert reader
        history = drive_history(reader, Query(drive=drive_address("M", "S1", "")))
        nothing = drive_history(reader, Query(drive="0" * 20))
    assert (history.run_count, history.written_bytes, history.unknown_count) == (3, 11, 1)
    spans = [(span.name, span.run_count, span.first_ns, span.last_ns) for span in history.firmwares]
    assert spans == [("", 1, None, None), ("F1", 1, 5, 5), ("F0", 1, 9, 9)]
    assert {span.name: span.run_count for span in history.hosts} == {"h1": 1, "": 2}
    assert (history.capacities, history.ids) == ((10**12,), ("S1",))
    assert (nothing.run_count, nothing.written_bytes, nothing.firmwares) == (0, 0, ())


def test_notes_are_kept_when_the_index_is_made_anew(index: Place) -> None:
    store(index, [listed_run("a"), listed_run("b")], site())
    address = run_address(site(), "/runs", "a")
    written = write_note(index, address, RunNote(bad=True, reason=" fan failed ", note="see lab book", role="operator"))
    write_note(index, run_address(site(), "/runs", "b"), RunNote(hidden=True))
    with writing(index) as connection:
        clear(connection, site())
    store(index, [listed_run("a"), listed_run("b")], site())
    (run,) = chosen(index, Query(missing=True)).runs
    assert run.note == written
    assert (written.reason, written.note, written.at_ns > 0) == ("fan failed", "see lab book", True)
    assert chosen(index, _ALL).total == 2
    write_note(index, address, RunNote(note="again"))
    with reading(index) as reader:
        assert reader
        assert notes_of(reader, [address, "none"])[address].bad is False


@pytest.mark.parametrize(
    ("note", "says"),
    [
        (RunNote(bad=True), "Reason: is empty"),
        (RunNote(note="x" * 2001), "Note: has 2,001 characters"),
        (RunNote(bad=True, reason="x" * 2001), "Reason: has 2,001 characters"),
    ],
)
def test_a_note_that_cannot_be_is_refused(note: RunNote, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueRangeError, match=says):
        write_note(named_place(str(tmp_path / "index.sqlite")), "a", note)


def test_a_note_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no runs yet"):
        write_note(named_place(str(tmp_path / "index.sqlite")), "a", RunNote())
