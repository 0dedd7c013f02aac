"""A simulated drive that fits into this host, and its stimulus."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay._native import check_faults
from assay.dut.needs import refuse_beyond_memory, simulated_bytes
from assay.dut.simulated.injected_faults import faults_text
from assay.engine.stimulus import Stimulus
from assay.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.dut.simulated.model import SimulatedTarget
    from assay.engine.records import CacheState


def fitting(target: SimulatedTarget) -> SimulatedTarget:
    """A simulated drive that can be built here. Raises ValueRangeError naming what it needs and what there is."""
    for file in target.faults:
        try:
            check_faults(
                faults_text(file.faults), target.drive_model.capacity_bytes, target.drive_model.logical_block_bytes
            )
        except ValueRangeError as error:
            raise ValueRangeError(f"{file.path}: {error.thing}", error.reason, error.remedy) from None
    try:
        needed = simulated_bytes(target)
    except ValueRangeError as error:
        raise ValueRangeError(target.identity.path, f"{error.thing}: {error.reason}", error.remedy) from None
    remedy = "choose a smaller capacity, such as ?capacity=32GB, or a host with more memory"
    refuse_beyond_memory(target.identity.path, needed, "memory", remedy)
    return target


@contextmanager
def simulated_stimulus(
    target: SimulatedTarget, seed: int, io_time_limit_ns: int, write_cache: CacheState
) -> Iterator[Stimulus]:
    """The stimulus of a simulated drive that remembers, where it has a file for that, however the run ends.

    io_time_limit_ns : an oldest I/O in flight that takes longer ends its sequence.
    write_cache : its state in the run, where it can be set; a drive that is kept has its former one again.
    """
    former, settable = target.identity.write_cache, "write-cache" in target.identity.controls
    with _opened(target, seed, io_time_limit_ns) as stimulus:
        if settable and write_cache != former:
            stimulus.switch_write_cache_simulated(enabled=write_cache == "enabled")
        try:
            yield stimulus
        finally:
            if target.state is not None:
                if settable:
                    stimulus.switch_write_cache_simulated(enabled=former == "enabled")
                stimulus.keep_state(target.state)


def _opened(target: SimulatedTarget, seed: int, io_time_limit_ns: int) -> Stimulus:
    """A drive that begins fresh, fails as its faults say, or goes on from its file."""
    epoch_wall_ns, state = time.time_ns(), target.state
    if state is not None and state.exists():
        return Stimulus.from_state(
            target.drive_model, seed=seed, epoch_wall_ns=epoch_wall_ns, path=state, io_time_limit_ns=io_time_limit_ns
        )
    if target.faults:
        faults = faults_text(tuple(fault for file in target.faults for fault in file.faults))
        return Stimulus.faulty(
            target.drive_model, seed=seed, epoch_wall_ns=epoch_wall_ns, faults=faults, io_time_limit_ns=io_time_limit_ns
        )
    return Stimulus.simulated(
        target.drive_model, seed=seed, epoch_wall_ns=epoch_wall_ns, io_time_limit_ns=io_time_limit_ns
    )
