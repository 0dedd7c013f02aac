"""Writes Iometer configuration files in the forms of 2006.07.27 and 1.1.0, with Windows' ends of lines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.errors import UsageError
from assay.workloads.iometer.content import pattern_of
from assay.workloads.iometer.lines import INT_MAX, LINE_LETTERS_MAX
from assay.workloads.iometer.model import SPEC_NAME_MAX, VERSION_1_1, VERSION_2006, spec_name
from assay.workloads.iometer.read import parse_icf
from assay.workloads.iometer.read_managers import (
    ADDRESS,
    ASSIGNED,
    END_ASSIGNED,
    END_MANAGER,
    END_SETTINGS,
    END_TARGET,
    END_TARGETS,
    END_WORKER,
    INTERFACE,
    IOS,
    IOS_SEEDED,
    MANAGER,
    NAME_MAX,
    RANGE,
    RANGE_PATTERN,
    SETTINGS,
    TARGET,
    TARGET_MANAGER,
    TARGET_NAME_MAX,
    TARGET_TYPE,
    TARGETS,
    TYPE,
    VI,
    WORKER,
)
from assay.workloads.iometer.read_specs import NAME, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.workloads.iometer.model import (
        AccessSpec,
        Cycling,
        Display,
        IcfFile,
        Manager,
        Setup,
        TargetSettings,
        Worker,
    )

IcfVersion = Literal["2006.07.27", "1.1.0"]

_VERSIONS = {one.text: one for one in (VERSION_2006, VERSION_1_1)}
_OLD_SECTORS_MAX = 2**32 - 1
_TITLE_COLUMNS = 80
_PATTERN_OF_1_1 = 0
_REMEDY = "write it in the form of 1.1.0"


def write_icf(icf: IcfFile, version: IcfVersion = "1.1.0") -> bytes:
    """The bytes of a file that says the same, in the form of a version.

    Raises UsageError for what that form has no place for, such as data patterns in 2006.07.27, and for texts that no
    such file can hold.
    """
    new = version == VERSION_1_1.text
    lines = [f"Version {version} ", *_sections(icf, new=new), f"Version {version} "]
    long = [line for line in lines if len(line.strip()) > LINE_LETTERS_MAX]
    if long:
        raise UsageError(long[0].strip()[:60], f"is longer than {LINE_LETTERS_MAX} characters", "shorten it")
    try:
        raw = "".join(f"{line}\r\n" for line in lines).encode("cp1252")
    except UnicodeEncodeError as error:
        reason = "has a letter that an Iometer file cannot hold"
        raise UsageError(error.object[error.start : error.end], reason, "use letters of the code page 1252") from None
    _check_read_back(raw, icf, version)
    return raw


def _check_read_back(raw: bytes, icf: IcfFile, version: IcfVersion) -> None:
    """Raise UsageError where the file would say something else, by names with blanks at their ends, say."""
    wanted = replace(icf, version=_VERSIONS[version], managers=_stated(icf, version), display=_shown(icf, version))
    if parse_icf(raw, "what was written") != wanted:
        raise UsageError("the Iometer file", "cannot hold a name or text as it is", "use plain words without commas")


def _shown(icf: IcfFile, version: IcfVersion) -> Display | None:
    """The display with the key that only one of the forms has."""
    new = version == VERSION_1_1.text
    return (
        None
        if icf.display is None
        else replace(icf.display, record_last=bool(icf.display.record_last) if new else None)
    )


def _stated(icf: IcfFile, version: IcfVersion) -> tuple[Manager, ...] | None:
    """The managers with what the form states of every worker."""
    if icf.managers is None:
        return None
    new = version == VERSION_1_1.text
    return tuple(
        replace(
            manager,
            workers=tuple(
                replace(worker, settings=_settings_of(icf, worker.settings, new=new)) for worker in manager.workers
            ),
        )
        for manager in icf.managers
    )


def _settings_of(icf: IcfFile, settings: TargetSettings, *, new: bool) -> TargetSettings:
    pattern = pattern_of(icf.version, settings.data_pattern)
    if new:
        return replace(settings, data_pattern=_PATTERN_OF_1_1 if pattern is None else pattern)
    return replace(settings, data_pattern=None)


def _sections(icf: IcfFile, *, new: bool) -> Iterator[str]:
    if icf.setup is not None:
        yield from _setup(icf.setup)
    if icf.display is not None:
        yield from _display(icf.display, new=new)
    if icf.specs:
        yield from _specs(icf.specs)
    if icf.managers is not None:
        yield _title("MANAGER LIST")
        for manager in icf.managers:
            yield from _manager(icf, manager, new=new)
        yield "'END manager list"


def _title(name: str) -> str:
    return f"'{name} ".ljust(_TITLE_COLUMNS, "=")


def _setup(setup: Setup) -> Iterator[str]:
    hours, minutes, seconds = setup.run_time
    queue = setup.queue_cycling
    per_cpu = "NUMBER_OF_CPUS"
    yield from (_title("TEST SETUP"), "'Test Description", f"\t{setup.description}")
    yield from ("'Run Time", "'\thours      minutes    seconds", f"\t{hours:<10} {minutes:<10} {seconds}")
    yield from ("'Ramp Up Time (s)", f"\t{setup.ramp_up_s}")
    for kind, count in (("Disk", setup.disk_workers), ("Network", setup.network_workers)):
        yield from (f"'Default {kind} Workers to Spawn", f"\t{per_cpu if count is None else count}")
    yield from ("'Record Results", f"\t{setup.record}")
    yield from ("'Worker Cycling", *_cycling(setup.worker_cycling))
    yield from ("'Disk Cycling", *_cycling(setup.disk_cycling))
    yield from ("'Queue Depth Cycling", "'\tstart      end        step       step type")
    yield f"\t{queue.start:<10} {queue.end:<10} {queue.step:<10} {queue.kind}"
    yield from ("'Test Type", f"\t{setup.test_type}", "'END test setup")


def _cycling(cycling: Cycling) -> tuple[str, str]:
    return "'\tstart      step       step type", f"\t{cycling.start:<10} {cycling.step:<10} {cycling.kind}"


def _display(display: Display, *, new: bool) -> Iterator[str]:
    yield _title("RESULTS DISPLAY")
    update = f"{display.update_frequency},{display.update_type}"
    if new:
        yield "'Record Last Update Results,Update Frequency,Update Type"
        yield f"\t{_enabled(bool(display.record_last))},{update}"
    else:
        yield from ("'Update Frequency,Update Type", f"\t{update}")
    for entry in display.entries:
        yield from (f"'{entry.key}", f"\t{entry.value}")
    yield "'END results display"


def _specs(specs: tuple[AccessSpec, ...]) -> Iterator[str]:
    yield _title("ACCESS SPECIFICATIONS")
    for spec in specs:
        _check(spec.name, "the name of a specification", SPEC_NAME_MAX)
        if spec_name(spec.name) != spec.name:
            raise UsageError(spec.name, "is no name of an access specification", "use ASCII letters, no comma, no bar")
        yield from (f"'{NAME}", f"\t{spec.name},{spec.assignment}", f"'{ROWS}")
        for row in spec.rows:
            if max(row.numbers) > INT_MAX:
                raise UsageError(spec.name, f"has a number above {INT_MAX}", "use smaller sizes and alignments")
            yield "\t" + ",".join(map(str, row.numbers))
    yield "'END access specifications"


def _manager(icf: IcfFile, manager: Manager, *, new: bool) -> Iterator[str]:
    yield from (f"'{MANAGER}", f"\t{manager.number},{manager.name}", f"'{ADDRESS}", f"\t{manager.address}")
    for worker in manager.workers:
        yield from _worker(icf, worker, new=new)
    yield f"'{END_MANAGER}"


def _worker(icf: IcfFile, worker: Worker, *, new: bool) -> Iterator[str]:
    _check(worker.name, "the name of a worker", NAME_MAX)
    yield from (f"'{WORKER}", f"\t{worker.name}", f"'{TYPE}", f"\t{worker.kind}")
    yield from (f"'{SETTINGS}", *_settings(icf, worker, new=new), f"'{END_SETTINGS}")
    yield from (f"'{ASSIGNED}", *(f"\t{one.name}" for one in worker.assigned), f"'{END_ASSIGNED}")
    yield f"'{TARGETS}"
    for target in worker.targets:
        _check(target.name, "the name of a target", TARGET_NAME_MAX)
        yield from (f"'{TARGET}", f"\t{target.name}", f"'{TARGET_TYPE}", f"\t{target.kind}")
        if target.manager_id is not None:
            yield from (f"'{TARGET_MANAGER}", f"\t{target.manager_id},{target.manager_name}")
        yield f"'{END_TARGET}"
    yield from (f"'{END_TARGETS}", f"'{END_WORKER}")


def _settings(icf: IcfFile, worker: Worker, *, new: bool) -> Iterator[str]:
    settings = worker.settings
    enabled = _enabled(settings.test_connection_rate)
    ios = f"{settings.outstanding},{enabled},{settings.transactions_per_connection}"
    span = f"{settings.maximum_sectors},{settings.starting_sector}"
    if new:
        seeded = _enabled(settings.fixed_seed is not None)
        pattern = _settings_of(icf, settings, new=True).data_pattern
        yield from (f"'{IOS_SEEDED}", f"\t{ios},{seeded},{settings.fixed_seed or 0}")
        yield from (f"'{RANGE_PATTERN}", f"\t{span},{pattern}")
    else:
        _check_old(icf, worker)
        yield from (f"'{IOS}", f"\t{ios}", f"'{RANGE}", f"\t{span}")
    if settings.network_interface is not None:
        yield from (f"'{INTERFACE}", f"\t{settings.network_interface}")
    if settings.vi_outstanding is not None:
        yield from (f"'{VI}", f"\t{settings.vi_outstanding}")


def _check_old(icf: IcfFile, worker: Worker) -> None:
    """Raise UsageError for what files to 2006.07.27 have no place for."""
    settings = worker.settings
    if settings.fixed_seed is not None:
        raise UsageError(worker.name, "has a fixed seed, which 2006.07.27 does not know", _REMEDY)
    if pattern_of(icf.version, settings.data_pattern) not in {None, 1}:
        reason = f"writes data pattern {settings.data_pattern or 0}, which 2006.07.27 does not know"
        raise UsageError(worker.name, reason, _REMEDY)
    if max(settings.maximum_sectors, settings.starting_sector) > _OLD_SECTORS_MAX:
        raise UsageError(worker.name, "has a range of more sectors than 32 bits count", _REMEDY)


def _enabled(value: bool) -> str:
    return "ENABLED" if value else "DISABLED"


def _check(name: str, what: str, most: int) -> None:
    if not 0 < len(name) <= most:
        raise UsageError(name[:60] or what, f"{what} has {len(name)} characters", f"give it 1 to {most}")
