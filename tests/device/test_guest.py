"""A guest does its tasks, and says so when it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest import Content, GuestFailedError, GuestMissingError, Kernel, Machine, Task, find_kernel, run_guest

CACHE = Path(__file__).parents[2] / "target/guest"


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    try:
        return find_kernel(CACHE, fetch=False)
    except GuestMissingError as missing:
        pytest.skip(f"{missing} (make instructions fetches one)")


def run(kernel: Kernel, tasks: list[Task], machine: Machine, modules: list[str] | None = None) -> list[tuple[int, str]]:
    try:
        outcomes = run_guest(kernel, Content(modules=modules or []), tasks, machine)
    except GuestMissingError as missing:
        pytest.skip(str(missing))
    return [(outcomes[task.name].status, outcomes[task.name].output.strip()) for task in tasks]


def test_every_task_has_its_output_and_status_and_a_hanging_one_is_ended(kernel: Kernel) -> None:
    tasks = [
        Task(name="module", script="ls /sys/block/nullb0/queue/scheduler"),
        Task(name="failing", script="echo spoken; exit 3"),
        Task(name="hanging", script="echo begun; sleep 1000", time_limit_s=1),
        Task(name="later", script="uname -r"),
    ]
    module, failing, hanging, later = run(kernel, tasks, Machine(), ["null_blk nr_devices=1"])
    assert module == (0, "/sys/block/nullb0/queue/scheduler")
    assert failing == (3, "spoken")
    assert hanging[0] != 0
    assert hanging[1].startswith("begun")
    assert later == (0, kernel.version)


def test_a_guest_that_ends_early_or_never_is_an_error(kernel: Kernel) -> None:
    with pytest.raises(GuestFailedError, match="before its task first"):
        run(kernel, [Task(name="first", script="poweroff -f"), Task(name="second", script="true")], Machine())
    with pytest.raises(GuestFailedError, match="ended after 5 s"):
        run(kernel, [Task(name="first", script="sleep 1000")], Machine(time_limit_s=5))


def test_a_module_that_the_kernel_lacks_is_named(kernel: Kernel) -> None:
    with pytest.raises(GuestFailedError, match="has no module no_such_module"):
        run(kernel, [], Machine(), ["no_such_module"])
    assert kernel.module_files(["null_blk"])[-1].name.startswith("null_blk.")
    assert kernel.module_files(["nvme"]) == []


def test_the_first_process_may_become_another(kernel: Kernel) -> None:
    report = "{ echo @begin 1-later; echo spoken; echo; echo @end 4; } >/dev/ttyS1; poweroff -f"
    content = Content(last=f"exec sh -c '{report}'")
    outcomes = run_guest(kernel, content, [Task(name="first", script="true")], Machine())
    assert (outcomes["later"].status, outcomes["later"].output) == (4, "spoken\n")
