"""The order of the drives that were published together: as published, as simulated, and Kendall's tau of the two."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DRIVES = ("mlc-a", "mlc-b", "slc-a", "slc-b")
"""Of 2012. The drive of 2013 was published alone."""
BEGIN, END = "## The order of the drives\n", "\n## "
_HEAD = """
`assay compare` refuses these four, and with `--despite` shows them apart without ratio and rank: two were measured by
pts-c-1.0 and two by pts-e-1.0, with the write cache on and off, and each with a demand, an active range and a duration
of its own (16 threads of 2 against 2 threads of 16, and so on). The published comparison put them side by side all the
same. So only their order is compared here, published against simulated, since both of a drive are of the same
conditions: Kendall's tau-b over the six pairs of drives is 1 where the order is the same and -1 where it is reversed.
One exchanged pair gives 0.67. An order says nothing of sizes: MLC-B is the slowest writer in either, and far too slow
when fresh. Values are published / simulated.
"""

Figures = dict[str, dict[str, float]]
"""Of each drive its figures by name."""


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two rankings of the same things; None where one of them has ties only.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", 1945.
    Worked: (1, 2, 3, 4) and (1, 2, 4, 3) -> (5 - 1) / 6 = 0.667.
    """
    pairs = [
        (_sign(a1 - a0), _sign(b1 - b0)) for (a0, b0), (a1, b1) in combinations(zip(first, second, strict=True), 2)
    ]
    untied = [sum(pair[side] != 0 for pair in pairs) for side in (0, 1)]
    return sum(a * b for a, b in pairs) / sqrt(untied[0] * untied[1]) if all(untied) else None


def order_lines(published: Figures, simulated: Figures) -> list[str]:
    """The section of the page: a row per figure, tau of each cell of the IOPS matrix, and what they come to."""
    names = [name for name in published[DRIVES[0]] if all(name in published[drive] for drive in DRIVES)]
    tau = {name: _tau(name, published, simulated) for name in names}
    cells, figures = ([name for name in names if name.startswith("iops_") is wanted] for wanted in (True, False))
    lines = [BEGIN.strip(), *_HEAD.rstrip().splitlines(), "", _row(["figure", *(one.upper() for one in DRIVES), "tau"])]
    lines.append("|---" * (len(DRIVES) + 2) + "|")
    for name in figures:
        values = [f"{published[one][name]:g} / {_number(simulated[one].get(name))}" for one in DRIVES]
        lines.append(_row([name, *values, _shown(tau[name])]))
    return [
        *lines,
        "",
        "Tau of the IOPS of each cell:",
        "",
        *_matrix(cells, tau),
        "",
        _sum(cells, figures, tau),
        "",
        "",
    ]


def with_order(page: str, section: Sequence[str]) -> str:
    """The page with this section in place of the one that is there."""
    before, _, rest = page.partition(BEGIN)
    return before + "\n".join(section) + rest[rest.index(END) + 1 :]


def _tau(name: str, published: Figures, simulated: Figures) -> float | None:
    if not all(name in simulated[drive] for drive in DRIVES):
        return None
    return kendall_tau([published[one][name] for one in DRIVES], [simulated[one][name] for one in DRIVES])


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _matrix(cells: Sequence[str], tau: Mapping[str, float | None]) -> Iterator[str]:
    keys = [name.split("_")[1:] for name in cells]
    sizes, shares = sorted({key[0] for key in keys}, key=float), sorted({key[1] for key in keys}, key=int)
    yield _row(["KiB", *(f"{share}/{100 - int(share)}" for share in shares)])
    yield "|---" * (len(shares) + 1) + "|"
    for size in sizes:
        yield _row([size, *(_shown(tau.get(f"iops_{size}_{share}")) for share in shares)])


def _sum(cells: Sequence[str], figures: Sequence[str], tau: Mapping[str, float | None]) -> str:
    def said(names: Sequence[str], of: str) -> str:
        known = [found for name in names if (found := tau[name]) is not None]
        return f"{sum(one == 1 for one in known)} of {len(known)} {of} (mean tau {sum(known) / len(known):.2f})"

    return f"The order is the published one in {said(cells, 'cells')} and {said(figures, 'other figures')}."


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}" if value < 10_000 else f"{value:.0f}"  # noqa: PLR2004


def _shown(tau: float | None) -> str:
    return "n/a" if tau is None else f"{tau:.2f}"
