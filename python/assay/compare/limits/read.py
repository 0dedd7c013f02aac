"""Limits from a file, or those that a stored run's plan states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.compare.limits.model import LimitEntry, LimitFile
from assay.errors import StoreError, UsageError
from assay.spec.model_faults import model_faults
from assay.spec.toml_file import place_error, read_toml, refuse_other_kind, validated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.engine.records import StoredRun

_OF_PLAN = ("schema", "limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run is held against. title : of all. fault : an error that names the place of a key in its source."""

    title: str
    entries: tuple[LimitEntry, ...]
    fault: Callable[[str, str, str], UsageError]


def read_limits(path: Path) -> Limits:
    """The limits of a file of its own, or of a plan. Raises PlanError with the place of each fault."""
    table, positions = read_toml(path)
    refuse_other_kind(path, table, "limits")
    if "drive" in table:
        # A plan: its other keys are none of ours.
        table = {key: value for key, value in table.items() if key in _OF_PLAN}
    limits = validated(LimitFile, path, table, positions)
    return Limits(
        title=limits.title or path.stem,
        entries=limits.limits,
        fault=lambda key, reason, remedy: place_error(path, positions, key, reason, remedy),
    )


def limits_of_plan(run: StoredRun) -> Limits:
    """The limits that the plan of a stored run states; none where it states none. Raises StoreError."""
    table = {"limits": run.plan.get("limits") or []}
    entries: tuple[LimitEntry, ...] = ()
    if table["limits"]:
        try:
            entries = LimitFile.model_validate(table).limits
        except ValidationError as error:
            first = model_faults(error, LimitFile, table)[0]
            remedy = "the run was changed or damaged, or written by another version of Assay"
            raise StoreError(f"run {run.run_id}: plan.{first.key}", first.reason, remedy) from None
    return Limits(title="Limits of the plan", entries=entries, fault=UsageError)
