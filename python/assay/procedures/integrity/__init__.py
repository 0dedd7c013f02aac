"""Integrity of data (integrity).

Question:      Does the drive return what was written to it, at every address?
Source:        Address, run, thread and write number in every sector, as testers of integrity write them; the pieces of
               the quick variant are of this tool.
Purge:         none: data of earlier runs differ from the data of this run.
Precondition:  none.
Loop:          two passes over the whole drive with addressed data, SEQ 128 KiB writes, 1 thread, 32 outstanding I/Os;
               each is read back whole, the second after a cache flush. integrity-quick writes the head (1/4096 of the
               drive, 64 MiB to 2 GiB) and pieces of 256 KiB. Pieces lie in every stretch as long as the head; below and
               at powers of two; and at the end.
Result:        sectors that are not as they were written, by kind (zeros, stale, other run, misdirected, corrupt,
               unread), and their LBAs; the true capacity of a drive whose addresses wrap or end. Wrong data end the run
               with exit 4. Rates of the passes are withheld then.
"""

from __future__ import annotations

from functools import partial

from assay.procedures.integrity.plan import plan_passes, plan_quick, plan_whole
from assay.procedures.integrity.run import IntegritySettings
from assay.procedures.studies.plan import study
from assay.spec.lazy import later

_QUESTION = "Does the drive return what was written to it, at every address?"
_defined = partial(
    study,
    header=__doc__,
    preparation="None: no purge, and data of earlier runs differ from the data of this run.",
    planned=plan_passes,
    settings=IntegritySettings,
    report=later("assay.procedures.integrity.record", "integrity_shown"),
)

INTEGRITY = _defined(
    "integrity",
    title="Data Integrity",
    question=_QUESTION,
    outline="The whole drive is written twice with addressed data; each pass is read back, the second after a cache "
    "flush.",
    plan=plan_whole,
)

INTEGRITY_QUICK = _defined(
    "integrity-quick",
    title="Data Integrity, Quick",
    question="Is the drive as large as it says, and does a part of it return what was written?",
    outline="The head of the drive and pieces of the rest are written twice with addressed data; each pass is read "
    "back, the second after a cache flush.",
    plan=plan_quick,
)
