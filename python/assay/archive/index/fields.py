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
ROW_FIELDS = (
    "key", "site", "parent", "folder", "look", "made_by", "missing_since_ns", "address", "drive_address", *PLAIN_FIELDS,
    *FLAG_FIELDS, "deviations", "exit_codes", "fault", "drive_id", "drive_kind", "drive_model", "drive_serial",
    "drive_firmware", "drive_capacity_bytes", "written_bytes", "wear_pct_first", "wear_pct_last", "temperature_c_max",
    "health",
)  # fmt: skip
"""Columns of a run that lists read: all but those that are only searched."""
