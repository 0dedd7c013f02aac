"""Run folders that others made or changed: each fault is one line that names it, and nothing is written elsewhere.

``make soak`` looks at 10,000 changed folders of each kind, or as many as ``ASSAY_FUZZ_CASES`` says.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.rendering import render_run, whole_run
from assay.errors import AssayError, StoreError
from assay.report import render
from assay.report.formats.terminal.listed import listed_run
from assay.run.plan_file import load_plan
from assay.run.store.read import read_run
from folder_faults import Folder, change
from same_process import assay
from session_runs import copied_run

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.long

DRIVE = "sim:client-2011?capacity=1GB"
CASES = int(os.environ.get("ASSAY_FUZZ_CASES", "10000"))
CHUNK = 50
KINDS: dict[str, dict[str, Any]] = {
    "lat": {"tests": ["lat"], "scale": 0.01},
    "wsat": {"tests": ["wsat"], "scale": 0.005, "edition": "pts-c-2.0"},
    "study": {"studies": ["trim"], "scale": 0.002},
}
SAMPLE_CHUNKS = {"lat": 2, "wsat": 1, "study": 1}
CHUNKS = [
    pytest.param(kind, chunk, marks=[] if chunk < SAMPLE_CHUNKS[kind] else pytest.mark.soak)
    for kind in KINDS
    for chunk in range(CASES // CHUNK)
]

Made = dict[str, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folders = {}
    for kind, keys in KINDS.items():
        folders[kind] = tmp_path_factory.mktemp("runs") / kind
        plan = load_plan(None, {"drive": DRIVE, "seed": 1, **keys})
        copied_run(plan, folders[kind])
    return folders


@pytest.mark.parametrize(("kind", "chunk"), CHUNKS)
def test_a_changed_folder_is_read_or_refused_in_one_line(kind: str, chunk: int, made: Made, tmp_path: Path) -> None:
    good = Folder.read(made[kind])
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        draw, folder = random.Random(f"{kind} {seed}"), good.copied()  # noqa: S311 - the same every time
        done = " and ".join(change(folder, draw) for _ in range(draw.choice([1, 1, 1, 2, 3])))
        folder.write(tmp_path / "run")
        begun = time.process_time()
        try:
            run = read_run(tmp_path / "run", histograms=True)
            render(run, tmp_path / "out", formats=["json", "csv"])
            whole_run(run)
            listed_run(run, "run")
        except AssayError:
            pass
        except Exception as error:
            raise AssertionError(f"seed {kind} {seed}: {done}") from error
        # Of processor time: what it takes to go through a folder of this size, and a hundred times that.
        assert time.process_time() - begun < 20, done
    assert sorted(path.name for path in tmp_path.iterdir()) in (["out", "run"], ["run"])


def rewritten(made: Made, path: Path, work: Callable[[Folder], object], kind: str = "lat") -> Path:
    folder = Folder.read(made[kind])
    work(folder)
    folder.write(path)
    return path


def settings(folder: Folder) -> dict[str, Any]:
    data: dict[str, Any] = next(line["data"] for line in folder.lines if line["kind"] == "test_started")["settings"]
    return data


def steps(folder: Folder) -> dict[str, Any]:
    data: dict[str, Any] = next(line["data"] for line in folder.lines if line["kind"] == "steps")
    return data


@pytest.mark.parametrize("name", ["/etc/x", "../../x", "lat/../../x", ".hidden", "", "a" * 65, "x\0y"])
def test_the_name_of_a_test_cannot_lead_out_of_the_folder(name: str, made: Made, tmp_path: Path) -> None:
    path = rewritten(made, tmp_path / "run", lambda folder: settings(folder).update(test=name))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError, match=r"journal\.jsonl:\d+: settings\.test: .* is no name of a test"):
        render_run(path, ["csv", "json"])
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("place", ["report", "report_date.json", "report_date.json.part", "series", "run.json"])
def test_a_planted_link_leads_nowhere(place: str, made: Made, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    path = rewritten(made, tmp_path / "run", lambda _: None)
    target = outside if place in {"report", "series"} else outside / "precious"
    if (path / place).exists():
        (path / place).rename(outside / "moved")
        target = outside / "moved"
    (path / place).symlink_to(target)
    if place == "report_date.json.part":
        assert render_run(path, ["json"])
    else:
        with pytest.raises(StoreError, match="symbolic link"):
            render_run(path, ["json"])
    left = {file.name for file in outside.iterdir()} - {"moved"}
    assert (left, (outside / "precious").read_text()) == ({"precious"}, "kept")


def test_a_document_lacks_or_doubles_no_key(made: Made, tmp_path: Path) -> None:
    path = rewritten(made, tmp_path / "a", lambda folder: folder.document.pop("identity"))
    with pytest.raises(StoreError, match=r"run\.json: identity: is missing"):
        read_run(path)

    def double(folder: Folder) -> None:
        text = json.dumps(folder.document)
        folder.raw["run.json"] = text.replace('"identity"', '"identity": {}, "identity"').encode()

    with pytest.raises(StoreError, match=r"run\.json: holds the key 'identity' twice"):
        read_run(rewritten(made, tmp_path / "b", double))


def test_a_fault_names_its_line_place_and_reason(made: Made, tmp_path: Path) -> None:
    def retype(folder: Folder) -> None:
        steps(folder)["steps"][0]["read"]["errors"] = ["x"]

    with pytest.raises(StoreError, match=r"journal\.jsonl:\d+: steps\.0\.read\.errors: is a list, not a table"):
        read_run(rewritten(made, tmp_path / "run", retype))


@pytest.mark.parametrize(
    ("fault", "changes"),
    [
        ("settings.demand: is no demand", {"demand": {"thread_count": 0, "queue_depth": 1}}),
        ("settings.preconditioning_share: 1.5 is outside", {"preconditioning_share": 1.5}),
        ("settings.step_ns: -1 is outside", {"step_ns": -1}),
        ("settings: tracks a cell", {"sizes_bytes": [512]}),
    ],
)
def test_settings_that_no_test_can_have_are_refused(
    fault: str, changes: dict[str, Any], made: Made, tmp_path: Path
) -> None:
    def change_settings(folder: Folder) -> None:
        for key, value in changes.items():
            old = settings(folder)[key]
            settings(folder)[key] = {**old, **value} if isinstance(value, dict) else value

    with pytest.raises(StoreError, match=rf"journal\.jsonl:\d+: {fault}"):
        read_run(rewritten(made, tmp_path / "run", change_settings))


def huge_table(folder: Folder, name: str) -> None:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    # In parts, so that making it takes no gigabytes either.
    parts, rows = 40, 500_000
    value = pa.array([7], pa.uint64()).take(pa.array([0] * rows, pa.int32()))
    columns = dict.fromkeys(("step", "bucket", "count"), value)
    target = pa.BufferOutputStream()
    writer = pq.ParquetWriter(target, pa.schema([*((one, pa.uint64()) for one in columns), ("direction", pa.string())]))
    table = pa.table(
        {**columns, "direction": pa.DictionaryArray.from_arrays([0] * 1, ["read"]).cast("string").take([0] * rows)}
    )
    for _ in range(parts):
        writer.write_table(table)
    writer.close()
    folder.tables[name] = target.getvalue().to_pybytes()


def test_a_table_that_would_take_gigabytes_is_refused_before_it_is_read(made: Made, tmp_path: Path) -> None:
    path = rewritten(made, tmp_path / "run", lambda folder: huge_table(folder, "histograms/000002.parquet"))
    assert (path / "histograms/000002.parquet").stat().st_size < 1 << 20
    with pytest.raises(StoreError, match=r"000002\.parquet: has 20000000 rows where at most \d+ can be"):
        read_run(path, histograms=True)


@pytest.mark.parametrize("target", ["/dev/zero", "|", "000001.parquet"])
def test_a_table_is_a_regular_file_inside_the_folder(target: str, made: Made, tmp_path: Path) -> None:
    path = rewritten(made, tmp_path / "run", lambda folder: folder.links.update({"histograms/000002.parquet": target}))
    with pytest.raises(StoreError, match=r"000002\.parquet: is (a symbolic link|not a regular file)"):
        read_run(path)


def test_a_table_of_another_name_is_none(made: Made, tmp_path: Path) -> None:
    def named(folder: Folder) -> None:
        steps(folder)["tables"]["../../etc/passwd"] = "0" * 64

    with pytest.raises(StoreError, match=r"journal\.jsonl:\d+: tables"):
        read_run(rewritten(made, tmp_path / "run", named))


def test_a_run_that_was_cut_says_so_on_every_command_and_in_its_report(made: Made, tmp_path: Path) -> None:
    path = rewritten(made, tmp_path / "run", lambda folder: folder.lines.__delitem__(slice(6, None)))
    done = assay("report", str(path), "--json")
    assert done.returncode == 0
    assert "run: unfinished or cut: its journal ends after 6 lines" in done.stderr
    assert json.loads(done.stdout)["journal"]["complete"] is False
    assert "unfinished or cut" in assay("runs", str(tmp_path)).stderr
    render_run(path, ["html"])
    assert "UNFINISHED OR CUT, 6 lines" in (path / "report/report.html").read_text("utf-8")


def test_the_final_hash_of_a_run_is_that_of_its_last_line_and_stands_in_the_report(tmp_path: Path) -> None:
    done = assay("run", DRIVE, "--test", "lat", "--scale", "0.01", "--out", str(tmp_path / "run"))
    (told,) = re.findall(r"Final hash: ([0-9a-f]{64})", done.stdout)
    assert read_run(tmp_path / "run").journal.hash == told  # type: ignore[union-attr]
    assert told in (tmp_path / "run/report/report.html").read_text("utf-8")
    assert "unfinished" not in done.stderr + assay("report", str(tmp_path / "run"), "--csv").stderr


def test_one_bad_folder_hides_no_other(made: Made, tmp_path: Path) -> None:
    rewritten(made, tmp_path / "good", lambda _: None)
    rewritten(made, tmp_path / "lacking", lambda folder: folder.document.pop("identity"))
    rewritten(made, tmp_path / "steering", lambda folder: folder.document["identity"].update(path="\x1b[2J\x9b31m"))
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/run.json").write_text("[" * 100_000)
    done = assay("runs", str(tmp_path))
    assert (done.returncode, done.stdout.count("\n")) == (0, 5), done.stderr
    assert "steady" in done.stdout
    assert "identity: " in done.stdout
    assert r"\x1b[2J\x9b31m" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
