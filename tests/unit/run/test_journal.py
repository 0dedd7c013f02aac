"""A journal where the file system itself answers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.errors import StoreError
from assay.run.store.journal import read_journal

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_that_may_not_be_searched_is_an_error_of_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0)
    with pytest.raises(StoreError, match=r"journal\.jsonl"):
        read_journal(folder, b"")
