"""Pages of a report as the pictures of the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

import pypdfium2
from PIL.Image import Quantize

_PAGES = {"executive": "Executive Summary", "window": "Steady State Measurement Window"}
"""Picture: what stands on its page; the first such page is taken."""
_DOTS_PER_POINT = 1.5


def main(report: Path, folder: Path) -> None:
    """Write each picture as PNG into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    document = pypdfium2.PdfDocument(report)
    for name, words in _PAGES.items():
        page = next(page for page in document if words in page.get_textpage().get_text_range())
        picture = page.render(scale=_DOTS_PER_POINT).to_pil()
        picture.quantize(256, Quantize.FASTOCTREE).save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
