"""``assay init``: a commented plan file to begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_DRIVE = "sim:client-2011?capacity=32GB"
_NOTES = "special_notes"
ABOUT = {
    "schema": "form of this file",
    "drive": "a path, a by-id link, a file, or sim:NAME (assay drives lists them)",
    "suite": "tests and edition by name",
    "tests": "tests instead of the suite's (assay tests lists them)",
    "studies": "studies, which run alone unless tests or a suite are named as well",
    _NOTES: "tables of item, notation and comments, printed as the test sponsor's special notes",
    "seed": "of addresses and segment places; drawn, and stated in the report, where it is not given",
    "edition": "edition of the specification, or a .toml file; the suite's where it is not given",
    "file_target": "the drive is a pre-allocated regular file",
    "thread_count": "threads; the edition's where it is not given",
    "queue_depth": "outstanding I/Os per thread; the edition's where it is not given",
    "round_least": "fewest rounds before steady state ends the test",
    "round_limit": "most rounds of a test that is not steady",
    "time_hours": "hours after which write saturation ends",
    "amount_multiple": "writes after which write saturation ends, in capacities of the drive",
    "histogram_minutes": "minutes of the response-time histogram after the test",
    "rnd_4k_write_iops": "in IOPS",
    "rnd_4k_read_iops": "in IOPS",
    "seq_write_mb_per_s": "in MB/s",
    "seq_read_mb_per_s": "in MB/s",
    "write_latency_ms": "in ms",
    "read_latency_ms": "in ms",
    "stored_share": "share that is stored of compressible data, 0.05 to 0.95",
    "pool_kib": "size of the pool of a repeating pattern, in KiB, at least 0.5",
    "path": "file that the data are read from",
    "kind": "what is written; all but random is a listed deviation",
    "patterns": "known names (oltp, video and others), or custom tables; each is a separate test",
    "limits": "tables of what the run must meet, judged at its end with exit code 8 (see docs/guide/limits.md)",
    "tags": "words to find the run by",
    "name": "name of the run",
}
"""Of keys whose model says nothing of them, or says it to programmers."""
_EXAMPLES: dict[str, object] = {
    "edition": "pts-c-1.0",
    "stop": "first",
    "round_least": 13,
    "round_limit": 25,
    "arrival": "poisson:5000",
    "time_hours": 24,
    "columns": "time=1:us,op=2,offset=3:bytes,size=4:bytes",
    "device": "8,0",
    "wait": "ms_since_start",
    "traced_bytes": 1_000_000_000,
    "amount_multiple": 4,
    "histogram_minutes": 20,
    "art_limit_ms": 5,
    "thread_counts": [32, 16, 8, 6, 4, 2, 1],
    "queue_depths": [32, 16, 8, 6, 4, 2, 1],
}
"""Values of keys that have no default, in lines that are comments."""


@click.command(cls=HelpedCommand, examples=("init", "init nightly.toml"))
@click.argument("file", type=click.Path(path_type=Path), default=Path("plan.toml"))
def init(file: Path) -> None:
    """Write a plan file with every key, its legal range, its default and a comment. Default of FILE: plan.toml.

    The file is complete: assay plan FILE shows what it does, assay run FILE runs it. Nothing is overwritten.
    """
    text = plan_text()
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise StoreError(str(file), "is there already", "name a new file") from None
    except OSError as error:
        raise StoreError(str(file), error.strerror or "cannot be written", "name a file in another folder") from None
    click.echo(f"Written: {file}")
    click.echo(f"Change it, then: assay plan {file}")


def plan_text() -> str:
    """A plan file with every key of a plan; what is optional is a comment, whose # can be taken away."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    from assay.plan.record import SpecialNote  # noqa: PLC0415
    from assay.run.plan_file import Plan  # noqa: PLC0415
    from assay.spec.model_keys import Form, about  # noqa: PLC0415

    form, words = Form(Plan), about(Plan)
    yield from (
        "# A plan of Assay: what to run on which drive. Options of the command line win over it.",
        "# A line that begins with #: key = value has the default; take the # away to set another value.",
        "# Above each key: what it is [what it may be]. Where it has a unit, that is the end of its name.",
        "# not set: there is no default; what stands there is an example, and without it the edition's value is taken.",
        "",
    )
    given: dict[str, Any] = {"schema": 1, "drive": _DRIVE, "suite": "client"}
    tables = []
    for key in sorted(form.properties, key=lambda name: list(given).index(name) if name in given else len(given)):
        if key == _NOTES:
            continue
        if form.table(key) is not None:
            tables.append(key)
            continue
        yield from _key(form, form.properties[key], key, words, given.get(key))
    for key in tables:
        yield from _table(form, key)
    yield from ("", f"# {_TITLES[_NOTES]}", f"#[[{_NOTES}]]")
    yield from (f'#{name} = ""' for name in SpecialNote.model_fields)


def _table(form: Any, key: str) -> Iterator[str]:
    """A table of the plan; a list of tables has its first."""
    from assay.run.plan_file import Plan  # noqa: PLC0415
    from assay.spec.model_keys import about  # noqa: PLC0415

    yield ""
    yield f"# {_title(key)}"
    yield f"[{key}]"
    model = Plan.model_fields[key].annotation
    words = about(model) if isinstance(model, type) else {}
    for name, schema in (form.table(key) or {}).items():
        yield from _key(form, schema, name, words)


def _key(form: Any, schema: dict[str, Any], key: str, words: dict[str, str], given: object = None) -> Iterator[str]:
    """One key with its comment above it. given : its value in this file; None makes it a comment with its default."""
    default = schema.get("default")
    legal = form.legal(schema)
    text = ABOUT.get(key) or words.get(key)
    if given is None and key != "schema":
        value, mark = toml_value(_EXAMPLES.get(key, 1) if default is None else default), "#"
    else:
        value, mark = toml_value(given), ""
    if text or legal != "text":
        unset = ", not set" if default is None and mark else ""
        yield f"# {text or key.replace('_', ' ')} [{legal}{unset}]"
    yield f"{mark}{key} = {value}"


def _title(key: str) -> str:
    """What a table is of. Worked: ``iops`` -> ``IOPS: of assay run --test iops``."""
    from assay.procedures.registry import procedures  # noqa: PLC0415

    names = [procedure for procedure in procedures() if procedure.key == key]
    if len(names) == 1:
        return f"{names[0].title}: {names[0].question}"
    return _TITLES.get(key, "Every study" if names else key)


_TITLES = {
    "report": "Texts that only people know, printed in the report as they stand; each at most 2000 letters",
    "claims": "Claims of the data sheet, printed next to the measured values",
    "baseline": "Earlier values of the same numbers, printed next to the measured values",
    "data": "Content of the data that are written",
    _NOTES: "Special notes of the test sponsor, up to twelve such tables",
}


def toml_value(value: object) -> str:
    """A value as TOML has it; JSON is the same for texts, numbers and lists of them."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
