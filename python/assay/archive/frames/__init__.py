"""Stored runs for Python: facts, numbers, seconds, histograms and findings as tables; see ``assay.load``."""

from assay.archive.frames.library import FrameLibrary
from assay.archive.frames.load import LoadedRun, LoadedTest, load_run
from assay.archive.frames.tables import RunTables, TestTables

__all__ = ["FrameLibrary", "LoadedRun", "LoadedTest", "RunTables", "TestTables", "load_run"]
