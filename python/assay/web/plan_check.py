"""What a check of the agent says, as the page of a plan shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.run.foreseen import TOOL_MEMORY, fills_label, span_label
from assay.run.store.write import FREE_BYTES_MIN
from assay.spec.units import gigabytes_label
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.agent.messages import CheckAnswer, DriveFacts

_MILLISECOND_NS = 10**6


def shown_check(answer: CheckAnswer, drives: Iterable[DriveFacts]) -> dict[str, Any]:
    """A check for a script: the words of ``assay plan``, totals, what stands against the run, what it destroys.

    drives : where model and serial number are taken from. Times are in ms since the Unix epoch.
    """
    facts = answer.facts
    real = is_real(answer)
    refused = answer.refused
    return {
        "text": answer.text,
        "totals": _totals(facts),
        "refused": refused and {key: refused[key] for key in ("thing", "reason", "remedy")},
        "identity": answer.identity,
        "digest": answer.digest,
        "until_ms": answer.until_wall_ns and answer.until_wall_ns // _MILLISECOND_NS,
        "typed": real,
        "loss": _loss(facts, drives) if real and facts["written_bytes_max"] else [],
    }


def is_real(answer: CheckAnswer) -> bool:
    """Whether a drive could lose data."""
    return bool(answer.facts["drive"]["kind"] != "simulated")


def _totals(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value of what the whole run takes. Worked: 64 GB on a drive of 32 GB -> ``up to 64.00 GB (2 fills)``."""
    written, fills = facts["written_bytes_max"], facts["drive_fills_max"]
    return [
        ("Time", span_label(facts["span_ns_least"], facts["span_ns_most"])),
        ("Writes", f"up to {gigabytes_label(written)} ({fills_label(fills)} fills)" if written else "nothing"),
        ("Memory", f"{gigabytes_label(facts['memory_bytes'])} plus {TOOL_MEMORY}"),
        ("Disk", f"{max(facts['disk_bytes'], FREE_BYTES_MIN) / 1e6:,.0f} MB"),
    ]


def _loss(facts: Mapping[str, Any], drives: Iterable[DriveFacts]) -> list[tuple[str, str]]:
    """What is destroyed, a name and a value each."""
    drive = facts["drive"]
    known = next((listed for listed in drives if listed.path == drive["path"]), None)
    rows = (
        ("Drive", drive["path"]),
        ("Model", (known.model if known else None) or "unknown"),
        ("Serial number", (known.serial if known else None) or "none reported"),
        ("Capacity", gigabytes_label(drive["capacity_bytes"])),
        ("Contents", facts["contents"]),
        ("Findings", "; ".join(facts["refusals"])),
        ("Written", f"up to {gigabytes_label(facts['written_bytes_max'])}"),
    )
    return [(name, visible(value)) for name, value in rows if value]
