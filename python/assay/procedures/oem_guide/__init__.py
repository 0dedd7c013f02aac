"""OEM guide (oem-guide).

Question:      What does a drive do by the method that guides for OEMs prescribe with Iometer?
Source:        Viking application note AN0006, tables 3-1 to 3-3 (2010). Its run time of 30 s and ramp-up of 10 s.
Purge:         before every variant.
Precondition:  burn-in by SEQ 128 KiB writes for 2 h, a setting (the guide: 2 to 3 h); before the other variants
               sequential writes of their data over the drive.
Loop:          ten seconds without an I/O, to count those of others; after the burn-in SEQ 128 KiB reads and writes and
               RND 4 KiB reads and writes with 32 outstanding I/Os of a single worker; the same four at 1, 2, 4, 8, 16
               and 32 outstanding. Variants: the four tests begun at 63 sectors of 512 bytes, and with data that
               compress to 5 %, which is the guide's entropy of 0 % as far as the stimulus makes it. The offset is left
               out where it is no multiple of the drive's block.
Result:        the guide's table; IOPS and mean response time over queue depth; the four tests against those off the
               alignment and with other data; whether the drive was idle but for the test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.departures import shortened
from assay.procedures.oem_guide.checks import burn_in_ns
from assay.procedures.oem_guide.options import BURN_IN_HOURS, GuideOptions
from assay.procedures.oem_guide.pages import guide_report
from assay.procedures.oem_guide.plan import RAMP_SECONDS, RUN_SECONDS, plan_guide, plan_tests
from assay.procedures.studies.define import study, study_departures
from assay.spec.units import HOUR_SECONDS, SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredTest
    from assay.procedures.studies.settings import StudySettings


def guide_departures(
    settings: StudySettings, table: object, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """As of every study; beside that a burn-in that is shorter than the guide's."""
    yield from study_departures(settings, table, drive, test)
    asked_s = BURN_IN_HOURS * HOUR_SECONDS
    if burn_in_ns(settings) < asked_s * SECOND_NS:
        yield from shortened("oem-guide: burn-in", burn_in_ns(settings), asked_s)


OEM_GUIDE = study(
    "oem-guide",
    header=__doc__,
    title="OEM Guide",
    question="What does the drive do by the method that guides for OEMs prescribe with Iometer?",
    outline="Four corner tests of {run} after {ramp} of ramp-up, aligned, at 1 to 32 outstanding I/Os, off the "
    "alignment and with data that compress.",
    preparation="Purge and {burn} of sequential writes; off the alignment and for data that compress purge and "
    "sequential writes over the drive.",
    words={
        "burn": duration_label(round(BURN_IN_HOURS * HOUR_SECONDS) * SECOND_NS),
        "run": duration_label(round(RUN_SECONDS * SECOND_NS)),
        "ramp": duration_label(round(RAMP_SECONDS * SECOND_NS)),
    },
    plan=plan_guide,
    planned=plan_tests,
    options=GuideOptions,
    options_name="oem_guide",
    report=guide_report,
    departures=guide_departures,
)
