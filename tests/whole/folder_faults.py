"""Changes run folders as somebody might who knows their form: the hash chain is made good after each change."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from assay.engine.codec import canonical
from assay.run.store.journal import sealed

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 1.5, -0.0, 2**63, 10**30, 1e300, "", "x", "../../x", "/etc/x", "\x1b[2J", "東\ud800",
    [], [[]], {}, {"a": 1}, [0], ["x"], "9" * 5000, 10**15, -(10**15),
)  # fmt: skip


@dataclass
class Folder:
    """A run folder in memory. lines : entries of the journal. raw : files that are written as they are instead."""

    document: dict[str, Any]
    lines: list[dict[str, Any]]
    tables: dict[str, bytes]
    raw: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    rehashed: bool = True

    @classmethod
    def read(cls, path: Path) -> Folder:
        """Take up a good one."""
        lines = [json.loads(line) for line in (path / "journal.jsonl").read_bytes().splitlines()]
        names = [str(file.relative_to(path)) for file in path.glob("*/*.parquet")]
        tables = {name: (path / name).read_bytes() for name in sorted(names)}
        return cls(json.loads((path / "run.json").read_bytes()), lines, tables)

    def copied(self) -> Folder:
        """The same to be changed."""
        # By way of JSON, which is much quicker than a deep copy.
        document, lines = json.loads(json.dumps([self.document, self.lines]))
        return Folder(document, lines, dict(self.tables))

    def write(self, path: Path) -> None:
        """Put it in an empty folder, its chain made good."""
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        files = {"run.json": _json(self.document), **self.tables}
        files["journal.jsonl"] = self._journal(files["run.json"])
        for name, content in {**files, **self.raw}.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_bytes(content)
        for name, target in self.links.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).unlink(missing_ok=True)
            if target == "|":
                os.mkfifo(path / name)
            else:
                (path / name).symlink_to(target)

    def _journal(self, head: bytes) -> bytes:
        previous, lines = hashlib.sha256(head).hexdigest(), []
        for number, line in enumerate(self.lines):
            data = line["data"]
            if self.rehashed and line["kind"] == "steps" and isinstance(data.get("tables"), dict):
                digests = {name: hashlib.sha256(self.tables.get(name, b"")).hexdigest() for name in data["tables"]}
                data = {**data, "tables": digests}
            entry = {key: value for key, value in line.items() if key != "hash"}
            lines.append(sealed({**entry, "data": data, "previous": previous, "seq": number}))
            previous = hashlib.sha256(lines[-1]).hexdigest()
        return b"".join(lines)


def change(folder: Folder, draw: random.Random) -> str:
    """Change one thing, or few; what was done."""
    name, work = draw.choice(WORKS)
    return f"{name}: {work(folder, draw)}"


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON value; of long lists the first three, since the others are alike."""
    found = [path] if path else []
    if isinstance(value, dict):
        found += [place for key, part in value.items() for place in _places(part, (*path, key))]
    elif isinstance(value, list):
        found += [place for index, part in enumerate(value[:3]) for place in _places(part, (*path, index))]
    return found


def _part(folder: Folder, draw: random.Random) -> tuple[Any, str]:
    """A part of the folder that is JSON: ``run.json``, or the data of a line, each kind of line as often as another."""
    kinds = sorted({line["kind"] for line in folder.lines})
    kind = draw.choice(["run.json", "run.json", "test_started", "steps", *kinds])
    if kind not in kinds:
        return folder.document, "run.json"
    line = draw.choice([line for line in folder.lines if line["kind"] == kind])
    return line["data"], f"{line['seq']} {kind}"


def _at_a_place(work: Callable[[Any, Any, random.Random], str]) -> Callable[[Folder, random.Random], str]:
    def changed(folder: Folder, draw: random.Random) -> str:
        part, name = _part(folder, draw)
        places = _places(part)
        if not places:
            return "nothing there"
        *above, last = draw.choice(places)
        for key in above:
            part = part[key]
        return f"{name} {'.'.join(map(str, (*above, last)))} {work(part, last, draw)}"

    return changed


def _delete(holder: Any, key: Any, _: random.Random) -> str:
    del holder[key]
    return "gone"


def _retype(holder: Any, key: Any, draw: random.Random) -> str:
    holder[key] = draw.choice(VALUES)
    return f"is {holder[key]!r:.40}"


def _nudge(holder: Any, key: Any, draw: random.Random) -> str:
    old = holder[key]
    if isinstance(old, bool):
        holder[key] = not old
    elif isinstance(old, int | float):
        holder[key] = draw.choice([0, -old, old * 1000, old + 1, old // 2 if isinstance(old, int) else old / 2])
    elif isinstance(old, str):
        holder[key] = draw.choice([old.upper(), old + "x", old[1:], "study-x", "loop", "demand", "round", "point"])
    elif isinstance(old, list):
        holder[key] = draw.choice([old[::-1], old * 2, old[:1], old[1:], []])
    else:
        return _retype(holder, key, draw)
    return f"is {holder[key]!r:.40}"


def _add(holder: Any, key: Any, draw: random.Random) -> str:
    if isinstance(holder, dict):
        holder["strange"] = draw.choice(VALUES)
    else:
        holder.insert(key, draw.choice(VALUES))
    return "has a neighbour"


def _double_key(folder: Folder, draw: random.Random) -> str:
    key = draw.choice(sorted(folder.document))
    text = canonical(folder.document).decode("ascii", "replace")
    folder.raw["run.json"] = ("{" + json.dumps({key: draw.choice(VALUES)})[1:-1] + "," + text[1:]).encode()
    return key


def _line_order(folder: Folder, draw: random.Random) -> str:
    if not folder.lines:
        return "nothing there"
    first, second = (draw.randrange(len(folder.lines)) for _ in range(2))
    act = draw.choice(["swap", "drop", "double", "cut", "kind"])
    if act == "swap":
        folder.lines[first], folder.lines[second] = folder.lines[second], folder.lines[first]
    elif act == "drop":
        del folder.lines[first]
    elif act == "double":
        folder.lines.insert(second, json.loads(json.dumps(folder.lines[first])))
    elif act == "cut":
        del folder.lines[first:]
    else:
        folder.lines[first]["kind"] = folder.lines[second]["kind"]
    return f"{act} {first} {second}"


def _truncate(folder: Folder, draw: random.Random) -> str:
    name = draw.choice(["run.json", "journal.jsonl", *folder.tables])
    head = _json(folder.document)
    whole = {"run.json": head, "journal.jsonl": folder._journal(head), **folder.tables}[name]
    folder.raw[name] = whole[: draw.randrange(len(whole) + 1)]
    if name in folder.tables and draw.random() < 0.7:
        folder.tables[name] = folder.raw.pop(name)
    return f"{name} to {len(folder.raw.get(name, b''))}"


def _table(folder: Folder, draw: random.Random) -> str:
    name, other = (draw.choice(sorted(folder.tables)) for _ in range(2))
    act = draw.choice(["swap", "bomb", "columns", "types", "values", "nulls", "bytes", "link", "pipe", "device"])
    if act in {"link", "pipe", "device"}:
        folder.links[name] = {"link": f"../{other}", "pipe": "|", "device": "/dev/zero"}[act]
        return f"{act} {name}"
    if act == "swap":
        folder.tables[name], folder.tables[other] = folder.tables[other], folder.tables[name]
    elif act == "bytes":
        content = bytearray(folder.tables[name])
        for _ in range(draw.randrange(1, 9)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        folder.tables[name] = bytes(content)
    else:
        folder.tables[name] = _made(pq.read_table(BytesIO(folder.tables[name])), act, draw)
    return f"{act} {name} {other}"


def _made(table: pa.Table, act: str, draw: random.Random) -> bytes:
    """A table of the same kind, made wrong."""
    names, count = table.column_names, max(min(table.num_rows, 100), 3)
    number = draw.choice([0, 1, 5, 16_385, 2**40, 2**63])
    columns: dict[str, Any] = {name: pa.array([number] * count, pa.uint64()) for name in names}
    columns["direction"] = pa.array([draw.choice(["read", "write", "up", "x" * 5000])] * count)
    if act == "bomb":
        same = pa.array([0] * 2_000_000, pa.int32())
        columns = {name: pa.array([7], pa.uint64()).take(same) for name in names}
        columns["direction"] = pa.array(["read"]).take(same)
    elif act == "columns":
        columns.pop(draw.choice(names))
    elif act == "types":
        columns[draw.choice(names)] = pa.array([draw.choice([1.5, "x", None, True, b"x"])] * count)
    elif act == "nulls":
        columns[draw.choice(names)] = pa.nulls(count, pa.uint64())
    target = BytesIO()
    pq.write_table(pa.table(columns), target, compression="zstd")
    return target.getvalue()


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


WORKS: tuple[tuple[str, Callable[[Folder, random.Random], str]], ...] = (
    ("delete", _at_a_place(_delete)),
    ("delete", _at_a_place(_delete)),
    ("retype", _at_a_place(_retype)),
    ("retype", _at_a_place(_retype)),
    ("nudge", _at_a_place(_nudge)),
    ("nudge", _at_a_place(_nudge)),
    ("add", _at_a_place(_add)),
    ("double", _double_key),
    ("lines", _line_order),
    ("truncate", _truncate),
    ("table", _table),
)
