"""Steps that are too short for their queue are said before a run, and short windows after it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from assay.dut.real.condition import FASTEST_BYTES_PER_S, line_rate, link_bytes_per_s
from assay.dut.simulated.model import parse_simulated
from assay.plan.draining import draining_ns, draining_warning
from assay.procedures.conformity import deviations
from assay.procedures.editions import load_edition
from assay.run.plan_file import load_plan
from assay.run.planning import plan_suite
from report_run import balanced, synthetic_direction, synthetic_run, synthetic_test

DRIVE = "sim:client-2011?capacity=32GB"


@pytest.mark.parametrize(
    ("link", "rate"),
    [
        ("SATA 6.0 Gbps", 600e6),
        ("SATA 3.0 Gbps", 300e6),
        ("SAS 12.0 Gbit x2", 2.4e9),
        ("PCIe 5.0 GT/s x2", 1e9),
        ("PCIe 8.0 GT/s x2 of PCIe 16.0 GT/s x4", 8e9 * 2 / 8.125),
        ("PCIe 32.0 GT/s x4", 32e9 * 4 / 8.125),
        ("a word", FASTEST_BYTES_PER_S),
    ],
)
def test_a_link_carries_its_line_rate_less_its_code(link: str, rate: float) -> None:
    assert line_rate(link) == rate


def test_a_simulated_drive_has_the_link_of_its_model() -> None:
    target = parse_simulated(DRIVE)
    assert link_bytes_per_s(target.identity) == target.drive_model["link_bytes_per_s"]


@pytest.mark.parametrize(("scale", "warned"), [(0.001, True), (1.0, False)])
def test_a_step_shorter_than_draining_its_queue_is_warned_of(scale: float, warned: bool) -> None:
    plan = load_plan(None, {"drive": DRIVE, "tests": ["tp"], "scale": scale})
    (test,) = plan_suite(load_edition("pts-c-1.0"), plan, parse_simulated(DRIVE).identity).tests
    assert draining_ns(test, 600e6) == 1_789_569_707
    said = draining_warning(test, 600e6)
    assert (said is not None) is warned
    assert said is None or "a step of 0.06 s is shorter than draining its queue, which takes 1.79 s or more" in said


def test_a_window_with_fewer_completions_than_ios_outstanding_is_a_deviation() -> None:
    test = synthetic_test()
    fill, first, *others = test.sequences
    few = replace(first.steps[0], read=synthetic_direction(7, 4096), write=synthetic_direction(0, 4096))
    short = replace(first, steps=(balanced(few), *first.steps[1:]))
    found = deviations(synthetic_run(replace(test, sequences=(fill, short, *others))))
    assert any(text.startswith("short window: 1 window of iops") and "the least 7 in" in text for text in found)
    assert not any("short window" in text for text in deviations(synthetic_run(test)))
