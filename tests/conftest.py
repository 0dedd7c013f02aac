"""Shared by all tests: the builders of synthetic records are importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "unit"))
