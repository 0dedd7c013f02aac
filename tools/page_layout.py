"""What is wrong with how a page looks, at the sizes at which it is looked at: ``tools/page_layout.py REPORT...``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from chromium import browser

if TYPE_CHECKING:
    from chromium import Page

SIZES = {"desk": (1440, 900), "phone": (390, 844)}
FAULTS = (Path(__file__).parent / "page_layout.js").read_text("utf-8")
_UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
_LAID_OUT = "document.querySelectorAll('.page').forEach((one) => { one.style.contentVisibility = 'visible'; })"


def layout_faults(page: Page, path: Path, size: str, *, unfold: bool = True, dark: bool = False) -> list[str]:
    """The faults of a page in a window of one of ``SIZES``. unfold : look at what is folded as well.

    Worked: a figure whose labels ``128`` and ``1024`` touch -> ``'iops-1-picture: "128" covers "1024"'``.
    """
    width, height = SIZES[size]
    page.open(path, width=width, height=height, dark=dark)
    if unfold:
        page.value(_UNFOLD)
    page.value(_LAID_OUT)
    return list(page.value(FAULTS))


def main() -> int:
    """Print the faults of pages at every size; 1 where there is any."""
    count = 0
    with browser() as page:
        for name in sys.argv[1:]:
            for size in SIZES:
                found = layout_faults(page, Path(name), size)
                count += len(found)
                print(f"{name} {size}: {len(found)} faults", *found, sep="\n  ")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
