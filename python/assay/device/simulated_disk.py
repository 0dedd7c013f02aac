"""Model cards of simulated hard disks: ``kind = "disk"`` in the file that ``sim:NAME`` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from assay.datum import Datum, Strict


class DiskParameters(Strict):
    """Physical parameters with their sources; the ranges are those of the native module's disk card.

    Those that are None are absent from the disk: it then has the value of ``DiskCard``.
    """

    capacity_bytes: Datum[int]
    logical_block_bytes: Datum[Literal[512, 4096]]
    rotation_rpm: Datum[int]
    head_count: Datum[int]
    zone_count: Datum[int]
    outer_track_bytes: Datum[int]
    inner_track_bytes: Datum[int]
    track_seek_ns: Datum[int]
    average_seek_ns: Datum[int]
    full_seek_ns: Datum[int]
    head_switch_ns: Datum[int]
    write_settle_ns: Datum[int]
    command_ns: Datum[int]
    link_bytes_per_s: Datum[int]
    queue_limit: Datum[int]
    settle_spread_ns: Datum[int] | None = None
    settle_margin_ns: Datum[int] | None = None
    age_credit_share: Datum[float] | None = None
    age_limit_ns: Datum[int] | None = None
    write_cache: Datum[bool] | None = None
    write_buffer_bytes: Datum[int] | None = None
    write_segment_count: Datum[int] | None = None
    read_ahead_bytes: Datum[int] | None = None


class DiskModelCard(Strict):
    """A simulated hard disk as its file describes it."""

    schema_version: Literal[1] = Field(alias="schema")
    kind: Literal["disk"]
    name: str
    model: str
    summary: str
    interface: str
    media: str
    parameters: DiskParameters


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskCard:
    """The values of a disk's model card, as the native module reads them; each with its range in the native card.

    The defaults stand for what a disk does not have: no cache, no read-ahead, exact settling, nearest command first.
    """

    capacity_bytes: int
    logical_block_bytes: int
    rotation_rpm: int
    head_count: int
    zone_count: int
    outer_track_bytes: int
    inner_track_bytes: int
    track_seek_ns: int
    average_seek_ns: int
    full_seek_ns: int
    head_switch_ns: int
    write_settle_ns: int
    command_ns: int
    link_bytes_per_s: int
    queue_limit: int
    settle_spread_ns: int = 0
    settle_margin_ns: int = 0
    age_credit_share: float = 0.0
    age_limit_ns: int = 30_000_000_000
    write_cache: bool = False
    write_buffer_bytes: int = 1 << 20
    write_segment_count: int = 1
    read_ahead_bytes: int = 0
    seed: int = 1
