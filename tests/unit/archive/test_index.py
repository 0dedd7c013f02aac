"""The index of runs, the same in SQLite and PostgreSQL: what it answers, and what becomes of it."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import sqlite3
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import same_process
from assay.archive.bundle import keys, origin
from assay.archive.index import driver
from assay.archive.index import location as place_module
from assay.archive.index.current import KEY_FILES, known_folders
from assay.archive.index.driver import SCHEMA, DamagedIndexError, UnusableIndexError, connected
from assay.archive.index.folders import given_name, kept_name, parent_of, run_address, seen_folders, site
from assay.archive.index.location import Place, default_place, named_place, without_password
from assay.archive.index.read import RunNote, notes_of, reading, stored_runs
from assay.archive.index.search import Query, Wanted, find_runs, run_at, since_ns, until_ns
from assay.archive.index.status import index_status
from assay.archive.index.write import ReadRun, store_runs, write_note, writing
from assay.archive.rendering import stored_run
from assay.cli import assay
from assay.cli.config import output_folder
from assay.cli.index import runs_everywhere, runs_in, update
from assay.cli.stored_runs import with_known_level
from assay.compare.subject import held_conditions
from assay.errors import StoreError, UsageError
from assay.report.formats.terminal.listed import listed_run, run_numbers
from assay.run import store
from assay.run.store.document import RUN_SCHEMA
from assay.run.store.write import RUNS
from assay.words.outcomes import NOT_CHECKED
from click.testing import CliRunner
from every_kind import run_of
from going_run import held
from synthetic_runs import synthetic_runs

if TYPE_CHECKING:
    from assay.summary.forms import ListedRun

pytestmark = pytest.mark.xdist_group("postgresql")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one") / "run"
    run_of("tp", folder)
    return folder


@pytest.fixture
def runs(run: Path, tmp_path: Path) -> Path:
    synthetic_runs(run, tmp_path / "runs", 6)
    return tmp_path / "runs"


def listed(place: Place, folder: Path) -> dict[str, ListedRun]:
    return {Path(one.run).name: one for one in runs_in(place, folder, numbers=True)}


def command(*arguments: str) -> tuple[int, str, str]:
    done = same_process.assay(*arguments)
    return done.returncode, done.stdout, done.stderr


FORGED = ("../secret", "..", ".", "", "/etc", "a/../../secret", ":/2e2e2f736563726574")
"""Names of folders that lead elsewhere; the last stands for ``../secret`` as the index keeps what is no text."""


@pytest.mark.parametrize("folder", FORGED)
def test_a_row_that_leads_out_of_its_folder_is_none(place: Place, runs: Path, folder: str) -> None:
    (runs.parent / "secret").mkdir()
    shutil.copy(runs / "run-00001/run.json", runs.parent / "secret")
    good = listed(place, runs)
    where = site(), parent_of(runs)
    with writing(place) as connection:
        store_runs(connection, *where, [ReadRun(folder=folder, look="", listed=good["run-00001"])])
    with reading(place) as reader:
        assert reader
        assert {row["folder"] for row in stored_runs(reader)} == set(good)
        assert run_at(reader, run_address(*where, folder)) is None
        assert "secret" not in str(find_runs(reader, Query(missing=True)))


def test_a_row_with_the_address_of_another_run_is_none(place: Place, runs: Path) -> None:
    listed(place, runs)
    address = run_address(site(), parent_of(runs), "run-00001")
    with writing(place) as connection:
        connection.run("DELETE FROM assay_runs WHERE address = ?", address)
        connection.run("UPDATE assay_runs SET address = ? WHERE folder = 'run-00002'", address)
    with reading(place) as reader:
        assert reader
        assert run_at(reader, address) is None


@pytest.mark.parametrize("value", ["[[[[", "5", "no list"])
def test_values_of_another_form_end_no_list(value: str, place: Place, runs: Path) -> None:
    listed(place, runs)
    with writing(place) as connection:
        connection.run("UPDATE assay_runs SET deviations = ? WHERE folder = 'run-00002'", value)
        connection.run("UPDATE assay_tests SET verdict = 'splendid' WHERE run_key = 1 AND place = 1")
    found = listed(place, runs)
    assert {name for name, run in found.items() if run.fault} == {"run-00000", "run-00002"}
    assert "has values in the index that no run has; make the index anew" in str(found["run-00000"].fault)


def test_a_level_is_believed_only_where_nobody_else_can_have_written_it(place: Place, runs: Path) -> None:
    listed(place, runs)
    forged = "signed by Lab 2, replicated by 9 runs"
    with writing(place) as connection:
        connection.run("UPDATE assay_runs SET level = ?", forged)
    private = place.path is not None
    assert {run.level for run in listed(place, runs).values()} == {forged if private else NOT_CHECKED}
    if place.path:
        place.path.chmod(0o666)
        assert {run.level for run in listed(place, runs).values()} == {NOT_CHECKED}


def test_what_it_answers_is_what_the_folders_say(place: Place, runs: Path) -> None:
    def read(path: Path) -> ListedRun:
        run = with_known_level(stored_run(path), path)
        result = listed_run(run, str(path), run_schema=RUN_SCHEMA)
        # What stands in an index that others write vouches for nothing.
        return result if place.path else result.model_copy(update={"level": NOT_CHECKED})

    expected = {path.name: read(path) for path in sorted(runs.iterdir())}
    assert listed(place, runs) == expected
    # Once more, now from the index alone.
    found = listed(place, runs)
    assert found == expected
    assert {name: one.as_json() for name, one in found.items()} == {
        name: one.as_json() for name, one in expected.items()
    }
    assert all(one.tests[0].headlines for one in found.values())


def test_every_number_of_a_test_is_in_it(place: Place, runs: Path) -> None:
    runs_in(place, runs, numbers=False)
    expected = run_numbers(stored_run(runs / "run-00003")).measures[1]
    with reading(place) as reader:
        assert reader
        rows = reader.rows(
            "SELECT m.* FROM assay_measures m JOIN assay_tests t ON t.key = m.test_key JOIN assay_runs r "
            "ON r.key = t.run_key WHERE r.folder = ? AND t.place = ? ORDER BY m.place",
            "run-00003",
            1,
        )
    stored = [
        (json.loads(row["cell"]), row["label"], row["name"], row["unit"], row["better"], row["value"],
         tuple(json.loads(row["rounds"])), bool(row["judged"]))
        for row in rows
    ]  # fmt: skip
    assert stored == [
        (json.loads(json.dumps(one.cell)), one.label, one.key, one.unit, one.better, one.value, one.rounds, one.tracked)
        for one in expected
    ]
    assert stored


def test_only_what_is_new_or_has_changed_is_read_again(place: Place, runs: Path) -> None:
    assert update(place, [runs]) == 6
    assert update(place, [runs]) == 0
    os.utime(runs / "run-00001/journal.jsonl")
    lines = (runs / "run-00002/journal.jsonl").read_bytes().splitlines(keepends=True)
    (runs / "run-00002/journal.jsonl").write_bytes(b"".join(lines[:-1]))
    (runs / "run-00003/run.json").write_bytes(b"[")
    assert update(place, [runs]) == 3
    found = listed(place, runs)
    assert [name for name, one in found.items() if not one.complete] == ["run-00002", "run-00003"]
    assert str(runs / "run-00003/run.json") in str(found["run-00003"].fault)


def test_an_end_that_changes_with_size_and_time_kept_is_seen(runs: Path) -> None:
    path = runs / "run-00001/journal.jsonl"
    before, times = seen_folders(runs), path.stat()
    content = path.read_bytes()
    path.write_bytes(content[:-10] + b"0123456" + content[-3:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = seen_folders(runs)
    assert {name for name in before if before[name] != after[name]} == {"run-00001"}


def test_a_folder_that_cannot_be_read_costs_no_other_and_is_read_again_once_any_file_of_it_is_mended(
    place: Place, runs: Path
) -> None:
    table = next((runs / "run-00004").glob("series/*.parquet"))
    kept = table.read_bytes()
    table.unlink()
    table.write_bytes(b"x" * len(kept))
    found = listed(place, runs)
    assert [name for name, one in found.items() if one.fault] == ["run-00004"]
    assert (found["run-00004"].label_class, found["run-00004"].tests) == ("unknown", ())
    assert update(place, [runs]) == 0
    table.write_bytes(kept)
    assert update(place, [runs]) == 1
    assert not any(one.fault for one in listed(place, runs).values())


def test_a_run_whose_folder_is_gone_is_marked_until_it_is_back(place: Place, runs: Path, tmp_path: Path) -> None:
    update(place, [runs])
    (runs / "run-00005").rename(tmp_path / "away")
    assert [name for name, one in listed(place, runs).items() if one.missing] == ["run-00005"]
    assert index_status(place).missing == 1
    (tmp_path / "away").rename(runs / "run-00005")
    assert not any(one.missing for one in listed(place, runs).values())
    runs.rename(tmp_path / "moved")
    assert all(one.missing for one in runs_everywhere(place, numbers=False))


def test_a_run_that_goes_on_is_listed_and_never_in_the_index(place: Place, runs: Path) -> None:
    with held(runs / "run-00001"), held(runs / "run-00004"):
        assert update(place, [runs]) == 4
        assert len(listed(place, runs)) == 6
        assert len(runs_everywhere(place, numbers=True)) == 6
        assert index_status(place).runs == 4
    assert update(place, [runs]) == 2
    assert update(place, [runs]) == 0
    assert index_status(place).runs == 6


def test_only_runs_that_go_on_make_no_index(place: Place, runs: Path) -> None:
    with ExitStack() as locks:
        for path in runs.iterdir():
            locks.enter_context(held(path))
        assert len(listed(place, runs)) == 6
    if place.path:
        assert not place.path.exists()


def test_a_run_that_is_resumed_leaves_the_index_until_it_ends(place: Place, runs: Path) -> None:
    update(place, [runs])
    (runs / "run-00002").rename(runs.parent / "away")
    update(place, [runs])
    (runs.parent / "away").rename(runs / "run-00002")
    lines = (runs / "run-00002/journal.jsonl").read_bytes().splitlines(keepends=True)
    (runs / "run-00002/journal.jsonl").write_bytes(b"".join(lines[:-1]))
    with held(runs / "run-00002"):
        assert update(place, [runs]) == 0
        assert index_status(place).runs == 5
        assert {name: run.missing for name, run in listed(place, runs).items()}["run-00002"] is False
    assert (update(place, [runs]), index_status(place).runs) == (1, 6)


OLDER = (
    "CREATE TABLE assay_index_version (version_num VARCHAR(32) PRIMARY KEY)",
    "CREATE TABLE assay_runs (key INTEGER PRIMARY KEY, site TEXT, parent TEXT, folder TEXT)",
    "CREATE TABLE assay_tags (key INTEGER PRIMARY KEY, run_key INTEGER REFERENCES assay_runs (key))",
    "CREATE TABLE assay_tests (key INTEGER PRIMARY KEY, run_key INTEGER REFERENCES assay_runs (key))",
    "CREATE TABLE assay_headlines (key INTEGER PRIMARY KEY, test_key INTEGER REFERENCES assay_tests (key))",
    "CREATE TABLE assay_measures (key INTEGER PRIMARY KEY, test_key INTEGER REFERENCES assay_tests (key))",
    "CREATE INDEX ix_assay_runs_address ON assay_runs (folder)",
    "INSERT INTO assay_runs VALUES (1, 'lab', '/runs', 'gone')",
    "INSERT INTO assay_tests VALUES (1, 1)",
    "INSERT INTO assay_headlines VALUES (1, 1)",
)
"""As earlier versions made them, as far as it matters here."""
OLDER_NOTES = (
    "CREATE TABLE assay_notes (address TEXT PRIMARY KEY, hidden BOOLEAN NOT NULL, bad BOOLEAN NOT NULL, "
    "reason TEXT NOT NULL, note TEXT NOT NULL, role TEXT NOT NULL, at_ns BIGINT NOT NULL)"
)


def older_index(place: Place, schema: int) -> dict[str, RunNote]:
    """Make an index of an earlier version; its notes."""
    notes = {"a" * 20: RunNote(bad=True, reason="fan failed", note="see \u6771", role="operator", at_ns=5)}
    with connected(place, to_write=True) as connection:
        for statement in (*OLDER, *((OLDER_NOTES,) if schema >= 3 else ())):
            connection.run(statement)
        connection.run("UPDATE assay_runs SET site = ?", site())
        connection.insert("assay_index_version", [{"version_num": f"{schema:04}"}])
        if schema < 3:
            return {}
        connection.insert("assay_notes", [{"address": key, **asdict(note)} for key, note in notes.items()])
    return notes


@pytest.mark.parametrize("schema", [1, 2, 3, 4])
def test_of_an_older_index_the_notes_stay_and_all_else_is_made_anew(place: Place, runs: Path, schema: int) -> None:
    notes = older_index(place, schema)
    assert (index_status(place).schema_found, known_folders(place)) == (None, [Path("/runs")])
    with pytest.raises(UnusableIndexError, match="has no runs yet"):
        write_note(place, "a" * 20, RunNote())
    assert update(place, [runs]) == 6
    assert (index_status(place).schema_found, index_status(place).runs) == (SCHEMA, 6)
    with reading(place) as reader:
        assert reader
        assert notes_of(reader, ["a" * 20]) == notes
        assert "assay_headlines" not in reader.tables()
    assert update(place, [runs]) == 0


def test_an_index_that_cannot_be_made_anew_stays_as_it_was(
    place: Place, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = older_index(place, 4)
    script = Path(driver.__file__).with_name("tables.sql").read_text("utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", lambda *_: script + "no statement")
        with pytest.raises(StoreError):
            update(place, [runs])
    with connected(place, to_write=False) as connection:
        assert connection.schema() == 4
        assert [row["folder"] for row in connection.rows("SELECT * FROM assay_runs")] == ["gone"]
        assert notes_of(connection, ["a" * 20]) == notes


def test_a_run_has_the_conditions_of_its_tests(place: Place, runs: Path) -> None:
    update(place, [runs])
    expected = [held_conditions(stored_run(runs / "run-00003"), test) for test in stored_run(runs / "run-00003").tests]
    with reading(place) as reader:
        assert reader
        rows = reader.rows(
            "SELECT t.conditions, t.conditions_key FROM assay_tests t JOIN assay_runs r ON r.key = t.run_key "
            "WHERE r.folder = 'run-00003' ORDER BY t.place"
        )
    assert [json.loads(row["conditions"]) for row in rows] == json.loads(json.dumps(expected))
    assert expected[0]["demand.queue_depth"]
    assert len({row["conditions_key"] for row in rows}) == len(rows) == 2


def test_an_index_of_a_newer_version_is_refused_by_name(place: Place, runs: Path) -> None:
    update(place, [runs])
    with writing(place) as connection:
        connection.run("UPDATE assay_index_version SET version_num = '0007'")
    for work in (lambda: runs_in(place, runs, numbers=False), lambda: index_status(place)):
        with pytest.raises(UnusableIndexError, match=r"newer version of Assay \(schema 7, this version knows 5\)"):
            work()
    assert command("runs", str(runs), "--index", place.url or str(place.path))[0] == 6


@pytest.mark.parametrize("schema", [0, 4], ids=["new", "older"])
def test_two_writers_at_once_lose_nothing_and_wait_for_each_other(place: Place, runs: Path, schema: int) -> None:
    notes = older_index(place, schema) if schema else {}
    context = multiprocessing.get_context("fork")
    both = context.Barrier(2)

    def write() -> None:
        both.wait(60)
        update(place, [runs])

    # They make the tables, too, or make them anew.
    started = [context.Process(target=write) for _ in range(2)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    assert [one.exitcode for one in started] == [0, 0]
    with reading(place) as reader:
        assert reader
        counts = {name: len(reader.rows(f"SELECT * FROM assay_{name}")) for name in ("runs", "tests")}  # noqa: S608
        assert notes_of(reader, ["a" * 20]) == notes
    assert counts == {"runs": 6, "tests": 12}
    assert update(place, [runs]) == 0


def test_a_reader_is_answered_while_another_writes(place: Place, runs: Path) -> None:
    update(place, [runs])
    with writing(place) as connection:
        connection.run("DELETE FROM assay_runs")
        assert index_status(place).runs == 6
    assert index_status(place).runs == 0


def test_texts_that_no_database_takes_are_kept_escaped(place: Place, run: Path, tmp_path: Path) -> None:
    synthetic_runs(run, tmp_path / "runs", 1)
    path = tmp_path / "runs/run-00000"
    content = json.loads((path / "run.json").read_bytes())
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_bytes().splitlines()]
    content["description"]["name"] = "a\0b \u6771"
    rewritten(path, content, lines)
    (found,) = runs_in(place, tmp_path / "runs", numbers=False)
    assert (found.fault, found.name) == (None, "a\\x00b \u6771")
    path.rename(os.fsdecode(os.fsencode(tmp_path / "runs") + b"/run-\xff"))
    names = {one.run: one.missing for one in runs_in(place, tmp_path / "runs", numbers=False)}
    assert names == {f"{tmp_path}/runs/run-00000": True, f"{tmp_path}/runs/run-\\udcff": False}


def rewritten(path: Path, content: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    from synthetic_runs import _journal  # noqa: PLC0415

    head = json.dumps(content).encode()
    (path / "run.json").write_bytes(head)
    (path / "journal.jsonl").write_bytes(_journal(lines, head, 0))


@pytest.mark.parametrize("name", ["run-1", "\u6771", "a\udcffb"])
def test_a_name_is_kept_as_a_text_of_its_own(name: str) -> None:
    assert given_name(kept_name(name)) == name
    kept_name(name).encode()


def test_the_names_of_files_are_those_of_the_run_folder() -> None:
    from assay.archive.index import folders  # noqa: PLC0415

    assert (folders.RUN_DOCUMENT, folders.JOURNAL_NAME) == (store.RUN_DOCUMENT, store.JOURNAL_NAME)
    assert (folders.ORIGIN, set(KEY_FILES)) == (origin.ORIGIN, {keys.PUBLIC_KEY, keys.TRUSTED_KEYS})
    assert output_folder() == RUNS


def test_an_imported_run_is_looked_at_again_once_other_keys_are_trusted(runs: Path) -> None:
    (runs / "run-00001/origin.json").write_text("{}")
    before, after = seen_folders(runs, "a"), seen_folders(runs, "b")
    assert {name for name in before if before[name] != after[name]} == {"run-00001"}


def test_a_damaged_index_of_the_user_is_kept_aside_and_made_anew(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = default_place()
    update(place, [runs])
    assert place.path
    content = place.path.read_bytes()
    for damaged in (b"no database", content[:4096] + os.urandom(len(content) - 4096)):
        place.path.write_bytes(damaged)
        assert len(listed(place, runs)) == 6
        assert "is kept as index.sqlite.damaged and made anew" in capsys.readouterr().err
        assert place.path.with_name("index.sqlite.damaged").read_bytes() == damaged
    assert update(place, [runs]) == 0


def test_a_file_that_the_user_named_is_never_replaced(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("my notes, longer than a header of any kind " * 5)
    for action in (("runs", str(runs)), ("index", "update", str(runs)), ("index", "rebuild", str(runs))):
        code, _, said = command(*action, "--index", str(path))
        assert (code, "is not an index of runs, or is damaged" in said) == (6, True), said
    assert path.read_text().startswith("my notes")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE mine (a)")
    other.commit()
    other.close()
    with pytest.raises(UnusableIndexError, match="is a database of something else"):
        update(named_place(str(tmp_path / "other.sqlite")), [runs])


def test_where_the_index_cannot_be_written_the_folders_are_read(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("a file where a folder is to be")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert len(listed(default_place(), runs)) == 6
    assert "every run is read instead" in capsys.readouterr().err
    with pytest.raises(StoreError):
        listed(named_place(str(tmp_path / "state/index.sqlite")), runs)


def test_an_empty_folder_makes_no_index(tmp_path: Path) -> None:
    place = named_place(str(tmp_path / "index.sqlite"))
    (tmp_path / "runs").mkdir()
    assert runs_in(place, tmp_path / "runs", numbers=True) == []
    assert not (tmp_path / "index.sqlite").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), [0, 1, 2, 3, 4, 5]),
        (("--drive", "syn0003"), [3]),
        (("--drive", "SYN0003", "--drive", "syn0001"), [1, 3]),
        (("--drive", "SYN0003", "--firmware", "1.2"), []),
        (("--firmware", "1.0"), [0, 5]),
        (("--model", "IDEAL"), [0, 1, 2, 3, 4, 5]),
        (("--host", "000005"), [5]),
        (("--name", "night 4"), [4]),
        (("--tag", "Bay 2"), [2]),
        (("--tag", "bay"), []),
        (("--test", "tp", "--verdict", "steady"), [0, 1, 2, 3, 4, 5]),
        (("--test", "iops"), []),
        (("--edition", "pts-e-1.1", "--last", "2"), [4, 5]),
        (("--verdict", "withheld"), []),
        (("--label", "simulated"), [0, 1, 2, 3, 4, 5]),
        (("--label", "conforming"), []),
    ],
)
def test_runs_are_filtered(options: tuple[str, ...], expected: list[int], shared: tuple[Path, Path]) -> None:
    runs, index = shared
    done = CliRunner().invoke(assay, ["runs", str(runs), "--index", str(index), "--json", *options])
    assert done.exit_code == 0, done.output
    assert [int(one["run"][-5:]) for one in json.loads(done.stdout)] == expected
    table = CliRunner().invoke(assay, ["runs", str(runs), "--index", str(index), *options]).stdout
    assert table.count("run-0") == len(expected)


@pytest.fixture(scope="module")
def shared(run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("filtered")
    synthetic_runs(run, folder / "runs", 6)
    return folder / "runs", folder / "index.sqlite"


def test_runs_are_filtered_by_when_they_began(shared: tuple[Path, Path]) -> None:
    found = sorted(runs_in(named_place(str(shared[1])), shared[0], numbers=False), key=lambda one: one.run)
    third = found[3].started_wall_ns
    assert third
    assert [one.run[-1] for one in found if Wanted(since_ns=third)(one)] == ["3", "4", "5"]
    assert [one.run[-1] for one in found if Wanted(until_ns=third)(one)] == ["0", "1", "2"]
    assert since_ns("1970-01-02") == 86_400 * 10**9
    assert until_ns("1970-01-01") == 86_400 * 10**9
    assert since_ns("1970-01-01T01:00+01:00") == 0
    with pytest.raises(UsageError, match=r"--since: is 'soon', which is no date"):
        since_ns("soon")


def test_runs_of_other_hosts_are_listed_with_theirs(place: Place, runs: Path) -> None:
    update(place, [runs])
    with writing(place) as connection:
        address = run_address("bench-7", parent_of(runs), "run-00001")
        connection.run("UPDATE assay_runs SET site = 'bench-7', address = ? WHERE folder = 'run-00001'", address)
    shutil.rmtree(runs / "run-00001")
    names = {one.run for one in runs_everywhere(place, numbers=False)}
    assert f"bench-7:{runs}/run-00001" in names
    assert {one.host for one in index_status(place).folders} == {"bench-7", site()}


def test_postgresql_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'WHEEL\[postgresql\]'"):
        named_place("postgresql://kim@db/lab")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://kim:secret@127.0.0.1:1/lab",
        "postgresql+psycopg://kim:secret@127.0.0.1:1/lab",
        "postgresql://kim@127.0.0.1:1/lab?password=secret",
        "postgresql://kim:sec@secret@127.0.0.1:1/lab",
        "postgresql://kim:secret/x@127.0.0.1:1/lab",
        "postgresql://kim:secret@127.0.0.1:secret/lab",
        "mysql://kim:secret@127.0.0.1/lab",
    ],
)
def test_a_password_is_in_no_error(url: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    done = CliRunner().invoke(assay, ["runs", str(tmp_path / "runs"), "--index", url])
    assert isinstance(done.exception, StoreError | UsageError)
    assert "secret" not in str(done.exception) + repr(done.exception) + done.output


def test_a_driver_that_repeats_the_password_is_not_believed() -> None:
    place = named_place("postgresql://kim:secret@db/lab")
    assert without_password("cannot log in with\nsecret", place) == "cannot log in with ***"
    assert "secret" not in repr(place)
    assert place_module.masked("postgresql://kim:secret@db/lab") == "postgresql://kim@db/lab"


def test_a_damaged_file_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 5000)
    with (
        pytest.raises(DamagedIndexError, match="remove it to rebuild it"),
        reading(named_place(str(tmp_path / "x"))),
    ):
        pass


def test_a_view_that_somebody_put_into_an_index_is_never_asked(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    update(named_place(str(path)), [runs])
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    with contextlib.closing(sqlite3.connect(path)) as shared:
        shared.executescript(f"DROP TABLE assay_notes; CREATE VIEW assay_notes AS {endless};")
    code, _, said = command("runs", str(runs), "--index", str(path))
    assert (code, "holds a view or a trigger; name another index with --index" in said) == (6, True), said
