"""Reads the section ``'MANAGER LIST``: hosts, their workers, and what these drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.workloads.iometer.lines import SECTORS_MAX
from assay.workloads.iometer.model import Assigned, Manager, Target, TargetSettings, Worker, spec_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.workloads.iometer.lines import Line, Lines

END = "END manager list"
MANAGER = "Manager ID, manager name"
ADDRESS = "Manager network address"
END_MANAGER = "End manager"
WORKER = "Worker"
TYPE = "Worker type"
SETTINGS = "Default target settings for worker"
END_SETTINGS = "End default target settings for worker"
ASSIGNED = "Assigned access specs"
END_ASSIGNED = "End assigned access specs"
TARGETS = "Target assignments"
END_TARGETS = "End target assignments"
END_WORKER = "End worker"
TARGET = "Target"
TARGET_TYPE = "Target type"
TARGET_MANAGER = "Target manager ID, manager name"
END_TARGET = "End target"
IOS = "Number of outstanding IOs,test connection rate,transactions per connection"
IOS_SEEDED = f"{IOS},use fixed seed,fixed seed value"
RANGE = "Disk maximum size,starting sector"
RANGE_PATTERN = f"{RANGE},Data pattern"
INTERFACE = "Local network interface"
VI = "VI outstanding IOs"
WORKERS_MAX, TARGETS_MAX = 128, 2048
NAME_MAX = 127
TARGET_NAME_MAX = 79
_PATTERN_MAX = 2
_KINDS = {"DISK": "DISK", "NETWORK,TCP": "NETWORK,TCP", "NETWORK,VI": "NETWORK,VI"}
_ENABLED = {"ENABLED": True, "DISABLED": False, "1": True, "0": False}


def managers_of(lines: Lines) -> tuple[Manager, ...]:
    """The managers of the section."""
    result: list[Manager] = []
    while True:
        key, line = lines.key((MANAGER, END))
        if key == END:
            return tuple(result)
        result.append(_manager(lines, line.number))


def _manager(lines: Lines, number: int) -> Manager:
    keys = (ADDRESS, WORKER, END_MANAGER)
    value = lines.value(MANAGER, (MANAGER, *keys))
    digits, _, name = value.text.partition(",")
    identity = lines.number(digits, value, "the manager's ID")
    address, addressed = "", False
    workers: list[Worker] = []
    while True:
        key, line = lines.key(keys)
        if key == END_MANAGER:
            break
        if key == ADDRESS:
            if addressed:
                raise lines.fault(line.number, f"'{ADDRESS} is there twice", "each key once")
            address, addressed = lines.value(ADDRESS, keys, may_be_empty=True).text, True
            continue
        if len(workers) == WORKERS_MAX:
            raise lines.fault(line.number, f"is worker {WORKERS_MAX + 1}", f"{WORKERS_MAX} workers at most")
        workers.append(_worker(lines, line.number))
    return Manager(number=identity, name=name.strip(), address=address, workers=tuple(workers), line=number)


_WORKER_KEYS = (TYPE, SETTINGS, ASSIGNED, TARGETS, END_WORKER)


def _worker(lines: Lines, number: int) -> Worker:
    value = lines.value(WORKER, _WORKER_KEYS)
    name = lines.name(value.text, value, "the name of the worker", NAME_MAX)
    readers: dict[str, tuple[str, Callable[[Lines, Line], Any]]] = {
        TYPE: ("kind", _worker_kind),
        SETTINGS: ("settings", _settings),
        ASSIGNED: ("assigned", _assigned),
        TARGETS: ("targets", _targets),
    }
    result: dict[str, Any] = {}
    while True:
        key, line = lines.key(_WORKER_KEYS)
        if key == END_WORKER:
            break
        field, read = readers[key]
        if field in result:
            raise lines.fault(line.number, f"'{key} is there twice", "each key once")
        result[field] = read(lines, line)
    return Worker(name=name, **result, line=number)


def _worker_kind(lines: Lines, _line: Line) -> str:
    return _kind(lines, lines.value(TYPE, _WORKER_KEYS))


def _kind(lines: Lines, line: Line) -> str:
    text = ",".join(part.strip() for part in line.text.split(","))
    return lines.word(text, line, "the type", _KINDS)


_SETTINGS_KEYS = (IOS_SEEDED, IOS, RANGE_PATTERN, RANGE, INTERFACE, VI, END_SETTINGS)


def _settings(lines: Lines, begun: Line) -> TargetSettings:
    settings: dict[str, Any] = {}
    places: dict[str, int] = {}
    while True:
        key, _ = lines.key(_SETTINGS_KEYS)
        if key == END_SETTINGS:
            return TargetSettings(**settings, lines=places, line=begun.number)
        value = lines.value(key, _SETTINGS_KEYS, may_be_empty=key == INTERFACE)
        read = _setting(lines, key, value)
        if settings.keys() & read.keys():
            raise lines.fault(value.number, f"the values of '{key} are there twice", "each key once")
        settings |= read
        places |= dict.fromkeys(read, value.number)


def _setting(lines: Lines, key: str, value: Line) -> dict[str, Any]:
    """The fields that a key gives."""
    if key == INTERFACE:
        return {"network_interface": value.text}
    cells = lines.cells(value, key)
    if key == VI:
        return {"vi_outstanding": lines.number(cells[0], value, VI)}
    if key in {RANGE, RANGE_PATTERN}:
        return _range(lines, cells, value)
    outstanding, rate, transactions, *seeded = cells
    result: dict[str, Any] = {
        "outstanding": lines.number(outstanding, value, "Number of outstanding IOs"),
        "test_connection_rate": lines.word(rate, value, "test connection rate", _ENABLED),
        "transactions_per_connection": lines.number(transactions, value, "transactions per connection"),
    }
    if seeded:
        fixed = lines.word(seeded[0], value, "use fixed seed", _ENABLED)
        seed = lines.number(seeded[1], value, "fixed seed value", most=SECTORS_MAX)
        result["fixed_seed"] = seed if fixed else None
    return result


def _range(lines: Lines, cells: list[str], value: Line) -> dict[str, Any]:
    maximum, start, *pattern = cells
    result = {
        "maximum_sectors": lines.number(maximum, value, "Disk maximum size", most=SECTORS_MAX),
        "starting_sector": lines.number(start, value, "starting sector", most=SECTORS_MAX),
    }
    if pattern:
        result["data_pattern"] = lines.number(pattern[0], value, "Data pattern", most=_PATTERN_MAX)
    return result


def _assigned(lines: Lines, _line: Line) -> tuple[Assigned, ...]:
    result: list[Assigned] = []
    while (upcoming := lines.peek()) is None or not upcoming.is_key:
        line = lines.take(f"the name of an access specification, or '{END_ASSIGNED}")
        if not line.text:
            raise lines.fault(line.number, "is blank", f"the name of an access specification, or '{END_ASSIGNED}")
        result.append(Assigned(name=spec_name(line.text), line=line.number))
    lines.key((END_ASSIGNED,))
    return tuple(result)


def _targets(lines: Lines, _line: Line) -> tuple[Target, ...]:
    targets: list[Target] = []
    while True:
        key, line = lines.key((TARGET, END_TARGETS))
        if key == END_TARGETS:
            return tuple(targets)
        if len(targets) == TARGETS_MAX:
            raise lines.fault(line.number, f"is target {TARGETS_MAX + 1}", f"{TARGETS_MAX} targets at most")
        targets.append(_target(lines, line.number))


def _target(lines: Lines, number: int) -> Target:
    keys = (TARGET_TYPE, TARGET_MANAGER, END_TARGET)
    value = lines.value(TARGET, keys)
    result: dict[str, Any] = {"name": lines.name(value.text, value, "the name of the target", TARGET_NAME_MAX)}
    while (key := lines.key(keys)[0]) != END_TARGET:
        value = lines.value(key, keys)
        result |= {"kind": _kind(lines, value)} if key == TARGET_TYPE else _target_manager(lines, value)
    return Target(**result, line=number)


def _target_manager(lines: Lines, value: Line) -> dict[str, Any]:
    """The host of a network target, as Iometer writes it behind the type."""
    digits, _, name = value.text.partition(",")
    return {"manager_id": lines.number(digits, value, "the ID of the target's manager"), "manager_name": name.strip()}
