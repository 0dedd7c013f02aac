"""Steps that are shorter than the time in which a drive can work off what they keep outstanding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from assay.plan.procedure import PlannedTest


def draining_ns(test: PlannedTest, bytes_per_s: float) -> int:
    """Time that the deepest queue of a test's largest transfers takes over a link, ns: no drive is faster.

    Worked: 1,024 outstanding of 1 MiB at 600 MB/s -> 1,789,569,707 ns.
    """
    deepest = max(demand.thread_count * demand.queue_depth for demand in test.settings.demands)
    return round(deepest * test.settings.transfer_bytes_max * SECOND_NS / bytes_per_s)


def draining_warning(test: PlannedTest, bytes_per_s: float) -> str | None:
    """What to say of a test whose steps are shorter than that, None where they are not.

    Worked: steps of 0.06 s with 1.79 s to drain -> ``"tp-1024: a step of 0.06 s is shorter than draining its queue,
    which takes 1.79 s or more"``.
    """
    needed_ns, step_ns = draining_ns(test, bytes_per_s), test.outline.step_ns
    if not step_ns or step_ns >= needed_ns:
        return None
    needed = f"{needed_ns / SECOND_NS:.3g} s or more"
    name = test.settings.test
    return f"{name}: a step of {duration_label(step_ns)} is shorter than draining its queue, which takes {needed}"
