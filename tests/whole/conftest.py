"""Runs that several files look at, made once in each worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from every_kind import run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StoredRun


@pytest.fixture(scope="session")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], StoredRun]:
    """A run of a kind to which nothing happens; records are frozen, so that no test changes it for another."""
    folder = tmp_path_factory.mktemp("quiet")
    found: dict[str, StoredRun] = {}

    def of(kind: str) -> StoredRun:
        if kind not in found:
            found[kind] = run_of(kind, folder / kind)
        return found[kind]

    return of
