#!/usr/bin/env python3
"""Build the page of results from bundles, with the commands of Assay alone.

Usage: build_page.py BUNDLES PAGE

BUNDLES is a folder of files that ``assay export`` wrote. PAGE is a folder, made if missing: ``index.html`` goes into
it. A bundle that is refused ends the build with what Assay said of it. The same bundles give the same page.
"""

from __future__ import annotations

import html
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ASSAY = shlex.split(os.environ.get("ASSAY", "assay"))
KEYS = "keys"
"""Folder beside the bundles with public keys of those whose signatures count, one ``.pub`` file each."""
NUMBERS = ("Bundle", "Drive", "Label", "Level", "Test", "Outcome", "Figure", "Value", "Unit", "Range")
BUNDLES = ("Bundle", "Drive", "Firmware", "Edition", "Label and deviations", "Level", "Final hash")
STYLE = """
body { font: 15px/1.4 sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; font-size: 13px }
th, td { border: 1px solid #bbb; padding: 3px 7px; text-align: left; vertical-align: top }
th { background: #eef2f4; position: sticky; top: 0 }
td.number { text-align: right; font-variant-numeric: tabular-nums }
td.hash { font-family: monospace; word-break: break-all; min-width: 17em }
tr.doubt td { background: #fff3d6 }
"""
NOTE = (
    "Each number is the one of the report of its run. A result is unverified where nothing vouches for it: no "
    "signature of a known key, and rules that it breaks or that were not checked. Results with different labels, "
    "editions or demands are not to be compared. A simulated drive says nothing of a real one."
)


_USAGE = 2


def main() -> int:
    """Build the page; the exit code of the first command that fails."""
    try:
        bundles, page = map(Path, sys.argv[1:])
    except ValueError:
        sys.stderr.write(f"{__doc__}\n")
        return _USAGE
    with tempfile.TemporaryDirectory() as folder:
        # Keys, and what was checked, are those of this page alone.
        homes = {f"XDG_{kind}_HOME": str(Path(folder) / kind.lower()) for kind in ("CONFIG", "STATE")}
        environment = {**os.environ, **homes}
        for key in sorted((bundles.parent / KEYS).glob("*.pub")):
            assay(environment, "key", "trust", str(key))
        runs = Path(folder) / "runs"
        runs.mkdir()
        for bundle in sorted(bundles.glob("*.assay")):
            assay(environment, "import", str(bundle), "--into", str(runs))
        listed = json.loads(assay(environment, "runs", "--json", "--replicated", str(runs)))
        found = []
        for run in sorted(listed, key=lambda run: run["run"]):
            shown = json.loads(assay(environment, "show", "--json", run["run"]))
            # Only the list knows what replicates what.
            found.append({**shown, "bundle": Path(run["run"]).name, "level": run["level"]})
    page.mkdir(parents=True, exist_ok=True)
    (page / "index.html").write_text(document(found), "utf-8")
    return 0


def assay(environment: dict[str, str], *arguments: str) -> str:
    """What a command prints; the build ends where it fails. Results that are withheld are no failure of the build."""
    done = subprocess.run([*ASSAY, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode and not (arguments[0] == "show" and done.stdout):
        sys.stderr.write(done.stderr)
        sys.exit(done.returncode)
    return done.stdout


def numbers_of(run: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each number that people quote of a run; of a test without one, a row with its outcome."""
    short = run["label"].partition(":")[0]
    found = []
    for test in run["tests"]:
        facts = (run["bundle"], run["model"], short, run["level"], test["label"], test["verdict"]["text"])
        quoted = [measure for measure in test["measures"] if measure["quoted"]]
        found += [(*facts, *number_in(measure)) for measure in quoted] or [(*facts, "", "", "", "")]
    return found


def number_in(measure: dict[str, Any]) -> tuple[str, ...]:
    """Figure, value, unit and range of a number; n/a where it has none."""
    rounds = measure["rounds"] if measure["stat"] == "mean" else []
    spread = f"{shown(min(rounds))} - {shown(max(rounds))}" if rounds else "n/a"
    return measure["name"], shown(measure["value"]), measure["unit"], spread


def shown(value: float | None) -> str:
    """Worked: 24632.04 -> ``24,632.040``; 0.0299 -> ``0.030``."""
    return "n/a" if value is None else f"{value:,.3f}"


def facts_of(run: dict[str, Any]) -> tuple[str, ...]:
    """What stands behind the numbers of a bundle."""
    drive, unended = run["drive"], "" if run["journal"]["complete"] else " (unfinished or cut)"
    return (
        run["bundle"],
        run["model"],
        drive["firmware"] or "unknown",
        run["edition_title"],
        run["label"],
        run["level"],
        f"{run['journal']['hash']}{unended}",
    )


def document(runs: list[dict[str, Any]]) -> str:
    """The page: two tables, no script, nothing from any other host."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Results</title>'
        f"<style>{STYLE}</style></head>\n<body>\n<h1>Results</h1>\n<p>{html.escape(NOTE)}</p>\n"
        f"{table(NUMBERS, [row for run in runs for row in numbers_of(run)])}\n<h2>Bundles</h2>\n"
        f"{table(BUNDLES, [facts_of(run) for run in runs])}\n</body>\n</html>\n"
    )


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table; a row that nobody vouches for, or that is withheld, is marked."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    lines = []
    for row in rows:
        doubt = any(cell.startswith(("unverified", "not checked here", "WITHHELD")) for cell in row)
        cells = (
            f"<td{_CLASSES.get(name, '')}>{html.escape(cell)}</td>" for name, cell in zip(columns, row, strict=True)
        )
        lines.append(f"<tr{_DOUBT if doubt else ''}>{''.join(cells)}</tr>")
    return "\n".join(["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>", *lines, "</tbody>", "</table>"])


_DOUBT = ' class="doubt"'
_CLASSES = {"Value": ' class="number"', "Final hash": ' class="hash"'}


if __name__ == "__main__":
    sys.exit(main())
