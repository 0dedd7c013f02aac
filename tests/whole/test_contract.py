"""What every kind of test keeps to: the drive stalls, is reset or fails an I/O, or a user ends the run.

Where that is in what is measured, the result is withheld or what is void is left out, and every page and the numbers
say so; where the drive is only prepared, nothing is withheld.
"""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.dut import Answers
from assay.engine.stimulus import Stimulus
from assay.errors import DeviceFailureError, InterruptedRunError
from assay.report import FORMATS, build_report, render
from assay.results.measured import counted_sequences
from assay.results.outcome import withheld_reason
from assay.results.stall import void_places
from assay.run.run import run_plan
from assay.run.store.read import read_run
from assay.spec.units import SECOND_NS
from assay.words.text import text, text_or_none
from every_kind import FAMILIES, KINDS, plan_of, selected
from openpyxl import load_workbook
from pypdfium2 import PdfDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from assay.engine.records import StepRecord, StoredRun, StoredSequence
    from assay.report import Format
    from assay.words.coded import Coded, Place

pytestmark = pytest.mark.long


def middle_s(sequence: StoredSequence) -> float:
    """The middle of the middle step, in seconds of the drive's clock."""
    step = sequence.steps[len(sequence.steps) // 2]
    return (step.start_ns + step.span_ns / 2) / SECOND_NS


def measured(run: StoredRun) -> StoredSequence:
    """The middle one of what results come from."""
    found = counted_sequences(run.tests[0])
    return found[len(found) // 2]


def befallen(kind: str, folder: Path, fault: str) -> tuple[StoredRun, str | None]:
    """The same run on a drive with a fault: as stored, and why it ended early."""
    faults = folder / "faults.toml"
    faults.write_text(f"schema = 1\n[[faults]]\n{fault}\n", "utf-8")
    plan = plan_of(kind, options=f"&faults={faults}")
    reason = None
    try:
        run_plan(plan, out=folder / "run", answers=Answers(), show=lambda _: None)
    except DeviceFailureError as failure:
        reason = failure.reason
    return read_run(folder / "run", histograms=True), reason


def banner_of(place: Place, happened: Coded) -> str:
    return f"{str(place).upper()} VOID: {text(happened)}"


def formats_of(kind: str, formats: Collection[Format] = ("html", "xlsx", "json")) -> Collection[Format]:
    """What the run of a kind is printed in: kinds of a family share every printer, so that one of them has all."""
    return formats if kind in FAMILIES else ("json",)


def said_everywhere(run: StoredRun, said: Collection[str], folder: Path, formats: Collection[Format]) -> None:
    """On the banner of every page of the first test, in these formats, and in the numbers that there are none."""
    report = build_report(run)
    name = run.tests[0].settings.test.upper()
    banners = [page.banner or "" for page in report.pages if page.banner is not None or name in page.title]
    assert banners
    assert all(words in banner for banner in banners for words in said), (said, banners)
    for path in render(run, folder, formats=formats):
        found = PRINTED.get(path.name, lambda _: None)(path)
        assert found is None or all(squeezed(words) in found for words in said), path
    withheld = text_or_none(withheld_reason(run.tests[0]))
    verdict = json.loads((folder / "results.json").read_text("ascii"))["tests"][0]["verdict"]
    assert (verdict["state"] in {"withheld", "cut-short"}) == bool(withheld)
    assert verdict["state"] != "withheld" or verdict["reason"] == withheld
    if withheld:
        assert set(selected(run)) <= {"n/a"}


def squeezed(text: str) -> str:
    """Text without its spaces, since a line may end anywhere."""
    return "".join(text.split())


def in_pdf(path: Path) -> str:
    with PdfDocument(path) as document:
        return squeezed("".join(page.get_textpage().get_text_range() for page in document))


def in_workbook(path: Path) -> str:
    rows = load_workbook(path)["Results"].iter_rows(values_only=True)
    return squeezed("".join(str(cell) for row in rows for cell in row if cell))


PRINTED: dict[str, Callable[[Path], str]] = {
    "report.html": lambda path: squeezed(unescape(path.read_text("utf-8"))),
    "report.xlsx": in_workbook,
    "report.pdf": in_pdf,
}
"""The text of a file of a report, by its name."""


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_stall_of_the_drive_where_it_is_measured_is_void_or_ends_the_test(
    kind: str, tmp_path: Path, quiet: Callable[[str], StoredRun]
) -> None:
    at_s = middle_s(measured(quiet(kind)))
    run, reason = befallen(kind, tmp_path, f'kind = "stall"\nat_s = {at_s}\nduration_s = 5')
    (test, *_) = run.tests
    long = {one.name for one in test.sequences if any((step.stall_ns_max or 0) > 2 * SECOND_NS for step in one.steps)}
    places = void_places(test)
    assert long == {str(place).removeprefix("a step of ") for place, _ in places} != set()
    assert (reason is None) != (test.ended == "device-failure")
    assert reason is None or "cannot continue after a void" in reason
    assert not {one.name for one in counted_sequences(test)} & long or not test.window_stage
    said_everywhere(run, [banner_of(*one) for one in places], tmp_path / "report", formats_of(kind))


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_reset_of_the_drive_where_it_is_measured_is_void_and_a_check_says_so(
    kind: str, tmp_path: Path, quiet: Callable[[str], StoredRun]
) -> None:
    at_s = middle_s(measured(quiet(kind)))
    run, _ = befallen(kind, tmp_path, f'kind = "reset"\nat_s = {at_s}\nduration_s = 0.01')
    (first, *_) = void_places(run.tests[0])
    assert "controller reset" in text(first[1])
    said_everywhere(run, [banner_of(*first)], tmp_path / "report", formats_of(kind))


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_failed_i_o_where_it_is_measured_leaves_no_headline(
    kind: str, tmp_path: Path, quiet: Callable[[str], StoredRun]
) -> None:
    at_s = middle_s(measured(quiet(kind)))
    run, reason = befallen(kind, tmp_path, f'kind = "media-error"\nat_s = {at_s}\ncount = 1')
    assert reason is not None
    said_everywhere(run, ["NO HEADLINE: 1 I/O error"], tmp_path / "report", formats_of(kind, FORMATS))


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_stall_of_the_drive_while_it_is_prepared_withholds_nothing(
    kind: str, tmp_path: Path, quiet: Callable[[str], StoredRun]
) -> None:
    prepared = [one for one in quiet(kind).tests[0].sequences if one.role == "prepare" and one.on_void == "accept"]
    if not prepared:
        assert not [one for one in quiet(kind).tests[0].sequences if one.stage == "precondition"]
        return
    run, reason = befallen(kind, tmp_path, f'kind = "stall"\nat_s = {middle_s(prepared[0])}\nduration_s = 5')
    assert (reason, withheld_reason(run.tests[0]), void_places(run.tests[0])) == (None, None, [])


@pytest.mark.parametrize(
    ("kind", "place"),
    [*((kind, "middle") for kind in KINDS), *((kind, place) for kind in FAMILIES for place in ("first", "last"))],
)
def test_a_user_may_end_a_test_in_any_sequence(
    kind: str, place: str, tmp_path: Path, quiet: Callable[[str], StoredRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    total = len(quiet(kind).tests[0].sequences)
    number = {"first": 1, "middle": total // 2 + 1, "last": total}[place]
    asked, whole = [], Stimulus.run

    def cut(stimulus: Stimulus, *arguments: Any) -> list[StepRecord]:
        asked.append(arguments)
        records = whole(stimulus, *arguments)
        return records if len(asked) < number else [*records[:-1], replace(records[-1], ended="interrupted")]

    monkeypatch.setattr(Stimulus, "run", cut)
    with pytest.raises(InterruptedRunError):
        run_plan(plan_of(kind), out=tmp_path / "run", answers=Answers(), show=lambda _: None)
    run = read_run(tmp_path / "run", histograms=True)
    assert run.tests[0].ended == "interrupted"
    assert len(run.tests[0].sequences) == number
    said_everywhere(run, ["INTERRUPTED"], tmp_path / "report", formats_of(kind) if place == "last" else ("json",))
