"""Studies: questions beside the specification's tests, one file each; every study is a list of variants."""

from __future__ import annotations

from assay.procedures.studies.active_range import ACTIVE_RANGE
from assay.procedures.studies.alignment import ALIGNMENT
from assay.procedures.studies.cell_order import CELL_ORDER
from assay.procedures.studies.data_pattern import DATA_PATTERN
from assay.procedures.studies.demand_map import DEMAND_MAP
from assay.procedures.studies.oio import OIO
from assay.procedures.studies.over_provisioning import OVER_PROVISIONING
from assay.procedures.studies.stability import STABILITY
from assay.procedures.studies.trim import TRIM
from assay.procedures.studies.workload_dependency import WORKLOAD_DEPENDENCY
from assay.procedures.studies.write_cache import WRITE_CACHE
from assay.procedures.studies.xsr_reverse import XSR_REVERSE

STUDIES = (
    DATA_PATTERN,
    WRITE_CACHE,
    OIO,
    OVER_PROVISIONING,
    ACTIVE_RANGE,
    WORKLOAD_DEPENDENCY,
    STABILITY,
    CELL_ORDER,
    ALIGNMENT,
    TRIM,
    DEMAND_MAP,
    XSR_REVERSE,
)
