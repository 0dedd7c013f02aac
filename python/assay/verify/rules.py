"""The one table of rules: ``docs/rules.md`` is made from it, and every rule is bound to the function that checks it."""

from __future__ import annotations

from assay.verify import counts, folder, replayed, report, steps, tables, verdicts
from assay.verify.rule import Rule

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
         sentence="Every line of the journal ends with the SHA-256 of what stands before that hash."),
    Rule(id="F-03", part="folder", source=_JOURNAL, check=folder.chained_lines,
         sentence="Every line names its number and the SHA-256 of the line before it, the first that of run.json."),
    Rule(id="F-04", part="folder", source=_JOURNAL, check=folder.line_forms,
         sentence="Every line of the journal is of a known kind, and its data have the form of that kind."),
    Rule(id="F-05", part="folder", source=f"{_JOURNAL}, asked", check=folder.asked_digests,
         sentence="What steps were asked has the digest that names it, and every name is written before its use."),
    Rule(id="F-06", part="folder", source=_JOURNAL, check=folder.line_order,
         sentence="What happens in a test stands between its begin and its end, and tests follow each other."),
    Rule(id="F-07", part="folder", source=_JOURNAL, check=folder.run_end,
         sentence="Nothing stands behind the end of a run."),
    Rule(id="F-08", part="folder", source=_FOLDER, check=folder.report_date_form,
         sentence="report_date.json, where it is there, holds the date of the report and nothing else."),
    Rule(id="T-01", part="tables", source=_JOURNAL, check=tables.table_digests,
         sentence="Every table of a sequence is there and has the SHA-256 that the journal names."),
    Rule(id="T-02", part="tables", source=_FOLDER, check=tables.table_names,
         sentence="Every sequence names the tables of its number that its steps fill, and no others."),
    Rule(id="T-03", part="tables", source=_FOLDER, check=tables.unnamed_tables,
         sentence="No table lies in the folder that no sequence names, but those of a sequence that was cut short."),
    Rule(id="T-04", part="tables", source=_FOLDER, check=tables.table_forms,
         sentence="Every table has the columns of its kind, and rows of its steps, their seconds and known buckets."),
    Rule(id="T-05", part="tables", source=_FOLDER, check=tables.table_rows,
         sentence="The rows of a table ascend by step, direction and bucket or second, none comes twice, and a series "
                  "leaves no second out."),
    Rule(id="T-06", part="tables", source=_FOLDER, check=tables.captures,
         sentence="The completions of every sequence that was to be captured are there, of its steps, on the drive."),
    Rule(id="W-01", part="steps", source=_JOURNAL, check=steps.labels,
         sentence="A step has the name of what was asked of it, and one that ran to its end moved as much as was "
                  "asked."),
    Rule(id="W-02", part="steps", source=_RECORD, check=steps.succession,
         sentence="A window opens where the one before it ended, a lead-in later; equal steps have no lead-in, and a "
                  "sequence begins behind the one before it."),
    Rule(id="W-03", part="steps", source=_RECORD, check=steps.carried,
         sentence="What equal steps carry into a window was in flight at the end of the step before, in I/Os and to "
                  "the nanosecond."),
    Rule(id="W-04", part="steps", source=f"{_BOUNDARY}; {_AUDIT}", check=steps.littles_integral,
         sentence="The time integral of the outstanding I/Os is the time of the window's I/Os, with what was carried "
                  "in and less what was carried out, to the nanosecond (Little's law)."),
    Rule(id="W-05", part="steps", source=_AUDIT,
         check=steps.depth, sentence="No more I/Os are outstanding in the mean than thread count times queue depth."),
    Rule(id="W-06", part="steps", source=_BOUNDARY, check=steps.submissions,
         sentence="The I/Os of a step are issued between the end of the step before and the end of its own window."),
    Rule(id="W-07", part="steps", source=_RECORD, check=steps.threads,
         sentence="The mean of the threads' I/Os lies between those of the thread with the fewest and with the most."),
    Rule(id="W-08", part="steps", source=_RECORD, check=steps.arrivals,
         sentence="A step has due I/Os where a rate of arrivals was asked for, and only there."),
    Rule(id="W-09", part="steps", source=_AUDIT, check=steps.sizes,
         sentence="I/Os of one size move that size each, and steps of reads or of writes alone hold no others."),
    Rule(id="W-10", part="steps", source=_AUDIT, check=steps.against_counters,
         sentence="The drive's own counters count at least the bytes that were issued, sequence by sequence."),
    Rule(id="W-11", part="steps", source=f"{_AUDIT}; {_RECORD}", check=counts.histogram_counts,
         sentence="Histograms of window and lead-in count the I/Os that the step issued there, in each direction."),
    Rule(id="W-12", part="steps", source=f"{_FOLDER}, Histogram buckets", check=counts.histogram_ends,
         sentence="The smallest and the largest response time lie in the first and the last bucket, and their sum "
                  "between the sums of the buckets' limits."),
    Rule(id="W-13", part="steps", source=f"{_AUDIT}; {_RECORD}", check=counts.series_sums,
         sentence="The seconds of a window add up to its I/Os and bytes, and their response times to no more than "
                  "those of the I/Os that can have ended there."),
    Rule(id="W-14", part="steps", source=_AUDIT, check=counts.captured_times,
         sentence="Captures hold every I/O of a step, in the buckets that were counted and with their sum."),
    Rule(id="W-15", part="steps", source=_FOLDER, check=replayed.replayed_ios,
         sentence="What a replay issued are the I/Os of its file, all of them on the drive and in the order of their "
                  "times."),
    Rule(id="W-16", part="steps", source=_AUDIT, check=steps.places,
         sentence="No I/O was issued off the grid of its step, and where none is random each went on where the one "
                  "before it ended."),
    Rule(id="V-01", part="verdicts", source=f"{_JOURNAL}, test_started", check=verdicts.settings,
         sentence="The tests are those of the plan, with the settings that plan, edition and drive give."),
    Rule(id="V-02", part="verdicts", source=f"{_FOLDER}, run.json", check=verdicts.deviations,
         sentence="The stored deviations and left-out tests are those that plan, edition and drive give."),
    Rule(id="V-03", part="verdicts", source="docs/procedures",
         check=verdicts.sequences,
         sentence="The sequences of a test, with every step, are those that it asks for by its settings and by what "
                  "was measured before, in this order."),
    Rule(id="V-04", part="verdicts", source="PTS 2.0.2, section 2.1.24 (steady state)", check=verdicts.verdicts,
         sentence="Every stored verdict is the one that its rounds give by exact arithmetic."),
    Rule(id="V-05", part="verdicts", source="docs/procedures", check=verdicts.endings,
         sentence="A test ended where and why its own rules say, or was cut short."),
    Rule(id="V-06", part="verdicts", source=f"{_JOURNAL}, stall", check=verdicts.stalls,
         sentence="Every silence of the drive of a second or more is noted behind its sequence, and no other."),
    Rule(id="V-07", part="verdicts", source="README.md, exit codes", check=verdicts.exit_code,
         sentence="A run that ended by itself says with its exit code whether results are withheld or a steady state "
                  "was missed."),
    Rule(id="R-01", part="report", source="docs/guide/trust.md", check=report.label,
         sentence="The label and the deviations in report/results.json are those of what ran."),
    Rule(id="R-02", part="report", source="docs/guide/results.md", check=report.findings, of_form=True,
         sentence="The findings in report/results.json are those of what ran."),
    Rule(id="R-03", part="report", source=f"{_FOLDER}, report/", check=report.results, of_form=True,
         sentence="Every value in report/results.json is the one that is worked out now, and so are its bytes."),
    Rule(id="R-04", part="report", source=_TABLES, check=report.tables, of_form=True,
         sentence="The CSV files of the report are those that are rendered now, byte for byte."),
)  # fmt: skip
"""In the order in which they are checked and printed."""
