"""What a shell may complete an argument to: drives, tests, studies, suites, editions and plan files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

    Items = list[CompletionItem[str]]

_DEVICES = "/dev/"
_DRIVE_OPTIONS = ("capacity=", "seed=", "state=", "faults=")
_BLOCK = Path("/sys/block")


def drive_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Drives, simulated and real, and files: a file may be a target as well."""
    del ctx, param
    candidates = _matching(_drives(incomplete), incomplete)
    # The shell would list every node of /dev again, terminals and all.
    return candidates if candidates and incomplete.startswith(_DEVICES) else [*candidates, _file(incomplete)]


def simulated_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Simulated drives."""
    del ctx, param
    return _matching(_simulated(incomplete), incomplete)


def test_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of tests, also behind a comma. Worked: ``iops,l`` -> ``iops,lat``."""
    from assay.procedures.registry import known_tests  # noqa: PLC0415

    del ctx, param
    return _listed(known_tests(), incomplete)


def study_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of studies, also behind a comma."""
    from assay.procedures.registry import known_studies  # noqa: PLC0415

    del ctx, param
    return _listed(known_studies(), incomplete)


def suite_candidates(incomplete: str) -> Items:
    """Names of suites."""
    from assay.procedures.registry import SUITES  # noqa: PLC0415

    return _matching(SUITES, incomplete)


def edition_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of editions, and files: an edition may be one."""
    from assay.procedures.editions import edition_names  # noqa: PLC0415

    del ctx, param
    return [*_matching(edition_names(), incomplete), _file(incomplete)]


def _drives(incomplete: str) -> Iterator[str]:
    yield from _simulated(incomplete)
    if incomplete.startswith(_DEVICES) or _DEVICES.startswith(incomplete):
        yield from _nodes()


def _simulated(incomplete: str) -> list[str]:
    """Names of simulated drives; behind a question mark, what may be said of one."""
    from assay.dut.simulated.shipped import PREFIX, shipped_names  # noqa: PLC0415

    name, asked, given = incomplete.partition("?")
    if asked:
        before = given.rpartition("&")[0]
        head = f"{name}?{before}&" if before else f"{name}?"
        return [head + option for option in _DRIVE_OPTIONS if option not in before]
    return [PREFIX + shipped_name for shipped_name in shipped_names()]


def _nodes() -> list[str]:
    """Device nodes of whole disks that hold anything; RAM disks are none."""
    names = os.listdir(_BLOCK) if _BLOCK.is_dir() else []  # noqa: PTH208 - names are wanted
    return sorted(_DEVICES + name for name in names if not name.startswith(("ram", "zram")) and _size(name) != "0")


def _size(name: str) -> str:
    try:
        return (_BLOCK / name / "size").read_text("ascii").strip()
    except OSError:
        return "0"


def _listed(names: Iterable[str], incomplete: str) -> Items:
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in names if name.startswith(last) and name not in taken]


def _matching(names: Iterable[str], incomplete: str) -> Items:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _file(incomplete: str) -> CompletionItem[str]:
    """The shell completes files itself."""
    return CompletionItem(incomplete, type="file")
