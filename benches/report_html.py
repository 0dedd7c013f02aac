"""What the HTML report of a client suite weighs, and how soon it can be read.

Goal: bytes by part, elements, seconds to the first paint, to the loaded page and to the last figure of a reader who
opens everything and looks at all of them, in Chromium without a graphics card. Non-goal: the time that making the
report takes.
Bytes and elements hold everywhere; the seconds are those of this machine. The report is to stay below 3 MB.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from pathlib import Path

from assay.archive.rendering import render_run
from chromium import PROGRAM, browser
from client_run import client_run

PARTS = {
    "pictures for desks": r'<div class="desk">(.*?)</div>',
    "pictures for phones": r'<div class="phone">(.*?)</div>',
    "data of figures": r'id="figures">(.*?)</script>',
    "script": r"<script>(.*?)</script>",
    "fonts": r'url\("(data:font/[^"]*)"',
    "style": r"<style>(?:@font-face\{[^}]*\})*(.*?)</style>",
}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def main() -> None:
    """Print one line per part and per time; ``--smoke`` takes a small run."""
    with tempfile.TemporaryDirectory() as folder:
        path = report_of(Path(folder) / "run")
        weigh(path.read_text("utf-8"))
        if PROGRAM:
            watch(path)


def report_of(run: Path) -> Path:
    """Run the client suite on a simulated drive and make its HTML report."""
    render_run(client_run(run), ["html"])
    return run / "report/report.html"


def weigh(text: str) -> None:
    """Print the bytes by part."""
    parts = {name: sum(map(len, re.findall(pattern, text, re.DOTALL))) for name, pattern in PARTS.items()}
    parts["all else"] = len(text) - sum(parts.values())
    for name, size in parts.items():
        print(f"{name:24} {size:12,} bytes")
    print(f"{'whole':24} {len(text.encode()):12,} bytes  {hashlib.sha256(text.encode()).hexdigest()[:12]}")


def watch(path: Path) -> None:
    """Print what a browser makes of it."""
    with browser() as page:
        page.open(path)
        print(f"{'elements':24} {page.value('document.querySelectorAll(`*`).length'):12,}")
        page.until(PAINT)
        print(f"{'first paint':24} {page.value(PAINT) / 1000:12.2f} s")
        print(f"{'loaded':24} {page.value(LOADED) / 1000:12.2f} s")
        begun = time.monotonic()
        page.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        count = page.value("document.querySelectorAll('.figure').length")
        for place in range(count):
            page.value(f"document.querySelectorAll('.figure')[{place}].scrollIntoView({{behavior: 'instant'}})")
            # Two frames, so that what came into view was painted.
            page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
            if not place:
                print(f"{'first figure':24} {time.monotonic() - begun:12.2f} s")
        print(f"{f'all {count} figures':24} {time.monotonic() - begun:12.2f} s")


if __name__ == "__main__":
    main()
