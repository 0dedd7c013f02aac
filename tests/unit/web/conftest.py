"""Sessions of these tests are kept in a folder of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.archive.index.location import named_place

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.location import Place


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / f"xdg-{name.lower()}"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Where an index will be."""
    return named_place(str(tmp_path / "index.sqlite"))
