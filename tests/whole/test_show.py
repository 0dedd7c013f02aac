"""Results on the terminal: the same in words, as JSON and in the report, of every kind of test, at every width."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import same_process
from assay.archive.rendering import run_summary, whole_run
from assay.cli import assay
from assay.cli.show import tell_run
from assay.cli.stored_runs import with_level
from assay.report.formats.data import results_text
from assay.report.formats.terminal.lines import COLUMNS_MAX, LINES_MAX, terminal_lines
from assay.report.formats.terminal.listed import ListedRun
from assay.report.formats.terminal.tables import printed_tables
from assay.run.store.read import read_run
from assay.summary.verdict import stated
from assay.words.outcomes import NOT_CHECKED
from assay.words.text import text
from click.testing import CliRunner
from every_kind import EVERY, OF_FAMILIES, run_of, with_stall
from folder_faults import Folder
from json_schemas import schemas
from on_terminal import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun

FORMATS = Path(__file__).parents[2] / "docs/formats"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of an IOPS test and of a study."""
    runs = tmp_path_factory.mktemp("shown")
    run_of("iops", runs / "iops")
    run_of("study-oio", runs / "oio")
    return runs


def command(*arguments: str) -> int:
    code = assay(list(arguments), standalone_mode=False)
    return code if isinstance(code, int) else 0


def flat(text: str) -> str:
    return re.sub(" {2,}", "  ", text).replace("\n  ", "\n")


@pytest.mark.parametrize("kind", OF_FAMILIES)
def test_in_full_every_table_of_results_and_every_key_result_is_printed(
    kind: str, quiet: Callable[[str], StoredRun], capsys: pytest.CaptureFixture[str]
) -> None:
    run = quiet(kind)
    shown = whole_run(run)
    assert tell_run(run, Path("RUN"), [], full=True) == next(iter(shown.summary.exit_codes), 0)
    printed = flat(capsys.readouterr().out)
    tables = [*printed_tables(shown)]
    assert tables[0].title == "Key results"
    assert len(tables[0].rows) == sum(measure.quoted for test in shown.summary.tests for measure in test.measures)
    for table in tables:
        assert f"\n{table.title}\n" in printed
        for row in table.rows:
            assert flat("  ".join(row)).strip() in printed, row
    for test in shown.summary.tests:
        assert f"{test.label}  {text(stated(test.verdict))}" in printed


@pytest.mark.parametrize("kind", EVERY)
def test_a_run_is_at_most_24_lines_of_100_columns(kind: str, quiet: Callable[[str], StoredRun]) -> None:
    for run in (quiet(kind), with_stall(quiet(kind), lambda _: True)):
        found = run_summary(run, Path("RUN"))
        lines = [
            one.text for one in terminal_lines(found, ["Report: report.pdf", "All numbers: assay show --full RUN"])
        ]
        assert len(lines) <= LINES_MAX
        assert max(map(len, lines)) <= COLUMNS_MAX
        assert max(len(one.text) for one in terminal_lines(found, columns=80)) <= 80
        assert found.exit_codes == whole_run(run).results.exit_codes
        for test in found.tests:
            (line,) = (one for one in lines if one.startswith(f"{test.label} "))
            assert text(stated(test.verdict))[:40] in line


@pytest.mark.parametrize(
    ("variables", "styled"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_are_left_out_where_they_are_unwanted(tmp_path: Path, variables: dict[str, str], styled: bool) -> None:
    run_of("lat", tmp_path / "lat")
    for options in ((), ("--full",)):
        done = CliRunner().invoke(assay, ["show", str(tmp_path / "lat"), *options], color=True, env=variables)
        assert ("\x1b[" in done.stdout) == (styled and not options), done.stdout


@pytest.mark.parametrize("kind", OF_FAMILIES)
def test_withheld_results_have_no_numbers_and_exit_with_5(
    kind: str, quiet: Callable[[str], StoredRun], capsys: pytest.CaptureFixture[str]
) -> None:
    run = with_stall(quiet(kind), lambda _: True)
    assert tell_run(run, Path("RUN"), [], full=True) == 5
    said = flat(capsys.readouterr().out)
    assert "the host stalled" in said.partition("In flight")[2].splitlines()[1]
    assert "\nKey results\n" not in said
    assert {measure.value for test in whole_run(run).results.tests for measure in test.measures} <= {None}


def test_a_steady_state_that_was_not_reached_exits_with_7(
    quiet: Callable[[str], StoredRun], capsys: pytest.CaptureFixture[str]
) -> None:
    run = quiet("iops")
    missed = replace(run, tests=(replace(run.tests[0], ended="round-limit"),))
    assert tell_run(missed, Path("RUN"), [], full=True) == 7
    assert "\nIOPS  NOT STEADY" in flat(capsys.readouterr().out)


def test_the_head_has_drive_edition_and_every_deviation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = read_run(folder / "iops")
    assert command("show", "--full", str(folder / "iops")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r".*1.00 GB \| PTS-E 1\.1 \| simulated drive, \d+ deviations?", lines[0])
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC, took ", lines[1])
    assert {f"- {line}" for line in run.deviations} <= set(lines)
    assert run.journal is not None
    assert lines[-3:] == [
        f"Run folder: {folder / 'iops'}",
        f"Final hash: {run.journal.hash}",
        f"Report: not written; assay report {folder / 'iops'}",
    ]


def test_numbers_stand_under_each_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("show", "--full", str(folder / "iops"))
    _, _, rest = capsys.readouterr().out.partition("\nIOPS: IOPS; Read/write mix (%)\n")
    header, *rows = rest.splitlines()[:9]
    ends = [match.end() for match in re.finditer(r"\S+(?=  |$)", header)]
    assert header.startswith("Transfer size (KiB)")
    for row in rows:
        assert [match.end() for match in re.finditer(r"\S+", row)][1:] == ends[1:], row
    assert any("," in row for row in rows)


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_no_number_is_broken_and_no_line_too_long_on_a_terminal(columns: int, folder: Path) -> None:
    for name in ("iops", "oio"):
        printed = same_process.assay("show", "--full", str(folder / name), columns=columns).stdout
        printed = re.sub(r"\x1b\[[0-9;]*m", "", printed)
        copied = ("Run folder: ", "Final hash: ", "Report: ", "Tables: ")
        assert [line for line in printed.splitlines() if len(line) > columns and not line.startswith(copied)] == []
        words = set(re.split(r"\s+", printed))
        tables = printed_tables(whole_run(read_run(folder / name, histograms=True)))
        cells = [cell for table in tables for row in table.rows for cell in row if re.fullmatch(r"[\d,.]+", cell)]
        assert len(cells) > 20
        assert set(cells) <= words


def test_colours_are_left_out_on_request(folder: Path) -> None:
    coloured, _ = on_terminal(80, "show", "--full", str(folder / "iops"))
    plain, _ = on_terminal(80, "show", "--full", str(folder / "iops"), colour=False)
    assert "\x1b[1m" in coloured
    assert "\x1b" in same_process.assay("show", "--full", str(folder / "iops"), columns=80).stdout
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)


def fits(value: Any, schema: dict[str, Any], every: dict[str, Any], place: str = "") -> None:
    """Hold JSON against a schema of the keywords that ours have; another keyword is a fault of the test."""
    schema = dict(schema)
    if name := schema.pop("$ref", None):
        fits(value, every[name.rpartition("/")[2]], every, place)
    if choices := schema.pop("anyOf", None):
        assert any(_fits(value, one, every) for one in choices), place
    if "const" in schema:
        assert value == schema.pop("const"), place
    kinds = {
        "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
        "null": type(None),
    }  # fmt: skip
    if words := schema.pop("enum", None):
        assert value in words, place
    if kind := schema.pop("type", None):
        assert isinstance(value, kinds[kind]), place
        assert kind == "boolean" or not isinstance(value, bool), place
    known = schema.pop("properties", {})
    more = schema.pop("additionalProperties", True)
    assert set(schema.pop("required", ())) <= (value.keys() if isinstance(value, dict) else set()), place
    for key, inner in value.items() if isinstance(value, dict) else ():
        assert key in known or more, f"{place}.{key}"
        fits(inner, known.get(key, more if isinstance(more, dict) else {}), every, f"{place}.{key}")
    items = schema.pop("items", {})
    for number, inner in enumerate(value if isinstance(value, list) else ()):
        fits(inner, items, every, f"{place}[{number}]")
    assert schema.keys() <= {"$defs", "$schema", "title", "description", "default"}, place


def _fits(value: Any, schema: dict[str, Any], every: dict[str, Any]) -> bool:
    try:
        fits(value, schema, every)
    except AssertionError:
        return False
    return True


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FORMATS / name).read_text("ascii"))
    return found


def test_the_kept_schemas_are_those_of_the_models() -> None:
    for path, kept in schemas():
        assert path.read_text("utf-8") == kept, f"run tools/json-schemas: {path.name}"


def test_json_is_what_is_printed_and_of_its_schema(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = schema("results.schema.json")
    for name in ("iops", "oio"):
        assert command("show", str(folder / name), "--json") == 0
        found = json.loads(capsys.readouterr().out)
        fits(found, form, form["$defs"])
        run = with_level(read_run(folder / name, histograms=True), folder / name)
        results = json.loads(results_text(whole_run(run).results))
        # A run without a report bears the date of the moment.
        assert {key: found[key] for key in results} == results | {"report_date_ns": found["report_date_ns"]}
        assert (found["run"], found["level"], found["report"]) == (str(folder / name), "self-checked", [])
        assert (found["schema"], found["exit_code"], found["exit_codes"]) == (4, 0, [])
    with pytest.raises(AssertionError):
        fits({**found, "more": 1}, form, form["$defs"])
    with pytest.raises(AssertionError):
        fits({**found, "driven_s": "1"}, form, form["$defs"])


def changed(folder: Path, out: Path, work: Callable[[Folder], object]) -> Path:
    read = Folder.read(folder)
    work(read)
    read.write(out)
    return out


def cut(folder: Folder) -> None:
    """A run that was killed in its second round: its last whole line is the first round's verdict."""
    rounds = [place for place, line in enumerate(folder.lines) if line["data"].get("stage") == "round"]
    del folder.lines[rounds[1] :]


def stopped(folder: Folder) -> None:
    """One that was stopped by Ctrl-C in the last step of its second round."""
    rounds = [place for place, line in enumerate(folder.lines) if line["data"].get("stage") == "round"]
    ended = [line for line in folder.lines if line["kind"] in {"test_ended", "run_ended"}]
    folder.lines[rounds[1] + 1 :] = ended
    folder.lines[rounds[1]]["data"]["steps"][-1]["ended"] = "interrupted"
    ended[0]["data"], ended[1]["data"] = {"reason": "interrupted"}, {"exit_code": 130}


def test_a_run_that_was_cut_short_says_so_on_every_command_that_opens_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, work, said in (
        ("killed", cut, "unfinished or cut: its journal ends after"),
        ("stopped", stopped, "cut short: iops: it was interrupted; its results are withheld"),
    ):
        (tmp_path / name).mkdir()
        run = changed(folder / "iops", tmp_path / name / "run", work)
        for arguments in (("show",), ("show", "--json"), ("report", "--csv"), ("report", "--json")):
            code = command(arguments[0], str(run), *arguments[1:])
            assert said in capsys.readouterr().err, arguments
            assert code == (5 if arguments[0] == "show" else 0)
        assert command("runs", str(tmp_path / name)) == 0
        printed = capsys.readouterr()
        assert said in printed.err
        assert re.search(
            r"iops +1 round +(unfinished|it was interrupted), RESULTS WITHHELD: the test did not", printed.out
        )


def test_a_report_of_an_earlier_state_of_the_run_is_said_to_be_one(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = changed(folder / "iops", tmp_path / "run", lambda _: None)
    assert command("report", str(run), "--json", "--csv") == 0
    capsys.readouterr()
    assert command("show", "--full", str(run)) == 0
    assert "earlier state" not in capsys.readouterr().out
    short = changed(folder / "iops", tmp_path / "short", cut)
    (short / "report").mkdir()
    for path in (run / "report").iterdir():
        (short / "report" / path.name).write_bytes(path.read_bytes())
    assert command("show", str(short)) == 5
    assert "(of an earlier state of this run)" in capsys.readouterr().out
    assert command("show", "--full", str(short)) == 5
    assert "(of an earlier state of this run)" in capsys.readouterr().out
    (short / "report/results.json").unlink()
    assert command("show", "--full", str(short)) == 5
    assert "(may be of an earlier state of this run)" in capsys.readouterr().out


def test_runs_are_a_table_of_what_was_measured_whole(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".state"))
    for name in ("iops", "oio"):
        changed(folder / name, tmp_path / name, lambda _: None)
    changed(folder / "iops", tmp_path / "killed", cut)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/run.json").write_text("[")
    assert command("runs", str(tmp_path)) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert re.split(" {2,}", header) == ["Run", "Started", "Drive", "Label", "Level", "Test", "Measured", "Outcome"]
    found = {Path(row.split("  ")[0]).name: re.split(" {2,}", row) for row in rows}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", found["iops"][1])
    assert found["iops"][2] == "sim:ideal?capacity=1GB"
    assert found["iops"][3].startswith("simulated drive; not conforming, ")
    assert found["iops"][4:] == [NOT_CHECKED, "iops", "5 rounds", "steady state"]
    assert found["killed"][5:7] == ["iops", "1 round"]
    assert re.fullmatch(r"\d+ variants?", found["oio"][6])
    assert "is not JSON" in found["bad"][-1]
    assert command("runs", str(tmp_path), "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    form = schema("runs.schema.json")
    fits(listed, form, form["$defs"])
    codes = {Path(one["run"]).name: (one["exit_code"], one["complete"], bool(one["fault"])) for one in listed}
    assert codes == {
        "iops": (0, True, False), "oio": (0, True, False), "killed": (5, False, False), "bad": (6, False, True),
    }  # fmt: skip
    assert all(ListedRun.model_validate_json(json.dumps(one)) for one in listed)


@pytest.mark.parametrize(
    ("name", "said"), [("none", "does not exist"), ("file", "is no folder"), ("run", "assay show")]
)
def test_a_folder_that_holds_no_runs_is_an_error(name: str, said: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    changed(folder / "iops", tmp_path / "run", lambda _: None)
    done = same_process.assay("runs", str(tmp_path / name))
    assert (done.returncode, said in done.stderr, done.stderr.count("\n"), done.stdout) == (6, True, 1, "")
