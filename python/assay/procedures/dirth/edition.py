"""Demand intensity's table in an edition."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.procedures.families.grid.edition import DemandTable
from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import BlockKib, ReadPct

PatternName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]


class PatternDatum(Strict):
    """A named access pattern of one block size; ``read_pct`` is its nominal share of reads."""

    name: PatternName
    access: Literal["random", "sequential"] = "random"
    block_kib: BlockKib
    read_pct: ReadPct


class IntensityTable(DemandTable):
    """Parameters of demand intensity. patterns : those that the edition names; without a choice the first is run."""

    patterns: Datum[Annotated[tuple[PatternDatum, ...], Field(min_length=1)]]
