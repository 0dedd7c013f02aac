"""How runs, tests and checks come out: endings, exit codes, levels of trust, and their words."""

from __future__ import annotations

OUTCOMES: dict[str, str] = {
    # What a number comes from.
    "average-of-rounds": "average of rounds {rounds:rounds}[, {steady}][, {outstanding:,} outstanding]",
    "all-ios-of-rounds": "all I/Os of rounds {rounds:rounds}[, {steady}]",
    "missed": "NOT STEADY",
    "not-steady": "not steady",
    "point": "in {span:duration}; {grid:rate} in the grid[, the most with ART < {limit:g} ms]",
    "in-time": "in {span:duration}",
    "baseline": "verdict samples, steady, {outstanding:,} outstanding",
    "bursts": "mean of {count} bursts of {span:duration}, {outstanding:,} outstanding[; {unrested}]",
    "first-is-least": "the least is the first, with no idle before it",
    "over-baseline": "the burst over the baseline",
    "last-tenth": "mean of its last tenth, {outstanding:,} outstanding",
    "slowest-in": "all groups: in group {group}, minute {minute:,.0f}",
    "last-group": "the last group, in samples of {sample:duration}",
    "first-sample": "up to {minutes:minutes}, {fills:.2f} drive fills; {outstanding:,} outstanding",
    "verdict-samples": "average of the last five verdict samples, {outstanding:,} outstanding",
    "last-sample": "at {fills:.2f} drive fills, not settled; {outstanding:,} outstanding",
    "two-above": "the two above",
    "read-backs": "{count} whole read-backs",
    "written": "{fills:.2f} drive fills in {minutes:minutes}",
    "all-samples": "mean of all samples, {outstanding:,} outstanding[; {written}]",
    "last-samples": "mean of the last {share:percent} of the samples, {outstanding:,} outstanding[; {written}]",
    "gb-written": "{amount:gb} GB written, {fills:.2f} drive fills",
    "knee": "the knee of its map",
    "seconds": "{count:,} seconds",
    "corner": "run of {name}, {outstanding} outstanding",
    "off-alignment": "the same four tests, begun at 63 sectors",
    "step": "step {name}",
    "replay": "whole replay",
    "stage": "stage {name}",
    "own-value": "value of the test",
    # How a test came out.
    "state-withheld": "WITHHELD: {reason}",
    "state-cut-short": "CUT SHORT: {reason}",
    "state-not-steady": "NOT STEADY[, {window}]",
    "state-not-settled": "not settled[, {window}]",
    "state-not-judged": "not judged[: {reason}]",
    "state-steady": "steady[, {window}]",
    "state-no-rule": "measured",
    "state-not-run": "not run[: {reason}]",
    "reason": "{reason}",
    "window-rounds": "rounds {first}-{last}",
    "window-minutes": "{start:minutes} to {end:minutes}",
    "few-values": "the rule needs five values",
    "early-end": "ended after {ended:minutes}, the rule needs {needed:minutes}",
    "no-sample": "no sample ran to its end, the rule needs {needed:minutes}",
    "since-void": "fewer than five samples of the rule after a void sample",
    "host": "host interference in {count} of {of}",
    "void": "{count:void part}",
    "short": "{count:step} too short",
    "unstable": "{count:untracked cell} unstable",
    # Tiles.
    "tile-own": "{name}",
    "tile-most": "{name}, most IOPS",
    "tile-cell": "{size:kib} {order} {way}",
    "tile-time": "{size:kib} {way} p50, p99.9",
    "tile-settled": "{label} fresh, settled",
    "tile-not-settled": "{label} fresh, last",
    "tile-idle": "No idle, {idle:g} s idle",
    "tile-recovery": "Recovery",
    "tile-point": "{point} IOPS",
    # The same under a heading of its own, where the demand stands apart.
    "titled-cell": "{size:block} {order} {way}",
    "titled-time": "{size:block} {way} latency",
    "titled-settled": "Writes, fresh to settled",
    "titled-not-settled": "Writes, fresh to last",
    "titled-idle": "Writes, no idle to {idle:g} s idle",
    "titled-recovery": "Recovery after random writes",
    "titled-point": "{label} {point}[ below {limit:g} ms mean]",
    "rounds": "rounds {least} to {most}",
    "rounds-equal": "equal in all rounds",
    "claimed": "claim {bound}: {share:share}",
    "bound-least": "at least {bound}",
    "bound-most": "at most {bound}",
    "count": "{value:,.6g}",
    # What a reader must know of a run.
    "deviations": "{count:deviation}: {listed}",
    "held": "Limits: {met} met, {missed} missed, {undecided} undecided (assay limits RUN)",
    "skipped": "{count:test} not run: {names}",
    "not-begun": "{count:test} not begun: {names}",
    # Why there is none.
    "point-not-run": "n/a: the point did not run",
    "no-baseline": "n/a: no steady baseline, {outstanding:,} outstanding",
    "not-whole": "n/a: not whole",
    "not-recovered": "n/a: not recovered",
    "no-level": "n/a: no settled level",
    "results-withheld": "n/a: results withheld",
    "no-stage": "n/a: no stage ran to its end",
    "few-seconds": "n/a: fewer than {count} I/Os in the median second, too few to judge seconds by",
    "not-whole-run": "n/a: did not run whole",
    "withheld": "n/a: {reason}",
    "few-rounds": "n/a: {count:complete round}, a measurement window needs five",
    "few-beyond": "n/a: fewer than ten I/Os beyond",
    "not-applicable": "N/A",
    # Numbers in a statement.
    "amount": "{value:si} {unit}",
    "exact": "{value:,}",
    "throughput": "{value:thousands} MB/s",
    "time": "{value:span}",
    "ratio": "{value:times}",
    # What a drive is good for, where nothing speaks against it.
    "good-for": "{name}: {value}[, {share:share} of its link]",
}


_ENDINGS = {
    None: "unfinished",
    "steady": "steady state",
    "round-limit": "the last allowed round is over, without steady state",
    "time": "its time is over",
    "amount": "its amount is written",
    "no-completions": "no I/O completed, so that nothing can be judged",
    "incomplete": "not all of it was issued",
    "interrupted": "it was interrupted",
    "device-failure": "the drive failed, or stopped answering",
    "drive-changed": "the drive was changed, or used by others, under the test",
    "wrong-data": "the drive returned other data than were written",
    "timekeeping": "the host lost track of time",
    "store": "the run folder could not be written",
    "system": "the system refused what the run needed",
}


RAN_TO_ITS_END = frozenset({"steady", "round-limit", "time", "amount"})
"""Endings by a rule of the test itself."""
INCOMPLETE = "incomplete"
"""How a test ends of which less was issued than it asked for, though no I/O failed and nobody stopped it."""
NO_COMPLETIONS = "no-completions"
"""How a test ends in which a tracking variable would be zero for want of a completion: zeros are no value."""


def is_cut_short(ended: str | None) -> bool:
    """Whether a test ended before a rule of its own ended it, or has no end. Worked: ``interrupted`` -> it was."""
    return ended != NO_COMPLETIONS and ended not in RAN_TO_ITS_END


def ending_label(ended: str | None) -> str:
    """Why a test ended. ended : as stored; None where it has no end.

    Worked: ``"device-failure"`` -> ``"the drive failed, or stopped answering"``; ``"wear"``, of an error that no test
    foresees -> ``"an error ended it: wear"``.
    """
    return _ENDINGS.get(ended, f"an error ended it: {(ended or '').replace('-', ' ')}")


_EXIT_CODES = {
    0: "complete",
    1: "refused by the system",
    2: "wrong option, plan or target",
    3: "refused by the gate",
    4: "the drive failed or changed",
    5: "results withheld",
    6: "the run folder failed",
    7: "not steady",
    8: "limits not met",
    70: "defect of the program",
    130: "stopped",
}


def exit_words(code: int | None) -> str:
    """How a run ended. code : of its process, None where none is known.

    Worked: 7 -> ``not steady``; 99 -> ``exit code 99``; -9 -> ``ended by signal 9``; None -> ``exit code unknown``.
    """
    if code is None:
        return "exit code unknown"
    return f"ended by signal {-code}" if code < 0 else _EXIT_CODES.get(code, f"exit code {code}")


SELF_CHECKED = "self-checked"
NOT_CHECKED = "not checked here"
UNVERIFIED = "unverified"
VERIFIED_BUNDLE = "verified bundle"
BREAKS_RULES = f"{UNVERIFIED}: it breaks rules"
REDACTED = "redacted by its maker"
