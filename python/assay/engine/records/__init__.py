"""The frozen records that every package shares. They hold; they do not compute.

Time is integer nanoseconds, size is bytes, shares are fractions in [0, 1].

What names one of them loads the modules up to it only: a list of drives needs no record of a run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.engine.records.drive import (
        REAL_PURGES,
        SIMULATED_PURGE,
        CacheState,
        Control,
        DriveCondition,
        DriveIdentity,
        DriveKind,
        Platform,
        PurgeMethod,
        PurgeRecord,
    )
    from assay.engine.records.host import (
        CalibrationPoint,
        FillPoint,
        HostCalibration,
        HostCertificate,
        HostPoint,
        ReferenceChange,
        ReferenceDrive,
        ReferencePoint,
        Repeated,
    )
    from assay.engine.records.run import (
        JournalEnd,
        MeasurementWindow,
        Round,
        RunBreak,
        RunOrigin,
        SkippedTest,
        StoredRun,
        StoredSequence,
        StoredTest,
    )
    from assay.engine.records.sequence import (
        CheckData,
        Ending,
        OnVoid,
        Purge,
        Role,
        SetCache,
        Stage,
        StepSequence,
        Trim,
    )
    from assay.engine.records.settings import Cell, PatternSettings, TestSettings
    from assay.engine.records.stimulus import (
        DIRECTIONS,
        IDLE,
        Access,
        AccessLine,
        AccessPattern,
        ActiveRange,
        DataPattern,
        DirectionRecord,
        HistogramTable,
        IoPath,
        KernelCounters,
        Placement,
        SeriesTable,
        StepRecord,
        StepSpec,
        StopRule,
        TraceSummary,
    )
    from assay.engine.records.watched import (
        BY_GATE,
        SECTOR_BYTES,
        Arrival,
        DataCheck,
        DriveEvent,
        DriveRecord,
        DriveState,
        HostRecord,
        LooksRecord,
        NeighbourRecord,
        NeighboursRecord,
        ReadBack,
        Returned,
        Shared,
        WrongBlock,
        WrongKind,
        WrongRange,
    )
    from assay.spec.demand import Demand
    from assay.spec.steady import SteadyVerdict

__all__ = [
    "BY_GATE",
    "DIRECTIONS",
    "IDLE",
    "REAL_PURGES",
    "SECTOR_BYTES",
    "SIMULATED_PURGE",
    "Access",
    "AccessLine",
    "AccessPattern",
    "ActiveRange",
    "Arrival",
    "CacheState",
    "CalibrationPoint",
    "Cell",
    "CheckData",
    "Control",
    "DataCheck",
    "DataPattern",
    "Demand",
    "DirectionRecord",
    "DriveCondition",
    "DriveEvent",
    "DriveIdentity",
    "DriveKind",
    "DriveRecord",
    "DriveState",
    "Ending",
    "FillPoint",
    "HistogramTable",
    "HostCalibration",
    "HostCertificate",
    "HostPoint",
    "HostRecord",
    "IoPath",
    "JournalEnd",
    "KernelCounters",
    "LooksRecord",
    "MeasurementWindow",
    "NeighbourRecord",
    "NeighboursRecord",
    "OnVoid",
    "PatternSettings",
    "Placement",
    "Platform",
    "Purge",
    "PurgeMethod",
    "PurgeRecord",
    "ReadBack",
    "ReferenceChange",
    "ReferenceDrive",
    "ReferencePoint",
    "Repeated",
    "Returned",
    "Role",
    "Round",
    "RunBreak",
    "RunOrigin",
    "SeriesTable",
    "SetCache",
    "Shared",
    "SkippedTest",
    "Stage",
    "SteadyVerdict",
    "StepRecord",
    "StepSequence",
    "StepSpec",
    "StopRule",
    "StoredRun",
    "StoredSequence",
    "StoredTest",
    "TestSettings",
    "TraceSummary",
    "Trim",
    "WrongBlock",
    "WrongKind",
    "WrongRange",
]

_MODULES = (
    "drive", "watched", "host", "stimulus", "settings", "sequence", "run",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Find a record in its module, the modules in the order above."""
    for module in _MODULES if name in __all__ else ():
        place = import_module(f"{__name__}.{module}")
        if hasattr(place, name):
            globals()[name] = getattr(place, name)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
