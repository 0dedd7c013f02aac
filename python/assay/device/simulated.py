"""Simulated drives: ``sim:NAME?capacity=32GB&seed=1`` and their model cards."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Literal
from urllib.parse import parse_qsl

from pydantic import Field

from assay.datum import Datum, Strict
from assay.errors import DriveNotFoundError, ValueRangeError
from assay.records import DriveIdentity
from assay.units import parse_bytes

PREFIX = "sim:"
CAPACITY_BYTES_MIN = 128_000_000
CAPACITY_BYTES_MAX = 16_000_000_000_000


class CardParameters(Strict):
    """Physical parameters with their sources; the ranges are those of the simulated drive's card."""

    capacity_bytes: Datum[int]
    logical_block_bytes: Datum[Literal[512, 4096]]
    over_provisioning: Datum[float]
    channel_count: Datum[int]
    dies_per_channel: Datum[int]
    program_unit_bytes: Datum[int]
    erase_unit_bytes: Datum[int]
    read_ns: Datum[int]
    program_ns: Datum[int]
    erase_ns: Datum[int]
    channel_bytes_per_s: Datum[int]
    link_bytes_per_s: Datum[int]
    read_command_ns: Datum[int]
    write_command_ns: Datum[int]
    write_buffer_bytes: Datum[int]


class ModelCard(Strict):
    """A simulated drive as its file describes it."""

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    model: str
    summary: str
    interface: str
    media: str
    parameters: CardParameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The values of a model card, as the native module reads them."""

    capacity_bytes: int
    logical_block_bytes: int
    over_provisioning: float
    channel_count: int
    dies_per_channel: int
    program_unit_bytes: int
    erase_unit_bytes: int
    read_ns: int
    program_ns: int
    erase_ns: int
    channel_bytes_per_s: int
    link_bytes_per_s: int
    read_command_ns: int
    write_command_ns: int
    write_buffer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTarget:
    """A simulated drive as named on the command line, its capacity applied."""

    model: ModelCard
    card: Card
    identity: DriveIdentity


def is_simulated(target: str) -> bool:
    """Whether a drive's name means a simulated one. Worked: ``is_simulated("sim:client-2011")``."""
    return target.startswith(PREFIX)


def simulated_names() -> list[str]:
    """Names of the shipped model cards, sorted, without the ``sim:``."""
    entries = (resources.files("assay.device") / "cards").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_card(name: str) -> ModelCard:
    """Read a shipped model card.

    Raises DriveNotFoundError naming the known cards.
    """
    if name not in simulated_names():
        known = ", ".join(PREFIX + card for card in simulated_names())
        raise DriveNotFoundError(f"{PREFIX}{name}", "no simulated drive has this name", f"choose one of {known}")
    text = (resources.files("assay.device") / "cards" / f"{name}.toml").read_text("utf-8")
    return ModelCard.model_validate(tomllib.loads(text))


def parse_simulated(target: str) -> SimulatedTarget:
    """Read ``sim:NAME?capacity=SIZE`` into the drive it means.

    target : the name with options; ``capacity`` is a size with its unit.
    Raises DriveNotFoundError for an unknown name, ValueRangeError for an unknown or wrong option.
    Worked: ``parse_simulated("sim:client-2011?capacity=32GB").identity.capacity_bytes`` is 32000000000.
    """
    name, _, query = target.removeprefix(PREFIX).partition("?")
    model = load_card(name)
    values = {key: datum["value"] for key, datum in model.parameters.model_dump().items()}
    for option, text in parse_qsl(query, keep_blank_values=True):
        if option != "capacity":
            raise ValueRangeError(f"{target}: option {option!r}", "is not known", "use capacity=SIZE")
        values["capacity_bytes"] = _capacity(target, text, values["logical_block_bytes"])
    card = Card(**values)
    return SimulatedTarget(model=model, card=card, identity=_identity(target, model, card))


def _capacity(target: str, text: str, block: int) -> int:
    capacity = parse_bytes(text, name=f"{target}: capacity")
    if not CAPACITY_BYTES_MIN <= capacity <= CAPACITY_BYTES_MAX or capacity % block:
        reason = f"is not a multiple of {block} bytes from 128 MB to 16 TB"
        raise ValueRangeError(f"{target}: capacity {text!r}", reason, "choose another, such as 32GB")
    return capacity


def _identity(target: str, model: ModelCard, card: Card) -> DriveIdentity:
    return DriveIdentity(
        id=target,
        path=target,
        kind="simulated",
        capacity_bytes=card.capacity_bytes,
        logical_block_bytes=card.logical_block_bytes,
        model=model.model,
        serial="SIM-" + model.name.upper(),
        firmware="assay-ftl",
        interface=model.interface,
        media=model.media,
        write_cache="enabled",
    )
