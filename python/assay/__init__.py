"""Assay tests solid-state drives the way the SNIA Solid State Storage Performance Test Specification says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.frames import FrameLibrary, LoadedRun


def load(folder: str | Path, *, frames: FrameLibrary | None = None) -> LoadedRun:
    """Read a run folder for Python: its facts, and its tests with their numbers as frames.

    folder : of a run. frames : ``polars`` or ``pandas``; None takes the first of them that is installed.
    Raises StoreError and VerificationError where the folder cannot be read or was changed, UsageError where the
    library is not installed or unknown.
    """
    from assay.archive.frames import load_run  # noqa: PLC0415 - reads much of the product

    return load_run(folder, frames=frames)
