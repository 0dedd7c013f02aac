"""What a rule is, and the run folder that rules read: each part once, and only as far as earlier rules allow."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from assay.compare.limits.judge import held_of_plan
from assay.engine.codec import parse
from assay.errors import InterruptedRunError, StoreError
from assay.procedures.editions import stored_edition
from assay.report import render
from assay.run.plan_file import Plan
from assay.run.planning import plan_suite
from assay.run.store import RUN_DOCUMENT, TRACES
from assay.run.store.document import RUN_SCHEMA, read_document, read_head
from assay.run.store.journal import AskedReader, read_journal, read_lines, superseded
from assay.run.store.read import read_steps, run_of
from assay.run.store.tables import trace_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.engine.records import StepSpec, StoredRun
    from assay.run.planning import PlannedRun
    from assay.run.store.document import RunDocument, Steps
    from assay.run.store.journal import Entries, Entry


Part = Literal["folder", "tables", "steps", "drive", "verdicts", "report"]
PARTS: tuple[Part, ...] = ("folder", "tables", "steps", "drive", "verdicts", "report")
"""In the order in which they are checked. If a rule of the first two parts is broken, the later parts stay unchecked:
they rest on damaged files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One place where a rule does not hold. place : file, line, step or key. found, expected : as printed."""

    place: str
    found: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that every run folder holds to.

    id : stable, such as ``W-05``. sentence : the rule. source : a document of this project, or the specification.
    check : yields every place of a run folder where the rule does not hold. of_form : the rule compares values that
    only one version of the report's form has. applies : whether the run stores what the rule needs; if not, the rule
    stays unchecked.
    """

    id: str
    part: Part
    sentence: str
    source: str
    check: Callable[[Evidence], Iterable[Broken]]
    of_form: bool = False
    applies: Callable[[Evidence], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A place where a run folder breaks a rule, with the value there and the expected value."""

    rule: str
    place: str
    found: str
    expected: str


T = TypeVar("T")


# Without slots: what is read is kept in the instance.
@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A run folder under examination. A property that cannot be read raises the AssayError of its reader."""

    folder: Path

    @cached_property
    def head(self) -> tuple[bytes, RunDocument]:
        """The bytes of ``run.json``, and the document."""
        return read_document(self.folder)

    def read_document(self) -> None:
        """Read ``run.json``, for a rule that needs only its form."""
        _ = self.head

    def read_sequences(self) -> None:
        """Read every sequence of steps, for a rule that needs only their form."""
        _ = self.sequences

    @property
    def document(self) -> RunDocument:
        """The document of ``run.json``."""
        return self.head[1]

    @cached_property
    def journal(self) -> Entries:
        """The journal, every hash checked."""
        return read_journal(self.folder, self.head[0])

    @cached_property
    def raw_lines(self) -> list[bytes]:
        """The whole lines of the journal as bytes, also damaged ones."""
        return read_lines(self.folder)

    @cached_property
    def sequences(self) -> tuple[tuple[Entry, Steps], ...]:
        """The lines of the journal that are sequences of steps, each with its steps."""
        return tuple((entry, read_steps(entry)) for entry in self.journal.lines if entry.kind == "steps")

    @cached_property
    def left_out(self) -> frozenset[int]:
        """The ``seq`` of each line that begins a test which was cut short, run again, and is in no result."""
        return superseded(self.journal.lines)

    @cached_property
    def traces(self) -> tuple[str, ...]:
        """The name of the capture of each sequence in the order they ran, also where none was captured."""
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
        """For each sequence the ``seq`` of the line that began its test, and the name of its capture."""
        taken, begun, test, named = Counter[str](), 0, "", list[tuple[int, str]]()
        sequences = {entry.seq: steps for entry, steps in self.sequences}
        for entry in self.journal.lines:
            if entry.kind == "test_started":
                begun, test = entry.seq, str(entry.data["settings"]["test"])
            elif entry.kind == "steps":
                steps = sequences[entry.seq]
                named.append((begun, f"{TRACES}/{trace_name(taken, test, steps.stage, steps.index)}"))
        return tuple(named)

    @cached_property
    def asked(self) -> dict[int, tuple[StepSpec, ...]]:
        """The demand of each sequence by its ``seq``. Raises StoreError if a name has no demand."""
        reader, specs = AskedReader(), {}
        sequences = {entry.seq: steps for entry, steps in self.sequences}
        for entry in self.journal.lines:
            if entry.kind == "asked":
                reader.take(entry)
            elif entry.kind == "steps":
                specs[entry.seq] = reader.specs(sequences[entry.seq].asked, entry)
        return specs

    @cached_property
    def run(self) -> StoredRun:
        """The run as the report reads it."""
        sequences = {entry.seq: steps for entry, steps in self.sequences}
        return run_of(self.folder, self.document, self.journal, sequences, histograms=True)

    @cached_property
    def planned(self) -> PlannedRun:
        """The tests that follow from the stored plan, edition and drive."""
        plan = Plan.model_validate(self.document.plan)
        return plan_suite(stored_edition(self.document.edition), plan, self.document.identity)

    @property
    def ran_to_its_end(self) -> bool:
        """Whether the run ended by itself: no interrupt, no error, no cut journal."""
        last = self.journal.lines[-1] if self.journal.complete else None
        interrupted = InterruptedRunError.exit_code
        return last is not None and "message" not in last.data and last.data.get("exit_code") != interrupted

    def once(self, name: str, work: Callable[[], T]) -> T:
        """The result of ``work``, which is done once and kept under a name."""
        if name not in self._kept:
            self._kept[name] = work()
        result: T = self._kept[name]
        return result

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    @cached_property
    def rendered(self) -> dict[str, bytes]:
        """The files of a new rendering that hold numbers, by name."""
        with tempfile.TemporaryDirectory(prefix="assay-verify-") as scratch:
            held = partial(held_of_plan, self.run)
            paths = render(self.run, Path(scratch), formats=["csv", "json"], held=held)
            return {path.name: path.read_bytes() for path in paths}

    def place(self, text: str) -> str:
        """A place as printed: without the folder. Worked: ``run/journal.jsonl:7`` -> ``journal.jsonl:7``."""
        return text.removeprefix(f"{self.folder}/")


def refuse_unreadable(folder: Path) -> None:
    """Raise StoreError if a folder is no run, cannot be read, or has a form that this version does not know."""
    head = read_head(folder)
    read_lines(folder)
    try:
        schema = parse(head, name=RUN_DOCUMENT).get("schema")
    except StoreError:
        # Damaged: a rule says so.
        return
    if isinstance(schema, int) and schema > RUN_SCHEMA:
        path = str(folder / RUN_DOCUMENT)
        raise StoreError(path, f"has form {schema}; this version knows {RUN_SCHEMA}", "verify it with a newer version")
