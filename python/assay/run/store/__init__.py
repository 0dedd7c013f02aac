"""The run folder: ``run.json``, an append-only journal with a hash chain, and Parquet for series and histograms.

Everything else is derived and can be rebuilt from it.
"""

RUN_DOCUMENT = "run.json"
JOURNAL_NAME = "journal.jsonl"
TRACES = "traces"
"""Folder of captured completions."""
PROGRESS = "progress.json"
LIVE = "live.bin"
"""While the run goes on, and after one that was killed; so is the file before."""
ORIGIN = "origin.json"
"""Where an imported run comes from."""
