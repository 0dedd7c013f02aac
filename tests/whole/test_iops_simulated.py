"""The whole IOPS test on a simulated drive, scaled: run folder, report, verdict and exit code."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from assay.archive.rendering import render_run
from assay.dut.dut import Answers
from assay.errors import DeviceFailureError, InterruptedRunError, StoreError, VerificationError
from assay.procedures.families.loop.result import loop_result
from assay.report import FORMATS
from assay.results.step import completed_count, effective_queue_depth, iops, issued_bytes, latency_count, rate_count
from assay.run import run as session_run
from assay.run.plan_file import Plan, load_plan
from assay.run.progress import Progress
from assay.run.run import Outcome, run_plan
from assay.run.store import write
from assay.run.store.journal import read_journal, sealed
from assay.run.store.read import read_run
from assay.spec.files import write_inside
from session_runs import copied_run

DRIVE = "sim:client-2011?capacity=1GB"


def plan(**keys: Any) -> Plan:
    return load_plan(None, {"drive": DRIVE, "tests": ["iops"], "seed": 1, "scale": 0.01, **keys})


def run(folder: Path, made: Plan | None = None, show: Any = lambda _: None) -> Outcome:
    return run_plan(made or plan(), out=folder, answers=Answers(), show=show)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "finished"
    assert copied_run(plan(), folder) == 0
    return folder


def test_the_run_folder_alone_gives_every_number(finished: Path) -> None:
    stored = read_run(finished)
    (test,) = stored.tests
    assert test.ended == "steady"
    assert [len(round_.cells) for round_ in test.rounds] == [56] * len(test.rounds)
    result = loop_result(test)
    assert result.window == test.verdict
    assert set(result.matrix) == set(test.settings.cells)
    written = [step.write.window_bytes + step.write.tail_bytes for step in test.preconditioning]
    assert written == [2 * 10**9]


def test_every_cell_holds_its_queue_depth_and_its_counters_add_up(finished: Path) -> None:
    (test,) = read_run(finished).tests
    for round_ in test.rounds:
        for before, cell in zip((None, *round_.cells), round_.cells, strict=False):
            assert effective_queue_depth(cell) == pytest.approx(8.0)
            assert cell.span_ns == 600_000_000
            assert before is None or cell.start_ns - cell.lead_in_ns == before.start_ns + before.span_ns
    for round_ in test.rounds:
        first, last = round_.cells[0].counters_before, round_.cells[-1].counters_after
        assert first is not None
        assert last is not None
        issued = sum(issued_bytes(cell.write) for cell in round_.cells)
        assert last.write_bytes - first.write_bytes == issued


def test_series_and_histograms_hold_the_same_ios_as_the_records(finished: Path) -> None:
    (test,) = read_run(finished).tests
    tables = sorted((finished / "series").iterdir()), sorted((finished / "histograms").iterdir())
    lead_ins = sorted((finished / "lead-ins").iterdir())
    assert [len(found) for found in (*tables, lead_ins)] == [1 + len(test.rounds)] * 2 + [len(test.rounds)]
    series = pq.read_table(tables[0][1]).to_pydict()
    histogram = pq.read_table(tables[1][1]).to_pydict()
    cells = test.rounds[0].cells
    assert sum(series["io_count"]) == sum(map(rate_count, cells))
    assert sum(histogram["count"]) == sum(map(latency_count, cells))
    lead_in = pq.read_table(lead_ins[0]).to_pydict()
    assert sum(histogram["count"]) + sum(lead_in["count"]) == sum(map(completed_count, cells))


def test_the_same_seed_gives_the_same_rounds(finished: Path, tmp_path: Path) -> None:
    run(tmp_path / "again")
    first, second = (read_run(folder).tests[0] for folder in (finished, tmp_path / "again"))
    assert [[iops(cell) for cell in round_.cells] for round_ in first.rounds] == [
        [iops(cell) for cell in round_.cells] for round_ in second.rounds
    ]


@pytest.mark.long
def test_a_report_is_byte_identical_however_often_it_is_rendered(finished: Path) -> None:
    def digests() -> dict[str, str]:
        paths = render_run(finished, FORMATS)
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}

    assert digests() == digests()


def test_iops_fall_from_fresh_to_steady_as_the_random_writes_go_on(finished: Path) -> None:
    (test,) = read_run(finished).tests
    label = "RND 4KiB 0/100"
    tracked = [float(iops(cell)) for round_ in test.rounds for cell in round_.cells if cell.label == label]
    fresh = 8 * 4 / 1.3e-3  # eight dies sequence four pages in 1.3 ms
    assert tracked[-1] < 0.25 * fresh


def test_a_drive_that_is_not_steady_at_the_limit_says_so_and_exits_7(tmp_path: Path) -> None:
    # Right after sequential preconditioning a range of half the drive is still falling.
    outcome = run(tmp_path / "run", plan(scale=0.002, iops={"round_limit": 5}, edition="pts-e-2.0"))
    stored = read_run(tmp_path / "run")
    assert (outcome.exit_code, stored.tests[0].ended) == (7, "round-limit")
    (pdf,) = render_run(tmp_path / "run", ["pdf"])
    assert pdf.stat().st_size > 10_000


def test_any_changed_byte_of_the_journal_is_noticed(finished: Path, tmp_path: Path) -> None:
    lines = (finished / "journal.jsonl").read_bytes().splitlines(keepends=True)
    head = (finished / "run.json").read_bytes()
    place = next(number for number, line in enumerate(lines) if b'"kind":"steps"' in line)
    forged = lines[place].replace(b'"window_io_count":', b'"window_io_count":1', 1)
    (tmp_path / "journal.jsonl").write_bytes(b"".join([*lines[:place], forged, *lines[place + 1 :]]))
    with pytest.raises(VerificationError, match=rf"journal\.jsonl:{place + 1}: is not the line that was written"):
        read_journal(tmp_path, head)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:-1]) + lines[-1][:50])
    torn = read_journal(tmp_path, head)
    assert (len(torn.lines), torn.complete) == (len(lines) - 1, False)


def test_a_changed_last_line_of_a_run_that_was_cut_short_is_noticed(finished: Path, tmp_path: Path) -> None:
    lines = (finished / "journal.jsonl").read_bytes().splitlines(keepends=True)
    head = (finished / "run.json").read_bytes()
    place = next(number for number, line in enumerate(lines) if b'"kind":"steps"' in line)
    forged = lines[place].replace(b'"window_io_count":', b'"window_io_count":1', 1)
    (tmp_path / "journal.jsonl").write_bytes(b"".join([*lines[:place], forged]))
    with pytest.raises(VerificationError, match=rf"journal\.jsonl:{place + 1}: is not the line that was written"):
        read_journal(tmp_path, head)


def test_a_line_in_another_place_breaks_the_chain(finished: Path, tmp_path: Path) -> None:
    lines = (finished / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join([*lines[:3], *lines[4:]]))
    with pytest.raises(VerificationError, match=r"journal\.jsonl:4: the hash chain is broken"):
        read_journal(tmp_path, (finished / "run.json").read_bytes())


def test_a_stop_in_a_round_keeps_the_rounds_before_it(tmp_path: Path) -> None:
    def stop_in_round_2(progress: Progress) -> None:
        if progress.judged and progress.judged.index == 2:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError, match="what was measured is in"):
        run(tmp_path / "run", show=stop_in_round_2)
    (test,) = read_run(tmp_path / "run").tests
    assert (len(test.rounds), test.ended, test.verdict) == (2, "interrupted", None)
    assert render_run(tmp_path / "run", FORMATS)


def test_failed_ios_end_the_run_with_no_headline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = session_run.open_dut

    @contextmanager
    def failing(*args: Any, **keys: Any) -> Iterator[Any]:
        with original(*args, **keys) as dut:
            monkeypatch.setattr(dut.stimulus, "run", fail_after_preconditioning(dut.stimulus.run))
            yield dut

    monkeypatch.setattr(session_run, "open_dut", failing)
    with pytest.raises(DeviceFailureError, match=r"1 x ENODATA"):
        run(tmp_path / "run")
    result = loop_result(read_run(tmp_path / "run").tests[0])
    assert (result.error_count, result.matrix) == (1, {})


def fail_after_preconditioning(run_program: Any) -> Any:
    """One read of the last cell of every round comes back with ENODATA."""

    def run_and_fail(steps: Any, *more: Any) -> Any:
        records = run_program(steps, *more)
        if len(records) > 1:
            records[-1] = replace(records[-1], read=replace(records[-1].read, errors={61: 1}))
        return records

    return run_and_fail


def test_a_full_disk_ends_the_run_and_keeps_what_was_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path, name: str, content: bytes, **_: bool) -> None:
        if name.endswith("000003.parquet"):
            raise OSError(28, "No space left on device")
        write_inside(folder, name, content)

    monkeypatch.setattr(write, "write_inside", full)
    with pytest.raises(StoreError, match="No space left on device"):
        run(tmp_path / "run")
    assert len(read_run(tmp_path / "run").tests[0].rounds) == 1


def test_a_forged_verdict_is_found_from_its_rounds(finished: Path, tmp_path: Path) -> None:
    # Even with the hash chain made good, a verdict must be the one that its rounds give.
    head = (finished / "run.json").read_bytes()
    previous, lines = hashlib.sha256(head).hexdigest(), []
    for line in (finished / "journal.jsonl").read_bytes().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "verdict":
            for verdict in entry["data"]["window"]["verdicts"].values():
                verdict["average"] *= 2
        entry["previous"] = previous
        lines.append(sealed({key: value for key, value in entry.items() if key != "hash"}))
        previous = hashlib.sha256(lines[-1]).hexdigest()
    forged = tmp_path / "forged"
    shutil.copytree(finished, forged)
    (forged / "journal.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(VerificationError):
        render_run(forged, FORMATS)


@pytest.mark.parametrize(("damage", "error"), [("missing", StoreError), ("changed", VerificationError)])
@pytest.mark.parametrize("kind", ["histograms", "series"])
def test_a_table_that_is_not_the_one_written_is_noticed(
    finished: Path, tmp_path: Path, kind: str, damage: str, error: type[Exception]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    table = copy / kind / "000002.parquet"
    table.unlink()
    if damage == "changed":
        table.write_bytes(b"x")
    with pytest.raises(error, match=r"000002\.parquet"):
        read_run(copy)


def test_an_error_that_is_no_disk_error_also_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> bytes:
        raise MemoryError

    monkeypatch.setattr("assay.run.store.tables.series_table", fail)
    with pytest.raises(StoreError, match="MemoryError"):
        run(tmp_path / "run")
