"""The device under test: a drive made ready for a run, with its stimulus and its way to be purged.

The one place that knows whether a drive is real or simulated; what runs on the dut does not.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NoReturn

from assay._native import hands_to_workers
from assay.dut.ended import check_sequence
from assay.dut.needs import OVERWRITE_BYTES, OVERWRITE_DEMAND, refuse_without_memory
from assay.dut.real.condition import read_condition, too_hot
from assay.dut.real.direct import WrittenData, trim_range
from assay.dut.real.gate import Asking, examined, on_file_system, open_drive, open_passthrough, pinned
from assay.dut.real.host_watch import HostWatch
from assay.dut.real.identity import identify
from assay.dut.real.placement import place_threads
from assay.dut.real.purge import choose_purge, purge_drive
from assay.dut.real.queue import merging_off, stat_path
from assay.dut.real.sectors import AddressedData
from assay.dut.real.surroundings import serving_threads
from assay.dut.real.transport import HeldDrive, command_set
from assay.dut.real.user_watch import UserWatch, check_present
from assay.dut.real.watch import DriveWatch
from assay.dut.real.write_cache import WriteCache, write_cache_held
from assay.dut.simulated.fault_watch import FaultWatch
from assay.dut.simulated.model import is_simulated, parse_simulated
from assay.dut.simulated.opened import fitting, simulated_stimulus
from assay.engine.pattern import fill_pattern, leading_range
from assay.engine.records import SIMULATED_PURGE, DataPattern, DriveCondition, PurgeRecord, StepSpec, StopRule
from assay.engine.stimulus import IO_TIME_LIMIT_NS, Stimulus
from assay.errors import AssayError, DeviceFailureError, DriveChangedError, UsageError
from assay.plan.record import PlanRecord
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from assay.dut.real.gate import OpenDrive
    from assay.dut.real.purge import PurgeWatch
    from assay.dut.real.write_cache import HeldCache
    from assay.engine.records import CacheState, DriveIdentity, IoPath, LooksRecord
    from assay.plan.procedure import PlannedTest

_CACHES: dict[str, CacheState | None] = {"on": "enabled", "off": "disabled", "edition": None, "as-is": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the user has confirmed for a real drive.

    confirmation : the drive's full identity, typed or given. signatures : types whose destruction is acknowledged.
    drive_writes_max : how often the run may write the whole drive at most; None lets the gate decide.
    all_namespaces : number of namespaces of its controller, if a purge may destroy all of them.
    shown_file_id : the ``file_id`` of a file target when it was shown for confirmation.
    acknowledged : words that acknowledge what the gate cannot tell, see ``gate.doubts``.
    pin : the descriptor that names the drive since it was shown, see ``gate.pinned``.
    """

    confirmation: str | None = None
    signatures: frozenset[str] = frozenset()
    drive_writes_max: float | None = None
    all_namespaces: int | None = None
    shown_file_id: str | None = None
    acknowledged: frozenset[str] = frozenset()
    pin: int | None = None


def _no_users() -> None:
    """Nobody else can use a simulated drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dut:
    """A drive that is held for a run.

    identity : with the write cache in the state that it has for the run.
    purge : purges it, watched, and says how. condition : reads its condition.
    unchanged : raises DriveChangedError where it was resized, replaced, turned to another disk or taken into use by
    others since it was named; ``look`` is the same within a sequence, ``looked`` at the end of a test.
    looks : what was looked at for that since it was last asked; None where nobody looks.
    trim : gives what lies between two places back; set_write_cache : sets it until it is set again. Both raise
    ValueRangeError where the drive's ``controls`` do not name them.
    heat : raises DeviceFailureError where it is as warm as it warns of.
    watch_host : a block in which the test system is watched; gives None where time is virtual.
    watched : the drive as seen out of band; None where the kernel has no such drive, or nothing can befall it.
    written : what was written, to be read back; None where the drive holds no data or is held for reading only.
    queue : settings of the block layer in force, empty where there are none.
    host_time : its figures are in the time of this host, whose speed they may therefore show.
    """

    identity: DriveIdentity
    stimulus: Stimulus
    purge: Callable[[PurgeWatch], PurgeRecord]
    unchanged: Callable[[], None]
    heat: Callable[[], None]
    condition: Callable[[], DriveCondition]
    trim: Callable[[int, int], None]
    set_write_cache: Callable[[CacheState], None]
    look: Callable[[], None] = _no_users
    looked: Callable[[], None] = _no_users
    looks: Callable[[], LooksRecord | None] = lambda: None
    watch_host: Callable[[], AbstractContextManager[HostWatch | None]] = nullcontext
    watched: DriveWatch | FaultWatch | None = None
    written: WrittenData | None = None
    queue: dict[str, str] = field(default_factory=dict)
    host_time: bool = True


def find_drive(plan: PlanRecord, answers: Answers | None = None, kept: tuple[Path, ...] = ()) -> DriveIdentity:
    """The identity of the plan's drive with the reasons why it would be refused; it is not opened for writing.

    answers : what is acknowledged; None means nothing. kept : paths that must not lie on the drive.
    Raises DriveNotFoundError, NotADriveError, PartitionError, UsageError, and ValueRangeError, also for a simulated
    drive whose tables would not fit into memory.
    """
    if is_simulated(plan.drive):
        for key in ("io_path", "pin", "purge"):
            if getattr(plan, key) != PlanRecord.model_fields[key].default:
                option = f"--{key.replace('_', '-')}"
                raise UsageError(option, "is a choice for real drives only", "leave it out for a simulated drive")
        return fitting(parse_simulated(plan.drive)).identity
    said = answers or Answers()
    drive = identified_drive(plan)
    return examined(drive, said.signatures, kept, words=said.acknowledged, read_only=plan.read_only)


def identified_drive(plan: PlanRecord) -> DriveIdentity:
    """The identity of the plan's real drive, which is not queried: a run may hold it. Raises as ``find_drive``."""
    drive = on_file_system(identify(plan.drive, file_target=plan.file_target))
    # A cache that is on can be set; one that is off may be none.
    if drive.write_cache == "enabled" and command_set(drive) is not None:
        return replace(drive, controls=(*drive.controls, "write-cache"))
    return drive


@contextmanager
def named_drive(drive: DriveIdentity, answers: Answers) -> Iterator[Answers]:
    """The answers with a descriptor that names the drive from now on, so that no other can take its place.

    One that they have already stays. Raises IdentityError.
    """
    if drive.kind == "simulated" or answers.pin is not None:
        yield answers
        return
    pin = pinned(drive)
    try:
        yield replace(answers, pin=pin)
    finally:
        os.close(pin)


def expected_drive(plan: PlanRecord, drive: DriveIdentity, demanded: CacheState) -> DriveIdentity:
    """The drive with the write cache that it will have in a run, if it lets itself be told.

    demanded : by the edition. Worked: enabled now, ``--write-cache off`` -> disabled.
    """
    settable = "write-cache" in drive.controls if drive.kind == "simulated" else command_set(drive) is not None
    if plan.write_cache == "as-is" or not settable:
        return drive
    return replace(drive, write_cache=_CACHES[plan.write_cache] or demanded)


@contextmanager
def open_dut(
    plan: PlanRecord,
    drive: DriveIdentity,
    tests: Sequence[PlannedTest],
    *,
    answers: Answers,
    seed: int,
    written_bytes_max: int = 0,
    kept: tuple[Path, ...] = (),
) -> Iterator[Dut]:
    """Hold the drive for a run; let go of it, and restore its queue, at the end.

    written_bytes_max : by the run. kept : paths that must not lie on the drive, such as the run folder.

    Raises GateRefusedError and its kinds where the gate keeps its hands off the drive.
    """
    if drive.kind == "simulated":
        demanded = tests[0].settings.write_cache_required if tests else drive.write_cache
        with _simulated(plan, expected_drive(plan, drive, demanded), seed) as dut:
            yield dut
    else:
        most = written_bytes_max
        with _real(plan, drive, tests, answers=answers, seed=seed, written_bytes_max=most, kept=kept) as dut:
            yield dut


@contextmanager
def _simulated(plan: PlanRecord, drive: DriveIdentity, seed: int) -> Iterator[Dut]:
    target = parse_simulated(plan.drive)
    if target.identity.faults_sha256 != drive.faults_sha256:
        raise UsageError(drive.path, "its file of faults has changed since it was read", "start the run again")
    limit_ns = round(plan.io_time_limit_seconds * SECOND_NS)
    with simulated_stimulus(target, seed, limit_ns, drive.write_cache) as stimulus:

        def unchanged() -> None:
            if target.faults:
                check_present(drive, stimulus.present_bytes())

        def purge(_: PurgeWatch) -> PurgeRecord:
            unchanged()
            span_ns = stimulus.purge_simulated() or 0
            return PurgeRecord(method=SIMULATED_PURGE, proof=target.purge_proof, deviation=None, span_ns=span_ns)

        def trim(first: int, end: int) -> None:
            unchanged()
            stimulus.trim_simulated(first, end)

        def set_write_cache(state: CacheState) -> None:
            unchanged()
            stimulus.switch_write_cache_simulated(enabled=state == "enabled")

        def condition() -> DriveCondition:
            return DriveCondition(state_hash=stimulus.state_hash() if target.state else None)

        yield Dut(
            identity=drive,
            stimulus=stimulus,
            purge=purge,
            unchanged=unchanged,
            heat=lambda: None,
            condition=condition,
            trim=trim,
            set_write_cache=set_write_cache,
            watched=FaultWatch(stimulus.fault_events, stimulus.present_bytes) if target.faults else None,
            host_time=False,
        )


@contextmanager
def _real(
    plan: PlanRecord,
    drive: DriveIdentity,
    tests: Sequence[PlannedTest],
    *,
    answers: Answers,
    seed: int,
    written_bytes_max: int,
    kept: tuple[Path, ...],
) -> Iterator[Dut]:
    refuse_without_memory(tests)
    demands = [demand for test in tests for demand in test.settings.demands]
    with (
        hold_drive(
            drive,
            answers,
            read_only=plan.read_only,
            io_path=plan.io_path,
            io_time_limit_ns=round(plan.io_time_limit_seconds * SECOND_NS),
            needed_bytes=max(test.settings.range_amount_bytes for test in tests),
            thread_count=max(demand.thread_count for demand in demands),
            transfer_bytes_max=max(test.settings.transfer_bytes_max for test in tests),
            seed=seed,
            written_bytes=sum(test.written_bytes for test in tests),
            written_bytes_max=written_bytes_max,
            kept=kept,
            pin=plan.pin,
        ) as (held, stimulus, queue),
        _watch_users(drive, held, answers, kept) as users,
    ):
        if plan.read_only:
            yield from _read_only(drive, stimulus, queue, users)
            return
        offers = choose_purge(
            held,
            lambda show: overwrite(stimulus, drive, drive.capacity_bytes, show),
            wanted=plan.purge,
            all_namespaces=answers.all_namespaces,
        )
        with _cache_held(plan, held, tests) as cache, _watch_drive(drive, cache) as watched:
            written = WrittenData(drive, stimulus, AddressedData(held, stimulus))

            def purge(watch: PurgeWatch) -> PurgeRecord:
                written.forget()
                record = purge_drive(held, offers, watch)
                users.boundary()
                cache.check()
                if watched:
                    watched.forget()
                return record

            yield Dut(
                identity=replace(drive, write_cache=cache.state),
                stimulus=stimulus,
                purge=purge,
                unchanged=users.boundary,
                look=users.during,
                looked=users.end,
                looks=users.record,
                heat=lambda: _refuse_heat(drive),
                condition=lambda: read_condition(drive),
                trim=partial(_trim, held, written),
                set_write_cache=cache.switch,
                watch_host=_host_watch(drive, stimulus),
                watched=watched,
                written=written,
                queue=queue | cache.facts,
            )


def _host_watch(drive: DriveIdentity, stimulus: Stimulus) -> Callable[[], HostWatch]:
    servers = serving_threads(drive)
    return lambda: HostWatch(cpus=stimulus.cpus, servers=servers)


def _trim(held: OpenDrive, written: WrittenData, first: int, end: int) -> None:
    written.forget(first, end)
    trim_range(held, first, end)


@contextmanager
def _watch_users(
    drive: DriveIdentity, held: OpenDrive, answers: Answers, kept: tuple[Path, ...]
) -> Iterator[UserWatch]:
    watch = UserWatch(held, Asking(identity=drive, kept=kept, held=held.fd), answers.acknowledged)
    try:
        yield watch
    finally:
        watch.close()


def _read_only(drive: DriveIdentity, stimulus: Stimulus, queue: dict[str, str], users: UserWatch) -> Iterator[Dut]:
    """A drive that is held for reading: it is sent no command, and what would change it is refused."""

    def refused(*_: object) -> NoReturn:
        raise UsageError(drive.path, "is held for reading only", "leave out --read-only")

    with DriveWatch(drive) if drive.kind == "block" else nullcontext() as watched:
        yield Dut(
            identity=drive,
            stimulus=stimulus,
            purge=refused,
            unchanged=users.boundary,
            look=users.during,
            looked=users.end,
            looks=users.record,
            heat=lambda: _refuse_heat(drive),
            condition=lambda: read_condition(drive),
            trim=refused,
            set_write_cache=refused,
            watch_host=_host_watch(drive, stimulus),
            watched=watched,
            queue=queue | {"access": "opened for reading only"},
        )


def _watch_drive(drive: DriveIdentity, cache: HeldCache) -> AbstractContextManager[DriveWatch | None]:
    asked = (lambda: cache.cache.look().drive) if cache.cache.settable else None
    return DriveWatch(drive, asked) if drive.kind == "block" else nullcontext()


def _cache_held(plan: PlanRecord, held: OpenDrive, tests: Sequence[PlannedTest]) -> AbstractContextManager[HeldCache]:
    wanted = _CACHES[plan.write_cache] or tests[0].settings.write_cache_required
    cache = WriteCache(held.identity, HeldDrive(held.fd), command_set(held.identity))
    return write_cache_held(held.identity, cache, None if plan.write_cache == "as-is" else wanted)


@contextmanager
def hold_drive(
    drive: DriveIdentity,
    answers: Answers,
    *,
    needed_bytes: int,
    thread_count: int,
    transfer_bytes_max: int,
    seed: int,
    read_only: bool = False,
    pin: str = "auto",
    io_path: IoPath | Literal["auto"] = "auto",
    io_time_limit_ns: int = IO_TIME_LIMIT_NS,
    written_bytes: int = 0,
    written_bytes_max: int = 0,
    kept: tuple[Path, ...] = (),
) -> Iterator[tuple[OpenDrive, Stimulus, dict[str, str]]]:
    """A real drive through the gate, with merging off, its stimulus, and its queue's settings; let go of at the end.

    What is written follows from a number drawn here, which stands among the settings as ``data origin``: two runs never
    write the same, and what one wrote can be made again.

    needed_bytes : smallest capacity that serves. thread_count, transfer_bytes_max : the largest that will be asked for.
    read_only : it is opened for reading only. pin : CPUs of the threads, see ``device.placement``.
    io_path : the way that its I/Os take; ``auto`` takes system calls, where one I/O is outstanding, for a drive that
    hands the I/Os of a ring to worker threads; ``passthrough`` is for NVMe drives, and refused to others.
    io_time_limit_ns : an oldest I/O in flight that takes longer ends its sequence.
    written_bytes : what is known to be written, written_bytes_max : at most.
    kept : paths that must not lie on the drive.
    Raises GateRefusedError and its kinds where the gate keeps its hands off the drive.
    """
    placement, origin = place_threads(drive, thread_count, pin), secrets.randbits(64)
    with (
        open_drive(
            drive,
            confirmation=answers.confirmation,
            acknowledged_signatures=answers.signatures,
            needed_bytes=needed_bytes,
            written_bytes=written_bytes,
            written_bytes_max=written_bytes_max,
            drive_writes_max=answers.drive_writes_max,
            kept=kept,
            shown_file_id=answers.shown_file_id,
            acknowledged=answers.acknowledged,
            pin=answers.pin,
            read_only=read_only,
        ) as held,
        merging_off(drive) as queue,
        _descriptor(held, io_path, transfer_bytes_max) as descriptor,
        Stimulus.real(
            descriptor,
            capacity_bytes=drive.capacity_bytes,
            logical_block_bytes=drive.logical_block_bytes,
            thread_count=thread_count,
            seed=seed,
            data_origin=origin,
            written_range_bytes=needed_bytes,
            counters_path=stat_path(drive),
            transfer_bytes_max=transfer_bytes_max,
            placement=placement,
            path=_probed(held, drive) if io_path == "auto" else io_path,
            ring_beyond=io_path != "synchronous",
            io_time_limit_ns=io_time_limit_ns,
        ) as stimulus,
    ):
        yield held, stimulus, queue if read_only else queue | {"data origin": f"{origin:#018x}"}


@contextmanager
def change_told(verify: Callable[[], None]) -> Iterator[None]:
    """Look at the drive anew after any failure, and say in it where it is no longer the one that was named.

    verify : raises AssayError where it is another one. Nothing more is sent to the drive.
    """
    try:
        yield
    except DeviceFailureError as failure:
        if isinstance(failure, DriveChangedError) or isinstance(failure.__cause__, AssayError):
            # It was a look at the drive that found it.
            raise
        try:
            verify()
        except AssayError as change:
            reason = f"{failure.reason}, and the drive is no longer the named drive: {change.reason}"
            raise DeviceFailureError(failure.thing, reason, failure.remedy) from failure
        raise


def _refuse_heat(drive: DriveIdentity) -> None:
    if reason := too_hot(drive):
        raise DeviceFailureError(drive.path, reason, "let it cool down, see to its air flow and run again")


def _descriptor(held: OpenDrive, io_path: str, transfer_bytes_max: int) -> AbstractContextManager[int]:
    """What the I/Os go to; a purge may overwrite the drive."""
    if io_path != "passthrough":
        return nullcontext(held.fd)
    return open_passthrough(held, transfer_bytes_max=max(transfer_bytes_max, OVERWRITE_BYTES))


def _probed(held: OpenDrive, drive: DriveIdentity) -> IoPath:
    return "synchronous" if hands_to_workers(held.fd, drive.logical_block_bytes) else "interrupt"


def overwrite(
    stimulus: Stimulus,
    drive: DriveIdentity,
    length_bytes: int,
    show: Callable[[float | None, int], None] = lambda *_: None,
) -> int:
    """Write the first bytes of a drive once; the time it took in ns.

    show : takes the fraction of 1 that is written, and the ns since it began. Raises as ``check_sequence``.
    """

    def watch(_step: int, io_count: int, _latency_ns_sum: int, elapsed_ns: int) -> None:
        show(min(io_count * OVERWRITE_BYTES / length_bytes, 1.0), elapsed_ns)

    step = StepSpec(
        label="overwrite",
        pattern=fill_pattern(OVERWRITE_BYTES, DataPattern(kind="addressed")),
        demand=stimulus.served(OVERWRITE_DEMAND),
        active_range=leading_range(length_bytes),
        stop=StopRule(amount_bytes=length_bytes),
    )
    records = stimulus.run([step], watch)
    check_sequence(records, drive.path)
    return records[0].span_ns
