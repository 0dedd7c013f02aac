"""Files of a run that are larger than the run can have made them are refused by their sizes, whatever they hold."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from assay.archive.bundle import export_run, import_bundle
from assay.archive.bundle.archive import FrameError, check_frame
from assay.archive.checks import run_content
from assay.archive.levels import with_known_level
from assay.archive.verify import verify_run
from assay.errors import StoreError
from assay.run.store.document import read_document
from assay.run.store.journal import read_journal
from assay.run.store.read import read_run, read_steps
from assay.run.store.status import run_state
from assay.run.store.tables import check_accounted, table_bytes_max
from every_kind import run_of

if TYPE_CHECKING:
    from pathlib import Path

TERABYTE, GIBIBYTE = 1 << 40, 1 << 30
CPU_S_MAX = 2.0


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sizes") / "run"
    run_of("lat", folder)
    return folder


@pytest.fixture
def run(good: Path, tmp_path: Path) -> Path:
    return shutil.copytree(good, tmp_path / "run")


def grown(run: Path, name: str, size: int) -> Path:
    """A file of a run with zeros behind it, which take no space."""
    (run / name).parent.mkdir(exist_ok=True)
    with (run / name).open("ab") as file:
        file.truncate(size)
    return run


@pytest.mark.parametrize("size", [TERABYTE, GIBIBYTE])
@pytest.mark.parametrize("name", ["run.json", "journal.jsonl"])
def test_a_sparse_document_or_journal_is_refused_at_once(name: str, size: int, run: Path) -> None:
    grown(run, name, size)
    begun = time.process_time()
    for read in (read_run, verify_run, run_state):
        with pytest.raises(StoreError, match=r"where at most [\d,]+ can be|without the end of a line"):
            read(run)
    assert time.process_time() - begun < CPU_S_MAX


def test_all_lines_of_a_journal_together_have_a_bound(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, lines = (run / "run.json").read_bytes(), (run / "journal.jsonl").read_bytes().splitlines()
    assert len(read_journal(run, head).lines) == len(lines)
    monkeypatch.setattr("assay.run.store.journal._VALUES_MAX", sum(line.count(b",") for line in lines) - 1)
    with pytest.raises(StoreError, match="has more values than any journal that Assay writes"):
        read_journal(run, head)


@pytest.mark.parametrize("size", [TERABYTE, GIBIBYTE])
@pytest.mark.parametrize("name", ["series/000001.parquet", "histograms/000001.parquet"])
def test_a_sparse_table_is_refused_at_once(name: str, size: int, run: Path) -> None:
    grown(run, name, size)
    begun = time.process_time()
    with pytest.raises(StoreError, match=r"has [\d,]+ bytes where at most [\d,]+ can be"):
        read_run(run, histograms=True)
    assert verify_run(run).answers[0].rule == "T-01"
    assert time.process_time() - begun < CPU_S_MAX


def test_a_large_file_has_what_its_footer_accounts_for(run: Path, tmp_path: Path) -> None:
    table = (run / "histograms/000001.parquet").read_bytes()
    (tmp_path / "hollow.parquet").write_bytes(table[:4])
    with (tmp_path / "hollow.parquet").open("ab") as file:
        file.truncate(GIBIBYTE)
        file.seek(0, os.SEEK_END)
        file.write(table[4:])
    with (
        (tmp_path / "hollow.parquet").open("rb") as file,
        pytest.raises(OSError, match=r"bytes where its footer accounts for"),
    ):
        check_accounted(file)


def test_a_table_of_a_run_is_as_large_as_its_steps_can_make_it(run: Path) -> None:
    head, _ = read_document(run)
    for entry in read_journal(run, head).lines:
        if entry.kind == "steps":
            steps = read_steps(entry)
            for name in steps.tables:
                assert (run / name).stat().st_size <= table_bytes_max(name, steps.steps) < 16 << 20


def test_a_sparse_frame_of_empty_blocks_is_no_bundle(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "good.assay")
    with (tmp_path / "bad.assay").open("wb") as file:
        file.write((tmp_path / "good.assay").read_bytes()[:6])
        file.truncate(TERABYTE)
    with (tmp_path / "bad.assay").open("rb") as file, pytest.raises(FrameError, match="empty block before its last"):
        check_frame(file)
    with pytest.raises(StoreError):
        import_bundle(tmp_path / "bad.assay", tmp_path / "into")


def test_a_sparse_file_that_nothing_names_costs_nothing(run: Path) -> None:
    stored = read_run(run)
    grown(run, "series/999999.parquet", TERABYTE)
    begun = time.process_time()
    assert run_content(run).tables
    assert with_known_level(stored, run, None).checked is None
    assert not verify_run(run).passed
    assert time.process_time() - begun < CPU_S_MAX


def test_a_sparse_report_costs_nothing(run: Path) -> None:
    grown(run, "report/results.json", TERABYTE)
    begun = time.process_time()
    assert {answer.rule for answer in verify_run(run).answers} & {"R-01", "R-03"}
    assert time.process_time() - begun < CPU_S_MAX
