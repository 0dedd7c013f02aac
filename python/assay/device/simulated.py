"""Simulated drives: ``sim:NAME?capacity=32GB&seed=1&faults=FILE`` and their model cards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl

from pydantic import Field, ValidationError

from assay.datum import Datum, Strict
from assay.device.injected_faults import Fault, InjectedFaults, fault_label, injected, read_fault_file
from assay.device.simulated_disk import Amount, CardName, CardText, Count, DiskCard, DiskModelCard
from assay.errors import DriveNotFoundError, ValueRangeError
from assay.records import Control, DriveIdentity
from assay.toml_file import fault_error, read_toml
from assay.units import KIB, parse_bytes

PREFIX = "sim:"
_SUFFIX = ".toml"
CAPACITY_BYTES_MIN = 128_000_000
CAPACITY_BYTES_MAX = 16_000_000_000_000


class CardParameters(Strict):
    """Physical parameters with their sources; the ranges are those of the simulated drive's card.

    Those that are None are absent from the drive: it then has the value of ``Card``.
    """

    capacity_bytes: Datum[Amount]
    logical_block_bytes: Datum[Literal[512, 4096]]
    over_provisioning: Datum[float]
    channel_count: Datum[Count]
    dies_per_channel: Datum[Count]
    program_unit_bytes: Datum[Amount]
    erase_unit_bytes: Datum[Amount]
    read_ns: Datum[Amount]
    program_ns: Datum[Amount]
    erase_ns: Datum[Amount]
    channel_bytes_per_s: Datum[Amount]
    link_bytes_per_s: Datum[Amount]
    read_command_ns: Datum[Amount]
    write_command_ns: Datum[Amount]
    write_buffer_bytes: Datum[Amount]
    map_unit_bytes: Datum[Amount] | None = None
    purge_mapped_share: Datum[float] | None = None
    full_duplex: Datum[bool] | None = None
    read_extra_ns: Datum[Amount] | None = None
    write_extra_ns: Datum[Amount] | None = None
    partial_write_ns: Datum[Amount] | None = None
    protocol_ns: Datum[Amount] | None = None
    queue_limit: Datum[Count] | None = None
    in_order: Datum[bool] | None = None
    reads_in_order: Datum[bool] | None = None
    write_cache: Datum[bool] | None = None
    modify_reads_first: Datum[bool] | None = None
    victim: Datum[Literal["greedy", "fifo", "random", "choices"]] | None = None
    victim_choices: Datum[Count] | None = None
    shared_frontier: Datum[bool] | None = None
    collection_batch_bytes: Datum[Amount] | None = None
    idle_delay_ns: Datum[Amount] | None = None
    idle_target_share: Datum[float] | None = None
    idle_share: Datum[float] | None = None
    log_bytes: Datum[Amount] | None = None
    merge_unit_bytes: Datum[Amount] | None = None
    wear_levelling_every: Datum[Count] | None = None
    trim: Datum[bool] | None = None
    slc_cache_bytes: Datum[Amount] | None = None
    slc_program_ns: Datum[Amount] | None = None
    slc_fold_bytes_per_s: Datum[Amount] | None = None
    map_cache_bytes: Datum[Amount] | None = None
    write_limit_bytes_per_s: Datum[Amount] | None = None
    write_limit_burst_bytes: Datum[Amount] | None = None
    compresses: Datum[bool] | None = None
    heat_limit_bytes: Datum[Amount] | None = None
    cooling_bytes_per_s: Datum[Amount] | None = None
    throttled_bytes_per_s: Datum[Amount] | None = None
    stall_every_bytes: Datum[Amount] | None = None
    stall_ns: Datum[Amount] | None = None
    pause_every_ns: Datum[Amount] | None = None
    pause_ns: Datum[Amount] | None = None
    spares_full_units: Datum[bool] | None = None
    jitter_share: Datum[float] | None = None
    ideal: Datum[bool] | None = None


class ModelCard(Strict):
    """A simulated drive as its file describes it."""

    schema_version: Literal[1] = Field(alias="schema")
    kind: Literal["flash"] = "flash"
    name: CardName
    model: CardText
    summary: CardText
    interface: CardText
    media: CardText
    parameters: CardParameters
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The values of a model card, as the native module reads them; each with its range in the native card.

    The defaults stand for what a drive does not have: no single-level cache, no idle collection, no limit, no jitter.
    """

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
    map_unit_bytes: int = 4 * KIB
    purge_mapped_share: float = 0.0
    full_duplex: bool = False
    read_extra_ns: int = 0
    write_extra_ns: int = 0
    partial_write_ns: int = 0
    protocol_ns: int = 0
    queue_limit: int = 65_536
    in_order: bool = False
    reads_in_order: bool = False
    write_cache: bool = True
    modify_reads_first: bool = True
    victim: str = "greedy"
    victim_choices: int = 2
    shared_frontier: bool = False
    collection_batch_bytes: int = 0
    idle_delay_ns: int = 0
    idle_target_share: float = 0.0
    idle_share: float = 1.0
    log_bytes: int = 0
    merge_unit_bytes: int = 0
    wear_levelling_every: int = 0
    trim: bool = True
    slc_cache_bytes: int = 0
    slc_program_ns: int = 0
    slc_fold_bytes_per_s: int = 0
    map_cache_bytes: int = 0
    write_limit_bytes_per_s: int = 0
    write_limit_burst_bytes: int = 0
    compresses: bool = False
    heat_limit_bytes: int = 0
    cooling_bytes_per_s: int = 0
    throttled_bytes_per_s: int = 0
    stall_every_bytes: int = 0
    stall_ns: int = 0
    pause_every_ns: int = 0
    pause_ns: int = 0
    spares_full_units: bool = False
    jitter_share: float = 0.0
    seed: int = 1
    ideal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTarget:
    """A simulated drive as named on the command line, its capacity applied.

    state : file that the drive's state is taken from, where it exists, and kept in; None means it begins fresh.
    faults : what goes wrong with it, those of its model file first; empty means nothing does.
    """

    model: ModelCard | DiskModelCard
    card: Card | DiskCard
    identity: DriveIdentity
    state: Path | None = None
    faults: tuple[InjectedFaults, ...] = ()

    @property
    def purge_proof(self) -> str:
        """What a simulated purge has done, in one sentence."""
        if isinstance(self.card, DiskCard):
            return "every block of the simulated disk is overwritten; a disk has no fresh state"
        return "every page of the simulated flash is unmapped and every block erased"


def is_simulated(target: str) -> bool:
    """Whether a drive's name means a simulated one. Worked: ``is_simulated("sim:client-2011")``."""
    return target.startswith(PREFIX)


def simulated_names() -> list[str]:
    """Names of the shipped model cards, sorted, without the ``sim:``."""
    entries = (resources.files("assay.device") / "cards").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_card(name: str) -> ModelCard | DiskModelCard:
    """Read a shipped model card, or one of one's own from a TOML file.

    name : one of ``simulated_names()``, or the path of a file that ends in ``.toml``.
    Raises DriveNotFoundError naming the known cards, PlanError with the places of a file's faults.
    """
    if name.endswith(_SUFFIX):
        return _read_card(Path(name))
    if name not in simulated_names():
        known = ", ".join(PREFIX + card for card in simulated_names())
        raise DriveNotFoundError(f"{PREFIX}{name}", "no simulated drive has this name", f"choose one of {known}")
    with resources.as_file(resources.files("assay.device") / "cards" / f"{name}{_SUFFIX}") as path:
        return _read_card(path)


def _read_card(path: Path) -> ModelCard | DiskModelCard:
    table, positions = read_toml(path)
    try:
        return (DiskModelCard if table.get("kind") == "disk" else ModelCard).model_validate(table)
    except ValidationError as error:
        raise fault_error(path, positions, error) from None


def parse_simulated(target: str) -> SimulatedTarget:
    """Read ``sim:NAME?capacity=SIZE&seed=N&state=FILE&faults=FILE`` into the drive it means.

    target : the name with options; ``capacity`` is a size with its unit, ``seed`` that of the drive itself,
        ``state`` the file in which the drive, simulated flash, remembers what was done to it from run to run,
        ``faults`` a file of what goes wrong with it beside what its model file says; it has then no ``state``.
    Raises DriveNotFoundError for an unknown name, ValueRangeError for an unknown or wrong option, PlanError for a file.
    Worked: ``parse_simulated("sim:client-2011?capacity=32GB").identity.capacity_bytes`` is 32000000000.
    """
    name, _, query = target.removeprefix(PREFIX).partition("?")
    model = load_card(name)
    values = {key: datum["value"] for key, datum in model.parameters.model_dump(exclude_none=True).items()}
    state, files = None, []
    if model.faults:
        files.append(injected(Path(name), model.faults))
    for option, text in parse_qsl(query, keep_blank_values=True):
        if option not in {"capacity", "seed", "state", "faults"}:
            remedy = "use capacity=SIZE, seed=N, state=FILE or faults=FILE"
            raise ValueRangeError(f"{target}: option {option!r}", "is not known", remedy)
        if option == "state":
            state = _state(target, text, model)
        elif option == "faults":
            if not text:
                raise ValueRangeError(f"{target}: faults", "names no file", "use for example faults=faults.toml")
            files.append(read_fault_file(Path(text)))
        elif option == "capacity":
            values["capacity_bytes"] = _capacity(target, text, values["logical_block_bytes"])
        else:
            values["seed"] = _seed(target, text)
    if state and files:
        reason = "cannot be kept of a drive with faults: what befell it is no part of it"
        raise ValueRangeError(f"{target}: state", reason, "leave out state or faults")
    card = DiskCard(**values) if isinstance(model, DiskModelCard) else Card(**values)
    identity = _identity(target, model, card, tuple(files))
    return SimulatedTarget(model=model, card=card, identity=identity, state=state, faults=tuple(files))


def _state(target: str, text: str, model: ModelCard | DiskModelCard) -> Path:
    path = Path(text)
    if isinstance(model, DiskModelCard):
        raise ValueRangeError(f"{target}: state", "a disk has no fresh state to leave", "leave it out")
    there = os.path.lexists(path)
    if not text or "\0" in text or not os.path.isdir(path.parent) or (there and not os.path.isfile(path)):  # noqa: PTH112, PTH113
        raise ValueRangeError(f"{target}: state {text!r}", "is no file in a folder that exists", "name a file")
    return path


def _capacity(target: str, text: str, block: int) -> int:
    capacity = parse_bytes(text, name=f"{target}: capacity")
    if not CAPACITY_BYTES_MIN <= capacity <= CAPACITY_BYTES_MAX or capacity % block:
        reason = f"is not a multiple of {block} bytes from 128 MB to 16 TB"
        raise ValueRangeError(f"{target}: capacity {text!r}", reason, "choose another, such as 32GB")
    return capacity


def _seed(target: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 63:
        raise ValueRangeError(f"{target}: seed {text!r}", "is not a whole number", "use for example seed=1")
    return int(text)


def _identity(
    target: str, model: ModelCard | DiskModelCard, card: Card | DiskCard, files: tuple[InjectedFaults, ...]
) -> DriveIdentity:
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
        write_cache="enabled" if card.write_cache else "disabled",
        controls=_controls(card),
        faults=tuple(fault_label(fault) for file in files for fault in file.faults),
        faults_sha256=tuple(file.sha256 for file in files),
    )


def _controls(card: Card | DiskCard) -> tuple[Control, ...]:
    """A disk takes neither; an ideal drive has no flash that a write could wait for."""
    if isinstance(card, DiskCard) or card.ideal:
        return ()
    return ("trim", "write-cache") if card.trim else ("write-cache",)
