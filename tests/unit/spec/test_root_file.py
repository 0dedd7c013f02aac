"""Files that only root, or a stated owner, can have written."""

import os
import re
from pathlib import Path

import pytest
from assay.errors import PlanError
from assay.spec.root_file import owned_folder, owned_path, read_root_file

OWNER = os.geteuid()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "agent.toml"
    path.write_text("group = 'disk'\n", "utf-8")
    path.chmod(0o644)
    return path


def test_an_owners_file_is_read(written: Path) -> None:
    assert read_root_file(written, owner=OWNER)[0] == {"group": "disk"}


def test_links_are_followed_before_the_check(written: Path, tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(written)
    written.chmod(0o664)
    with pytest.raises(PlanError, match=r"agent\.toml: can be written by other users; .*that only root can write to"):
        read_root_file(tmp_path / "link.toml", owner=OWNER)


def test_a_shared_folder_above_is_refused(written: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(PlanError, match="can be written by other users"):
        read_root_file(written, owner=OWNER)
    tmp_path.chmod(0o1777)
    assert read_root_file(written, owner=OWNER)[0]


def test_another_owner_is_refused(written: Path) -> None:
    with pytest.raises(PlanError, match=f"belongs to uid {OWNER}; move it to a folder"):
        read_root_file(written, owner=4242)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="No such file"):
        read_root_file(tmp_path / "none.toml", owner=OWNER)


IS_ROOT = pytest.mark.skipif(OWNER != 0, reason="SKIPPED: needs root to give files away")
MEMBER = 65534


def folder_of(path: Path, mode: int | None = None) -> Path:
    return owned_folder(path, owner=OWNER, remedy="name another", mode=mode)


def test_a_folder_that_is_missing_is_made_for_its_owner_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert folder_of(tmp_path / "a/b/c", 0o750) == tmp_path / "a/b/c"
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o7777 for path in (tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c")] == [
        0o755,
        0o755,
        0o750,
    ]
    with pytest.raises(PlanError, match="none: No such file or directory; name another"):
        folder_of(tmp_path / "none")
    (tmp_path / "file").touch(0o600)
    with pytest.raises(PlanError, match="file: is not a folder"):
        folder_of(tmp_path / "file", 0o700)


def test_a_sticky_folder_serves_as_a_step_and_holds_nothing_of_ours_itself(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert folder_of(shared / "state", 0o700) == shared / "state"
    with pytest.raises(PlanError, match="shared: can be written by other users; name another"):
        folder_of(shared)
    shared.chmod(0o777)
    with pytest.raises(PlanError, match="shared: can be written by other users; name another"):
        folder_of(shared / "state")


@IS_ROOT
def test_a_step_or_link_of_another_user_is_refused(tmp_path: Path) -> None:
    shared, ours = tmp_path / "shared", tmp_path / "ours"
    for folder in (shared, ours, shared / "of-member"):
        folder.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to(ours)
    assert folder_of(shared / "link") == ours
    os.chown(shared / "link", MEMBER, -1, follow_symlinks=False)
    os.chown(shared / "of-member", MEMBER, -1)
    (shared / "of-member/inside").mkdir()
    for path, named in (("link", "link"), ("link/../shared", "link"), ("of-member/inside", "of-member")):
        with pytest.raises(PlanError, match=f"shared/{named}: belongs to uid {MEMBER}; name another"):
            folder_of(shared / path)
    with pytest.raises(PlanError, match=f"shared/link: belongs to uid {MEMBER}; move it to a folder that only root"):
        owned_path(shared / "link")


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(PlanError, match="leads through too many links"):
        owned_path(tmp_path / "a", owner=OWNER)


def test_no_advice_gives_away_or_opens_a_file_of_others() -> None:
    package = Path(__file__).parents[3] / "python/assay"
    files = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in package.rglob("*.py")}
    # A private key is a file that this program made.
    assert [name for name, text in files.items() if re.search(r"\bch(own|mod|grp) ", text)] == [
        "archive/bundle/keys.py"
    ]
