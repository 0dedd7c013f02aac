"""Simulated drives: ``sim:NAME?capacity=32GB&seed=1&faults=FILE`` and their drive models."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import parse_qsl

from pydantic import Field

from assay.dut.simulated import shipped
from assay.dut.simulated.injected_faults import Fault, InjectedFaults, fault_label, injected, read_fault_file
from assay.engine.records import Control, DriveIdentity
from assay.errors import DriveNotFoundError, ValueRangeError, joined
from assay.spec.datum import Datum, Strict
from assay.spec.nearest import did_you_mean
from assay.spec.toml_file import place_error, read_toml, refuse_other_kind, validated
from assay.spec.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = shipped.PREFIX
_SUFFIX = ".toml"
_MISSING = "is missing"
_FILES = ("state", "faults")
_OPTIONS = ("capacity", "seed", *_FILES)
CAPACITY_BYTES_MIN = 128_000_000
CAPACITY_BYTES_MAX = 16_000_000_000_000


Value = bool | int | float | str
ModelName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
ModelText = Annotated[str, Field(max_length=500)]


class ModelFile(Strict):
    """A simulated drive as its file describes it: each parameter with the source of its value.

    Which parameters there are, their ranges, and what a drive has that does not state them, is the native module's:
    ``known_parameters``.
    """

    schema_version: Literal[1] = Field(alias="schema")
    kind: Literal["flash", "disk"] = "flash"
    name: ModelName
    model: ModelText
    summary: ModelText
    interface: ModelText
    media: ModelText
    parameters: dict[str, Datum[Value]]
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class DriveModel:
    """Every parameter of a simulated drive by its name, as in ``drive_model["read_ns"]``."""

    kind: Literal["flash", "disk"]
    values: Mapping[str, Value]

    @classmethod
    def of(cls, model: ModelFile) -> DriveModel:
        """What a model states, and what a drive has that does not state it."""
        absent = {
            known_parameter.name: known_parameter.default
            for known_parameter in known_parameters(model.kind)
            if known_parameter.default is not None
        }
        return cls(model.kind, absent | {name: datum.value for name, datum in model.parameters.items()})

    def __getitem__(self, name: str) -> Any:
        """The value of a parameter. Raises KeyError for one that there is not."""
        return self.values[name]

    def replaced(self, **changes: Value) -> DriveModel:
        """The model with other values; ``Stimulus.simulated`` refuses what cannot be."""
        return replace(self, values={**self.values, **changes})

    @property
    def capacity_bytes(self) -> int:
        """User capacity in bytes."""
        return int(self.values["capacity_bytes"])

    @property
    def logical_block_bytes(self) -> int:
        """Logical block, 512 or 4096 bytes."""
        return int(self.values["logical_block_bytes"])

    @property
    def text(self) -> str:
        """The text that the native module reads."""
        return _text(self.kind, self.values)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One that drive models may state. about : what it is, with its range. default : None where it must be stated."""

    name: str
    about: str
    default: Value | None


@cache
def known_parameters(kind: Literal["flash", "disk"]) -> tuple[Parameter, ...]:
    """Every parameter of a kind of drive. Worked: the default of ``queue_limit`` of flash is 65,536."""
    from assay._native import drive_parameters  # noqa: PLC0415 - spared to those who name a real drive

    parameters = drive_parameters(kind)
    return tuple(Parameter(name, about, None if text is None else json.loads(text)) for name, about, text in parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTarget:
    """A simulated drive as named on the command line, its capacity applied.

    state : file that the drive's state is taken from, where it exists, and kept in; None means it begins fresh.
    faults : what goes wrong with it, those of its model file first; empty means nothing does.
    """

    model: ModelFile
    drive_model: DriveModel
    identity: DriveIdentity
    state: Path | None = None
    faults: tuple[InjectedFaults, ...] = ()

    @property
    def purge_proof(self) -> str:
        """What a simulated purge has done, in one sentence."""
        if self.drive_model.kind == "disk":
            return "every block of the simulated disk is overwritten; a disk has no fresh state"
        return "every page of the simulated flash is unmapped and every block erased"


def is_simulated(target: str) -> bool:
    """Whether a drive's name means a simulated one. Worked: ``is_simulated("sim:client-2011")``."""
    return target.startswith(PREFIX)


def files_of(target: str) -> tuple[str, ...]:
    """The files that the name of a simulated drive leads to; none is opened.

    Worked: ``sim:client-2011?state=a`` -> ``("a",)``; ``sim:client-2011`` -> ``()``.
    """
    name, _, query = target.removeprefix(PREFIX).partition("?")
    model = (name,) if name.endswith(_SUFFIX) else ()
    return (*model, *(text for option, text in parse_qsl(query, keep_blank_values=True) if option in _FILES))


def load_drive_model(name: str) -> ModelFile:
    """Read a shipped drive model, or a custom one from a TOML file.

    name : one of ``shipped_names()``, or the path of a file that ends in ``.toml``.
    Raises DriveNotFoundError naming the known drive models, PlanError with the places of a file's faults.
    """
    if name.endswith(_SUFFIX):
        return _read_drive_model(Path(name))
    if name not in shipped.shipped_names():
        known = [PREFIX + shipped_name for shipped_name in shipped.shipped_names()]
        remedy = did_you_mean(PREFIX + name, known, f"choose from {', '.join(known)}")
        raise DriveNotFoundError(f"{PREFIX}{name}", "no simulated drive has this name", remedy)
    with resources.as_file(resources.files("assay.dut.simulated") / "models" / f"{name}{_SUFFIX}") as path:
        return _read_drive_model(path)


def _read_drive_model(path: Path) -> ModelFile:
    from assay._native import drive_model_fault  # noqa: PLC0415 - spared to those who name a real drive

    table, positions = read_toml(path)
    refuse_other_kind(path, table, "model")
    model = validated(ModelFile, path, table, positions)
    fault = drive_model_fault(_text(model.kind, {name: datum.value for name, datum in model.parameters.items()}))
    if fault is not None and fault[1] == _MISSING:
        # Only the first is found natively; whoever writes a file wants to know of all.
        stated = (
            known_parameter.name for known_parameter in known_parameters(model.kind) if known_parameter.default is None
        )
        missing = [f"parameters.{name}" for name in stated if name not in model.parameters]
        raise joined([place_error(path, positions, key, _MISSING, "add it") for key in missing or [fault[0]]])
    if fault is not None:
        raise place_error(path, positions, *fault)
    return model


def _text(kind: str, values: Mapping[str, Value]) -> str:
    return json.dumps({"kind": kind, "parameters": dict(values)})


def parse_simulated(target: str) -> SimulatedTarget:
    """Read ``sim:NAME?capacity=SIZE&seed=N&state=FILE&faults=FILE`` into the drive it means.

    target : the name with options; ``capacity`` is a size with its unit, ``seed`` that of the drive itself,
        ``state`` the file in which the drive, simulated flash, remembers what was done to it from run to run,
        ``faults`` a file of what goes wrong with it beside what its model file says; it has then no ``state``.
    Raises DriveNotFoundError for an unknown name, ValueRangeError for an unknown or wrong option, PlanError for a file.
    Worked: ``parse_simulated("sim:client-2011?capacity=32GB").identity.capacity_bytes`` is 32000000000.
    """
    name, _, query = target.removeprefix(PREFIX).partition("?")
    model = load_drive_model(name)
    drive_model, state, files = DriveModel.of(model), None, []  # type: DriveModel, Path | None, list[InjectedFaults]
    if model.faults:
        files.append(injected(Path(name), model.faults))
    for option, text in _choices(target, query):
        if option == "state":
            state = _state(target, text, model)
        elif option == "faults":
            if not text:
                raise ValueRangeError(f"{target}: faults", "names no file", "use for example faults=faults.toml")
            files.append(read_fault_file(Path(text)))
        elif option == "capacity":
            drive_model = drive_model.replaced(capacity_bytes=_capacity(target, text, drive_model.logical_block_bytes))
        else:
            drive_model = drive_model.replaced(seed=_seed(target, text))
    if state and files:
        reason = "cannot be kept of a drive with faults: what befell it is no part of it"
        raise ValueRangeError(f"{target}: state", reason, "leave out state or faults")
    identity = _identity(target, model, drive_model, tuple(files))
    return SimulatedTarget(model=model, drive_model=drive_model, identity=identity, state=state, faults=tuple(files))


def _choices(target: str, query: str) -> list[tuple[str, str]]:
    """What stands behind the ``?``; several files of faults, and no other option twice."""
    choices = parse_qsl(query, keep_blank_values=True)
    names = [option for option, _ in choices]
    for option in names:
        if option not in _OPTIONS:
            remedy = did_you_mean(option, _OPTIONS, "use capacity=SIZE, seed=N, state=FILE or faults=FILE")
            raise ValueRangeError(f"{target}: option {option!r}", "is not known", remedy)
        if option != "faults" and names.count(option) > 1:
            raise ValueRangeError(f"{target}: {option}", "is given more than once", "give it once")
    return choices


def _state(target: str, text: str, model: ModelFile) -> Path:
    path = Path(text)
    if model.kind == "disk":
        raise ValueRangeError(f"{target}: state", "a disk has no fresh state to leave", "leave it out")
    there = os.path.lexists(path)
    if not text or "\0" in text or not os.path.isdir(path.parent) or (there and not os.path.isfile(path)):  # noqa: PTH112, PTH113
        raise ValueRangeError(f"{target}: state {text!r}", "is no file in a folder that exists", "name a file")
    return path


def _capacity(target: str, text: str, block: int) -> int:
    capacity = parse_bytes(text, name=f"{target}: capacity")
    if not CAPACITY_BYTES_MIN <= capacity <= CAPACITY_BYTES_MAX or capacity % block:
        reason = f"is not a multiple of {block} bytes from 128 MB to 16 TB"
        remedy = f"the nearest is capacity={_nearest_capacity(capacity, block)}"
        raise ValueRangeError(f"{target}: capacity {text!r}", reason, remedy)
    return capacity


def _nearest_capacity(capacity: int, block: int) -> str:
    """The allowed capacity next to another, in bytes. Worked: 4 GB in blocks of 4096 bytes -> ``4000002048B``."""
    nearest = (capacity + block // 2) // block * block
    return f"{min(max(nearest, CAPACITY_BYTES_MIN), CAPACITY_BYTES_MAX)}B"


def _seed(target: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 63:
        raise ValueRangeError(f"{target}: seed {text!r}", "is not a whole number", "use for example seed=1")
    return int(text)


def _identity(
    target: str, model: ModelFile, drive_model: DriveModel, files: tuple[InjectedFaults, ...]
) -> DriveIdentity:
    return DriveIdentity(
        id=target,
        path=target,
        kind="simulated",
        capacity_bytes=drive_model.capacity_bytes,
        logical_block_bytes=drive_model.logical_block_bytes,
        model_number=model.model,
        serial=shipped.serial(model.name),
        firmware="assay-ftl",
        interface=model.interface,
        media=model.media,
        write_cache="enabled" if drive_model["write_cache"] else "disabled",
        controls=_controls(drive_model),
        faults=tuple(fault_label(fault) for file in files for fault in file.faults),
        faults_sha256=tuple(file.sha256 for file in files),
    )


def _controls(drive_model: DriveModel) -> tuple[Control, ...]:
    """A disk takes neither; an ideal drive has no flash that a write could wait for."""
    if drive_model.kind == "disk":
        return ()
    caches = not (drive_model["ideal"] or drive_model["write_cache_fixed"])
    controls: dict[Control, bool] = {"trim": drive_model["trim"], "write-cache": caches}
    return tuple(control for control, there in controls.items() if there)
