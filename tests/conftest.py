"""Shared by all tests: the builders of synthetic records are importable by name."""

import signal
import sys
from pathlib import Path

# A test run started in the background ignores Ctrl-C, and so would every process that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(Path(__file__).parent / "unit"))
