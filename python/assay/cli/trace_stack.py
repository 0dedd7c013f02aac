"""``assay trace-stack``: what an application issues against what the device receives, live."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.completion import drive_candidates
from assay.cli.config import output_folder
from assay.cli.options import report_folder_option, signature_option, yes_destroy_option
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.tools.iostack import StackExample, StackTrace


@click.command("trace-stack", cls=HelpedCommand, examples=("trace-stack /mnt/data", "trace-stack --drive /dev/nvme0n1"))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--drive",
    metavar="DRIVE",
    shell_complete=drive_candidates,
    help="Raw block device instead of PATH; its first 16 MiB are LOST. Default: none, PATH is used.",
)
@yes_destroy_option
@signature_option
@report_folder_option
@click.option("--json", "as_json", is_flag=True, help="Print the trace as JSON.")
def trace_stack(
    path: Path | None,
    drive: str | None,
    yes_destroy: str | None,
    signatures: tuple[str, ...],
    *,
    acknowledged: frozenset[str],
    out: Path | None,
    as_json: bool,
) -> None:
    """Trace I/Os down the stack, with new files in the folder PATH, or on a raw drive.

    Shown are caching, read-ahead, write-back, fragmentation, splits, mixed streams and metadata: I/Os as issued and as
    received by the device.
    """
    from assay.run.store.write import new_folder  # noqa: PLC0415
    from assay.tools.iostack.pages import stack_facts, write_stack_trace  # noqa: PLC0415

    if (path is None) == (drive is None):
        raise UsageError("trace-stack", "needs a folder or a drive", "give either PATH or --drive DRIVE")
    folder = new_folder(out, f"trace-{time.time_ns():x}", below=output_folder())
    trace = _traced(path, drive, confirmation=yes_destroy, signatures=frozenset(signatures), acknowledged=acknowledged)
    paths = write_stack_trace(folder, trace)
    if as_json:
        click.echo(json.dumps({**stack_facts(trace), "report": [str(path) for path in paths]}, indent=2))
        return
    if trace.untraced:
        click.echo(f"Counts only: {trace.untraced}")
    _print(trace)
    for file in paths:
        click.echo(f"Report: {file.resolve()}")


def _traced(path: Path | None, drive: str | None, **consent: Any) -> StackTrace:
    from importlib.metadata import version  # noqa: PLC0415

    from assay.tools.iostack import trace_drive, trace_folder  # noqa: PLC0415

    tool = f"Assay {version('assay')}"
    if path is not None:
        return trace_folder(path, tool=tool, show=_show)
    return trace_drive(drive or "", **consent, tool=tool, show=_show)


def _show(example: StackExample) -> None:
    """One line per part, as soon as it ran."""
    from assay.tools.iostack.pages import issued_label, received_label, shown_label  # noqa: PLC0415

    for phase in example.phases:
        text = f"issued {issued_label(phase)}; the device received {received_label(phase)}"
        click.echo(f"assay: now: {example.name}, {phase.name}: {text}", err=True)
    click.echo(f"assay: now: {example.name}: {shown_label(example)}", err=True)


def _print(trace: StackTrace) -> None:
    """Whether what each example stands for was seen on this device."""
    from assay.cli.table import print_table  # noqa: PLC0415
    from assay.tools.iostack.pages import meaning_label, shown_label  # noqa: PLC0415

    rows = []
    for example in trace.examples:
        undecided = example.shown is None or example.reason
        seen = shown_label(example) if undecided else "yes" if example.shown else "no"
        rows.append((example.name, meaning_label(example), seen))
    print_table(("example", "what it stands for", "seen on this device"), rows)
