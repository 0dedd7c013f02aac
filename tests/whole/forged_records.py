"""Runs whose records somebody changed so that they contradict themselves, the hash chain made good behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from folder_faults import Folder

_COUNTS = (
    "window_io_count",
    "window_bytes",
    "tail_io_count",
    "tail_bytes",
    "latency_io_count",
    "carried_in_io_count",
    "carried_in_bytes",
)


def measured_steps(folder: Folder) -> Iterator[dict[str, Any]]:
    """Every step that results come from."""
    for line in folder.lines:
        if line["kind"] == "steps" and line["data"]["role"] == "measure":
            yield from line["data"]["steps"]


def doubled_counts(folder: Folder) -> None:
    """Twice the I/Os in the same time: 66,661 for 33,331 IOPS. Nothing but histograms and seconds disagrees."""
    for step in measured_steps(folder):
        for side in (step["read"], step["write"]):
            side.update({name: 2 * side[name] for name in _COUNTS})
        for name in ("thread_io_count_min", "thread_io_count_max"):
            step[name] = None if step[name] is None else 2 * step[name]
    _double_verdicts(folder)


def _double_verdicts(folder: Folder) -> None:
    """Make the stored verdicts those of rates twice as high."""
    for line in folder.lines:
        if line["kind"] == "verdict":
            for verdict in line["data"]["window"]["verdicts"].values():
                verdict["values"] = [2 * value for value in verdict["values"]]
                verdict.update({name: 2 * value for name, value in verdict.items() if type(value) is float})


def halved_times(folder: Folder) -> None:
    """Half of every response time, while as many I/Os were outstanding as before (Little's law)."""
    for step in measured_steps(folder):
        for side in (step["read"], step["write"]):
            side["latency_ns_sum"] //= 2


def halved_times_throughout(folder: Folder) -> None:
    """The same, and half of the time outstanding, so that Little's law holds; the histograms disagree."""
    halved_times(folder)
    for step in measured_steps(folder):
        spent_ns = sum(step[name]["latency_ns_sum"] + step[name]["failed_ns"] for name in ("read", "write"))
        step["outstanding_ns"] = spent_ns + step["carried_in_ns"] - step["carried_out_ns"]


def shorter_windows(folder: Folder) -> None:
    """The same I/Os in half of the time, as if the drive were twice as fast; the queue would be twice as deep."""
    for step in measured_steps(folder):
        step["span_ns"] //= 2
    _double_verdicts(folder)


def lost_counters(folder: Folder) -> None:
    """The kernel counted half of the bytes that were issued."""
    for step in measured_steps(folder):
        for name in ("counters_before", "counters_after"):
            if step[name] is not None:
                step[name] = {key: value // 2 for key, value in step[name].items()}


FORGERIES: dict[str, tuple[Callable[[Folder], None], str]] = {
    "counts": (doubled_counts, "in the window histogram, expected "),
    "times": (halved_times, "contradict each other"),
    "times and queue": (halved_times_throughout, "a sum of "),
    "spans": (shorter_windows, "I/Os outstanding in the mean, expected at most "),
    "counters": (lost_counters, "counted, expected at least the "),
}
"""By name: the change, and what the reason says."""
