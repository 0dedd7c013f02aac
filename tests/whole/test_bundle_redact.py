"""A redacted bundle holds none of the names, in no byte of any file, and gives the same results."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from assay.archive.bundle import export_run, import_bundle, with_origin
from assay.archive.bundle.redact import Labels
from assay.archive.rendering import stored_run
from assay.engine.codec import canonical
from assay.errors import StoreError
from assay.report import build_report, render
from assay.run.store.read import read_run
from every_kind import run_of
from folder_faults import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredRun

SERIAL, MODEL, FIRMWARE, WWN = "S5Y1NX0R123456", "ACME NV9000 Pro", "7B2QGXA9", "eui.0025385b11b0c0de"
NGUID = "6479a74a30001234002538a1000000ab"
PATH, CONTROLLER, BY_ID = "/dev/nvme7n1", "nvme7", "/dev/disk/by-id/nvme-ACME_NV9000_Pro_S5Y1NX0R123456"
OPERATOR, LAB, HOST, DATA = "Grete Hermann", "Lab Quedlinburg", "quedlinburg-host-3", "/home/grete/secret-data.bin"
HOST_ID = "c8d0d1fd9c2634f2"
NAMES = (
    SERIAL, MODEL, FIRMWARE, WWN, NGUID, PATH, CONTROLLER, BY_ID, OPERATOR, LAB, HOST, DATA, HOST_ID, "ACME", "Hermann",
    "Quedlinburg", "0025385b11b0c0de", "nvme7n1", "/home", "secret-data", "0000:3b:00.0", "NV9000", "Acme Storage",
    "8:0:1:0", "a note about it",
)  # fmt: skip
SAID = f"{CONTROLLER}: missing or invalid SUBNQN field, {SERIAL}, pci 0000:3b:00.0"
NAMED = [name.lower() for name in NAMES]
EVENT = {"level": 4, "device": "nvme7", "text": SAID, "count": 2}
HARMLESS = {"level": 6, "device": "nvme7", "text": f"{CONTROLLER}: {MODEL} at {PATH}, 8:0:1:0", "count": 1}


def named(folder: Folder) -> Folder:
    """The same run of a drive, a host and people with names, which stand wherever they can."""
    document = folder.document
    document["identity"] |= {
        "id": WWN, "path": PATH, "kind": "block", "model_number": MODEL, "serial": SERIAL,
        "firmware": FIRMWARE, "wwn": WWN, "eui": WWN, "nguid": NGUID, "controller": CONTROLLER,
        "namespace_id": 1, "namespace_count": 1, "diskseq": 42,
        "refusals": [f"{PATH} is mounted on /home/grete"],
    }  # fmt: skip
    document["platform"] |= {"host_id": HOST_ID, "system": f"{HOST} rack 2", "extra": {"note": f"on {HOST}"}}
    texts = {"operator": OPERATOR, "lab": LAB, "vendor": "Acme Storage", "notes": f"a note about it by {OPERATOR}"}
    document["description"] |= {**texts, "nand_type": f"TLC of {MODEL}", "name": f"night at {LAB}"}
    document["plan"] |= {"drive": BY_ID, "special_notes": [{"item": MODEL, "notation": OPERATOR, "comments": ""}]}
    document["plan"]["report"] |= {**texts, "tags": [LAB]}
    document["plan"]["data"] |= {"kind": "file", "path": DATA}
    document["deviations"] = [*document["deviations"], f"data of {DATA} on {MODEL.replace(' ', '_')}_{SERIAL}"]
    for line in folder.lines:
        _name_line(line["kind"], line["data"])
    _rename_asked(folder.lines)
    condition = next(line for line in folder.lines if line["kind"] == "condition")
    facts = {"scheduler": f"none on {PATH}", "data origin": HOST_ID[::-1]}
    folder.lines.insert(1, {**condition, "kind": "engine", "data": facts})
    folder.lines.insert(2, {**condition, "kind": "advice", "data": {"text": f"nvme format {PATH} --lbaf=0"}})
    return folder


def _name_line(kind: str, data: dict[str, Any]) -> None:
    if kind == "purged":
        data["proof"] = f"{PATH} reads as zeros ({SERIAL.lower()})"
    if kind == "run_ended":
        data["message"] = f"{PATH}: {HOST} was switched off by {OPERATOR}"
    if kind == "test_started":
        data["settings"]["data"] |= {"kind": "file", "path": DATA}
    if kind == "steps":
        data["steps"][0]["drive_events"] = [EVENT, HARMLESS]
    if kind == "condition":
        data["link"] = f"PCIe 4.0 x4 at {CONTROLLER}"
    if kind == "asked":
        for spec in data["specs"].values():
            spec["pattern"]["data"] |= {"kind": "file", "path": DATA}


def _rename_asked(lines: list[dict[str, Any]]) -> None:
    """What was asked goes by the digest of its content."""
    names: dict[str, str] = {}
    for line in lines:
        if line["kind"] == "asked":
            specs = line["data"]["specs"]
            names |= {old: hashlib.sha256(canonical(spec)).hexdigest()[:16] for old, spec in specs.items()}
            line["data"]["specs"] = {names[old]: spec for old, spec in specs.items()}
        if line["kind"] == "steps":
            line["data"]["asked"] = [names[old] for old in line["data"]["asked"]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("redact") / f"run-of-{SERIAL}"
    run_of("wsat", folder)
    named(Folder.read(folder)).write(folder)
    (folder / "advice.txt").write_text(f"nvme format {PATH}\n", "utf-8")
    (folder / "run.log").write_text(f"{HOST}: {OPERATOR}\n", "utf-8")
    (folder / "report_date.json").write_text('{"wall_ns":1795355342681748283}', "utf-8")
    return folder


@pytest.fixture(scope="module")
def imported(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("into")
    export_run(run, into / "x.assay", redacted=True, further={HOST: "host-name"})
    return import_bundle(into / "x.assay", into / "runs").folder


def test_no_name_is_in_any_byte_of_a_redacted_bundle(run: Path, imported: Path, tmp_path: Path) -> None:
    # That the names are there without redaction is what makes the rest of this test mean something.
    plain = export_run(run, tmp_path / "plain.assay").path
    with pa.CompressedInputStream(pa.OSFile(str(plain)), "zstd") as content:
        before = content.read().lower()
    assert all(name.lower().encode() in before for name in (SERIAL, MODEL, OPERATOR, DATA))
    files = [path for path in imported.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"run.json", "journal.jsonl", "report_date.json", "origin.json"}
    assert not {"advice.txt", "run.log"} & {path.name for path in files}
    for path in files:
        content = path.read_bytes().lower()
        assert [name for name in NAMES if name.lower().encode() in content] == [], path.name
        assert not any(name.lower() in str(path.relative_to(imported)).lower() for name in NAMES)
    for path in imported.rglob("*.parquet"):
        found = str(pq.read_metadata(path).metadata).lower() + str(pq.read_table(path).schema).lower()
        assert not any(name.lower() in found for name in NAMES)


def test_no_name_is_in_the_report_of_a_redacted_run(imported: Path, tmp_path: Path) -> None:
    found = with_origin(stored_run(imported), imported, ())
    for path in render(found, tmp_path, formats=("html", "csv", "json")):
        content = path.read_text("utf-8").lower()
        # Four letters may stand in the script of the page by chance.
        assert [name for name in NAMES if len(name) > 4 and name.lower() in content] == [], path.name
    assert "redacted by its maker" in (tmp_path / "report.html").read_text("utf-8")


def numbers(run: StoredRun) -> list[Any]:
    """Every step but for the lines of the kernel's log, in order, and how many of these there are."""
    steps = [step for test in run.tests for sequence in test.sequences for step in sequence.steps]
    return [(replace(step, drive_events=()), len(step.drive_events)) for step in steps]


def test_a_redacted_run_gives_the_same_numbers(run: Path, imported: Path) -> None:
    before, after = read_run(run), read_run(imported)
    assert numbers(before) == numbers(after)
    assert [test.ended for test in before.tests] == [test.ended for test in after.tests]
    pages = [build_report(stored_run(one)).pages for one in (run, imported)]
    for mine, theirs in zip(*pages, strict=True):
        assert _tables(mine) == _tables(theirs)
    assert before.journal
    assert after.journal
    assert before.journal.line_count == after.journal.line_count
    assert before.journal.hash in after.description["redacted"]
    assert before.platform.cpu == after.platform.cpu


def _tables(page: Any) -> list[Any]:
    found = [block.rows for block in page.all_blocks if block.block == "table"]
    return [row for rows in found for row in rows if not any(one in str(row).lower() for one in ("redacted", *NAMED))]


def test_equal_names_get_equal_labels(imported: Path) -> None:
    document = json.loads((imported / "run.json").read_bytes())
    assert document["identity"]["serial"] == "redacted-serial-1"
    assert document["identity"]["diskseq"] is None
    assert document["identity"]["eui"] == document["identity"]["wwn"] or "eui" in document["identity"]["eui"]
    assert document["description"]["operator"] == document["plan"]["report"]["operator"] == "redacted-operator-1"
    assert document["description"]["nand_type"] == "TLC of redacted-model-1"
    assert document["description"]["lab"] == "redacted-lab-1"
    engine = next(line for line in (imported / "journal.jsonl").read_text("utf-8").splitlines() if '"engine"' in line)
    assert HOST_ID[::-1] in engine


def test_the_chain_is_new_and_the_old_end_is_kept(run: Path, tmp_path: Path) -> None:
    made = [export_run(run, tmp_path / f"{one}.assay", redacted=True) for one in range(2)]
    assert made[0].path.read_bytes() == made[1].path.read_bytes()
    manifest = made[0].manifest
    before = read_run(run).journal
    assert before
    assert (manifest.redacted, manifest.original_hash) == (True, before.hash)
    assert manifest.final_hash != before.hash
    # What was redacted once stays so, whoever exports it again.
    folder = import_bundle(made[0].path, tmp_path / "runs").folder
    for redacted in (False, True):
        again = export_run(folder, tmp_path / f"again-{redacted}.assay", redacted=redacted).manifest
        assert (again.redacted, again.original_hash) == (True, before.hash)


def test_without_anything_that_nobody_can_guess_the_old_end_is_not_given_away(run: Path, tmp_path: Path) -> None:
    folder = Folder.read(run)
    folder.document["platform"]["host_id"] = None
    folder.write(tmp_path / "run")
    found = export_run(tmp_path / "run", tmp_path / "x.assay", redacted=True)
    assert found.manifest.original_hash is None


def test_a_run_that_cannot_be_redacted_is_not_exported(run: Path, tmp_path: Path) -> None:
    folder = Folder.read(run)
    steps = next(line for line in folder.lines if line["kind"] == "steps")
    steps["data"]["name"] = f"sample of {SERIAL}"
    folder.write(tmp_path / "run")
    with pytest.raises(StoreError, match="would still hold a name"):
        export_run(tmp_path / "run", tmp_path / "x.assay", redacted=True)
    assert not (tmp_path / "x.assay").exists()


def test_a_line_of_the_kernel_that_would_mean_another_thing_is_not_redacted(run: Path, tmp_path: Path) -> None:
    folder = Folder.read(run)
    folder.document["identity"]["serial"] = "timeout"
    for line in folder.lines:
        if line["kind"] == "steps":
            line["data"]["steps"][0]["drive_events"] = [{**EVENT, "level": 6, "text": "nvme7: timeout"}]
    folder.write(tmp_path / "run")
    with pytest.raises(StoreError, match="another meaning"):
        export_run(tmp_path / "run", tmp_path / "x.assay", redacted=True)


def test_short_names_are_found_as_words_only() -> None:
    labels = Labels()
    labels.learn("path", "/dev/sdb")
    labels.learn("serial", "AB12")
    assert labels.words("[sdb] AB12 x_AB12_y sdbc CAB123") == (
        "[redacted-path-1] redacted-serial-1 x_redacted-serial-1_y sdbc CAB123"
    )
    assert labels.words("at 2/0/0 I/O 3 R/W 65/35") == "at 2/0/0 I/O 3 R/W 65/35"
    labels.learn("operator", "Hesse")
    assert labels.words("He\u017f\u017fe and HESSE") == "redacted-text and redacted-operator-1"
    assert labels.words("see /var/log/x.") == "see redacted-path-2"
