"""Pages of a report as the pictures of the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

import pypdfium2
from PIL.Image import Quantize

_PAGES = {"summary": "Summary", "window": "Steady State Measurement Window - "}
"""Picture: how its page is named in the outline; the first such page is taken."""
_DOTS_PER_POINT = 1.5


def main(report: Path, folder: Path) -> None:
    """Write each picture as PNG into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    document = pypdfium2.PdfDocument(report)
    for name, words in _PAGES.items():
        entry = next(entry for entry in document.get_toc() if words in entry.get_title())
        page = document[entry.get_dest().get_index()]
        picture = page.render(scale=_DOTS_PER_POINT).to_pil()
        picture.quantize(256, Quantize.FASTOCTREE).save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
