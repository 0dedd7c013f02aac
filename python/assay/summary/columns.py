"""Columns that several tests have, each declared once."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from assay.summary.table import Column
from assay.words.digits import nth
from assay.words.printed import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.summary.table import Declared


BLOCK_KIB = Column("block_kib", "Transfer size", "KiB", role="key")
READ_PCT = Column("read_pct", "Reads", "%", role="key")
WRITE_PCT = Column("write_pct", "Writes", "%")
THREADS = Column("thread_count", "Threads", role="key")
DEPTH = Column("queue_depth", "Queue depth", role="key")
TOTAL_OIO = Column("total_oio", "Total OIO")
ROUND = Column("round", "Round", role="key")
MINUTE = Column("minute", "Time", "min", role="key")
VARIANT = Column("variant", "Variant", role="key")
ACCESSES = Column("accesses", "Accesses", role="key")
GROUP = Column("group", "Access group", role="key")
LABEL = Column("label", "Accesses", role="key")
SECOND = Column("second", "Time", "s", role="key")
IOPS = Column("iops", "IOPS")
MB_PER_S = Column("mb_per_s", "Throughput", "MB/s")
WRITTEN = Column("tgbw_gb", "Written", "GB")
FILLS = Column("drive_fills", "Drive fills")
DEPTH_FOUND = Column("effective_queue_depth", "Effective queue depth")
MEAN = Column("latency_ms_mean", "Mean response time", "ms")
MEAN_OF_IOS = Column("latency_ms_mean_of_ios", "Mean response time", "ms")
MEAN_OF_ROUNDS = Column("latency_ms_mean_of_rounds", "Mean response time of the rounds", "ms")
MAXIMUM = Column("latency_ms_max", "Largest response time", "ms")
LATENCY = Column("latency_ms", "Response time", "ms", role="key")
IO_COUNT = Column("io_count", "I/Os")
ERRORS = Column("error_count", "Errors")
HOST = Column("host", "Host")
HOST_REASON = Column("host_reason", "What the host did")
UNIT = Column("unit", "Unit")

SAMPLE_COLUMNS: Declared[Any] = (
    (MINUTE, attrgetter("sample.minute")),
    (IOPS, attrgetter("sample.iops")),
    (MB_PER_S, attrgetter("sample.throughput")),
    (MEAN, attrgetter("sample.latency_ms_mean")),
    (MAXIMUM, attrgetter("sample.latency_ms_max")),
)
"""The numbers of a row that has a ``sample`` of a series."""
_SHARED = (
    BLOCK_KIB, READ_PCT, WRITE_PCT, THREADS, DEPTH, TOTAL_OIO, ROUND, MINUTE, VARIANT, ACCESSES, GROUP, LABEL, SECOND,
    IOPS, MB_PER_S, WRITTEN, FILLS, DEPTH_FOUND, MEAN, MEAN_OF_IOS, MEAN_OF_ROUNDS, MAXIMUM, LATENCY, IO_COUNT, ERRORS,
    HOST, HOST_REASON, UNIT,
)  # fmt: skip
_BY_KEY = {one.key: one for one in _SHARED}


def named(keys: Iterable[str]) -> tuple[Column, ...]:
    """Columns by their keys: a shared one, else one whose title is the key in words."""
    return tuple(_BY_KEY.get(key) or Column(key, _title(key)) for key in keys)


def field_columns(kind: type[Any]) -> Declared[Any]:
    """A column for each field of a record."""
    names = [field.name for field in fields(kind)]
    return tuple(zip(named(names), map(attrgetter, names), strict=True))


def percentile_columns(shares: Iterable[float], prefix: str = "latency_ms") -> tuple[Column, ...]:
    """A column of response times per share. Worked: 0.999 -> ``latency_ms_p99.9``, titled ``99.9 %``, in ms."""
    return tuple(Column(f"{prefix}_{nth(share)}", f"{share * 100:g} %", "ms") for share in shares)


def _title(key: str) -> str:
    text = words(key)
    return text[:1].upper() + text[1:]
