"""Writes Iometer configuration files in the forms of 2006.07.27 and 1.1.0, with Windows' ends of lines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.errors import UsageError
from assay.workloads.iometer import keys
from assay.workloads.iometer.lines import INT_MAX, LINE_LETTERS_MAX
from assay.workloads.iometer.model import SPEC_NAME_MAX, VERSION_1_1, VERSION_2006, spec_name
from assay.workloads.iometer.read import parse_icf
from assay.workloads.iometer.semantics import pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.workloads.iometer.model import AccessSpec, IcfFile, Manager, Setup, TargetSettings, Worker

IcfVersion = Literal["2006.07.27", "1.1.0"]

_VERSIONS = {version.text: version for version in (VERSION_2006, VERSION_1_1)}
_OLD_SECTORS_MAX = 2**32 - 1
_TITLE_COLUMNS = 80
_PATTERN_OF_1_1 = 0
_REMEDY = "write it in the form of 1.1.0"


def write_icf(icf: IcfFile, version: IcfVersion = "1.1.0") -> bytes:
    """The bytes of a file that says the same, in the form of a version.

    A results display is written in the form that it was read in, and left out of another.
    Raises UsageError for what that form has no place for, such as data patterns in 2006.07.27, and for texts that no
    such file can hold.
    """
    wanted = _in_form(icf, version)
    lines = [f"Version {version} ", *_sections(wanted, new=version == VERSION_1_1.text), f"Version {version} "]
    long = [line for line in lines if len(line.strip()) > LINE_LETTERS_MAX]
    if long:
        raise UsageError(long[0].strip()[:60], f"is longer than {LINE_LETTERS_MAX} characters", "shorten it")
    try:
        raw = "".join(f"{line}\r\n" for line in lines).encode("cp1252")
    except UnicodeEncodeError as error:
        reason = "has a letter that an Iometer file cannot hold"
        raise UsageError(error.object[error.start : error.end], reason, "use letters of the code page 1252") from None
    if parse_icf(raw, "what was written") != wanted:
        # Names with blanks at their ends, say.
        raise UsageError("the Iometer file", "cannot hold a name or text as it is", "use plain words without commas")
    return raw


def _in_form(icf: IcfFile, version: IcfVersion) -> IcfFile:
    """The file as a reader of the form finds it. Raises UsageError for what the form has no place for."""
    new = version == VERSION_1_1.text
    managers = tuple(
        replace(
            manager,
            workers=tuple(
                replace(worker, settings=_settings_in_form(icf, worker, new=new)) for worker in manager.workers
            ),
        )
        for manager in icf.managers or ()
    )
    return replace(
        icf,
        version=_VERSIONS[version],
        display=icf.display if icf.version == _VERSIONS[version] else None,
        managers=None if icf.managers is None else managers,
    )


def _settings_in_form(icf: IcfFile, worker: Worker, *, new: bool) -> TargetSettings:
    settings = worker.settings
    pattern = pattern_of(icf.version, settings.data_pattern)
    if new:
        return replace(settings, data_pattern=_PATTERN_OF_1_1 if pattern is None else pattern)
    if settings.fixed_seed is not None:
        raise UsageError(worker.name, "has a fixed seed, which 2006.07.27 does not know", _REMEDY)
    if pattern not in {None, 1}:
        reason = f"writes data pattern {settings.data_pattern or 0}, which 2006.07.27 does not know"
        raise UsageError(worker.name, reason, _REMEDY)
    if max(settings.maximum_sectors, settings.starting_sector) > _OLD_SECTORS_MAX:
        raise UsageError(worker.name, "has a range of more sectors than 32 bits count", _REMEDY)
    return replace(settings, data_pattern=None)


def _sections(icf: IcfFile, *, new: bool) -> Iterator[str]:
    if icf.setup is not None:
        yield from _setup(icf.setup)
    if icf.display is not None:
        yield _title("RESULTS DISPLAY")
        yield from (text if text.startswith("'") else f"\t{text}" for text in icf.display.texts)
        yield f"'{keys.END_DISPLAY}"
    if icf.specs:
        yield from _specs(icf.specs)
    if icf.managers is not None:
        yield _title("MANAGER LIST")
        for manager in icf.managers:
            yield from _manager(manager, new=new)
        yield f"'{keys.END_MANAGERS}"


def _title(name: str) -> str:
    return f"'{name} ".ljust(_TITLE_COLUMNS, "=")


def _setup(setup: Setup) -> Iterator[str]:
    yield _title("TEST SETUP")
    for name, key in keys.SETUP.items():
        if name != keys.OLD_WORKERS:
            yield from (f"'{name.replace('*', ' (s)')}", *key.written(getattr(setup, key.field)))
    yield f"'{keys.END_SETUP}"


def _specs(specs: tuple[AccessSpec, ...]) -> Iterator[str]:
    yield _title("ACCESS SPECIFICATIONS")
    for spec in specs:
        _check(spec.name, "the name of a specification", SPEC_NAME_MAX)
        if spec_name(spec.name) != spec.name:
            raise UsageError(spec.name, "is no name of an access specification", "use ASCII letters, no comma, no bar")
        yield from (f"'{keys.SPEC}", f"\t{spec.name},{spec.assignment}", f"'{keys.ROWS}")
        for row in spec.rows:
            if max(row.numbers) > INT_MAX:
                raise UsageError(spec.name, f"has a number above {INT_MAX}", "use smaller sizes and alignments")
            yield "\t" + ",".join(map(str, row.numbers))
    yield f"'{keys.END_SPECS}"


def _manager(manager: Manager, *, new: bool) -> Iterator[str]:
    yield from (f"'{keys.MANAGER}", f"\t{manager.number},{manager.name}", f"'{keys.ADDRESS}", f"\t{manager.address}")
    for worker in manager.workers:
        yield from _worker(worker, new=new)
    yield f"'{keys.END_MANAGER}"


def _worker(worker: Worker, *, new: bool) -> Iterator[str]:
    _check(worker.name, "the name of a worker", keys.NAME_MAX)
    yield from (f"'{keys.WORKER}", f"\t{worker.name}", f"'{keys.TYPE}", f"\t{worker.kind}", f"'{keys.SETTINGS}")
    written = {keys.IOS_SEEDED, keys.RANGE_PATTERN} if new else {keys.IOS, keys.RANGE}
    for key, parts in keys.TARGET_SETTINGS.items():
        values = [(part, getattr(worker.settings, field)) for field, part in parts.items()]
        if key in written or (key in {keys.INTERFACE, keys.VI} and values[0][1] is not None):
            yield from (f"'{key}", "\t" + ",".join(part.written(value) for part, value in values))
    yield from (f"'{keys.END_SETTINGS}", f"'{keys.ASSIGNED}")
    yield from (f"\t{spec.name}" for spec in worker.assigned)
    yield from (f"'{keys.END_ASSIGNED}", f"'{keys.TARGETS}")
    for target in worker.targets:
        _check(target.name, "the name of a target", keys.TARGET_NAME_MAX)
        yield from (f"'{keys.TARGET}", f"\t{target.name}", f"'{keys.TARGET_TYPE}", f"\t{target.kind}")
        if target.manager is not None:
            yield from (f"'{keys.TARGET_MANAGER}", f"\t{target.manager}")
        yield f"'{keys.END_TARGET}"
    yield from (f"'{keys.END_TARGETS}", f"'{keys.END_WORKER}")


def _check(name: str, what: str, most: int) -> None:
    if not 0 < len(name) <= most:
        raise UsageError(name[:60] or what, f"{what} has {len(name)} characters", f"give it 1 to {most}")
