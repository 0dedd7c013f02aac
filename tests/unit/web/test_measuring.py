"""Jobs of a server wait for real drives that are measured, and for no simulated one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from assay.run.store.status import GoingRuns
from assay.web.jobs import Measuring
from going_run import DRIVE, GoingFolder

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["block", "file", "simulated"]


@pytest.mark.parametrize(
    ("kinds", "measured"),
    [((), False), (("simulated",), False), (("simulated", "block"), True), (("file",), True), ((None,), True)],
)
def test_a_real_drive_is_told_from_a_simulated_one(
    tmp_path: Path, kinds: tuple[Kind | None, ...], measured: bool
) -> None:
    with ExitStack() as runs:
        for number, kind in enumerate(kinds):
            run = GoingFolder(tmp_path / f"{number}", kind and replace(DRIVE, kind=kind))
            runs.callback(run.end)
        assert Measuring([tmp_path])() is measured
    assert not Measuring([tmp_path])()


def test_folders_are_looked_at_once_a_second(tmp_path: Path) -> None:
    now_s = 0.0
    measuring = Measuring([tmp_path], lambda: now_s)
    assert [measuring(), measuring()] == [False, False]
    run = GoingFolder(tmp_path / "a")
    now_s = 0.9
    assert not measuring()
    now_s = 1.0
    assert measuring()
    run.end()
    assert measuring()
    now_s = 2.0
    assert (measuring(), GoingRuns([tmp_path]).look()) == (False, [])
