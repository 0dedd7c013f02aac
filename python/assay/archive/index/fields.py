"""Which fields of a run in a list are columns of the index under the same name, for those who write and who read it."""

from __future__ import annotations

PLAIN_FIELDS = (
    "run_id", "run_schema", "name", "started", "started_wall_ns", "tool_version", "edition", "suite", "operator", "lab",
    "host", "system", "label", "label_class", "level", "drive", "journal_hash", "journal_lines", "exit_code",
    "numbers_fault",
)  # fmt: skip
"""Texts and numbers, which both databases give back as they were stored."""
FLAG_FIELDS = ("complete", "interrupted")
"""Which SQLite gives back as 0 and 1."""
