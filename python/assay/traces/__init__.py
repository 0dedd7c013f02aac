"""Traces of block I/Os, our own and those of other tools: read in batches, summed up, and mapped to a drive."""

from assay.traces.mapping import Mapping, mapped, mapping_for
from assay.traces.records import FLUSH, OPERATIONS, READ, TRIM, WRITE, Batch
from assay.traces.stream_map import StreamMap, stream_map
from assay.traces.trace import Trace, open_trace

__all__ = [
    "FLUSH",
    "OPERATIONS",
    "READ",
    "TRIM",
    "WRITE",
    "Batch",
    "Mapping",
    "StreamMap",
    "Trace",
    "mapped",
    "mapping_for",
    "open_trace",
    "stream_map",
]
