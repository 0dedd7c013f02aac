"""Departures from an edition that a stored run shows by itself, and how far it conforms, as every page prints it.

Every test says how it departs, before its run from its settings and afterwards from what ran; the words are the same,
so that nothing is listed twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import common_departures
from assay.procedures.editions import edition_departures, stored_edition
from assay.procedures.registry import find_procedure
from assay.results.ended import ran_to_its_end
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import short_windows
from assay.words.printed import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredRun, StoredTest
    from assay.spec.edition import Edition


def derived_deviations(run: StoredRun) -> tuple[str, ...]:
    """Every departure that the stored tests of a run show, once, in the order of the tests.

    Worked: a run whose cells took 0.6 s of an edition's minute -> ``"cells of 0.6 s instead of 1 min"``, also where the
    run says that they took a minute.
    Raises StoreError where the run's edition is not one of this version.
    """
    edition = stored_edition(run.edition)
    deviations = [line for test in run.tests for line in _of_test(test, edition, run.identity)]
    return tuple(dict.fromkeys([*(edition_departures(edition) if run.tests else ()), *deviations]))


def _of_test(test: StoredTest, edition: Edition, drive: DriveIdentity) -> Iterator[str]:
    settings = test.settings
    procedure = find_procedure(settings.procedure)
    table = edition.table(procedure.name)
    if procedure.table is not None and table is None:
        yield f"{settings.test} is no test of {edition.title}"
    else:
        yield from procedure.departures(settings, table, drive, test)
    yield from common_departures(settings, edition, drive)
    if test.purge is None and settings.purges and ran_to_its_end(test):
        yield f"no purge of {settings.test} is recorded"
    yield from _short_windows(test)


def _short_windows(test: StoredTest) -> Iterator[str]:
    """Windows in which fewer I/Os completed than were outstanding: their rate rests on too few."""
    for told in short_window_text(test):
        yield f"short window: {told}"


def short_window_text(test: StoredTest) -> Iterator[str]:
    """How many windows of a test are shorter than its queue, none where none is.

    Worked: 772 completions with 1,024 outstanding -> ``"1 window of tp-1024 with fewer completions than I/Os ..."``.
    """
    result = short_windows(tuple(asked_steps(test)))
    if result:
        fewest, where = min((count, str(place)) for place, count in result.items())
        number = "1 window" if len(result) == 1 else f"{len(result)} windows"
        least = f"the least {fewest} in {where}"
        yield f"{number} of {test.settings.test} with fewer completions than I/Os outstanding, {least}"


_SIMULATED = "simulated drive"


def conformity_label(run: StoredRun) -> str:
    """Name the class of a run as each page prints it.

    It is derived from what ran, not believed: see ``assay.procedures.conformity``.
    Returns ``conforming`` (real drive and no deviation), ``not conforming: <list>`` or ``simulated drive``,
    the last with its deviations where there are any.
    Worked: a simulated drive without deviations -> ``"simulated drive"``.
    """
    result = "; ".join(deviations(run))
    return f"{conformity_head(run)}: {result}" if result else conformity_head(run)


def conformity_head(run: StoredRun) -> str:
    """The label without its list. Worked: a simulated drive that departs -> ``"simulated drive; not conforming"``."""
    name = conformity_class(run)
    return f"{name}; not conforming" if name == _SIMULATED and deviations(run) else name


def conformity_class(run: StoredRun) -> str:
    """The class of a run in one or two words: ``conforming``, ``not conforming`` or ``simulated drive``."""
    if run.identity.kind == "simulated":
        return _SIMULATED
    return "not conforming" if deviations(run) else "conforming"


def deviations(run: StoredRun) -> tuple[str, ...]:
    """List every deviation once: the run's own list, then what its tests show, then a purge's."""
    listed = [paragraph(text) for text in run.deviations]
    shown = (paragraph(text) for text in derived_deviations(run))
    listed += [text for text in shown if text not in listed]
    for text in (paragraph(test.purge.deviation) for test in run.tests if test.purge and test.purge.deviation):
        if not any(text in known for known in listed):
            listed.append(text)
    return tuple(listed)
