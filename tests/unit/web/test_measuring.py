"""Jobs of a server wait for real drives that are measured, and for no simulated one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from assay.web import measuring
from assay.web.measuring import Measuring

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Host:
    """Runs that go on, by the kinds of their drives, and how often somebody looked."""

    kinds: tuple[str, ...] = ()
    now_s: float = 0.0
    looks: int = 0

    def runs(self, _: Iterable[Path]) -> list[SimpleNamespace]:
        """As of ``running_runs``."""
        self.looks += 1
        return [SimpleNamespace(identity=SimpleNamespace(kind=kind)) for kind in self.kinds]


@pytest.mark.parametrize(
    ("kinds", "measured"),
    [((), False), (("simulated",), False), (("simulated", "block"), True), (("file",), True), (("loop",), True)],
)
def test_a_real_drive_is_told_from_a_simulated_one(
    monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, ...], measured: bool
) -> None:
    host = Host(kinds)
    monkeypatch.setattr(measuring, "running_runs", host.runs)
    assert Measuring([Path("runs")], lambda: host.now_s)() is measured


def test_folders_are_looked_at_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host()
    monkeypatch.setattr(measuring, "running_runs", host.runs)
    asked = Measuring([Path("runs")], lambda: host.now_s)
    assert [asked(), asked()] == [False, False]
    host.kinds = ("block",)
    host.now_s = 0.9
    assert not asked()
    host.now_s = 1.0
    assert asked()
    assert host.looks == 2
