"""``docs/kinds-of-drives.md``: what the gate does with each kind of drive and stack, made from its table of kinds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate.levels import KINDS, SYSTEMS
from made_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.dut.real.gate.levels import Kind

PAGE = Path(__file__).parents[1] / "docs/kinds-of-drives.md"


def page() -> str:
    """The whole page. Worked: it has the line ``| Zoned | refused | `zoned` | `device/test_gate_rules.py` | |``."""
    return "\n".join([*head(), *map(row, KINDS), *systems(), ""])


def head() -> Iterator[str]:
    """The title, and what the states mean."""
    yield from ("# Kinds of drives and stacks", "")
    yield from (
        "Made from `python/assay/dut/real/gate/levels.py` by `tools/kinds-page`. *Supported*: let in and tried.",
        "*Refused*: by the rule named. *Untested*: no rule is against it, nobody has tried it. **No drive was tried on",
        "hardware yet**: NVMe, SATA, SCSI and USB were emulated by QEMU. If you try one first, send us what",
        "`assay check DRIVE --report FILE` writes.",
        "",
        "| kind | state | rule | tests | note |",
        "|---|---|---|---|---|",
    )


def row(kind: Kind) -> str:
    """One kind."""
    tests = ", ".join(f"`{path}`" for path in kind.tried)
    cells = (kind.name, kind.state, f"`{kind.rule}`" if kind.rule else "", tests, kind.note)
    return "|".join(["", *(f" {cell} " if cell else " " for cell in cells), ""])


def systems() -> Iterator[str]:
    """Kernels and distributions."""
    yield from ("", "| system | tried with |", "|---|---|")
    yield from (f"| {name} | {what} |" for name, what in SYSTEMS)


def main() -> int:
    """Write the page; with ``--check``, say whether it differs."""
    return write_or_check({PAGE: page()}, "tools/kinds-page")


if __name__ == "__main__":
    sys.exit(main())
