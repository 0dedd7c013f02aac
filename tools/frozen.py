"""Holds reports of seeded runs on simulated drives against those that are kept, line by line.

A rebuild of code that presents results must not move them: the pages of the PTS report with their figures, the CSV
files, ``results.json`` and the verdicts on limits. What a day or a host changes is stripped (``frozen_run``).
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.rendering import stored_run
from assay.cli.limits import judged_limits
from assay.report import build_report, records_of_tests, render
from frozen_run import stripped
from frozen_text import csv_lines, json_lines, page_lines
from seeded_runs import ALL_RUNS, ROOT, run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun

KEPT = ROOT / "tests/frozen"
Lines = list[str]


def main() -> int:
    """Compare or keep; 1 where anything differs."""
    options = _options()
    different: Lines = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.run or ALL_RUNS:
            found = frozen_files(run_folder(name, options.runs or Path(scratch)))
            if options.keep:
                keep(KEPT / name, found)
            else:
                different += folder_differences(KEPT / name, found)
            print(f"{name}: {sum(map(len, found.values())):,} lines", file=sys.stderr)
    print("\n".join(different) or ("kept" if options.keep else "no difference"))
    return bool(different)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/frozen", description=__doc__)
    parser.add_argument("run", nargs="*", metavar="RUN", help=f"default: all. {', '.join(ALL_RUNS)}")
    parser.add_argument("--keep", action="store_true", help="write the kept files anew")
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="make the runs here, or use those that are here")
    options = parser.parse_args()
    if unknown := set(options.run) - set(ALL_RUNS):
        parser.error(f"no such run: {', '.join(sorted(unknown))}; known are {', '.join(ALL_RUNS)}")
    return options


def frozen_files(folder: Path) -> dict[str, Lines]:
    """All that is kept of a run, by name of the file. folder : of the run."""
    run = stripped(stored_run(folder))
    files = _report_files(run)
    return {
        "pages.txt": list(page_lines(build_report(run).pages)),
        "tables.txt": [line for name, text in files.items() if name.endswith(".csv") for line in csv_lines(name, text)],
        "results.txt": [*json_lines("results.json", _without_tables(files["results.json"])), *_limit_lines(run)],
    }


def _without_tables(text: str) -> str:
    """The results but for the tables that are CSV files as well: the steps alone are in no other file."""
    content = json.loads(text)
    for test in content["tests"]:
        test["tables"] = test["tables"][-1:]
    return json.dumps(content)


def _report_files(run: StoredRun) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as scratch:
        return {path.name: path.read_text("utf-8") for path in render(run, Path(scratch), formats=("csv", "json"))}


def _limit_lines(run: StoredRun) -> Iterator[str]:
    """The verdicts on the limits and claims of the run's plan; none where it states none."""
    found = judged_limits(run, records_of_tests(run), Path("run"), None)
    if found.limits:
        yield from json_lines("limits.json", json.dumps(found.as_json()))


def keep(folder: Path, found: dict[str, Lines]) -> None:
    """Write the files of a run anew."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in found.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def folder_differences(folder: Path, found: dict[str, Lines]) -> Lines:
    """Each difference of a run from its kept files, with the place; empty where there is none."""
    return [
        f"{folder.name}/{name}: {line}"
        for name, lines in found.items()
        for line in differences(_kept_lines(folder / name), lines)
    ]


def _kept_lines(path: Path) -> Lines:
    return path.read_text("utf-8").split("\n")[:-1] if path.exists() else []


def differences(kept: Lines, now: Lines) -> Iterator[str]:
    """Each line that is another, with the lines that it belongs to.

    Worked: ``["page 1", "  a"]`` and ``["page 1", "  b"]`` -> ``page 1: kept "a", now "b"``.
    """
    if kept == now:
        return
    matcher = difflib.SequenceMatcher(None, kept, now, autojunk=False)
    for kind, first, last, now_first, now_last in matcher.get_opcodes():
        old, new = range(first, last), range(now_first, now_last)
        if kind == "replace" and len(old) == len(new):
            yield from (_difference(now, place, kept[other], now[place]) for other, place in zip(old, new, strict=True))
        elif kind != "equal":
            yield from (_difference(kept, place, kept[place], None) for place in old)
            yield from (_difference(now, place, None, now[place]) for place in new)


def _difference(lines: Lines, place: int, kept: str | None, now: str | None) -> str:
    return f"{_where(lines, place)}kept {_quoted(kept)}, now {_quoted(now)}"


def _quoted(line: str | None) -> str:
    return "nothing" if line is None else f'"{line.strip()}"'


def _where(lines: Lines, place: int) -> str:
    """The lines that a line belongs to, outermost first. Worked: of ``"  a"`` below ``"page 1"`` -> ``"page 1: "``."""
    depth, above = _depth(lines[place]), []
    for line in reversed(lines[:place]):
        if _depth(line) < depth:
            depth = _depth(line)
            above.append(line.strip())
    return "".join(f"{line}: " for line in reversed(above))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


if __name__ == "__main__":
    sys.exit(main())
