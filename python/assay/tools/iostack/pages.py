"""The pages of a stack trace: what the application issued and what the device received, example by example."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from assay.report import render_pages
from assay.spec.units import KIB, MIB, MILLISECOND_NS
from assay.summary.pages.model import Figure, Group, Header, Page, Report, Series, Table, Text
from assay.words.printed import NOT_AVAILABLE, paragraph, printable, utc, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from assay.tools.iostack import StackExample, StackPhase, StackTrace

_TITLES = {
    "straight": ("Straight through", "Direct, aligned and scattered I/Os arrive individually, as issued."),
    "cached": ("Cached", "Repeated reads come from memory; the device does not receive them."),
    "read-ahead": ("Read-ahead", "Small sequential reads become few large reads, beyond the requested range."),
    "write-behind": ("Write-behind", "Small writes stay in memory and leave it later as large writes."),
    "fragmented": ("Fragmented file", "A read of a fragmented file becomes a read of each fragment."),
    "split": ("Split", "A transfer beyond the largest request of the device is split."),
    "concurrent": ("Concurrent streams", "Several sequential streams reach the device mixed, almost at random."),
    "metadata": ("Metadata", "Empty files cause writes by the file system."),
}
_READ, _WRITE, _ISSUED = 0, 1, 4
_Span = tuple[int, int, int]
_SIZES_SHOWN = 4
# A long I/O is drawn as a stroke: a dot for every so many bytes, or for this part of the whole height.
_STROKE_BYTES, _STROKES = 16 * KIB, 100


STACK = "stack.json"


def stack_report(trace: StackTrace) -> Report:
    """Lay out a stack trace: a page of all examples, then a page for each that could be run."""
    run = [example for example in trace.examples if example.phases]
    last = len(run) + 1
    head = _header(trace)
    first = Page(
        title="Stack Trace",
        subtitle="What was issued and what the device received",
        header=head,
        banner=_banner(trace),
        blocks=(_summary(trace),),
        place=f"1 of {last}",
    )
    others = (
        Page(
            title=f"Stack Trace - {_TITLES[example.name][0]}",
            subtitle=_TITLES[example.name][1],
            header=head,
            banner=_banner(trace),
            blocks=(*_pictures(example), _phases(example)),
            place=f"{index} of {last}",
        )
        for index, example in enumerate(run, 2)
    )
    return Report(
        title=f"{printable(trace.target)} - stack trace",
        label="stack trace: a demonstration, no measurement of the device",
        colophon=printable(trace.tool),
        date=utc_datetime(trace.started_wall_ns).timetuple()[:6],
        pages=(first, *others),
    )


def issued_label(phase: StackPhase) -> str:
    """The calls of the application. Worked: 256 reads of 4 KiB print ``256 reads of 4 KiB, 1 MiB in all``."""
    parts = [
        f"{len(lengths)} {name}{'' if len(lengths) == 1 else 's'} of {_sizes(lengths)}, {_bytes(sum(lengths))} in all"
        for name, write in (("read", False), ("write", True))
        if (lengths := [one.length_bytes for one in phase.issued if one.write == write])
    ]
    return (
        "; ".join(
            [
                *parts,
                *(
                    [f"{phase.other_count} call{'' if phase.other_count == 1 else 's'} without data"]
                    if phase.other_count
                    else []
                ),
            ]
        )
        or "nothing"
    )


def received_label(phase: StackPhase) -> str:
    """The I/Os that the kernel counted at the device. Worked: 7 reads of 3 MiB in all print ``7 reads, 3 MiB``."""
    counted = phase.counted
    merged = counted.read_merge_count + counted.write_merge_count
    parts = [
        _counted("read", counted.read_count, counted.read_bytes),
        _counted("write", counted.write_count, counted.write_bytes),
        f"{merged} merged" if merged else "",
        f"{counted.flush_count} flush{'' if counted.flush_count == 1 else 'es'}" if counted.flush_count else "",
    ]
    return "; ".join(part for part in parts if part) or "nothing"


def shown_label(example: StackExample) -> str:
    """Whether the example showed what it stands for, or why it was not run."""
    if example.reason:
        return f"cannot be {'told' if example.phases else 'shown'}: {paragraph(example.reason)}"
    return "shown" if example.shown else "not shown here"


def meaning_label(example: StackExample) -> str:
    """The meaning of an example, in one sentence. Worked: of ``cached``, that what was read once comes from memory."""
    return _TITLES[example.name][1]


def _header(trace: StackTrace) -> Header:
    idle_count = trace.background.read_count + trace.background.write_count
    date = utc(trace.started_wall_ns)
    return Header(
        form="2.0",
        organisation=printable(trace.tool),
        revision="trace",
        dates=(("Test Run Date", date), ("Report Run Date", date)),
        parties=(("Target", printable(trace.target)), ("Device", printable(trace.device))),
        groups=(
            Group(title="Target", entries=(("File system", printable(trace.file_system or "none: raw drive")),)),
            Group(title="Queue", entries=tuple((name, printable(text)) for name, text in trace.settings.items())),
            Group(
                title="Watching",
                entries=(
                    ("Counts", "kernel counters of the device"),
                    ("Requests", "none" if trace.untraced else "block_rq_issue events"),
                    ("Device while idle", f"{idle_count} I/Os in {trace.background_ns // MILLISECOND_NS} ms"),
                ),
            ),
        ),
    )


def _banner(trace: StackTrace) -> str | None:
    if trace.settings.get("iostats") == "0":
        return "the device counts nothing: set queue/iostats to 1"
    if trace.untraced:
        return f"counts only, sizes and places were not watched: {paragraph(trace.untraced)}"
    return None


def _summary(trace: StackTrace) -> Table:
    rows: list[tuple[str, ...]] = []
    for example in trace.examples:
        title, outcome = _TITLES[example.name][0], shown_label(example)
        if not example.phases:
            rows.append((title, NOT_AVAILABLE, NOT_AVAILABLE, NOT_AVAILABLE, outcome))
        for nth, phase in enumerate(example.phases):
            names = (title, outcome) if nth == 0 else ("", "")
            rows.append((names[0], phase.name, issued_label(phase), received_label(phase), names[1]))
    notes = (
        "Counts are those of the device or partition, other users included.",
        "A merge is an I/O that the kernel added to another request. Sizes and positions: the following pages.",
    )
    columns = ("Example", "Part", "The application issued", "The device received", "Outcome")
    return Table(caption="I/Os traversing the stack", columns=columns, rows=tuple(rows), notes=notes)


def _phases(example: StackExample) -> Table:
    rows = [
        row
        for phase in example.phases
        for row in (
            (
                phase.name,
                "issued",
                issued_label(phase),
                _sizes([one.length_bytes for one in phase.issued]) or NOT_AVAILABLE,
            ),
            (phase.name, "received", received_label(phase), _request_sizes(phase)),
        )
    ]
    rows.extend((name, "", text, "") for name, text in example.facts)
    outcome = f"Outcome: {shown_label(example)}."
    columns = ("Part", "End of the stack", "I/Os", "Sizes")
    return Table(caption="Issued and received", columns=columns, rows=tuple(rows), notes=(outcome,))


def _pictures(example: StackExample) -> tuple[Figure | Text, ...]:
    """Places over time, issued against received, of all parts in a row."""
    issued = [one for phase in example.phases for one in phase.issued]
    requests = [request for phase in example.phases for request in phase.requests or () if request.length_bytes]
    drawn: tuple[tuple[str, list[_Span], int], ...] = (
        (
            "issued by the application",
            [(one.at_ns, one.place_bytes, one.length_bytes) for one in issued if one.place_bytes is not None],
            _ISSUED,
        ),
        (
            "received: reads",
            [(request.at_ns, request.start_bytes, request.length_bytes) for request in requests if request.read],
            _READ,
        ),
        (
            "received: writes",
            [(request.at_ns, request.start_bytes, request.length_bytes) for request in requests if request.write],
            _WRITE,
        ),
    )
    spans = [span for _, pictures, _ in drawn for span in pictures]
    if not spans:
        return (Text(paragraphs=("No figure: positions are unknown at both ends.",)),)
    lowest, highest = min(place for _, place, _ in spans), max(place + length for _, place, length in spans)
    frame = _Frame(example.phases[0].began_ns, lowest, max(_STROKE_BYTES, (highest - lowest) // _STROKES))
    figure = Figure(
        name=f"stack-{example.name}",
        kind="lines",
        alt=f"{len(issued)} I/Os issued and {len(requests)} received by position and time; a stroke spans its I/O",
        x_title="Time (ms)",
        y_title=f"Position from {lowest / MIB:,.3f} MiB (MiB)",
        series=tuple(frame.series(label, pictures, colour) for label, pictures, colour in drawn if pictures),
        aspect=2.5,
    )
    return (figure,)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The corner of a picture, and how many bytes a dot stands for."""

    began_ns: int
    lowest_bytes: int
    stroke_bytes: int

    def series(self, label: str, found: Sequence[_Span], colour: int) -> Series:
        """A dot where each I/O begins, and a stroke of further ones up to its end where it is long."""
        points = [
            (
                max((at - self.began_ns) / MILLISECOND_NS, 0.0),
                (place + nth * self.stroke_bytes - self.lowest_bytes) / MIB,
            )
            for at, place, length in found
            for nth in range(-(-length // self.stroke_bytes))
        ]
        return Series(
            label=label, x=tuple(x for x, _ in points), y=tuple(y for _, y in points), colour=colour, mode="markers"
        )


def _counted(name: str, count: int, moved: int) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}, {_bytes(moved)}" if count else ""


def _request_sizes(phase: StackPhase) -> str:
    """Sizes of the requests, or what the counters alone say."""
    if phase.requests is not None:
        return _sizes([request.length_bytes for request in phase.requests if request.length_bytes]) or NOT_AVAILABLE
    counted = phase.counted
    count, moved = counted.read_count + counted.write_count, counted.read_bytes + counted.write_bytes
    return f"{moved / count / KIB:,.1f} KiB in the mean" if count else NOT_AVAILABLE


def _sizes(lengths: Sequence[int]) -> str:
    """Sizes with their counts, the most frequent first. Worked: 3 of 4 KiB and one of 64 -> ``3 x 4 KiB, 64 KiB``."""
    counts = sorted(((len(list(same)), size) for size, same in groupby(sorted(lengths))), reverse=True)
    if len(counts) == 1:
        return _bytes(counts[0][1])
    return ", ".join(_size_parts(counts))


def _size_parts(counts: Sequence[tuple[int, int]]) -> Iterator[str]:
    for count, size in counts[:_SIZES_SHOWN]:
        yield _bytes(size) if count == 1 else f"{count} x {_bytes(size)}"
    rest = counts[_SIZES_SHOWN:]
    if rest:
        sizes = sorted(size for _, size in rest)
        yield f"{sum(count for count, _ in rest)} of {_bytes(sizes[0])} to {_bytes(sizes[-1])}"


def _bytes(count: int) -> str:
    return f"{count / MIB:,.4g} MiB" if count >= MIB else f"{count / KIB:,.4g} KiB"


def write_stack_trace(folder: Path, trace: StackTrace) -> list[Path]:
    """Write what a stack trace saw (``stack.json``) and its pages as PDF and HTML; the paths.

    Raises StoreError where the folder cannot be written.
    """
    facts = json.dumps(stack_facts(trace), indent=1).encode()
    return render_pages(stack_report(trace), folder, {STACK: facts})


def stack_facts(trace: StackTrace) -> dict[str, Any]:
    """Everything that a stack trace saw, as JSON values."""
    return asdict(trace)
