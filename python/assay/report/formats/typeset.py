"""Sets a folder of pages as PDF, as a process of its own; imports nothing of this package.

The typesetter keeps what it has laid out for as long as its process lives, up to 1 GB for the report of a whole suite.
Here it lives for one report, and where memory runs out it is this process that ends.

Arguments: the folder, the folder of the fonts, the module path as JSON and the date in ISO form. The folder holds the
pages, and once more in a draft with empty pictures: these are laid out first. The pictures are there when the input
ends. Prints how many sheets there are, and how many the pages asked for: one with a long table asks for more than one.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path

SOURCE = "report.typ"
SOURCES = ("base.typ", "front.typ", SOURCE)
"""Files that the typesetter needs, the report the last."""
PRODUCT = "report.pdf"
DRAFT = "draft"
NO_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'


def main(folder: str, fonts: str, module_path: str, date: str) -> None:
    """Write ``report.pdf`` beside ``report.typ`` as PDF/A-2b and print the numbers of sheets."""
    # What the caller would import, whatever the environment says.
    sys.path[:] = json.loads(module_path)
    import typst  # noqa: PLC0415 - found on the path that was given

    def compiler(root: Path) -> typst.Compiler:
        return typst.Compiler(root / SOURCE, root=root, font_paths=[Path(fonts)], ignore_system_fonts=True)

    def sheet_counts(made: typst.Compiler) -> list[int]:
        counts: list[int] = json.loads(made.query("<sheet-count>", field="value", one=True))
        return counts

    root = Path(folder)
    # What fails here fails below, where it counts.
    with suppress(Exception):
        sheet_counts(compiler(root / DRAFT))
    sys.stdin.read()
    complete = compiler(root)
    taken, asked = sheet_counts(complete)
    pdf = complete.compile(format="pdf", pdf_standards=["a-2b"], timestamp=datetime.fromisoformat(date))
    if not isinstance(pdf, bytes):
        raise TypeError("the typesetter returned no document")
    (root / PRODUCT).write_bytes(pdf)
    sys.stdout.write(f"{taken} {asked}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
