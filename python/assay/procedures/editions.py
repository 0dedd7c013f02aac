"""Editions: read from the package or from a file, with a table for every test of the registry."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError, create_model

from assay.errors import StoreError, UsageError
from assay.procedures.registry import procedures
from assay.spec.edition import Edition
from assay.spec.model_faults import model_faults
from assay.spec.nearest import did_you_mean
from assay.spec.toml_file import Positions, place_error, read_toml, refuse_other_kind, validated

_SUFFIX, _BASE = ".toml", "base"


@cache
def edition_model() -> type[Edition]:
    """The form of an edition: what all tests share, and a table for each test, None where it has no such test."""
    tables: dict[str, Any] = {
        procedure.name: (procedure.table | None, None) for procedure in procedures() if procedure.table is not None
    }
    return create_model("Edition", __base__=Edition, **tables)


def edition_names() -> list[str]:
    """Names of the shipped editions, sorted; ``pts-c-1.0`` is one of them."""
    folder = resources.files("assay.spec") / "editions"
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir() if entry.name.endswith(_SUFFIX))


def load_edition(name: str) -> Edition:
    """Read an edition from the package, or a custom one from a TOML file.

    name : one of ``edition_names()``, or the path of a file that ends in ``.toml``. A file may name an edition as its
        ``base`` and list what differs, datum by datum.
    Raises UsageError naming the known editions for any other name, PlanError with the places of a file's faults.
    Worked: ``load_edition("pts-c-1.0").iops.test_range.value.segment_count`` is 2048.
    """
    if name.endswith(_SUFFIX):
        return _read_edition(Path(name))
    if name not in edition_names():
        otherwise = f"choose from {', '.join(edition_names())}, or name a .toml file"
        raise UsageError(f"edition {name!r}", "is not known", did_you_mean(name, edition_names(), otherwise))
    return validated(edition_model(), *_shipped(name))


def is_shipped(edition: Edition) -> bool:
    """Whether an edition is, datum by datum, the edition that the package ships under its name."""
    return edition.name in edition_names() and _shipped_edition(edition.name) == edition


@cache
def _shipped_edition(name: str) -> Edition:
    """An edition of the package, read once: a list of runs asks for the same few over and over."""
    return load_edition(name)


def edition_departures(edition: Edition) -> tuple[str, ...]:
    """Say of an edition that it is none that the package ships, or none of the specification; nothing of others."""
    custom = () if is_shipped(edition) else (f"custom edition {edition.name} instead of a shipped edition",)
    return (*(edition.notices or ()), *custom)


def stored_edition(table: dict[str, Any]) -> Edition:
    """An edition as a run folder holds it. Raises StoreError where it is not one of this version."""
    try:
        return edition_model().model_validate(table)
    except ValidationError as error:
        fault = model_faults(error, edition_model(), table)[0]
        remedy = "use the version of Assay that wrote it"
        raise StoreError(f"edition in run.json: {fault.key}", fault.reason, remedy) from None


def _read_edition(path: Path) -> Edition:
    table, positions = read_toml(path)
    refuse_other_kind(path, table, "edition")
    base = table.pop(_BASE, None)
    if base is not None and base not in edition_names():
        remedy = did_you_mean(str(base), edition_names(), f"choose from {', '.join(edition_names())}")
        raise place_error(path, positions, _BASE, "names no edition", remedy)
    if base is None:
        return validated(edition_model(), path, table, positions)
    implied = _shipped(base)[1]
    # Its own name is what tells it from the edition.
    del implied["name"]
    return validated(edition_model(), path, _over(implied, table), positions)


def _shipped(name: str) -> tuple[Path, dict[str, Any], Positions]:
    """The file of an edition, its table over that of its base, and the places of its own keys."""
    with resources.as_file(resources.files("assay.spec") / "editions" / f"{name}{_SUFFIX}") as path:
        table, positions = read_toml(path)
    base = table.pop(_BASE, None)
    return path, table if base is None else _over(_shipped(base)[1], table), positions


def _over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A table with what another lists in place of its own; a datum, which has a value, is replaced whole."""
    merged = dict(base)
    for key, value in own.items():
        inside = isinstance(value, dict) and "value" not in value and isinstance(base.get(key), dict)
        merged[key] = _over(base[key], value) if inside else value
    return merged
