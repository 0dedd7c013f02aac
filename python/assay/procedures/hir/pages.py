"""The pages of host idle recovery: preconditioning, its verdict, all wait states over time, and what idle time gains.

Source: SNIA PTS session 202-C (2013) and public implementations for the first three; the response times are a public
implementation's too, the table of gains is derived.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.procedures.families.saturation.facts import level_text, window_minutes
from assay.procedures.families.saturation.figures import iops_figure
from assay.procedures.families.saturation.measures import saturation_ruled
from assay.procedures.families.saturation.result import verdict_minutes
from assay.procedures.hir.figures import idle_figure
from assay.procedures.hir.insights import idle_insights
from assay.procedures.hir.measures import RETURN, idle_cell, idle_recovery_measures
from assay.procedures.hir.result import idle_recovery_result
from assay.procedures.hir.settings import IdleRecoverySettings
from assay.procedures.hir.tables import idle_recovery_tables
from assay.procedures.hir.words import equal_gains
from assay.spec.units import duration_label
from assay.summary.pages.facts import TestFacts, pattern_stimulus, share_label, steady_word
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Series, Table, Text
from assay.summary.pages.results import step_results, window_results
from assay.summary.pages.select import NO_RULE, NOT_REACHED, STEADY, Selected, claim_label
from assay.summary.pages.test_report import TestReport
from assay.summary.pages.time_axis import MINUTES
from assay.summary.pages.time_figures import time_figure
from assay.summary.pages.verdict import minutes_window, verdict_box, verdict_figure
from assay.summary.record import Tile
from assay.words.coded import coded
from assay.words.printed import (
    NOT_AVAILABLE,
    demand_label,
    depth_label,
    one_decimal,
    ordinal,
    rate_or_na,
    rounds_label,
)
from assay.words.text import text, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records.run import StoredRun, StoredTest
    from assay.procedures.families.saturation.settings import SaturationSettings
    from assay.procedures.hir.result import IdleRecoveryResult, WaitState
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.main_figure import FigureKind
    from assay.summary.pages.model import Block, Entry, Figure, Page
    from assay.summary.pages.time_figures import Part
    from assay.summary.record import Measure
    from assay.summary.table import ResultTable
    from assay.summary.verdict import Ruled

_RETURN_COLOUR = 8
_COLUMNS = (
    "Wait state", "Idle after each burst (s)", "Mean burst IOPS", "Over baseline", "Over return",
    "Gain per second of idle (IOPS)",
    "Return to baseline (mean IOPS)", "Unplanned idle of a burst (median)",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecoveryReport(TestReport):
    """One host idle recovery test on its way to pages."""

    result: IdleRecoveryResult

    @property
    def settings(self) -> IdleRecoverySettings:
        """What the test used."""
        return self.test.settings_as(IdleRecoverySettings)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries."""
        settings, window = self.settings, None if self.result.withheld else self.result.window
        steady = "YES" if window and window.reached else "NO"
        return TestFacts(
            dependent=f"{settings.label} until steady",
            preconditioned=share_label(self.run, settings.range_amount_bytes),
            test_area=share_label(self.run, settings.range_amount_bytes),
            test_range=share_label(self.run, settings.range_amount_bytes),
            step=duration_label(settings.burst_ns),
            stimulus=pattern_stimulus(f"Write Stimulus {settings.label}, {self._idles()}", settings.pattern),
            workload=settings.label,
            convergence=steady,
            rounds=rounds_label(window.rounds if window else ()),
            time=window_minutes(settings.preconditioning, window) if window else "",
            extent=f"{len(settings.wait_states)} wait states",
            steady=steady_word(window, self.result.withheld),
        )

    def _idles(self) -> str:
        return "idle " + ", ".join(duration_label(idle_ns) for idle_ns in self.settings.idles_ns)

    @property
    def outline(self) -> str:
        """Bursts and idle times."""
        settings = self.settings
        return (
            f"{settings.preconditioning.label} in samples of {duration_label(settings.preconditioning.sample_ns)} "
            f"until steady; then for each wait state {settings.cycles:,} bursts of "
            f"{duration_label(settings.burst_ns)} with {self._idles()} after each, and {settings.return_bursts:,} "
            "bursts without."
        )

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        settings = self.settings
        bursts = (
            f"Bursts of {duration_label(settings.burst_ns)} with {self._idles()} after each, a colour per wait "
            "state, and those without idle time"
        )
        settled = "When has the drive settled? Writes without a gap in samples, over time, until steady"
        return {
            "preconditioning": f"{settled}; {level_text(settings.preconditioning, self.result.preconditioning)}.",
            "preconditioning-window": "Is it steady? The five samples that are judged, with average, band and fit.",
            "iops": f"Does idle time let the drive recover? {bursts}; the higher above these, the more.",
            "latency-ms-mean": f"Do idle times shorten the response? {bursts}; lower is faster.",
            "latency-ms-max": f"How long did the slowest write of a burst take? {bursts}.",
        }

    def report_pages(self) -> tuple[Page, ...]:
        """The standard pages, and the table of gains."""
        edition = self.edition
        title = f"{edition.market} HIR ({self.status}) - Report Page"
        return self.pages(
            "HIR Test - Report Page" if edition.header == "2.0" else title,
            (
                ("Pre Conditioning IOPS Plot", (*self.strip(), self._or_nothing(self._preconditioning()))),
                ("Pre Conditioning Steady State Measurement Plot", self._window()),
                ("IOPS v Time - All Wait States", (self._or_nothing(self._over_time("iops", "IOPS")),)),
                (
                    "Average Response Time v Time - All Wait States",
                    (self._or_nothing(self._over_time("latency_ms_mean", "Average Response Time (ms)")),),
                ),
                (
                    "Maximum Response Time v Time - All Wait States",
                    (self._or_nothing(self._over_time("latency_ms_max", "Maximum Response Time (ms)")),),
                ),
                ("Idle Recovery by Wait State", self._gains()),
            ),
        )

    def _preconditioning(self) -> Figure | None:
        return iops_figure(
            f"{self.prefix}-preconditioning",
            self.result.preconditioning,
            MINUTES,
            "linear",
            self.settings.preconditioning,
        )

    def _window(self) -> tuple[Block, ...]:
        return verdict_blocks(self.prefix, self.settings.preconditioning, self.result.preconditioning)

    def _over_time(self, variable: str, y_title: str) -> Figure | None:
        parts: list[Part] = []
        for colour, state in enumerate(self.result.states):
            label = f"Wait state {state.number}, idle {state.idle_s:g} s"
            parts.append((label, state.bursts.minutes, getattr(state.bursts, variable), colour))
        for index, state in enumerate(self.result.states):
            label = "" if index else "Return, no idle"
            parts.append((label, state.returned.minutes, getattr(state.returned, variable), _RETURN_COLOUR))
        figure = time_figure(
            f"{self.prefix}-{variable.replace('_', '-')}",
            parts,
            alt=f"{y_title} of every burst over time, a colour per wait state",
            y_title=y_title,
            y_scale="linear" if variable == "iops" else "log",
            mode="markers",
        )
        baseline = self.result.baseline_iops
        if figure is None or variable != "iops" or baseline is None:
            return figure
        ends = (0.0, max(x for one in figure.series for x in one.x))
        line = Series(label="Baseline", x=ends, y=(baseline,) * 2, colour=_RETURN_COLOUR, mode="lines", dash="dash")
        return replace(figure, series=(*figure.series, line))

    def _gains(self) -> tuple[Block, ...]:
        table = Table(
            caption="Mean burst IOPS against the baseline",
            columns=_COLUMNS,
            rows=tuple(_gain_row(state) for state in self.result.states),
            notes=(
                f"The baseline, that of the preconditioning when steady: {rate_or_na(self.result.baseline_iops)} IOPS.",
                f"The return, the mean of all bursts without idle time: {rate_or_na(self.result.return_iops)} IOPS.",
                "Unplanned idle is the time of a burst before its first and after its last submission.",
                *equal_gains(self.result.states),
            ),
        )
        return (table,)

    def _or_nothing(self, figure: Figure | None) -> Block:
        return figure or Text(paragraphs=("n/a: no step ran to its end",))

    def selected(self) -> tuple[Selected, ...]:
        """Baseline and the mean burst of each wait state."""
        reached = NOT_REACHED if self.result.baseline_iops is None else STEADY
        result = [
            ("Baseline (preconditioning)", self.result.baseline_iops, reached),
            ("Baseline (return phases)", self.result.return_iops, NO_RULE),
        ]
        result += [(f"Mean burst, idle {state.idle_s:g} s", state.mean_iops, NO_RULE) for state in self.result.states]
        return tuple(
            Selected(
                item=f"{self.settings.label} {name}",
                unit="IOPS",
                value=rate_or_na(value),
                basis=basis,
                claim=claim_label(self.run, None),
            )
            for name, value, basis in result
        )

    def main_figures(self) -> Iterator[MainFigure]:
        """What idle time gives, every burst over time, and the preconditioning before them."""
        note = f"{self.settings.label}, {depth_label(self.settings.demand)}"
        drawn: tuple[tuple[FigureKind, str, Figure | None], ...] = (
            ("recovery", "Bursts by idle time", idle_figure(self.prefix, self.result)),
            ("curve", "Bursts over time", self._over_time("iops", "IOPS")),
            ("curve", "Preconditioning", self._preconditioning()),
        )
        for index, (kind, title, figure) in enumerate(drawn):
            if figure:
                named = replace(figure, name=f"{self.prefix}-main-{index}", reading="")
                yield MainFigure(kind=kind, title=title, note=note, figure=named)

    @property
    def ruled(self) -> Ruled:
        """That of its preconditioning."""
        return saturation_ruled(self.settings.preconditioning, self.result.preconditioning)

    def tiles(self) -> Iterator[Tile]:
        """Bursts without idle time, and after the longest."""
        longest = max((state.idle_s for state in self.result.states), default=0.0)
        title = coded("tile-idle", idle=longest)
        yield Tile(slot="idle", title=title, value=(RETURN, "iops"), then=(idle_cell(longest), "iops"))

    def insights(self) -> Iterator[Insight]:
        """What idle time gains."""
        return idle_insights(self.test, self.result)

    def numbers(self) -> Iterator[Measure]:
        """Baseline, what idle time gives, and response times."""
        yield from idle_recovery_measures(self.settings, self.result)
        yield from TestReport.numbers(self)

    def own_settings(self) -> tuple[Entry, ...]:
        """Bursts, idle times and preconditioning."""
        settings = self.settings
        before = settings.preconditioning
        return (
            ("Burst", f"{settings.label}, {duration_label(settings.burst_ns)}"),
            ("Wait states", ", ".join(str(number) for number in settings.wait_states)),
            ("Idle after each burst", ", ".join(duration_label(idle_ns) for idle_ns in settings.idles_ns)),
            ("Bursts of a wait state", str(settings.cycles)),
            ("Bursts without idle after them", str(settings.return_bursts)),
            *sampled_entries(before.sample_ns, before.samples_per_verdict, before.time_ns),
            ("Preconditioning OIO - TC/QD", demand_label(before.demand)),
        )

    def details(self) -> tuple[Table, ...]:
        """None: the bursts are many, and in tables."""
        return ()

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """Preconditioning, every burst, and the wait states."""
        return idle_recovery_tables(self.result, suffix)

    def results(self) -> dict[str, Any]:
        """Baseline, wait states and preconditioning."""
        result = self.result
        return {
            "error_count": result.error_count,
            "withheld": text_or_none(result.withheld),
            "window": window_results(result.window, result.withheld),
            "baseline_iops": result.baseline_iops,
            "return_iops": result.return_iops,
            "wait_states": [_state_results(state) for state in result.states],
            "samples": [step_results(step) for step in self.test.steps("sample")],
        }


def _state_results(state: WaitState) -> dict[str, Any]:
    """The numbers of a wait state in ``results.json``, which has no throughput of bursts."""
    numbers = asdict(state)
    for series in ("bursts", "returned"):
        del numbers[series]["throughput"]
    return numbers


def hir_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> IdleRecoveryReport:
    """A stored test with everything that its pages print. Raises VerificationError as ``idle_recovery_result``."""
    result = idle_recovery_result(test, run.identity.capacity_bytes)
    return IdleRecoveryReport(run=run, test=test, edition=edition, prefix=prefix, result=result)


def verdict_blocks(prefix: str, settings: SaturationSettings, result: Any) -> tuple[Block, ...]:
    """The five-point verdict of a preconditioning by samples as figure and box; the reason where there is none.

    result : a ``SaturationResult``.
    """
    label, window = settings.label, None if result.withheld else result.window
    verdict = window.verdicts[label] if window else None
    reason = text(coded("withheld", reason=result.withheld or coded("few-samples")))
    if verdict is None:
        return (Text(paragraphs=(reason,)), verdict_box("IOPS", label, None, one_decimal, reason))
    minutes = verdict_minutes(verdict, settings)
    figure = verdict_figure(f"{prefix}-preconditioning-window", label, verdict, "IOPS", minutes)
    return (figure, verdict_box("IOPS", label, verdict, one_decimal, minutes_window(verdict, minutes)))


def sampled_entries(sample_ns: int, samples_per_verdict: int, time_ns: int) -> tuple[Entry, ...]:
    """Settings of a preconditioning by samples."""
    return (
        ("Preconditioning sample", duration_label(sample_ns)),
        ("Five-point rule over every", f"{ordinal(samples_per_verdict)} sample"),
        ("Preconditioning at most", duration_label(time_ns)),
    )


def _gain_row(state: WaitState) -> tuple[str, ...]:
    idle = state.unplanned_idle_share
    return (
        str(state.number),
        f"{state.idle_s:g}",
        rate_or_na(state.mean_iops),
        *(NOT_AVAILABLE if over is None else f"{over:.3f}" for over in (state.over_baseline, state.over_return)),
        rate_or_na(state.gain_per_s),
        rate_or_na(state.return_iops),
        NOT_AVAILABLE if idle is None else f"{idle * 100:.4f} %",
    )
