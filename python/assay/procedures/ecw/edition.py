"""The composite workload's table in an edition."""

from __future__ import annotations

from typing import Literal

from assay.procedures.families.grid.edition import DemandTable
from assay.spec.datum import Datum
from assay.spec.edition_data import BlockKib, ReadPct


class CompositeTable(DemandTable):
    """Parameters of the composite workload, whose sizes and LBA groups are ``assay.engine.pattern``'s.

    name : ``ECW`` or ``CBW``. alignment_kib : of every access, whatever its size.
    """

    name: Datum[Literal["ECW", "CBW"]]
    read_pct: Datum[ReadPct]
    alignment_kib: Datum[BlockKib]
