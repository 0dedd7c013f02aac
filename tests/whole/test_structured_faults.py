"""Input of strangers that is hostile by its structure: deep, wide, doubled, long. Each is answered soon, in our words.

A shape is 1 MiB of JSON or TOML, put where it does most: as keys beside those of a form, or as one of its values.
``make soak`` draws shapes for as many seconds of each reader as ``ASSAY_FUZZ_SECONDS`` says.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from assay.agent.checks import allowed_answers, allowed_plan
from assay.agent.config import AgentConfig
from assay.agent.messages import REQUEST_BYTES_MAX, CheckRequest, read_request
from assay.archive.bundle.manifest import read_manifest
from assay.archive.bundle.redact import Labels, redact_document
from assay.archive.bundle.signature import read_signature
from assay.errors import AssayError
from assay.run.plan_file import load_plan
from assay.run.store import JOURNAL_NAME
from assay.run.store.document import read_document
from assay.run.store.journal import read_journal, run_breaks, sealed, superseded
from assay.run.store.read import Tables, read_steps, stored_tests
from assay.spec.json_text import json_object
from assay.web.plan_form import left_out, read_typed, values_of
from every_kind import run_of
from fuzzed_readers import SOAK_TIMEOUT, Outcome, Reader

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

INPUT_BYTES = 1 << 20
CPU_S_MAX, MESSAGE_MAX = 2.0, 2000
SAMPLE = 10
WORDS = ("k", "run_i", "queue_dept", "plan", "schema", "a\\u001b", "é" * 9, "\\ud83d", "/dev/x", "..")


def filled(part: Callable[[int], str], size: int, between: str = ",") -> str:
    """Parts by their number, as many as fill a size."""
    parts, left, number = [], size, 0
    while left > 0:
        parts.append(part(number))
        left -= len(parts[-1]) + len(between)
        number += 1
    return between.join(parts)


def word(draw: random.Random) -> str:
    return draw.choice(WORDS)


def wide(draw: random.Random, size: int) -> str:
    name, value = word(draw), draw.choice(("0", "null", '"x"', "[]", "{}", "1e5", '"/a/b"'))
    return "{" + filled(lambda number: f'"{name}{number}":{value}', size) + "}"


def doubled(draw: random.Random, size: int) -> str:
    text, last = wide(draw, size), draw.choice(("zz", "k0", word(draw)))
    return f'{text[:-1]},"{last}":1,"{last}":1}}'


def same(draw: random.Random, size: int) -> str:
    name = word(draw)
    return "{" + filled(lambda _: f'"{name}":0', size) + "}"


def deep(draw: random.Random, size: int) -> str:
    begin, end = draw.choice((("[", "]"), ('{"a":', "}")))
    depth = draw.choice((20, 31, 150, 900, 100_000))
    inside = "0" if end == "}" else ""
    part = begin * depth + inside + end * depth
    return "[" + filled(lambda _: part, size) + "]"


def long_text(draw: random.Random, size: int) -> str:
    letter = draw.choice(("a", "\\u001b", "é", "/", "a/", "::", "0000:00:00.0 ", "\\n"))
    return f'"{letter * (size // len(letter.encode()))}"'


def long_key(draw: random.Random, size: int) -> str:
    return f"{{{long_text(draw, size)}:{draw.choice(('0', '[]', '{}'))}}}"


def long_number(draw: random.Random, size: int) -> str:
    return draw.choice(("", "-", "1.", "1e", "0.")) + "9" * size


def many(draw: random.Random, size: int) -> str:
    values = ("0", "1e95", "9" * 29, '"x"', '"iops"', "true", "{}", "[[]]", '{"name":"a"}', '"/dev/a%d"', '"i%d"')
    value = draw.choice(values)
    return "[" + filled(lambda number: value.replace("%d", str(number)), size) + "]"


SHAPES = (wide, wide, doubled, doubled, same, deep, deep, long_text, long_key, long_number, many, many)


def put(base: dict[str, Any], draw: random.Random, size: int = INPUT_BYTES) -> bytes:
    """A form with a shape as one of its values, or as keys beside them."""
    shape = draw.choice(SHAPES)(draw, size)
    tables = [base]
    for table in tables:
        tables += [inner for inner in table.values() if isinstance(inner, dict) and inner]
    table = draw.choice(tables[:1] * 2 + tables)
    if shape.startswith("{") and draw.random() < 0.5:
        marked = json.dumps(_with(base, table, "\0beside", 0))
        return marked.replace('"\\u0000beside": 0', shape[1:-1] or '"x": 0').encode("utf-8", "surrogatepass")
    key = draw.choice([*table, "unknown"])
    return (
        json.dumps(_with(base, table, key, "\0here")).replace('"\\u0000here"', shape).encode("utf-8", "surrogatepass")
    )


def _with(base: dict[str, Any], table: dict[str, Any], key: str, value: object) -> dict[str, Any]:
    """The same values with one of a table, at any depth, set."""
    changed = {name: _with(one, table, key, value) if isinstance(one, dict) else one for name, one in base.items()}
    return changed | ({key: value} if base is table else {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("structured") / "run"
    run_of("lat", result)
    return result


PLAN: dict[str, Any] = {
    "tests": ["iops"], "scale": 0.5, "iops": {"queue_depth": 16}, "report": {"tags": ["a"], "notes": "b"},
    "workload": {"stages": [{"name": "a", "time_s": 2, "streams": []}]}, "limits": [], "special_notes": [],
}  # fmt: skip
MANIFEST: dict[str, Any] = {
    "schema": 1, "run_id": "a", "final_hash": "0" * 64, "complete": True, "redacted": False, "original_hash": None,
    "tool": "Assay", "tool_version": "1", "files": [{"name": "run.json", "size_bytes": 1, "sha256": "0" * 64}],
}  # fmt: skip


def manifest(_: Path, draw: random.Random) -> None:
    read_manifest(put(MANIFEST, draw), name="bundle")


def signature(_: Path, draw: random.Random) -> None:
    read_signature(put({"schema": 1, "key": "a" * 44, "signature": "a" * 88}, draw), b"", name="bundle")


def document(folder: Path, draw: random.Random) -> None:
    """``run.json``; where it is read, its plan in the form, and without names."""
    base = json.loads((folder / "run.json").read_bytes())
    changed = folder.with_name("document")
    changed.mkdir(exist_ok=True)
    (changed / "run.json").write_bytes(put(base, draw))
    plan = read_document(changed)[1].plan
    redact_document(json.loads((changed / "run.json").read_bytes()), Labels())
    try:
        values = values_of(plan)
    except (TypeError, ValueError, AttributeError):
        # The page says that it has another form.
        return
    left_out(plan)
    read_typed(values, "sim:ideal")


def journal(folder: Path, draw: random.Random) -> None:
    """A journal with a shape in a line, or of many lines of one kind, its chain made good."""
    changed = folder.with_name("journal")
    changed.mkdir(exist_ok=True)
    head = (folder / "run.json").read_bytes()
    lines = [json.loads(line) for line in (folder / JOURNAL_NAME).read_bytes().splitlines()]
    place = draw.randrange(len(lines))
    if draw.random() < 0.5:
        data = json.loads(json.dumps(draw.choice(lines)["data"]))
        kind = draw.choice([line["kind"] for line in lines] + ["drive_changed", "resumed"])
        data = {"since_wall_ns": 0, "reason": "x"} if kind == "drive_changed" else data
        data = {"torn_bytes": 0, "changed": ["x"]} if kind == "resumed" else data
        repeated = {"kind": kind, "data": data, "wall_ns": lines[place]["wall_ns"]}
        count = INPUT_BYTES // (len(json.dumps(repeated)) + 200)
        lines[place:place] = [repeated] * count
        content = chained(head, lines)
    else:
        lines[place]["data"] = {"\0shape": 0}
        shape = put({"data": lines[place - 1]["data"]}, draw)
        content = chained(head, lines[: place + 1], shape)
    (changed / JOURNAL_NAME).write_bytes(content)
    read = read_journal(changed, head)
    superseded(read.lines)
    run_breaks(read.lines)
    sequences = {entry.seq: read_steps(entry) for entry in read.lines if entry.kind == "steps"}
    stored_tests(read.lines, sequences, Tables(folder=changed, contents={}))


def chained(head: bytes, lines: list[dict[str, Any]], shape: bytes | None = None) -> bytes:
    """Lines with their chain made good; the last with a shape in it, whose hash is right as well."""
    import hashlib  # noqa: PLC0415

    previous, result = hashlib.sha256(head).hexdigest(), []
    for number, line in enumerate(lines):
        entry = {key: line[key] for key in ("kind", "data", "wall_ns")} | {"previous": previous, "seq": number}
        content = sealed(entry)
        if shape is not None and number == len(lines) - 1:
            body = content.rpartition(b',"hash":"')[0].replace(b'"data":{"\\u0000shape":0}', shape[1:-1])
            content = body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'
        result.append(content)
        previous = hashlib.sha256(content).hexdigest()
    return b"".join(result)


def request(_: Path, draw: random.Random) -> None:
    """A request to the agent; one beyond its bound is not looked into."""
    base = {"verb": "check", "drive": "sim:ideal", "plan": PLAN}
    found = read_request(
        put(base, draw, draw.choice((REQUEST_BYTES_MAX - 2000, REQUEST_BYTES_MAX - 2000, INPUT_BYTES)))
    )
    if isinstance(found, CheckRequest):
        allowed_answers(AgentConfig(), found.consents)
        allowed_plan(AgentConfig(), found)


def page(_: Path, draw: random.Random) -> None:
    """What the page of a plan is sent."""
    shape = draw.choice(SHAPES)(draw, INPUT_BYTES)
    key = draw.choice(("limits", "workload.stages", "report.notes", "iops.queue_depth", "tests", "scale", "x"))
    try:
        typed = json_object(json.dumps({key: draw.choice((shape, toml(draw), [shape]))}))
    except ValueError:
        return
    read_typed(typed, "sim:ideal")


def toml(draw: random.Random) -> str:
    """1 MiB of TOML, or what has as many dots as a file may have."""
    name = draw.choice(("k", "iops.queue_dept", "sed", "limits", "report.tag"))
    return draw.choice(
        (
            lambda size: filled(lambda number: f"{name}{number} = 0", size, "\n"),
            lambda size: filled(lambda number: f"[{name}{number}]", size, "\n"),
            lambda size: filled(lambda number: f"[[{name}]]\nx{number} = 1", size, "\n"),
            lambda size: ".".join(["a"] * (size // 2)) + " = 1",
            lambda size: "[" + ".".join(["a"] * 5000) + "]\n" + filled(lambda number: f"b.c{number}=0", size, "\n"),
            lambda size: filled(lambda number: ".".join([f"k{number}", *["a"] * 70]) + " = 1", size, "\n"),
            lambda size: f"{name} = " + "[" * (size // 2),
            lambda size: f"{name} = " + "{a=" * (size // 3),
            lambda size: f"{name} = " + draw.choice(("", "0x", "1.", "1e")) + "9" * size,
            lambda size: f'"{"a" * size}" = 1',
            lambda size: f'{name} = "{draw.choice(("a", chr(92) + "n", "é")) * (size // 2)}"',
            lambda size: 'tests = ["' + '", "'.join(["i0ps"] * (size // 8)) + '"]',
            lambda size: "".join("limits = [{test = 'x'}]\n" for _ in range(size // 24)),
            lambda size: "[iops]\n" + filled(lambda number: f"queue_depth{number % 9} = {number}", size, "\n"),
        )
    )(draw.choice((INPUT_BYTES - 40, 190_000)))


def plan_file(folder: Path, draw: random.Random) -> None:
    path = folder.with_name("plan.toml")
    path.write_text(toml(draw)[: INPUT_BYTES - 8], "utf-8")
    load_plan(path, {})


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    work.__name__: work for work in (manifest, signature, document, journal, request, page, plan_file)
}


def reader(kind: str, folder: Path, slowest: dict[str, float]) -> Reader:
    def tried(draw: random.Random, outcome: Outcome) -> None:
        begun = time.process_time()
        try:
            KINDS[kind](folder, draw)
            outcome.stage = "read"
        except AssayError as error:
            lines = str(error).splitlines()
            assert all(len(line) <= MESSAGE_MAX and line.isprintable() for line in lines), kind
            assert len(lines) <= 12, kind
            raise
        finally:
            slowest[kind] = max(slowest.get(kind, 0.0), time.process_time() - begun)

    return Reader(kind=f"structured {kind}", tried=tried, exits=(2, 3, 5, 6), cpu_s_max=CPU_S_MAX + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_structure_is_answered_soon_and_in_our_words(kind: str, folder: Path) -> None:
    slowest: dict[str, float] = {}
    for seed in range(SAMPLE):
        reader(kind, folder, slowest).answered(seed)
    print(f"{kind}: slowest {slowest[kind]:.2f} s")  # noqa: T201 - for pytest -rP


@pytest.mark.soak
@pytest.mark.timeout(SOAK_TIMEOUT)
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_structures_are_answered_for_an_hour(kind: str, folder: Path) -> None:
    slowest: dict[str, float] = {}
    assert reader(kind, folder, slowest).answers_for_an_hour(SAMPLE) > 0
    print(f"{kind}: slowest {slowest[kind]:.2f} s")  # noqa: T201 - as above
