"""Figures on the terminal: absolute values of both sides, separators, one verdict for a point."""

import pytest
from assay.cli.crosscheck import _print
from assay.host.points import Side
from assay.tools.crosscheck import POINTS, Difference, differences, point_verdict


def difference(low: float, high: float) -> Difference:
    return Difference(metric="iops", ours=1, fio=1, ratio=1, low=low, high=high)


AGREE, UNDECIDED, DIFFER = difference(0.99, 1.01), difference(0.9, 1.1), difference(1.06, 1.2)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([AGREE, AGREE], "agree"),
        ([AGREE, UNDECIDED], "undecided"),
        ([AGREE, UNDECIDED, DIFFER], "differ"),
        ([], "undecided"),
    ],
)
def test_a_point_has_one_verdict(found: list[Difference], verdict: str) -> None:
    assert point_verdict(found) == verdict


def test_a_point_is_printed_with_the_figures_of_both_engines(capsys: pytest.CaptureFixture[str]) -> None:
    sides = [(Side(iops=1948798.2, mean_ns=81234, p99_ns=None), Side(iops=1e6, mean_ns=8e4, p99_ns=None))] * 3
    _print([(POINTS[0], differences(sides))])
    header, iops, mean, meaning = capsys.readouterr().out.splitlines()
    assert header.split()[-1] == "verdict"
    assert iops.split()[-8:] == ["IOPS", "1,948,798", "1,000,000", "1.949", "1.949", "to", "1.949", "differ"]
    assert mean.split() == ["mean,", "us", "81.2", "80.0", "1.015", "1.015", "to", "1.015"]
    assert meaning.startswith("ours, fio: medians")
    assert " agree: " in meaning
