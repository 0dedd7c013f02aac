"""What a user keeps is written and read without following a link that somebody laid there."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from assay.archive.bundle import make_key, own_public_key, signer, trust_key
from assay.archive.bundle.keys import PublicKey
from assay.cli import assay
from assay.errors import StoreError
from assay.spec.files import read_user_file, write_user_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_written_whole_in_folders_for_the_user_alone(tmp_path: Path) -> None:
    write_user_file(tmp_path / "home/.config", "assay/x", b"1", mode=0o600)
    write_user_file(tmp_path / "home/.config", "assay/x", b"22", mode=0o600)
    path = tmp_path / "home/.config/assay/x"
    assert read_user_file(tmp_path / "home/.config", "assay/x") == b"22"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["x"]


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_user_file(tmp_path / "none", "assay/x") is None
    assert read_user_file(tmp_path, "assay/x") is None


def test_a_link_at_the_name_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "passwd"
    victim.write_bytes(b"root\n")
    (tmp_path / "assay").mkdir()
    (tmp_path / "assay/x").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        read_user_file(tmp_path, "assay/x")
    write_user_file(tmp_path, "assay/x", b"1")
    assert victim.read_bytes() == b"root\n"
    assert not (tmp_path / "assay/x").is_symlink()


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "assay").symlink_to(tmp_path / "etc")
    with pytest.raises(OSError, match="symbolic link"):
        write_user_file(tmp_path, "assay/x", b"1")
    assert list((tmp_path / "etc").iterdir()) == []


def test_keys_follow_no_link_in_a_hostile_home(tmp_path: Path) -> None:
    victim, folder = tmp_path / "passwd", tmp_path / ".config/assay"
    victim.write_bytes(b"root\n")
    folder.mkdir(parents=True)
    for name in ("trusted_keys", "signing_key.pem", "signing_key.pub"):
        (folder / name).symlink_to(victim)
    key = PublicKey(bytes([7] * 32), "Lab 2")
    for act in (lambda: trust_key(folder, key), lambda: own_public_key(folder), lambda: signer(folder)):
        with pytest.raises(StoreError, match="symbolic link"):
            act()
    (folder / "signing_key.pem").unlink()
    make_key(folder, "Lab 1")
    assert victim.read_bytes() == b"root\n"


def test_a_completion_script_replaces_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim, path = tmp_path / "passwd", tmp_path / "data/bash-completion/completions/assay"
    victim.write_bytes(b"root\n")
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assay(["completion", "bash", "--install"], standalone_mode=False)
    assert victim.read_bytes() == b"root\n"
    assert "complete" in path.read_text("utf-8")
