"""I/Os on their way down the stack: what an application issued against what the device received, shown live."""

from assay.tools.iostack.records import IssuedIo, StackExample, StackPhase, StackTrace
from assay.tools.iostack.run import trace_drive, trace_folder

__all__ = ["IssuedIo", "StackExample", "StackPhase", "StackTrace", "trace_drive", "trace_folder"]
