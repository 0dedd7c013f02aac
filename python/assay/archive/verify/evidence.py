"""What a run folder holds, read once and as far as the rules before allow."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay.compare.limits.judge import held_of_plan
from assay.errors import InterruptedRunError
from assay.procedures.editions import stored_edition
from assay.report import render
from assay.run.plan_file import Plan
from assay.run.planning import plan_suite
from assay.run.store import TRACES
from assay.run.store.document import read_document
from assay.run.store.journal import AskedReader, read_journal, read_lines, superseded
from assay.run.store.read import read_steps, run_of
from assay.run.store.tables import trace_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import StepSpec, StoredRun
    from assay.run.planning import PlannedRun
    from assay.run.store.document import RunDocument, Steps
    from assay.run.store.journal import Entries, Entry

T = TypeVar("T")


# Without slots: what is read is kept in the instance.
@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A run folder under examination. Each property raises the reader's own AssayError where it cannot be had."""

    folder: Path

    @cached_property
    def head(self) -> tuple[bytes, RunDocument]:
        """``run.json`` as it is and as read."""
        return read_document(self.folder)

    def read_document(self) -> None:
        """Read it, for a rule that asks for nothing else. So does ``read_sequences``."""
        _ = self.head

    def read_sequences(self) -> None:
        """As ``read_document``."""
        _ = self.sequences

    @property
    def document(self) -> RunDocument:
        """``run.json`` as read."""
        return self.head[1]

    @cached_property
    def journal(self) -> Entries:
        """The journal, every hash checked."""
        return read_journal(self.folder, self.head[0])

    @cached_property
    def raw_lines(self) -> list[bytes]:
        """The whole lines of the journal as they are, whatever is wrong with them."""
        return read_lines(self.folder)

    @cached_property
    def sequences(self) -> tuple[tuple[Entry, Steps], ...]:
        """The lines of the journal that are sequences of steps, each with what it holds."""
        return tuple((entry, read_steps(entry)) for entry in self.journal.lines if entry.kind == "steps")

    @cached_property
    def left_out(self) -> frozenset[int]:
        """The ``seq`` of each line that begins a test which was cut short, run again, and is in no result."""
        return superseded(self.journal.lines)

    @cached_property
    def traces(self) -> tuple[str, ...]:
        """What the capture of each sequence is called, whether it was captured or not, in the order they ran."""
        return tuple(name for _, name in self._named)

    @cached_property
    def counted(self) -> tuple[tuple[Steps, str], ...]:
        """The sequences of the tests that count, in their order, each with the name of its capture."""
        steps = (steps for _, steps in self.sequences)
        return tuple(
            (step, name) for step, (begun, name) in zip(steps, self._named, strict=True) if begun not in self.left_out
        )

    @cached_property
    def _named(self) -> tuple[tuple[int, str], ...]:
        """Of each sequence the ``seq`` of the line that began its test, and the name of its capture."""
        taken, begun, test, found = Counter[str](), 0, "", list[tuple[int, str]]()
        sequences = {entry.seq: steps for entry, steps in self.sequences}
        for entry in self.journal.lines:
            if entry.kind == "test_started":
                begun, test = entry.seq, str(entry.data["settings"]["test"])
            elif entry.kind == "steps":
                steps = sequences[entry.seq]
                found.append((begun, f"{TRACES}/{trace_name(taken, test, steps.stage, steps.index)}"))
        return tuple(found)

    @cached_property
    def asked(self) -> dict[int, tuple[StepSpec, ...]]:
        """What each sequence was asked, by its ``seq``. Raises StoreError where a name stands for nothing."""
        reader, found = AskedReader(), {}
        sequences = {entry.seq: steps for entry, steps in self.sequences}
        for entry in self.journal.lines:
            if entry.kind == "asked":
                reader.take(entry)
            elif entry.kind == "steps":
                found[entry.seq] = reader.specs(sequences[entry.seq].asked, entry)
        return found

    @cached_property
    def run(self) -> StoredRun:
        """The run as its report reads it."""
        sequences = {entry.seq: steps for entry, steps in self.sequences}
        return run_of(self.folder, self.document, self.journal, sequences, histograms=True)

    @cached_property
    def planned(self) -> PlannedRun:
        """What the stored plan, edition and drive say that the tests do."""
        plan = Plan.model_validate(self.document.plan)
        return plan_suite(stored_edition(self.document.edition), plan, self.document.identity)

    @property
    def ran_to_its_end(self) -> bool:
        """Whether the run says that it ended by itself: not interrupted, not by an error, not cut."""
        last = self.journal.lines[-1] if self.journal.complete else None
        interrupted = InterruptedRunError.exit_code
        return last is not None and "message" not in last.data and last.data.get("exit_code") != interrupted

    def once(self, name: str, work: Callable[[], T]) -> T:
        """What some work on this evidence gives, done once and kept under a name."""
        kept: dict[str, Any] = self._kept
        if name not in kept:
            kept[name] = work()
        result: T = kept[name]
        return result

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    @cached_property
    def rendered(self) -> dict[str, bytes]:
        """The files of the report that hold numbers, rendered now, by name."""
        with tempfile.TemporaryDirectory(prefix="assay-verify-") as scratch:
            held = partial(held_of_plan, self.run)
            paths = render(self.run, Path(scratch), formats=["csv", "json"], held=held)
            return {path.name: path.read_bytes() for path in paths}

    def place(self, text: str) -> str:
        """A place as printed: without the folder. Worked: ``run/journal.jsonl:7`` -> ``journal.jsonl:7``."""
        return text.removeprefix(f"{self.folder}/")
