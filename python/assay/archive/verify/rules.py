"""The one table of rules: ``docs/rules.md`` is made from it, and every rule is bound to the function that checks it."""

from __future__ import annotations

from functools import partial

from assay.archive.verify import drive, folder, report, steps, verdicts
from assay.archive.verify.evidence import Rule
from assay.results import record

_FOLDER = "docs/formats/run-folder.md"
_JOURNAL = f"{_FOLDER}, Journal"
_RECORD = f"{_FOLDER}, Step record"
_AUDIT = "docs/guide/stimulus-audit.md"
_BOUNDARY = "ARCHITECTURE.md, The step boundary"
_TABLES = f"{_FOLDER}, Tables: CSV and workbook"

RULES: tuple[Rule, ...] = (
    Rule(id="F-01", part="folder", source=f"{_FOLDER}, Folders that others made", check=folder.document_form,
         sentence="run.json is a JSON object of the documented form, with every key once."),
    Rule(id="F-02", part="folder", source=_JOURNAL, check=folder.sealed_lines,
         sentence="Every line of the journal ends with the SHA-256 of the text before that hash."),
    Rule(id="F-03", part="folder", source=_JOURNAL, check=folder.chained_lines,
         sentence="Every line names its number and the SHA-256 of the previous line; the first line names that of "
                  "run.json."),
    Rule(id="F-04", part="folder", source=_JOURNAL, check=folder.line_forms,
         sentence="Every line of the journal is of a known kind, and its data have the form of that kind."),
    Rule(id="F-05", part="folder", source=f"{_JOURNAL}, asked", check=folder.asked_digests,
         sentence="The demand of steps has the digest that names it, and every name is written before its use."),
    Rule(id="F-06", part="folder", source=_JOURNAL, check=folder.line_order,
         sentence="The events of a test lie between its begin and its end. Tests follow each other after the "
                  "start of the run."),
    Rule(id="F-07", part="folder", source=_JOURNAL, check=folder.run_end,
         sentence="Nothing follows the end of a run."),
    Rule(id="F-08", part="folder", source=_FOLDER, check=folder.report_date_form,
         sentence="report_date.json, where present, holds the date of the report and nothing else."),
    Rule(id="T-01", part="tables", source=_JOURNAL, check=folder.table_digests,
         sentence="Every table of a sequence is present and has the SHA-256 that the journal names."),
    Rule(id="T-02", part="tables", source=_FOLDER, check=folder.table_names,
         sentence="Every sequence names the tables of its number that its steps fill, and no others."),
    Rule(id="T-03", part="tables", source=_FOLDER, check=folder.unnamed_tables,
         sentence="Every table in the folder is named by a sequence, except those of an interrupted sequence."),
    Rule(id="T-04", part="tables", source=_FOLDER, check=folder.table_forms,
         sentence="Every table has the columns of its kind, and rows of its steps, their seconds and known buckets."),
    Rule(id="T-05", part="tables", source=_FOLDER, check=folder.table_rows,
         sentence="The rows of a table ascend by step, direction and bucket or second, without duplicates; a series "
                  "has every second."),
    Rule(id="T-06", part="tables", source=_FOLDER, check=folder.captures,
         sentence="The completions of every captured sequence are present, belong to its steps and lie on the drive."),
    Rule(id="W-01", part="steps", source=_JOURNAL, check=steps.labels,
         sentence="A step has the name of its demand. Parallel steps that ran to their end moved the amount of their "
                  "stop rule together."),
    Rule(id="W-02", part="steps", source=_RECORD, check=steps.succession,
         sentence="A window opens a lead-in after the end of the previous window. Equal steps have no lead-in. A "
                  "sequence begins after the end of the previous sequence."),
    Rule(id="W-03", part="steps", source=_RECORD, check=partial(steps.contradicted, record.carried),
         sentence="Equal steps carry in only I/Os in flight at the end of the previous step. Their time matches to the "
                  "nanosecond."),
    Rule(id="W-04", part="steps", source=f"{_BOUNDARY}; {_AUDIT}", check=steps.littles_integral,
         sentence="The time integral of I/Os in flight is the time of the window's I/Os, plus carried in, less "
                  "carried out. It is exact to the nanosecond (Little's law)."),
    Rule(id="W-05", part="steps", source=_AUDIT,
         check=partial(steps.contradicted, record.depth),
         sentence="Mean I/Os in flight never exceed thread count times queue depth."),
    Rule(id="W-06", part="steps", source=_BOUNDARY, check=steps.submissions,
         sentence="The I/Os of a step are issued between the end of the previous step and the end of its window."),
    Rule(id="W-07", part="steps", source=_RECORD, check=partial(steps.contradicted, record.threads),
         sentence="The mean I/O count per thread lies between the lowest and the highest count."),
    Rule(id="W-08", part="steps", source=_RECORD, check=steps.arrivals,
         sentence="A step has due I/Os if and only if it has a rate of arrivals."),
    Rule(id="W-09", part="steps", source=_AUDIT, check=partial(steps.contradicted, record.sizes),
         sentence="I/Os of a fixed size move that size each; steps of only reads or only writes hold no other I/Os."),
    Rule(id="W-10", part="steps", source=_AUDIT, check=partial(steps.contradicted, record.counters),
         sentence="The drive's counters report at least the issued bytes, sequence by sequence."),
    Rule(id="W-11", part="steps", source=f"{_AUDIT}; {_RECORD}",
         check=partial(steps.contradicted, record.histogram_counts),
         sentence="Histograms of window and lead-in count the I/Os that the step issued there, in each direction."),
    Rule(id="W-12", part="steps", source=f"{_FOLDER}, Histogram buckets",
         check=partial(steps.contradicted, record.histogram_ends),
         sentence="The shortest and longest response times lie in the first and last buckets. Their sum lies between "
                  "the sums of the buckets' limits."),
    Rule(id="W-13", part="steps", source=f"{_AUDIT}; {_RECORD}", check=steps.series_sums,
         sentence="The seconds of a window add up to its I/Os and bytes. Their response times add up to at most those "
                  "of the I/Os that can end there."),
    Rule(id="W-14", part="steps", source=_AUDIT, check=steps.captured_times,
         sentence="Captures hold every I/O of a step, in the counted buckets and with their sum."),
    Rule(id="W-15", part="steps", source=_FOLDER, check=steps.replayed_ios,
         sentence="A replay issues the I/Os of its file, all of them on the drive and in the order of their times."),
    Rule(id="W-16", part="steps", source=_AUDIT, check=steps.addresses,
         sentence="Every I/O is on the grid of its step; in a sequential step each I/O starts at the end of the "
                  "previous I/O."),
    Rule(id="D-01", part="drive", source=f"{_FOLDER}, run.json", check=drive.names,
         sentence="A simulated drive is named by sim:, a real drive never is."),
    Rule(id="D-02", part="drive", source=f"{_JOURNAL}, purged", check=drive.purges,
         sentence="The purge of a simulated drive is simulated. That of a real drive is a purge that this tool knows."),
    Rule(id="D-03", part="drive", source=f"{_JOURNAL}, steps", check=drive.hosts,
         sentence="Every sequence on a real drive has a record of the host; none on a simulated drive has."),
    Rule(id="D-04", part="drive", source=_RECORD, check=drive.processor_times,
         sentence="Every whole sequence on a real drive states CPU time; none on a simulated drive does."),
    Rule(id="D-05", part="drive", source=f"{_JOURNAL}, looked", check=drive.looks, applies=drive.is_watched,
         sentence="Every ended test of a real drive looked for other users; no test of a simulated drive did."),
    Rule(id="V-01", part="verdicts", source=f"{_JOURNAL}, test_started", check=verdicts.settings,
         sentence="The seed and the tests are those of the plan, with the settings that plan, edition and drive give."),
    Rule(id="V-02", part="verdicts", source=f"{_FOLDER}, run.json", check=verdicts.deviations,
         sentence="The stored deviations and left-out tests are those that plan, edition and drive give."),
    Rule(id="V-03", part="verdicts", source="docs/procedures",
         check=partial(verdicts.replayed, "sequence"),
         sentence="The sequences of a test, with every step, follow in order from its settings and from earlier "
                  "measurements."),
    Rule(id="V-04", part="verdicts", source="PTS 2.0.2, section 2.1.24 (steady state)",
         check=partial(verdicts.replayed, "verdict"),
         sentence="Every stored verdict is the verdict of its rounds by exact arithmetic."),
    Rule(id="V-05", part="verdicts", source="docs/procedures", check=partial(verdicts.replayed, "ending"),
         sentence="A test ended where and why its rules say, or was interrupted."),
    Rule(id="V-06", part="verdicts", source=f"{_JOURNAL}, stall", check=verdicts.stalls,
         sentence="Every stall of the drive of a second or more is noted after its sequence, and nothing else is."),
    Rule(id="V-07", part="verdicts", source="README.md, exit codes", check=verdicts.exit_code,
         sentence="The exit code of a run that ended by itself says if results are withheld or a steady state was "
                  "missed."),
    Rule(id="V-08", part="verdicts", source=f"{_JOURNAL}, read_back", check=verdicts.read_backs,
         sentence="Written data are read back after each preparation and at the end of a test. Wrong data end the test "
                  "and withhold its results."),
    Rule(id="R-01", part="report", source="docs/guide/trust.md",
         check=partial(report.results_faults, {"label", "deviations"}),
         sentence="The label and the deviations in report/results.json match the run."),
    Rule(id="R-02", part="report", source="docs/guide/results.md",
         check=partial(report.results_faults, {"findings"}), of_form=True,
         sentence="The findings in report/results.json match the run."),
    Rule(id="R-03", part="report", source=f"{_FOLDER}, report/", check=report.results, of_form=True,
         sentence="Every value in report/results.json, and every byte, equals a new computation."),
    Rule(id="R-04", part="report", source=_TABLES, check=report.tables, of_form=True,
         sentence="The CSV files of the report equal a new rendering, byte for byte."),
)  # fmt: skip
"""In the order in which they are checked and printed."""
