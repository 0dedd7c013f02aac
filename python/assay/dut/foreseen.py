"""What a run would be refused for, asked before it: by ``assay plan`` to say it, by ``assay run`` to stop there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.needs import deepest_beyond_one, refuse_depth, thread_needs
from assay.dut.real.gate import Request, refuse_foreseen
from assay.dut.real.placement import place_threads
from assay.dut.real.preflight import refuse_full_temporary, refuse_little_memory, try_host
from assay.dut.real.transport import check_passthrough_transfer, command_set, passthrough_node
from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.dut.dut import Answers
    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import PlannedTest
    from assay.plan.record import PlanRecord


def refuse_run(
    plan: PlanRecord,
    drive: DriveIdentity,
    tests: Sequence[PlannedTest],
    answers: Answers,
    *,
    written_bytes_max: int,
    kept: tuple[Path, ...] = (),
) -> None:
    """Raise what a run of these tests would be refused for, in its words; the drive is not opened for writing.

    A drive that is opened is looked at again, through what is held; the confirmation is asked for only then, and only
    then is known which purges it offers.
    written_bytes_max : by the run at most. kept : paths that must not lie on the drive.
    Raises GateRefusedError and its kinds, such as HostLimitError, UsageError and its kinds.
    """
    _refuse_meaningless(drive, answers)
    if plan.read_only:
        _refuse_writes(plan, tests)
    if drive.kind == "simulated":
        return
    refuse_host(drive, tests, plan.io_path)
    settings = [test.settings for test in tests]
    place_threads(drive, max(demand.thread_count for setting in settings for demand in setting.demands), plan.pin)
    request = Request(
        identity=drive,
        signatures=answers.signatures,
        needed_bytes=max(setting.range_amount_bytes for setting in settings),
        written_bytes=sum(test.written_bytes for test in tests),
        written_bytes_max=written_bytes_max,
        drive_writes_max=answers.drive_writes_max,
        kept=kept,
        acknowledged=answers.acknowledged,
        read_only=plan.read_only,
    )
    refuse_foreseen(request)
    if plan.io_path == "passthrough":
        passthrough_node(drive)
        check_passthrough_transfer(drive, max(setting.transfer_bytes_max for setting in settings))


def refuse_host(drive: DriveIdentity, tests: Sequence[PlannedTest], io_path: str) -> None:
    """Raise HostLimitError where this host does not give what a run of these tests takes; all of it is tried.

    io_path : as in the plan. Raises UsageError where it serves no step of one of the tests.
    """
    if io_path == "synchronous":
        refuse_depth(tests)
    threads, shallow = thread_needs(tests, io_path), deepest_beyond_one(tests) is None
    refuse_little_memory(threads, len(tests))
    refuse_full_temporary()
    try_host(threads, io_path, counted=drive.kind == "block", shallow=shallow)


def _refuse_writes(plan: PlanRecord, tests: Sequence[PlannedTest]) -> None:
    """Raise UsageError where a run that only reads has a test that does more, or goes where nothing but it says so."""
    for test in tests:
        if test.purge_count or any(part.written_bytes_max(1.0) for part in test.parts):
            remedy = "leave out --read-only, or name tests of the quick look"
            raise UsageError(test.settings.test, "writes to the drive, which is to be read only", remedy)
    if plan.io_path == "passthrough":
        remedy = "choose another I/O path"
        raise UsageError("--io-path passthrough", "takes a drive that is opened for writing", remedy)
    for key in ("purge", "write_cache"):
        if getattr(plan, key) != type(plan).model_fields[key].default:
            raise UsageError(key, "changes a drive, which is to be read only", "leave it out")


def _refuse_meaningless(drive: DriveIdentity, answers: Answers) -> None:
    """Raise UsageError for what is said of a drive that it cannot be said of."""
    if answers.all_namespaces is not None and command_set(drive) != "nvme":
        raise UsageError("--all-namespaces", "is a choice for NVMe drives only", "leave it out")
