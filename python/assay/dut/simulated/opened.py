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
def simulated_stimulus(target: SimulatedTarget, seed: int, io_time_limit_ns: int) -> Iterator[Stimulus]:
    """The stimulus of a simulated drive that remembers, where it has a file for that, however the run ends.

    io_time_limit_ns : of one with faults; nothing can be late on another.
    """
    epoch_wall_ns = time.time_ns()
    state = target.state
    if state is not None and state.exists():
        stimulus = Stimulus.from_state(target.drive_model, seed=seed, epoch_wall_ns=epoch_wall_ns, path=state)
    elif target.faults:
        faults = faults_text(tuple(fault for file in target.faults for fault in file.faults))
        stimulus = Stimulus.faulty(
            target.drive_model, seed=seed, epoch_wall_ns=epoch_wall_ns, faults=faults, io_time_limit_ns=io_time_limit_ns
        )
    else:
        stimulus = Stimulus.simulated(target.drive_model, seed=seed, epoch_wall_ns=epoch_wall_ns)
    with stimulus:
        try:
            yield stimulus
        finally:
            if state is not None:
                stimulus.keep_state(state)
