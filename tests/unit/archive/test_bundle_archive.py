"""Bundles of anybody: a good one is the same each time; every other is refused before anything is written.

``make soak`` looks at 5,000 changed bundles, or as many as ``ASSAY_FUZZ_CASES`` says.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import subprocess
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from assay.archive.bundle import export_run, import_bundle, opened, unpack
from assay.archive.bundle.archive import check_frame, header, write_archive
from assay.archive.bundle.manifest import BundleFile, Manifest, read_manifest
from assay.errors import AssayError, FolderBusyError, StoreError, VerificationError
from assay.run.store.lock import lock_folder
from every_kind import run_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import IO

    from assay.archive.bundle import Bundle

CASES = int(os.environ.get("ASSAY_FUZZ_CASES", "5000"))
CHUNK = 100
CHUNKS = [pytest.param(chunk, marks=[] if chunk < 2 else pytest.mark.soak) for chunk in range(CASES // CHUNK)]


def inspect(path: Path) -> Bundle:
    """A bundle that was checked whole."""
    with opened(path) as found:
        return found.bundle


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "lat"
    run_of("lat", folder)
    (folder / "progress.json").write_text("{}", "utf-8")
    (folder / "run.log").write_text("host: a line for people\n", "utf-8")
    (folder / "notes.txt").write_text("mine\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def bundle(run: Path) -> Path:
    out = run.with_name("good.assay")
    export_run(run, out)
    return out


def compressed(tar: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(tar)
    return sink.getvalue().to_pybytes()


def unpacked(bundle: Path) -> bytes:
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as source:
        return bytes(source.read())


def members(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(unpacked(bundle))) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]


def of_files(path: Path, files: dict[str, bytes], /, **changes: Any) -> Path:
    """A bundle whose manifest is true of its files, with changes to the manifest."""
    manifest = read_manifest(files["manifest.json"], name="good")
    rest = {name: content for name, content in files.items() if name != "manifest.json"}
    listed = tuple(
        BundleFile(name=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        for name, content in sorted(rest.items())
    )
    content = replace(manifest, **{"files": listed, **changes}).encoded()
    with path.open("wb") as file:
        write_archive(file, [(name, len(data), [data]) for name, data in {"manifest.json": content, **rest}.items()])
    return path


def test_the_same_run_gives_the_same_bytes_and_any_tar_reads_them(run: Path, bundle: Path, tmp_path: Path) -> None:
    again = export_run(run, tmp_path / "again.assay")
    assert again.path.read_bytes() == bundle.read_bytes()
    names = [name.split("/")[0] for name in members(bundle)]
    assert names[0] == "manifest.json"
    assert {*names, "lead-ins"} == {"manifest.json", "histograms", "journal.jsonl", "lead-ins", "run.json", "series"}
    listed = subprocess.run(["/usr/bin/tar", "-tf", "-"], input=unpacked(bundle), capture_output=True, check=True)
    assert listed.stdout.decode().split() == list(members(bundle))
    assert "run.log" in members(export_run(run, tmp_path / "log.assay", log=True).path)


def test_an_imported_run_is_the_run_that_was_exported(run: Path, bundle: Path, tmp_path: Path) -> None:
    found = import_bundle(bundle, tmp_path / "runs")
    assert found.folder == tmp_path / "runs/good"
    names = {str(path.relative_to(found.folder)) for path in found.folder.rglob("*") if path.is_file()}
    assert names == {*(members(bundle).keys() - {"manifest.json"}), "origin.json"}
    assert all((found.folder / name).read_bytes() == (run / name).read_bytes() for name in names - {"origin.json"})
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["good"]
    with pytest.raises(StoreError, match="is there already"):
        import_bundle(bundle, tmp_path / "runs")


def test_who_puts_another_folder_in_the_place_of_the_draft_gets_nothing(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into, elsewhere = tmp_path / "runs", tmp_path / "elsewhere"
    elsewhere.mkdir()
    real = unpack._unpacked

    def raced(file: IO[bytes], checked: Bundle, folder: Path) -> unpack.Opened:
        (draft,) = into.glob(".import-*")
        draft.rename(into / "away")
        draft.symlink_to(elsewhere)
        return real(file, checked, folder)

    monkeypatch.setattr(unpack, "_unpacked", raced)
    found = import_bundle(bundle, into)
    assert list(elsewhere.iterdir()) == []
    assert (found.folder / "origin.json").is_file()
    assert found.folder == into / "good"


def test_an_opened_bundle_is_gone_afterwards(bundle: Path) -> None:
    with opened(bundle) as found:
        assert (found.folder / "run.json").is_file()
        assert found.run.run_id == found.bundle.manifest.run_id
    assert not found.folder.exists()


def test_a_run_that_goes_on_is_not_exported(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "run.json").write_bytes((run / "run.json").read_bytes())
    # A journal without its end, and a process that holds the folder.
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "journal.jsonl").write_bytes(b"".join(lines[:1]))
    lock = lock_folder(copy)
    try:
        with pytest.raises(FolderBusyError, match="goes on"):
            export_run(copy, tmp_path / "x.assay")
    finally:
        os.close(lock)
    found = export_run(copy, tmp_path / "x.assay")
    assert not found.manifest.complete


def test_nothing_is_written_over_and_a_changed_run_is_not_exported(run: Path, bundle: Path, tmp_path: Path) -> None:
    before = bundle.read_bytes()
    with pytest.raises(StoreError, match="is there already"):
        export_run(run, bundle)
    assert bundle.read_bytes() == before
    copy = tmp_path / "copy"
    subprocess.run(["/usr/bin/cp", "-r", run, copy], check=True)
    table = next((copy / "series").iterdir())
    table.write_bytes(table.read_bytes() + b"x")
    with pytest.raises(VerificationError):
        export_run(copy, tmp_path / "x.assay")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy"]


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", content: bytes = b"") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content)
    return info.tobuf() + content + bytes(-len(content) % 512)


def raw_member(name: str) -> bytes:
    """A header of a name that Python's own would write otherwise."""
    head = bytearray(header("x", 0))
    head[: len(name)] = name.encode()
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def first(tar: bytes) -> bytes:
    """The manifest with its header."""
    size = int(tar[124:135], 8)
    return tar[: 512 + size + -size % 512]


def behind_manifest(extra: bytes) -> Callable[[bytes], bytes]:
    return lambda tar: first(tar) + extra + tar[len(first(tar)) :]


def first_twice(tar: bytes) -> bytes:
    rest = tar[len(first(tar)) :]
    size = int(rest[124:135], 8)
    whole = 512 + size + -size % 512
    return first(tar) + rest[:whole] + rest


def with_owner(tar: bytes) -> bytes:
    head = tarfile.TarInfo.frombuf(tar[:512], "ascii", "strict")
    head.uid, head.gname = 1000, "x" * 31
    return head.tobuf() + tar[512:]


TARS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "symbolic link": (behind_manifest(member("run.json", tarfile.SYMTYPE, "/etc/passwd")), "holds the link"),
    "hard link": (behind_manifest(member("run.json", tarfile.LNKTYPE, "/etc/passwd")), "holds the link"),
    "device": (behind_manifest(member("run.json", tarfile.BLKTYPE)), "no regular file"),
    "character device": (behind_manifest(member("run.json", tarfile.CHRTYPE)), "no regular file"),
    "pipe": (behind_manifest(member("run.json", tarfile.FIFOTYPE)), "no regular file"),
    "folder": (behind_manifest(member("series", tarfile.DIRTYPE)), "no regular file"),
    "long name": (behind_manifest(member("x" * 300)), "no regular file"),
    "absolute path": (behind_manifest(raw_member("/etc/cron.d/x")), "leads out"),
    "parent path": (behind_manifest(raw_member("../../x")), "leads out"),
    "hidden parent path": (behind_manifest(raw_member("series/../../x")), "leads out"),
    "further file": (behind_manifest(member("x.sh", content=b"echo")), "must come"),
    "file twice": (first_twice, "must come"),
    "further file at the end": (lambda tar: tar[:-1024] + member("x.sh", content=b"echo") + bytes(1024), "more files"),
    "no end": (lambda tar: tar[:-1024], "is cut off"),
    "half an end": (lambda tar: tar[:-512], "is cut off"),
    "data behind the end": (lambda tar: tar + b"hidden", "continues after"),
    "zeros behind the end": (lambda tar: tar + bytes(512), "continues after"),
    "ends early": (lambda tar: first(tar) + bytes(1024), "ends before"),
    "cut in a file": (lambda tar: tar[: len(tar) // 2], "is cut off"),
    "owner": (with_owner, "owner"),
    "no manifest": (lambda tar: tar[len(first(tar)) :], "where manifest.json must come"),
    "empty": (lambda _: b"\0" * 1024, "ends before manifest.json"),
    "no tar": (lambda _: b"x" * 5000, "damaged before manifest.json"),
    "huge manifest": (lambda _: header("manifest.json", 1 << 40), "not the size"),
}


def frames(content: bytes) -> dict[str, bytes]:
    """The file itself changed: what stands before, behind and in the frame."""
    skippable = b"\x50\x2a\x4d\x18\x04\0\0\0evil"
    return {
        "behind": content + b"x",
        "skippable frame behind": content + skippable,
        "skippable frame before": skippable + content,
        "second frame": content + compressed(b"x"),
        "cut": content[:-1],
        "cut in the middle": content[: len(content) // 2],
        "only the magic": content[:4],
        "nothing": b"",
        "text": b"hello",
        "gzip": b"\x1f\x8b" + content,
        "huge window": content[:5] + b"\xff" + content[6:],
        "dictionary": content[:4] + bytes([content[4] | 1]) + content[5:],
    }


def refused(bundle: Path, into: Path, match: str | None = None) -> AssayError:
    """What an import of it raises; nothing is written."""
    into.mkdir(exist_ok=True)
    with pytest.raises((StoreError, VerificationError), match=match) as caught:
        import_bundle(bundle, into)
    assert list(into.iterdir()) == []
    assert "Traceback" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("case", TARS)
def test_a_hostile_archive_is_refused_and_nothing_is_written(case: str, bundle: Path, tmp_path: Path) -> None:
    change, reason = TARS[case]
    path = tmp_path / "bad.assay"
    path.write_bytes(compressed(change(unpacked(bundle))))
    refused(path, tmp_path / "into", reason)


def test_a_frame_that_is_not_whole_or_not_alone_is_refused(bundle: Path, tmp_path: Path) -> None:
    for case, content in frames(bundle.read_bytes()).items():
        path = tmp_path / "bad.assay"
        path.write_bytes(content)
        assert refused(path, tmp_path / "into").exit_code == 6, case


def test_a_manifest_names_documented_files_once_and_within_bounds(bundle: Path, tmp_path: Path) -> None:
    good = members(bundle)
    files = read_manifest(good["manifest.json"], name="good").files
    last = files[-1]
    path, into = tmp_path / "bad.assay", tmp_path / "into"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"files": (*files, files[0])}, "not in order"),
        ({"files": tuple(reversed(files))}, "not in order"),
        ({"files": (*files, replace(last, name="x.sh"))}, "none of a run folder"),
        ({"files": (*files, replace(last, name="../run.json"))}, "none of a run folder"),
        ({"files": (*files, replace(last, name="traces/../../x.parquet"))}, "none of a run folder"),
        ({"files": (*files, replace(last, name="progress.json"))}, "none of a run folder"),
        ({"files": (*files, *(replace(last, name=f"traces/{one}.parquet") for one in "Aa"))}, "capital letters"),
        ({"files": files[:1]}, "holds no journal.jsonl"),
        ({"files": (*files, replace(last, name="traces/x.parquet", size_bytes=1 << 36))}, "would unpack to"),
        ({"files": (*files, replace(last, name="traces/x.parquet", size_bytes=1 << 35))}, "times its size"),
        ({"files": tuple(replace(one, size_bytes=1 << 31) for one in files)}, "are taken"),
        ({"files": tuple(replace(one, sha256="0" * 64) for one in files)}, "not the file that the manifest names"),
        ({"schema": 2}, "does not know"),
        ({"run_id": "another"}, "describes a different run"),
        ({"final_hash": "0" * 64}, "describes a different run"),
        ({"complete": False}, "describes a different run"),
        ({"redacted": True}, "describes a different run"),
    ]
    for change, reason in cases:
        refused(of_files(path, good, **change), into, reason)
    broken = {**good, "journal.jsonl": good["journal.jsonl"].replace(b'"lat"', b'"tal"', 1)}
    assert refused(of_files(path, broken), into, "not the line that was written").exit_code == 5


def test_a_bomb_takes_neither_memory_nor_disk(bundle: Path, tmp_path: Path) -> None:
    good = members(bundle)
    manifest = read_manifest(good["manifest.json"], name="good")
    bomb = BundleFile(name="traces/x.parquet", size_bytes=1 << 30, sha256="0" * 64)
    content = replace(manifest, files=(*manifest.files, bomb)).encoded()
    path = tmp_path / "bomb.assay"
    zeros = (bytes(1 << 20) for _ in range(1 << 6))
    with path.open("wb") as file:
        write_archive(file, [("manifest.json", len(content), [content]), ("traces/x.parquet", 1 << 26, zeros)])
    refused(path, tmp_path / "into", "times its size")


def test_a_file_that_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.assay")
    for name in ("pipe.assay", "missing.assay", "."):
        with pytest.raises(StoreError):
            inspect(tmp_path / name)


def changed(content: bytes, draw: random.Random) -> bytes:
    """A few bytes otherwise, in, out or moved."""
    found = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        place = draw.randrange(len(found))
        match draw.choice(("byte", "byte", "bit", "out", "in", "moved")):
            case "byte":
                found[place] = draw.randrange(256)
            case "bit":
                found[place] ^= 1 << draw.randrange(8)
            case "out":
                del found[place : place + draw.choice((1, 512))]
            case "in":
                found[place:place] = draw.randbytes(draw.choice((1, 512)))
            case "moved":
                found[place : place + 512] = found[draw.randrange(len(found)) :][:512]
    return bytes(found)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_changed_bundle_is_refused_or_the_same(chunk: int, bundle: Path, tmp_path: Path) -> None:
    content, tar = bundle.read_bytes(), unpacked(bundle)
    good = members(bundle)
    path = tmp_path / "changed.assay"
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        draw = random.Random(seed)  # noqa: S311 - cases, not secrets  # noqa: S311 - cases, not secrets
        bad = changed(content, draw) if seed % 2 else compressed(changed(tar, draw))
        path.write_bytes(bad)
        try:
            inspect(path)
        except (StoreError, VerificationError):
            continue
        # What a frame says beside its data, such as its window, may differ.
        assert members(path) == good, f"seed {seed}"


def test_the_frame_that_is_written_is_the_one_that_is_taken(bundle: Path) -> None:
    with bundle.open("rb") as file:
        check_frame(file)
        assert file.tell() == 0
    assert Manifest.__dataclass_fields__.keys() >= {"final_hash", "files"}
