"""Reports of small seeded runs are those that are kept, and a difference is named by its place; see tools/frozen.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from frozen import KEPT, differences, folder_differences, frozen_files
from seeded_runs import ALL_RUNS, run_folder

if TYPE_CHECKING:
    from pathlib import Path

KEPT_PAGES = ["page 1: IOPS", "  part: IOPS", "  table: Results", "    columns: Cell | IOPS", "    4KiB | 3,147.0"]


@pytest.mark.parametrize("name", ALL_RUNS)
def test_the_report_of_a_seeded_run_is_the_one_that_is_kept(name: str, tmp_path: Path) -> None:
    assert folder_differences(KEPT / name, frozen_files(run_folder(name, tmp_path))) == []


def test_every_seeded_run_is_kept_and_no_other() -> None:
    assert {path.name for path in KEPT.iterdir() if path.is_dir()} == set(ALL_RUNS)


@pytest.mark.parametrize(
    ("now", "difference"),
    [
        (
            [*KEPT_PAGES[:4], "    4KiB | 3,148.0"],
            'page 1: IOPS: table: Results: kept "4KiB | 3,147.0", now "4KiB | 3,148.0"',
        ),
        (KEPT_PAGES[:4], 'page 1: IOPS: table: Results: kept "4KiB | 3,147.0", now nothing'),
        ([KEPT_PAGES[0], *KEPT_PAGES[2:]], 'page 1: IOPS: kept "part: IOPS", now nothing'),
        ([*KEPT_PAGES, "page 2: LAT"], 'kept nothing, now "page 2: LAT"'),
    ],
)
def test_a_difference_is_named_by_the_lines_that_it_belongs_to(now: list[str], difference: str) -> None:
    assert list(differences(KEPT_PAGES, now)) == [difference]
