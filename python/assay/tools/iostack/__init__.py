"""I/Os on their way down the stack: what an application issued against what the device received, shown live."""

from assay.tools.iostack.run import trace_drive, trace_folder
from assay.tools.iostack.watch import IssuedIo, StackExample, StackPhase, StackTrace

__all__ = ["IssuedIo", "StackExample", "StackPhase", "StackTrace", "trace_drive", "trace_folder"]
