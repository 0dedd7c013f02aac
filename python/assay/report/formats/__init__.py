"""What a report is written as. Nothing of it is loaded here."""

from __future__ import annotations

from typing import Literal

Format = Literal["pdf", "html", "csv", "xlsx", "json"]
FORMATS: tuple[Format, ...] = ("pdf", "html", "csv", "xlsx", "json")
RESULTS = "results.json"
"""The file of the format ``json``."""
