"""Model cards of simulated hard disks: ``kind = "disk"`` in the file that ``sim:NAME`` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from assay.datum import Datum, Strict
from assay.device.injected_faults import Fault  # noqa: TC001 - read by pydantic

Amount = Annotated[int, Field(ge=0, lt=1 << 63)]
Count = Annotated[int, Field(ge=0, lt=1 << 32)]
"""What the native cards can hold; each parameter's own range is narrower and checked there."""
CardName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
CardText = Annotated[str, Field(max_length=500)]


class DiskParameters(Strict):
    """Physical parameters with their sources; the ranges are those of the native module's disk card.

    Those that are None are absent from the disk: it then has the value of ``DiskCard``.
    """

    capacity_bytes: Datum[Amount]
    logical_block_bytes: Datum[Literal[512, 4096]]
    rotation_rpm: Datum[Count]
    head_count: Datum[Count]
    zone_count: Datum[Count]
    outer_track_bytes: Datum[Amount]
    inner_track_bytes: Datum[Amount]
    track_seek_ns: Datum[Amount]
    average_seek_ns: Datum[Amount]
    full_seek_ns: Datum[Amount]
    head_switch_ns: Datum[Amount]
    write_settle_ns: Datum[Amount]
    command_ns: Datum[Amount]
    link_bytes_per_s: Datum[Amount]
    queue_limit: Datum[Count]
    settle_spread_ns: Datum[Amount] | None = None
    settle_margin_ns: Datum[Amount] | None = None
    age_credit_share: Datum[float] | None = None
    age_limit_ns: Datum[Amount] | None = None
    write_cache: Datum[bool] | None = None
    write_buffer_bytes: Datum[Amount] | None = None
    write_segment_count: Datum[Count] | None = None
    read_ahead_bytes: Datum[Amount] | None = None


class DiskModelCard(Strict):
    """A simulated hard disk as its file describes it."""

    schema_version: Literal[1] = Field(alias="schema")
    kind: Literal["disk"]
    name: CardName
    model: CardText
    summary: CardText
    interface: CardText
    media: CardText
    parameters: DiskParameters
    faults: tuple[Fault, ...] = ()


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
