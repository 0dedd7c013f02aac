"""Stored runs for Python: facts, numbers, seconds, histograms and findings as tables; see ``assay.load``."""

from assay.frames.library import FrameLibrary
from assay.frames.load import LoadedRun, LoadedTest, load_run
from assay.frames.tables import RunTables, TestTables

__all__ = ["FrameLibrary", "LoadedRun", "LoadedTest", "RunTables", "TestTables", "load_run"]
