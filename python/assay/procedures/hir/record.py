"""What host idle recovery shows: its numbers, tables, insights and figures, and the pages made of them.

Source: SNIA PTS session 202-C (2013) and public implementations for preconditioning, its verdict and all wait states
over time; the response times are a public implementation's too, the table of gains is derived.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.families.saturation.figures import iops_figure
from assay.procedures.families.saturation.record import level_text, samples_table, saturation_ruled, window_minutes
from assay.procedures.families.saturation.result import settled_values, verdict_minutes
from assay.procedures.hir.result import idle_recovery_result
from assay.procedures.hir.run import IdleRecoverySettings
from assay.procedures.traits import not_steady, pattern_subject, stalls, waited
from assay.results.ended import missed_steady_state
from assay.results.histogram import all_step_times
from assay.results.step import ran_whole
from assay.spec.units import SECOND_NS, duration_label
from assay.summary import table as of
from assay.summary.insights import insight
from assay.summary.measures import quoted
from assay.summary.pages.figures import MINUTES, main_figures, minutes_window, time_figure, verdict_box, verdict_figure
from assay.summary.pages.header import TestFacts, pattern_stimulus, share_label, steady_word
from assay.summary.pages.model import Figure, Series, Text, figure_or_reason
from assay.summary.pages.test_record import PagePart, Shown, Source
from assay.summary.record import Key, Measure, Tile
from assay.summary.table import Column, Lines, printed_table, table_of
from assay.words.coded import coded
from assay.words.printed import (
    demand_label,
    depth_label,
    one_decimal,
    ordinal,
    outstanding,
    percent,
    rate_or_na,
    rounds_label,
)
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records.run import StoredRun, StoredTest
    from assay.procedures.hir.result import IdleRecoveryResult, WaitState
    from assay.results.step import Sample
    from assay.summary.insights import Insight
    from assay.summary.pages.figures import MainFigure, Part
    from assay.summary.pages.model import Block, Entry, Table
    from assay.summary.table import Declared, ResultTable

BASELINE: Key = (("state", "baseline"),)
RETURN: Key = (("state", "return"),)
EQUAL_SHARE = 0.01
"""A burst within this share of the burst after the longest idle time counts as equal to it."""
_SECOND_MS = 1000
_NO_STEP = "no step ran to its end"
_BURST_COLOUR, _EDGE_COLOUR, _RETURN_COLOUR = 0, 3, 8
_OVER_TIME = (
    (Column("iops", "IOPS"), "Does idle time let the drive recover? {bursts}; the higher above these, the more."),
    (
        Column("latency_ms_mean", "Average Response Time", "ms"),
        "Do idle times shorten the response? {bursts}; lower is faster.",
    ),
    (
        Column("latency_ms_max", "Maximum Response Time", "ms"),
        "How long did the slowest write of a burst take? {bursts}.",
    ),
)
"""What is drawn of every burst, and how each figure is read."""
_STATE = Column("wait_state", "Wait state", role="key")
_IDLE = Column("idle_s", "Idle", "s", role="key", page_title="Idle after each burst (s)", printer="{:g}".format)
_KIND = Column("kind", "Kind", role="key")


class _Burst(NamedTuple):
    state: WaitState
    kind: str
    sample: Sample


_BURSTS: Declared[_Burst] = (
    (_STATE, lambda burst: burst.state.number),
    (_IDLE, lambda burst: burst.state.idle_s),
    (_KIND, lambda burst: burst.kind),
    *((column, fill) for column, fill in of.SAMPLE_COLUMNS if column is not of.MB_PER_S),
)
_STATES: Declared[WaitState] = (
    (_STATE, lambda state: state.number),
    (_IDLE, lambda state: state.idle_s),
    (Column("mean_iops", "Mean burst", "IOPS", page_title="Mean burst IOPS"), lambda state: state.mean_iops),
    (Column("over_baseline", "Over baseline", printer="{:.3f}".format), lambda state: state.over_baseline),
    (Column("over_return", "Over return", printer="{:.3f}".format), lambda state: state.over_return),
    (Column("gain_per_s", "Gain per second of idle", "IOPS"), lambda state: state.gain_per_s),
    (
        Column("return_iops", "Return to baseline", "IOPS", page_title="Return to baseline (mean IOPS)"),
        lambda state: state.return_iops,
    ),
    (
        Column(
            "unplanned_idle_share",
            "Unplanned idle of a burst",
            page_title="Unplanned idle of a burst (median)",
            printer=lambda share: f"{share * 100:.4f} %",
        ),
        lambda state: state.unplanned_idle_share,
    ),
)
_BRIEF = ("wait_state", "idle_s", "mean_iops", "return_iops", "over_return")


@dataclass(frozen=True, kw_only=True)
class IdleRecoveryPages(Source):
    """What the pages of a host idle recovery test are made of."""

    result: IdleRecoveryResult

    @property
    def settings(self) -> IdleRecoverySettings:
        """What the test used."""
        return self.test.settings_as(IdleRecoverySettings)

    def parts(self) -> Iterator[PagePart]:
        """The standard pages, and the table of gains."""
        first = figure_or_reason(self.preconditioning(), _NO_STEP)
        yield "Pre Conditioning IOPS Plot", (*self.plan_box(), first)
        yield "Pre Conditioning Steady State Measurement Plot", self._window()
        for column, reading in _OVER_TIME:
            figure = figure_or_reason(self.over_time(column, reading), _NO_STEP)
            yield f"{column.title} v Time - All Wait States", (figure,)
        yield "Idle Recovery by Wait State", (self._gains(),)

    def figures(self) -> Iterator[MainFigure]:
        """What idle time gives, every burst over time, and the preconditioning before them."""
        return main_figures(
            self.prefix,
            (
                ("recovery", "Bursts by idle time", idle_figure(self.prefix, self.result)),
                ("curve", "Bursts over time", self.over_time(*_OVER_TIME[0])),
                ("curve", "Preconditioning", self.preconditioning()),
            ),
            f"{self.settings.label}, {depth_label(self.settings.demand)}",
        )

    def preconditioning(self) -> Figure | None:
        """IOPS until steady, over time."""
        before, result = self.settings.preconditioning, self.result.preconditioning
        figure = iops_figure(f"{self.prefix}-preconditioning", result, MINUTES, "linear", before)
        settled = "When has the drive settled? Writes without a gap in samples, over time, until steady"
        return replace(figure, reading=f"{settled}; {level_text(before, result)}.") if figure else None

    def _window(self) -> tuple[Block, ...]:
        """The verdict on the preconditioning as figure and box; the reason where there is none."""
        before, result = self.settings.preconditioning, self.result.preconditioning
        if result.window is None or result.withheld:
            reason = text(coded("withheld", reason=result.withheld or coded("few-samples")))
            return (Text(paragraphs=(reason,)), verdict_box("IOPS", before.label, None, one_decimal, reason))
        verdict = result.window.verdicts[before.label]
        minutes = verdict_minutes(verdict, before)
        figure = verdict_figure(f"{self.prefix}-preconditioning-window", before.label, verdict, "IOPS", minutes)
        reading = "Is it steady? The five samples that are judged, with average, band and fit."
        box = verdict_box("IOPS", before.label, verdict, one_decimal, minutes_window(verdict, minutes))
        return (replace(figure, reading=reading), box)

    def over_time(self, column: Column, reading: str) -> Figure | None:
        """Every burst over time, a colour per wait state, and the baseline of its IOPS. column : what is drawn."""
        states = self.result.states
        parts: list[Part] = [
            (
                f"Wait state {state.number}, idle {state.idle_s:g} s",
                state.bursts.minutes,
                getattr(state.bursts, column.key),
                colour,
            )
            for colour, state in enumerate(states)
        ]
        parts += [
            (
                "" if index else "Return, no idle",
                state.returned.minutes,
                getattr(state.returned, column.key),
                _RETURN_COLOUR,
            )
            for index, state in enumerate(states)
        ]
        figure = time_figure(
            f"{self.prefix}-{column.key.replace('_', '-')}",
            parts,
            alt=f"{column.heading} of every burst over time, a colour per wait state",
            y_title=column.heading,
            y_scale="log" if column.unit else "linear",
            mode="markers",
        )
        if figure is None:
            return None
        bursts = (
            f"Bursts of {duration_label(self.settings.burst_ns)} with {_idles(self.settings)} after each, a colour per "
            "wait state, and those without idle time"
        )
        figure, baseline = replace(figure, reading=reading.format(bursts=bursts)), self.result.baseline_iops
        if column.key != "iops" or baseline is None:
            return figure
        ends = (0.0, max(x for one in figure.series for x in one.x))
        line = Series(label="Baseline", x=ends, y=(baseline,) * 2, colour=_RETURN_COLOUR, mode="lines", dash="dash")
        return replace(figure, series=(*figure.series, line))

    def _gains(self) -> Table:
        baseline, returned = rate_or_na(self.result.baseline_iops), rate_or_na(self.result.return_iops)
        notes = (
            f"The baseline, that of the preconditioning when steady: {baseline} IOPS.",
            f"The return, the mean of all bursts without idle time: {returned} IOPS.",
            "Unplanned idle is the time of a burst before its first and after its last submission.",
            *equal_gains(self.result.states),
        )
        return printed_table(_wait_states(self.result), caption="Mean burst IOPS against the baseline", notes=notes)


def hir_shown(source: Source) -> Shown:
    """What a stored host idle recovery test shows. Raises VerificationError as ``idle_recovery_result``."""
    test = source.test
    result = idle_recovery_result(test, source.run.identity.capacity_bytes)
    settings, pages = test.settings_as(IdleRecoverySettings), IdleRecoveryPages(**source.origin, result=result)
    longest = max((state.idle_s for state in result.states), default=0.0)
    idle = Tile(
        slot="idle",
        title=coded("tile-idle", idle=longest),
        value=(RETURN, "iops"),
        then=(_idle_cell(longest), "iops"),
    )
    of_1_0 = f"{source.edition.market} HIR ({source.status}) - Report Page"
    return Shown(
        **source.origin,
        findings=result.findings,
        facts=_facts(source.run, settings, result),
        outline=_outline(settings),
        title="HIR Test - Report Page" if source.edition.header == "2.0" else of_1_0,
        parts=pages.parts(),
        drawn=pages.figures(),
        numbers=idle_recovery_measures(settings, result),
        tiled=lambda _: (idle,),
        seen=idle_insights(test, result),
        ruled=saturation_ruled(settings.preconditioning, result.preconditioning),
        settings=_settings(settings),
        tables=lambda: _tables(result, source.suffix),
    )


def _facts(run: StoredRun, settings: IdleRecoverySettings, result: IdleRecoveryResult) -> TestFacts:
    window, share = None if result.withheld else result.window, share_label(run, settings.range_amount_bytes)
    return TestFacts(
        dependent=f"{settings.label} until steady",
        preconditioned=share,
        test_area=share,
        test_range=share,
        step=duration_label(settings.burst_ns),
        stimulus=pattern_stimulus(f"Write Stimulus {settings.label}, {_idles(settings)}", settings.pattern),
        workload=settings.label,
        convergence="YES" if window and window.reached else "NO",
        rounds=rounds_label(window.rounds if window else ()),
        time=window_minutes(settings.preconditioning, window) if window else "",
        extent=f"{len(settings.wait_states)} wait states",
        steady=steady_word(window, result.withheld),
    )


def _idles(settings: IdleRecoverySettings) -> str:
    return "idle " + ", ".join(map(duration_label, settings.idles_ns))


def _outline(settings: IdleRecoverySettings) -> str:
    return (
        f"{settings.preconditioning.label} in samples of {duration_label(settings.preconditioning.sample_ns)} "
        f"until steady; then for each wait state {settings.cycles:,} bursts of "
        f"{duration_label(settings.burst_ns)} with {_idles(settings)} after each, and {settings.return_bursts:,} "
        "bursts without."
    )


def _settings(settings: IdleRecoverySettings) -> tuple[Entry, ...]:
    """Bursts, idle times and preconditioning."""
    before = settings.preconditioning
    return (
        ("Burst", f"{settings.label}, {duration_label(settings.burst_ns)}"),
        ("Wait states", ", ".join(map(str, settings.wait_states))),
        ("Idle after each burst", ", ".join(map(duration_label, settings.idles_ns))),
        ("Bursts of a wait state", str(settings.cycles)),
        ("Bursts without idle after them", str(settings.return_bursts)),
        ("Preconditioning sample", duration_label(before.sample_ns)),
        ("Five-point rule over every", f"{ordinal(before.samples_per_verdict)} sample"),
        ("Preconditioning at most", duration_label(before.time_ns)),
        ("Preconditioning OIO - TC/QD", demand_label(before.demand)),
    )


def _tables(result: IdleRecoveryResult, suffix: str) -> Iterator[ResultTable]:
    """Preconditioning, every burst, and the wait states."""
    yield samples_table(result.preconditioning, f"hir_preconditioning{suffix}")
    lines = Lines(of.MINUTE.key, of.IOPS.key, by=(_IDLE.key, _KIND.key))
    bursts = (
        _Burst(state, kind, sample)
        for state in result.states
        for kind, samples in (("burst", state.bursts), ("return", state.returned))
        for sample in samples.each()
    )
    yield table_of(f"hir_bursts{suffix}", "Bursts", _BURSTS, bursts, lines=(lines,))
    yield _wait_states(result, suffix)


def _wait_states(result: IdleRecoveryResult, suffix: str = "") -> ResultTable:
    key = f"hir_wait_states{suffix}"
    return table_of(key, "Wait states", _STATES, result.states, section="results", brief=_BRIEF)


def idle_recovery_measures(settings: IdleRecoverySettings, result: IdleRecoveryResult) -> Iterator[Measure]:
    """The steady baseline, the mean burst after the shortest and the longest idle time, and the gain of the latter.

    Worked: a baseline of 1,000 IOPS and bursts of 1,500 after 5 s -> 1,500.0 IOPS and 1.500 over the baseline.
    """
    demand, label = outstanding(settings.demand), settings.label
    basis = coded("baseline" if result.baseline_iops is not None else "no-baseline", outstanding=demand)
    judged = settled_values(settings.preconditioning, result.preconditioning)
    yield quoted(BASELINE, "IOPS", f"{label}, baseline", result.baseline_iops, basis, rounds=judged)
    name = f"{label}, bursts without idle"
    yield Measure(cell=RETURN, key="iops", label=name, unit="IOPS", value=result.return_iops, stat="mean")
    if not result.states:
        return
    states = sorted(result.states, key=lambda state: state.idle_s)
    longest = states[-1]
    for state in {one.idle_s: one for one in (states[0], longest)}.values():
        rates = state.bursts.iops
        # The first burst follows writes without a pause.
        unrested = coded("first-is-least") if rates and rates[0] == min(rates) else None
        basis = coded("bursts", count=settings.cycles, span=settings.burst_ns, outstanding=demand, unrested=unrested)
        name = f"{label}, burst after {state.idle_s:g} s idle"
        yield quoted(_idle_cell(state.idle_s), "IOPS", name, state.mean_iops, basis, rounds=rates)
    name = f"{label}, burst after {longest.idle_s:g} s idle over baseline"
    yield quoted(_idle_cell(longest.idle_s), "x", name, longest.over_baseline, coded("over-baseline"))


def idle_insights(test: StoredTest, result: IdleRecoveryResult) -> Iterator[Insight]:
    """What idle time gains, whether more of it gains more, and how bursts stall; none where results are withheld."""
    if result.withheld:
        return
    settings = test.settings_as(IdleRecoverySettings)
    about = pattern_subject(settings.pattern)
    if result.window and missed_steady_state(test):
        count = len(result.preconditioning.samples.iops)
        yield from not_steady(((about, verdict) for verdict in result.window.verdicts.values()), count)
    yield from idle_gain(result.states)
    steps, times = test.steps("segment"), all_step_times(test.stage("segment"))
    whole = [
        index
        for index, step in enumerate(steps)
        if ran_whole(step) and any(side.latency_io_count for side in step.sides)
    ]
    known = [times[index] for index in whole] if len(times) == len(steps) else []
    yield from stalls(about, [waited([steps[index] for index in whole], known, settings.demand)])


def idle_gain(states: Sequence[WaitState]) -> Iterator[Insight]:
    """The gain of the shortest idle time that is within 1 % of the gain of the longest.

    Worked: bursts that gain 6.2 % after 5 s of idle time and after 50 s -> 6.2 % of 5 s, the same up to 50 s;
    none gains 1 % -> that idle time gains nothing.
    """
    overs = sorted((state.idle_s, state.over_return) for state in states if state.over_return)
    gains = [over - 1 for _, over in overs]
    if not overs:
        return
    longest, at_longest = overs[-1]
    if max(map(abs, gains)) <= EQUAL_SHARE:
        yield insight("idle-no-gain", longest_ms=longest * _SECOND_MS, least=min(gains), most=max(gains))
    else:
        enough, over = next((idle, over) for idle, over in overs if abs(over - at_longest) <= EQUAL_SHARE * at_longest)
        same = longest * _SECOND_MS if enough < longest else None
        yield insight("idle-gain", idle_ms=enough * _SECOND_MS, gain=over - 1, same_ms=same)


def equal_gains(states: Sequence[WaitState]) -> tuple[str, ...]:
    """That more idle time gives no more, where the bursts of all wait states are within 1 % of the highest.

    Worked: bursts of 3,455.7 IOPS after 5 s and 3,456.0 after 50 s -> one sentence.
    """
    gains = sorted((state.idle_s, state.mean_iops) for state in states if state.mean_iops is not None)
    rates = [rate for _, rate in gains]
    if len(rates) < 2 or max(rates) - min(rates) > EQUAL_SHARE * max(rates):  # noqa: PLR2004 - two to compare
        return ()
    share = (max(rates) - min(rates)) / max(rates) * 100
    least, most = (duration_label(round(idle_s * SECOND_NS)) for idle_s, _ in (gains[0], gains[-1]))
    said = f"The bursts after idle times of {least} to {most} are within {share:.2g} % of each other"
    return (f"{said}: idle time beyond {least} gave no more (rule: within {percent(EQUAL_SHARE)}).",)


def idle_figure(name: str, result: IdleRecoveryResult) -> Figure | None:
    """IOPS of the bursts after each idle time: mean, least and greatest, and those without; None without two.

    Worked: five wait states -> four lines, three of five points and one across.
    """
    states = sorted((state for state in result.states if state.mean_iops is not None), key=lambda state: state.idle_s)
    returned = result.return_iops
    if len(states) < 2 or returned is None:  # noqa: PLR2004 - one point is no line
        return None
    idle = tuple(state.idle_s for state in states)
    means = tuple(state.mean_iops or 0.0 for state in states)
    edges = {
        "Least, greatest burst": tuple(min(state.bursts.iops) for state in states),
        "": tuple(max(state.bursts.iops) for state in states),
    }
    across = (idle[0], idle[-1])
    return Figure(
        name=name,
        kind="lines",
        alt="IOPS of the bursts over the idle time after each, with their least and greatest, and without idle",
        x_title="Idle Time (s)",
        y_title="IOPS",
        series=(
            Series(label="Mean burst", x=idle, y=means, colour=_BURST_COLOUR),
            *(Series(label=label, x=idle, y=y, colour=_EDGE_COLOUR, dash="dot") for label, y in edges.items()),
            Series(label="Without idle", x=across, y=(returned,) * 2, colour=_RETURN_COLOUR, mode="lines", dash="dash"),
        ),
    )


def _idle_cell(idle_s: float) -> Key:
    return (("idle_s", idle_s),)
