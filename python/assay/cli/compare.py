"""``assay compare``: stored runs side by side, and the gate against a baseline."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import HelpedCommand
from assay.cli.table import numeric, print_heading, print_paragraph, print_table
from assay.errors import EXIT_NOT_MET, EXIT_OK, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.compare.comparison import Comparison, Options
    from assay.compare.gate import GateOptions, GateResult
    from assay.compare.numbers import Price
    from assay.compare.subject import LoadedRun
    from assay.summary.pages.model import Table
    from assay.summary.pages.test_record import TestRecord
    from assay.workloads.iometer.results import Results

BLIND_KEY = "assay"
"""Orders the letters of a blind comparison unless another key is given."""
_FOLDER = click.Path(path_type=Path)
_GATE_ONLY = ("fail_over", "gate", "undecided", "junit", "annotate", "summary_md")


@click.command(
    cls=HelpedCommand,
    examples=("compare runs/a runs/b --out comparison", "compare runs/new --baseline runs/old --fail-over 5%"),
)
@click.argument("run_folders", metavar="RUN... [RESULTS.csv]...", nargs=-1, required=True, type=_FOLDER)
@click.option(
    "--out",
    type=_FOLDER,
    metavar="DIR",
    help="Write PDF, HTML, workbook, CSV and JSON into this folder. Default: nothing is written.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print every number as JSON; its form is in docs/formats/output.md."
)
@click.option("--repeats", is_flag=True, help="Merge runs of the same drive and firmware into a column.")
@click.option("--despite", is_flag=True, help="Show runs under other conditions apart, unranked, instead of refusing.")
@click.option("--blind", is_flag=True, help="Replace names, serials and run folders by classes and letters.")
@click.option("--blind-key", metavar="TEXT", help="Seed for anonymous labels. Default: public.")
@click.option("--prices", metavar="LIST", help="Prices in the order of RUN, such as '89,119.90 EUR'. Default: none.")
@click.option(
    "--baseline",
    multiple=True,
    type=_FOLDER,
    metavar="RUN",
    help="Gate: baseline run (repeatable). Default: no gate.",
)
@click.option(
    "--fail-over",
    metavar="SHARE",
    help="Gate: allowed loss of the quoted numbers, such as 5%. Default: as in the file of --gate.",
)
@click.option(
    "--gate", type=_FOLDER, metavar="FILE", help="Gate: limits by number, a TOML file. Default: --fail-over alone."
)
@click.option(
    "--undecided",
    type=click.Choice(["fail", "pass"]),
    help="Gate: outcome if nothing can be decided. Default: fail, exit code 8.",
)
@click.option("--junit", type=_FOLDER, metavar="FILE", help="Gate: write JUnit XML. Default: none.")
@click.option("--summary-md", type=_FOLDER, metavar="FILE", help="Gate: write a summary as Markdown. Default: none.")
@click.option("--annotate", is_flag=True, help="Gate: print GitHub annotations (::error ...).")
def compare(
    run_folders: tuple[Path, ...],
    *,
    out: Path | None,
    as_json: bool,
    repeats: bool,
    despite: bool,
    blind: bool,
    blind_key: str | None,
    prices: str | None,
    baseline: tuple[Path, ...],
    **gate: object,
) -> int:
    """Compare 2 to 50 runs side by side, or gate them against a baseline.

    A .csv file is read as results of Iometer, shown as unverified next to the runs. Where the workloads are the
    same, IOPS, MB/s, and average and maximum response times are compared, without interval. No gate uses them.

    Every ratio has an interval: from repeated runs, else from rounds, and never narrower than the reference drive
    of the host. Runs made under different conditions are refused, with every difference. Results that are withheld
    or not steady are shown without rank.

    With --baseline it is a gate: a number fails if it is worse by more than the limit and by more than its
    uncertainty.

    Exit codes: 0 ok; 2 different conditions, or usage; 5 a folder was tampered with; 6 a folder cannot be read or
    written; 8 the gate failed or could not decide.
    """
    if blind_key is not None and not blind:
        raise UsageError("--blind-key", "orders the letters of a blind comparison only", "add --blind")
    key = (blind_key or BLIND_KEY) if blind else None
    # A run is a folder, results of Iometer are a file.
    files = [path for path in (*baseline, *run_folders) if path.suffix.casefold() == ".csv" and not path.is_dir()]
    if baseline:
        if prices:
            raise UsageError("--prices", "is of a comparison", "leave it out, or leave out --baseline")
        if files:
            reason = "holds unverified figures of Iometer without spread, which no gate uses"
            raise UsageError(str(files[0]), reason, "compare it without --baseline, and use runs for the gate")
        options = _gate_options(gate, despite=despite, key=key)
        return _gate(loaded_runs(baseline), loaded_runs(run_folders), options, out=out, as_json=as_json, asked=gate)
    if given := next((name for name in _GATE_ONLY if gate.get(name)), None):
        remedy = "name the runs to hold against: --baseline RUN"
        raise UsageError(f"--{given.replace('_', '-')}", "is of the gate", remedy)
    from assay.compare.comparison import Options  # noqa: PLC0415
    from assay.workloads.iometer import read_results  # noqa: PLC0415

    results = [read_results(path) for path in files]
    runs = loaded_runs([path for path in run_folders if path not in files], prices)
    return _compare(runs, results, Options(despite=despite, repeats=repeats, blind=key), out=out, as_json=as_json)


def _gate_options(gate: dict[str, object], *, despite: bool, key: str | None) -> GateOptions:
    from assay.compare.gate import GateOptions, limit_of, load_gate  # noqa: PLC0415

    share, path = gate["fail_over"], gate["gate"]
    if share is None and path is None:
        raise UsageError("--baseline", "has no limit", "add --fail-over 5%, or a file of limits: --gate FILE")
    limit, rules = load_gate(path) if isinstance(path, Path) else (None, ())
    limit = limit_of(str(share), "--fail-over") if share is not None else limit
    return GateOptions(limit=limit, rules=rules, despite=despite, blind=key)


def loaded_runs(folders: Sequence[Path], prices: str | None = None) -> list[LoadedRun]:
    """Runs ready to be compared; unfinished ones are named on standard error. Raises AssayError.

    prices : of their drives, as ``read_prices`` takes them.
    """
    from assay.compare.numbers import read_prices  # noqa: PLC0415

    priced = read_prices(prices, len(folders)) if prices else [None] * len(folders)
    return [_loaded_run(folder, price) for folder, price in zip(folders, priced, strict=True)]


def _loaded_run(folder: Path, price: Price | None) -> LoadedRun:
    """By its kept summary where there is one: the run itself is read only for its curves."""
    from assay.archive.kept import kept_summary  # noqa: PLC0415
    from assay.cli.stored_runs import host_id, shown_run, summed_up  # noqa: PLC0415
    from assay.compare.subject import LoadedRun  # noqa: PLC0415

    @cache
    def records() -> list[TestRecord]:
        from assay.archive.rendering import stored_run  # noqa: PLC0415
        from assay.report import records_of_tests  # noqa: PLC0415

        return records_of_tests(stored_run(folder))

    if kept := kept_summary(folder, host_id()):
        summary, content = kept.summary, kept.hash
    else:
        run = shown_run(folder)
        summary, content = summed_up(run, folder), run.journal.hash if run.journal else run.run_id
    return LoadedRun(path=str(folder), summary=summary, content=content, records=records, price=price)


def _compare(
    runs: Sequence[LoadedRun], results: Sequence[Results], options: Options, *, out: Path | None, as_json: bool
) -> int:
    from assay.compare.comparison import compare_runs  # noqa: PLC0415
    from assay.report.comparison.facts import comparison_facts  # noqa: PLC0415

    result = compare_runs(runs, options, results)
    files: tuple[str, ...] = ()
    if out:
        from assay.report.comparison.files import write_comparison  # noqa: PLC0415

        files = tuple(map(str, write_comparison(result, out)))
    if as_json:
        click.echo(json.dumps(comparison_facts(result, files).as_json(), indent=2))
    else:
        print_comparison(result)
        _print_files(files)
    return EXIT_OK


def print_comparison(comparison: Comparison) -> None:
    """Print who is compared, the summary, ratios, ranks and cohorts."""
    from assay.report.comparison.tables import (  # noqa: PLC0415
        cohort_tables,
        quoted_tables,
        subject_table,
        summary_tables,
        unlike_tables,
        unverified_tables,
    )

    _print_tables(
        (
            subject_table(comparison.subjects),
            *unlike_tables(comparison.subjects),
            *summary_tables(comparison),
            *quoted_tables(comparison),
            *cohort_tables(comparison),
            *unverified_tables(comparison),
        )
    )


def _gate(
    baseline: Sequence[LoadedRun],
    runs: Sequence[LoadedRun],
    options: GateOptions,
    *,
    out: Path | None,
    as_json: bool,
    asked: dict[str, object],
) -> int:
    from assay.compare.gate import run_gate  # noqa: PLC0415
    from assay.report.comparison.facts import gate_facts  # noqa: PLC0415
    from assay.report.comparison.files import write_gate  # noqa: PLC0415

    result = run_gate(baseline, runs, options)
    strict = asked["undecided"] != "pass"
    code = EXIT_NOT_MET if result.verdict == "fail" or (result.verdict == "undecided" and strict) else EXIT_OK
    files = [str(path) for path in (write_gate(result, out, code, undecided_fails=strict) if out else ())]
    files += _write_for_builds(result, asked, strict=strict)
    if as_json:
        click.echo(json.dumps(gate_facts(result, code, tuple(files)).as_json(), indent=2))
    else:
        _print_gate(result, annotate=bool(asked["annotate"]), strict=strict)
        _print_files(files)
    return code


def _write_for_builds(gate_result: GateResult, asked: dict[str, object], *, strict: bool) -> Iterator[str]:
    """Write the files for build servers that options name; their paths."""
    from assay.report.comparison.gate import junit_xml, summary_md  # noqa: PLC0415

    contents: dict[str, Callable[[], bytes]] = {
        "junit": lambda: junit_xml(gate_result, undecided_fails=strict),
        "summary_md": lambda: summary_md(gate_result).encode(),
    }
    for name, content in contents.items():
        if isinstance(path := asked[name], Path):
            try:
                path.write_bytes(content())
            except OSError as error:
                raise StoreError(str(path), error.strerror or str(error), "name a file that can be written") from None
            yield str(path)


def _print_gate(gate_result: GateResult, *, annotate: bool, strict: bool) -> None:
    from assay.report.comparison.gate import VERDICT_WORDS, annotation_lines  # noqa: PLC0415
    from assay.report.comparison.tables import gate_table, subject_table, unlike_tables  # noqa: PLC0415

    subjects = (gate_result.baseline, *gate_result.subjects)
    _print_tables((subject_table(subjects, "A is the baseline"), *unlike_tables(subjects), gate_table(gate_result)))
    click.echo()
    print_heading(f"Gate: {VERDICT_WORDS[gate_result.verdict]}", alarm=gate_result.verdict != "pass")
    for line in annotation_lines(gate_result, undecided_fails=strict) if annotate else ():
        click.echo(line)


def _print_tables(tables: Iterable[Table]) -> None:
    for number, table in enumerate(tables):
        if number:
            click.echo()
        print_heading(table.caption)
        # The columns up to the unit name a row.
        key = table.columns.index("Unit") + 1 if "Unit" in table.columns else 1
        print_table(table.columns, table.rows, right=numeric(table.columns, table.rows), key=key)
        for note in table.notes:
            print_paragraph(note)


def _print_files(files: Sequence[str]) -> None:
    for path in files:
        click.echo(path)
