"""Traces of block I/Os, our own and those of other tools: read in batches, summed up, and mapped to a drive."""

from assay.workloads.traces.mapping import (
    TRIM_BYTES_MAX,
    Mapping,
    Rounded,
    RoundedSums,
    at_speed,
    issued,
    mapped,
    mapping_for,
)
from assay.workloads.traces.parquet_files import read_replay, replay_fault, write_replay
from assay.workloads.traces.records import FLUSH, OPERATIONS, READ, TRIM, WRITE, Batch
from assay.workloads.traces.stream_map import SizeShare, StreamMap, stream_map
from assay.workloads.traces.trace import Trace, open_trace

__all__ = [
    "FLUSH",
    "OPERATIONS",
    "READ",
    "TRIM",
    "TRIM_BYTES_MAX",
    "WRITE",
    "Batch",
    "Mapping",
    "Rounded",
    "RoundedSums",
    "SizeShare",
    "StreamMap",
    "Trace",
    "at_speed",
    "issued",
    "mapped",
    "mapping_for",
    "open_trace",
    "read_replay",
    "replay_fault",
    "stream_map",
    "write_replay",
]
