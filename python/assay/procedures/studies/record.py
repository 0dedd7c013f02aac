"""What a study shows: its tables of numbers, and the pages made of them, with overlaid curves of its variants."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.procedures.studies.figures import VARIABLES, same_lines, study_figure, study_figures
from assay.procedures.studies.measures import fastest_stages, study_distribution, study_insights, study_measures
from assay.procedures.studies.result import (
    BAND_SHARE,
    KNEE_SHARE,
    TOO_FEW,
    Change,
    Stability,
    study_result,
)
from assay.procedures.studies.run import StudySettings
from assay.spec.units import GB, duration_label
from assay.summary import table as of
from assay.summary.pages.figures import MainFigure
from assay.summary.pages.header import TestFacts, share_label
from assay.summary.pages.histograms import distribution_measures
from assay.summary.pages.model import Table, Text
from assay.summary.pages.test_record import PagePart, Shown, Source, own_tiles
from assay.summary.record import OWN_SLOTS, Tile
from assay.summary.table import Column, Lines, Pivot, field_columns, picked, printed_pivot, printed_table, table_of
from assay.words.coded import coded
from assay.words.printed import (
    NOT_APPLICABLE,
    NOT_AVAILABLE,
    milliseconds_or_na,
    milliseconds_text,
    mix_label,
    one_decimal,
    paragraph,
    percent,
    size_label,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engine.records.run import StoredRun
    from assay.procedures.studies.result import Second, StageValues, StudyResult, VariantResult
    from assay.procedures.studies.run import StudyPlot, StudyStep
    from assay.results.step import Sample
    from assay.summary.pages.figures import FigureKind
    from assay.summary.pages.histograms import Distribution
    from assay.summary.pages.model import Block, Entry
    from assay.summary.record import Measure
    from assay.summary.table import Declared, Raw, ResultTable

TITLE = "Study - Report Page (no test of the specification)"
ROWS_WITH_CURVES = 4
"""A table of so few rows leaves a page its place for the curves."""
LOWER = 1.7


class StudyRow(NamedTuple):
    """A row of a table: a stage, one of its samples or seconds, or what the reading found of a variant."""

    variant: VariantResult
    stage: Any = None
    sample: Sample | None = None
    second: Second | None = None
    found: Any = None

    @property
    def settled(self) -> StageValues | None:
        """The values of its stage."""
        return self.stage.settled if self.stage else None


def share_tenths(share: float) -> str:
    """Print a share in per cent. Worked: 0.9026 -> ``"90.3 %"``."""
    return f"{share * 100:,.1f} %"


def _hundredths(share: float | None) -> str:
    return NOT_AVAILABLE if share is None else f"{share * 100:,.2f} %"


def _range(rates: Sequence[float]) -> str:
    return f"{one_decimal(min(rates))} - {one_decimal(max(rates))}"


def _recovered(change: Change) -> str:
    return "not recovered" if change.recovery_minutes is None else f"{change.recovery_minutes:.4g}"


def of_settled(field: str) -> Callable[[Any], Raw]:
    """Fills a column from the settled values of a row, where it has any."""
    return lambda row: getattr(row.settled, field, None)


def _scored(fill: Callable[[Stability], float]) -> Callable[[StudyRow], Raw]:
    """Of seconds with enough I/Os to be judged, in per cent."""
    return lambda row: None if row.found is None or row.found.score is None else _hundredths(fill(row.found))


def _fields(kind: type[Change | Stability], **printed: dict[str, Any]) -> Declared[Any]:
    """Whose it is and what a reading found, without a value where it found nothing. printed : on pages, by column."""
    columns = (replace(column, **printed.get(column.key, {})) for column, _ in field_columns(kind))
    found = ((column, lambda row, key=column.key: getattr(row.found, key, None)) for column in columns)
    return (_WHOSE[0], *found)


IOPS_AND_MEAN: tuple[Column, Callable[[Any], Raw]] = (
    Column("iops_and_mean"),
    lambda row: row.settled and f"{row.settled.iops:,.0f} / {milliseconds_or_na(row.settled.latency_ms_mean)}",
)
"""Both in a cell of a page."""
_WHOSE: Declared[Any] = ((of.VARIANT, attrgetter("variant.label")), (of.ACCESSES, attrgetter("stage.label")))
_SAMPLES: Declared[Any] = (*_WHOSE, *of.SAMPLE_COLUMNS)
SECONDS: Declared[Any] = (
    *_WHOSE,
    (of.SECOND, attrgetter("second.second")),
    (of.IOPS, attrgetter("second.iops")),
    (of.MAXIMUM, attrgetter("second.latency_ms_max")),
)
_STAGES: Declared[Any] = (
    *_WHOSE,
    (replace(of.THREADS, printer="TC {}".format), attrgetter("stage.demand.thread_count")),
    (of.DEPTH, attrgetter("stage.demand.queue_depth")),
    (
        Column("place", "Position", printer="{:g}".format),
        lambda row: row.variant.place if row.stage.place is None else row.stage.place,
    ),
    (of.IOPS, of_settled("iops")),
    (replace(of.MB_PER_S, page_title="MB/s"), of_settled("throughput")),
    (replace(of.MEAN, page_title="ART (ms)"), of_settled("latency_ms_mean")),
    (replace(of.MAXIMUM, page_title="MRT (ms)"), of_settled("latency_ms_max")),
    (replace(of.DEPTH_FOUND, page_title="Effective OIO", printer="{:,.2f}".format), of_settled("outstanding")),
    (replace(of.TOTAL_OIO, page_title="Asked OIO"), of_settled("asked")),
    (
        Column("iops_share", "Of the first variant", printer=share_tenths, missing=NOT_APPLICABLE),
        attrgetter("stage.share"),
    ),
    (Column("written_bytes", "Written", "B"), attrgetter("stage.written_bytes")),
)
_PRINTED_STAGES: Declared[Any] = (
    *_STAGES,
    (
        Column(
            "range", "Least - greatest", printer=lambda rates: f"{one_decimal(min(rates))} - {one_decimal(max(rates))}"
        ),
        of_settled("rates"),
    ),
    (of.WRITTEN, lambda row: row.settled and row.stage.written_bytes / GB),
    IOPS_AND_MEAN,
)
_CHANGES = _fields(
    Change,
    before={"page_title": "Before (MB/s)"},
    after={"page_title": "After (MB/s)"},
    drop_share={"page_title": "Drop", "printer": share_tenths},
    lowest_share={"page_title": "Lowest of before", "printer": share_tenths},
)
_PRINTED_CHANGES: Declared[Any] = (
    *_CHANGES,
    (Column("stage", "Stage"), lambda row: f"{row.found.number}: {row.found.label}" if row.found else None),
    (Column("recovered", "Recovered after", "min"), lambda row: _recovered(row.found) if row.found else None),
)
_STABILITY = _fields(
    Stability,
    count={"page_title": "Seconds"},
    median={"page_title": "Median IOPS"},
    score={"printer": share_tenths},
    worst={"page_title": "IOPS in it"},
    latency_ms_max={"page_title": "MRT (ms)"},
)
_PRINTED_STABILITY: Declared[Any] = (
    *_STABILITY,
    (Column("coefficient", "Coefficient of variation"), _scored(lambda found: found.variation)),
    (Column("of_median", "Of the median"), _scored(lambda found: found.worst / found.median)),
)
CHANGE_VALUES = ("before", "after", "drop_share", "lowest_share", "recovered")
"""Columns of a change on pages but for whose it is."""


def change_table(changes: Sequence[tuple[VariantResult, Change | None]], *keys: str, **more: Any) -> Table:
    """Changes as pages print them. keys : of columns. more : as ``printed_table``."""
    rows = (StudyRow(variant, found=change) for variant, change in changes)
    return printed_table(
        table_of("changes", "The stage that comes again", picked(_PRINTED_CHANGES, *keys), rows), **more
    )


def study_tables(settings: StudySettings, result: StudyResult) -> tuple[Table, ...]:
    """Print what the reading of a study asks."""
    match settings.reading:
        case "stages":
            return (_stage_table(settings, result),)
        case "grid":
            return tuple(_grid(plot, result) for plot in settings.plots)
        case "demand":
            return tuple(map(_demands, result.variants))
        case "change":
            before = "Before: mean of the first stage with the same accesses."
            notes = (
                f"{before} After: mean of as many first samples of this stage.",
                f"Recovered: the end of the first sample at {percent(settings.recovered_share)} of before.",
            )
            changes = [(variant, change) for variant in result.variants for change in variant.changes]
            missing = [(variant, None) for variant in result.variants if not variant.changes]
            return (change_table([*changes, *missing], "variant", "stage", *CHANGE_VALUES, notes=notes),)
        case "stability":
            return (_stability(result),)


def _stage_table(settings: StudySettings, result: StudyResult) -> Table:
    share = settings.settled_share
    samples = "all samples" if share == 1 else f"the last {percent(share)} of the samples"
    notes = (
        f"Values are over {samples} of a stage, least and greatest IOPS of one of these; written is in all of it.",
        "Of the first variant: the IOPS against those of the first variant with the same accesses.",
    )
    keys = (
        "variant", "accesses", "iops", "range", "mb_per_s", "latency_ms_mean", "latency_ms_max",
        "effective_queue_depth", "total_oio", of.WRITTEN.key, "iops_share",
    )  # fmt: skip
    columns = picked(_PRINTED_STAGES, *keys)
    return printed_table(table_of("stages", "Values per variant", columns, _stages(result)), notes=notes)


def _grid(plot: StudyPlot, result: StudyResult) -> Table:
    """One variable: a row per place, a column per variant."""
    drawn, error = VARIABLES[plot.variable], result.outstanding_error
    notes = (f"Largest difference of effective from asked OIO: {_hundredths(error)}.",)
    return printed_pivot(
        table_of("grid", drawn.y_title, _STAGES, _stages(result)),
        "place",
        of.VARIANT.key,
        drawn.field,
        f"{{}}: {drawn.y_title}",
        corner=plot.x_title,
        notes=notes if plot.variable == "iops" else (),
    )


def _demands(variant: VariantResult) -> Table:
    """IOPS and response time of every cell, threads down and depths across, and the proposal."""
    table = table_of("demands", variant.label, _PRINTED_STAGES, [StudyRow(variant, stage) for stage in variant.stages])
    axes = (of.THREADS.key, of.DEPTH.key, "iops_and_mean")
    proposed = "n/a."
    if result := variant.proposal:
        demand = result.demand
        proposed = (
            f"TC {demand.thread_count} x QD {demand.queue_depth}: {result.iops:,.0f} IOPS, "
            f"{result.share * 100:.1f} % of the highest, at {milliseconds_text(result.latency_ms_mean)} ms. Rule: of "
            f"the cells at {percent(KNEE_SHARE)} of the highest IOPS that of the lowest total OIO, then of the lowest "
            "response time."
        )
    return printed_pivot(
        table,
        *axes,
        "QD {}",
        corner=f"{variant.label}: IOPS / ART (ms)",
        notes=(f"Proposed for {variant.label}: {proposed}",),
    )


def _stability(result: StudyResult) -> Table:
    notes = (
        f"Score: share of the seconds whose IOPS lie within {percent(BAND_SHARE)} of their median; n/a: {TOO_FEW}.",
        "Coefficient of variation: sample standard deviation over mean of the IOPS of all seconds; n/a with the score.",
    )
    keys = (
        "variant", "median", "score", "coefficient", "worst_second", "worst", "of_median", "latency_ms_max", "count",
    )  # fmt: skip
    rows = (StudyRow(variant, found=one) for variant in result.variants for one in variant.stability)
    columns = picked(_PRINTED_STABILITY, *keys)
    return printed_table(table_of("stability", "Stability from second to second", columns, rows), notes=notes)


def _stages(result: StudyResult) -> list[StudyRow]:
    return [StudyRow(variant, stage) for variant in result.variants for stage in variant.stages]


def study_data(settings: StudySettings, result: StudyResult, suffix: str) -> Iterator[ResultTable]:
    """The tables of a study, unrounded."""
    name, stages = settings.test.replace("-", "_"), _stages(result)
    samples = (row._replace(sample=sample) for row in stages for sample in row.stage.samples.each())
    by = (of.VARIANT.key, of.ACCESSES.key)
    lines = Lines(of.MINUTE.key, of.IOPS.key, by=by)
    yield table_of(f"{name}_samples{suffix}", "Samples", _SAMPLES, samples, lines=(lines,))
    axes = {"grid": (("place",), of.VARIANT.key), "demand": ((of.VARIANT.key, of.THREADS.key), of.DEPTH.key)}
    drawn = {
        "grid": (Lines("place", of.IOPS.key, by=(of.VARIANT.key,)),),
        "demand": (Lines(of.DEPTH.key, of.IOPS.key, by=(of.THREADS.key,), each=of.VARIANT.key),),
    }.get(settings.reading, ())
    down, across = axes.get(settings.reading, ((), ""))
    pivots = tuple(Pivot(down, across, value) for value in (of.IOPS.key, of.MEAN.key) if across)
    key, title = f"{name}_stages{suffix}", "Settled values"
    yield table_of(key, title, _STAGES, stages, pivots=pivots, lines=drawn, section="results")
    if settings.reading == "change":
        rows = (StudyRow(variant, found=change) for variant in result.variants for change in variant.changes)
        yield table_of(f"{name}_changes{suffix}", "Changes", _CHANGES, rows, section="results")
    if settings.reading == "stability":
        rows = (StudyRow(variant, found=one) for variant in result.variants for one in variant.stability if one)
        key, title = f"{name}_stability{suffix}", "Stability from second to second"
        yield table_of(key, title, _STABILITY, rows, section="results")
        seconds = (row._replace(second=second) for row in stages for second in row.stage.seconds)
        lines = Lines(of.SECOND.key, of.IOPS.key, by=by)
        yield table_of(f"{name}_seconds{suffix}", "Seconds", SECONDS, seconds, lines=(lines,))


def study_shown(source: Source, result: StudyResult | None = None) -> Shown:
    """What a stored study shows. result : of it, where that is known already."""
    test, result = source.test, result or study_result(source.test)
    settings, spread = test.settings_as(StudySettings), study_distribution(test, result, source.prefix)
    return Shown(
        **source.origin,
        findings=result.findings,
        facts=_facts(source.run, settings),
        outline=settings.outline,
        preparation=settings.preparation,
        title=TITLE,
        parts=_parts(source, settings, result),
        readings=_readings(settings),
        drawn=_main_figures(source.prefix, settings, result),
        numbers=_numbers(source.run, settings, result, spread),
        tiled=lambda measures: _tiles(result, measures),
        seen=study_insights(test, result),
        settings=_settings(settings),
        details=(_steps(source.run, settings),),
        tables=lambda: study_data(settings, result, source.suffix),
        distribution=spread,
    )


def _facts(run: StoredRun, settings: StudySettings) -> TestFacts:
    steps = [step for variant in settings.variants for step in variant.measured]
    sizes = sorted({size for step in steps for size, _ in step.pattern.sizes})
    mixes = sorted({round(step.pattern.read_share * 100) for step in steps})
    lengths = {step.length_bytes for step in steps}
    spans = [step.span_ns for step in steps if step.span_ns]
    return TestFacts(
        independent="by variant",
        dependent="by variant",
        test_area=share_label(run, lengths.pop()) if len(lengths) == 1 else "by variant",
        test_range="by variant",
        step=duration_label(max(spans)) if spans else "by amount",
        stimulus=(
            ("Test Stimulus 1", settings.title),
            ("RW Mix", ", ".join(mix_label(mix) for mix in mixes)),
            ("Block Sizes", ", ".join(size_label(size) for size in sizes)),
        ),
        workload="by variant",
        extent=f"{len(settings.variants)} variants",
        steady=NOT_APPLICABLE,
    )


def _readings(settings: StudySettings) -> dict[str, str]:
    """Sentences below the figures, which are numbered."""
    how = {
        "time": "Samples over time, a line per variant",
        "seconds": "Every second of the measured time, a line per variant",
        "places": "The mean of the last samples over what is varied, a point for each",
    }
    question = paragraph(settings.question)
    return {str(place): f"{question} {how[plot.kind]}." for place, plot in enumerate(settings.plots, 1)}


def _tiles(result: StudyResult, measures: Sequence[Measure]) -> Iterator[Tile]:
    """The most IOPS of each variant, of several variants; else the first of the numbers that people quote."""
    tiles = [*fastest_stages(result)]
    if len(tiles) < 2:  # noqa: PLR2004 - nothing to compare
        yield from own_tiles(measures)
    for slot, (variant, cell) in zip(OWN_SLOTS, tiles, strict=False):
        yield Tile(slot=slot, title=coded("tile-most", name=variant), value=(cell, "iops"))


def _main_figures(prefix: str, settings: StudySettings, result: StudyResult) -> Iterator[MainFigure]:
    """What it found over what it varies, then the others."""
    plots = sorted(settings.plots, key=lambda plot: plot.kind != "places")
    for index, plot in enumerate(plots, 1):
        if figure := study_figure(f"{prefix}-main-{index}", plot, result):
            kind: FigureKind = "demand" if plot.kind == "places" else "curve"
            title = f"{VARIABLES[plot.variable].title} over {plot.x_title or 'time'}"
            yield MainFigure(kind=kind, title=title, figure=figure)


def _parts(source: Source, settings: StudySettings, result: StudyResult) -> Iterator[PagePart]:
    """A page of curves and a page with the table; one page where both are short."""
    figures = study_figures(source.prefix, settings.plots, result)
    curves: tuple[Block, ...] = figures or (Text(paragraphs=("n/a: no sample ran to its end",)),)
    notes = tuple(f"{label} not run: {reason}." for label, reason in settings.not_run)
    asked = tuple(paragraph(text) for text in (settings.question, settings.outline, *notes))
    first, *others = study_tables(settings, result)
    together = same_lines(result) if settings.plots and settings.plots[0].kind == "time" else ()
    first = replace(first, notes=(*asked, *first.notes, *together))
    if not others and len(first.rows) <= ROWS_WITH_CURVES:
        # The question stands below the curves and on the summary.
        short = replace(first, notes=(*notes, *first.notes[len(asked) :]))
        lower = tuple(replace(figure, room="table", aspect=figure.aspect * LOWER) for figure in figures)
        yield settings.title, (*source.plan_box(), short, *(lower or curves))
        return
    yield f"{settings.title}: Curves", (*source.plan_box(), *curves)
    yield f"{settings.title}: Table", (first, *others)


def _numbers(run: StoredRun, settings: StudySettings, result: StudyResult, spread: Distribution) -> Iterator[Measure]:
    """The slowest and the fastest variant, what the reading found, and every stage of every variant."""
    yield from study_measures(settings, result, run.identity.capacity_bytes)
    yield from distribution_measures(spread)


def not_quoted(numbers: Iterable[Measure]) -> Iterator[Measure]:
    """The cells of a study beside which a test has key results of its own."""
    return (replace(number, quoted=False, name="") for number in numbers if number.cell)


def _settings(settings: StudySettings) -> tuple[Entry, ...]:
    """Variants, and how values are taken from samples."""
    return (
        *((f"Variant {number}", variant.label) for number, variant in enumerate(settings.variants, 1)),
        *((f"{label} not run", paragraph(reason)) for label, reason in settings.not_run),
        ("Preparation", settings.preparation),
        ("Settled value", f"mean of the last {percent(settings.settled_share)} of a stage's samples"),
    )


def _steps(run: StoredRun, settings: StudySettings) -> Table:
    """Every step of every variant, as it was set."""
    rows = tuple(
        (variant.label, step.role, step.label, str(step.samples), _stop(step), share_label(run, step.length_bytes))
        for variant in settings.variants
        for step in variant.steps
    )
    columns = ("Variant", "Role", "Accesses", "Samples", "Each", "Range")
    return Table(caption=f"{settings.test_label}: steps", columns=columns, rows=rows, folded=True)


def _stop(step: StudyStep) -> str:
    if step.role == "trim":
        return NOT_APPLICABLE
    return duration_label(step.span_ns) if step.span_ns else f"{step.amount_bytes:,} bytes"
