"""The run folder: ``run.json``, an append-only journal with a hash chain, and Parquet for series and histograms.

Everything else is derived and can be rebuilt from it.
"""

RUN_DOCUMENT = "run.json"
JOURNAL_NAME = "journal.jsonl"
ORIGIN = "origin.json"
"""Where an imported run comes from."""
