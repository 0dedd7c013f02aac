"""OEM Guide.

Question:      What does the drive do by the method that guides for OEMs prescribe with Iometer?
Source:        Viking application note AN0006, tables 3-1 to 3-3 (2010). Its run time of 30 s and ramp-up of 10 s.
Preparation:   Purge and {burn} of sequential writes; off the alignment and for data that compress purge and
               sequential writes over the drive.
Loop:          Four corner tests of {run} after {ramp} of ramp-up, aligned, at 1 to 32 outstanding I/Os, off the
               alignment and with data that compress.
Tests:         ten seconds without an I/O, to count those of others; after the burn-in SEQ 128 KiB reads and writes and
               RND 4 KiB reads and writes with 32 outstanding I/Os of a single worker; the same four at 1, 2, 4, 8, 16
               and 32 outstanding. The burn-in is a setting (the guide: 2 to 3 h).
Variants:      the four tests begun at 63 sectors of 512 bytes, and with data that compress to 5 %, which is the guide's
               entropy of 0 % as far as the stimulus makes it. The offset is left out where it is no multiple of the
               drive's block.
Result:        the guide's table; IOPS and mean response time over queue depth; the four tests against those off the
               alignment and with other data; whether the drive was idle but for the test.
"""

from __future__ import annotations

from assay.procedures.oem_guide.plan import (
    BURN_IN_HOURS,
    RAMP_SECONDS,
    RUN_SECONDS,
    GuideOptions,
    guide_departures,
    plan_guide,
    plan_tests,
)
from assay.procedures.studies.plan import study
from assay.spec.lazy import later
from assay.spec.units import HOUR_SECONDS, SECOND_NS, duration_label

OEM_GUIDE = study(
    "oem-guide",
    header=__doc__,
    words={
        "burn": duration_label(round(BURN_IN_HOURS * HOUR_SECONDS) * SECOND_NS),
        "run": duration_label(round(RUN_SECONDS * SECOND_NS)),
        "ramp": duration_label(round(RAMP_SECONDS * SECOND_NS)),
    },
    plan=plan_guide,
    planned=plan_tests,
    options=GuideOptions,
    options_name="oem_guide",
    report=later("assay.procedures.oem_guide.record", "guide_shown"),
    departures=guide_departures,
)
