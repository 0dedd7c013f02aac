"""Which alerts files are read, and that no message quotes an address."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from assay.errors import PlanError
from assay.run import alerts
from assay.run.alerts import alert_faults, read_alerts, read_secret, refuse_url
from assay.run.ending import EVENTS

HIDDEN = "topsecrettoken"
URL = f"https://hooks.example.org/{HIDDEN}"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(alerts, "ALERTS_FILE", tmp_path / "alerts.toml")
    monkeypatch.setattr(alerts, "OWNER_UID", os.geteuid())
    return tmp_path / "alerts.toml"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    result = tmp_path / "alert.key"
    result.write_bytes(b"0123456789abcdef\n")
    result.chmod(0o600)
    return result


def write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o644)


def test_a_missing_file_means_no_alerts(path: Path) -> None:
    assert (read_alerts(), alert_faults()) == ((), [])
    assert not path.exists()


def test_commands_and_webhooks_are_read(path: Path, secret: Path) -> None:
    webhook = f'[[alert]]\nurl = "{URL}"\nsecret_file = "{secret}"\n'
    write(path, f'{webhook}[[alert]]\non = ["failed", "not-steady"]\ncommand = ["/usr/bin/mail", "root"]\n')
    first, second = read_alerts()
    assert (first.on, first.label(1)) == (EVENTS, "alert 1 (hooks.example.org)")
    assert (second.on, second.command) == (("failed", "not-steady"), ("/usr/bin/mail", "root"))
    assert second.label(2) == "alert 2 (command)"
    assert alert_faults() == []


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('command = ["mail"]', "alert.0.command: names no absolute path"),
        ("command = []", "needs at least 1"),
        ('on = ["faild"]\ncommand = ["/bin/true"]', 'did you mean "failed"'),
        ('on = []\ncommand = ["/bin/true"]', "needs at least 1"),
        ("on = []", "alert.0.on"),
        ('on = ["failed"]', "needs either command or url"),
        (f'command = ["/bin/true"]\nurl = "{URL}"\nsecret_file = "/x"', "needs either command or url"),
        (f'url = "{URL}"', "url without secret_file"),
        ('command = ["/bin/true"]\nsecret_file = "/x"', "url without secret_file"),
        (f'url = "{URL}"\nsecret_file = "x"', "alert.0.secret_file: is no absolute path"),
        (f'url = "http://hooks.example.org/{HIDDEN}"\nsecret_file = "/x"', "is not encrypted"),
        (f'url = "https://a:{HIDDEN}@b.example.org"\nsecret_file = "/x"', "holds a user or password"),
        (f'url = ["{URL}"]\nsecret_file = "/x"', "alert.0.url: is a list, not a text"),
        (f'command = "{URL}"', "alert.0.command: is a text, not a list"),
        (f'on = ["{URL}"]\ncommand = ["/bin/true"]', "is a text, none of ok"),
        (f'url = "{URL}', "alerts.toml:2:"),
        (f'url = "{URL}\\q"', "alerts.toml:2:"),
        (f'urll = "{URL}"', 'did you mean "url"'),
    ],
)
def test_a_fault_is_named_without_the_text_of_the_file(path: Path, entry: str, reason: str) -> None:
    write(path, f"[[alert]]\n{entry}\n")
    (fault,) = alert_faults()
    assert reason in str(fault)
    assert HIDDEN not in str(fault)


def test_a_file_of_another_form_is_refused_without_its_text(path: Path) -> None:
    write(path, f'alert = "{URL}"\n')
    with pytest.raises(PlanError, match="alert: is a text, not a list") as error:
        read_alerts()
    assert HIDDEN not in str(error.value)
    write(path, 'drive = "sim:ideal"\ntests = ["lat"]\n')
    with pytest.raises(PlanError, match="is a plan; run it with"):
        read_alerts()
    write(path, '[[alert]]\ncommand = ["/bin/true"]\n' * 9)
    with pytest.raises(PlanError, match="has more than 8 entries"):
        read_alerts()


def test_a_file_that_others_can_write_or_own_sends_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, '[[alert]]\ncommand = ["/bin/true"]\n')
    path.chmod(0o664)
    with pytest.raises(PlanError, match="can be written by other users"):
        read_alerts()
    path.chmod(0o644)
    assert len(read_alerts()) == 1
    monkeypatch.setattr(alerts, "OWNER_UID", 4242)
    with pytest.raises(PlanError, match=r"belongs to uid .*; move it to a folder that only root can write to"):
        read_alerts()


def test_only_root_owns_the_file_of_the_product() -> None:
    assert (str(alerts.ALERTS_FILE), alerts.OWNER_UID) == ("/etc/assay/alerts.toml", 0)


def test_a_secret_is_read_without_its_newline(path: Path, secret: Path) -> None:
    assert read_secret(secret) == b"0123456789abcdef"
    secret.chmod(0o640)
    assert read_secret(secret) == b"0123456789abcdef"
    assert not path.exists()


@pytest.mark.parametrize(("mode", "reason"), [(0o644, "read by every user"), (0o660, "written by other users")])
def test_a_shared_secret_is_refused(path: Path, secret: Path, mode: int, reason: str) -> None:
    secret.chmod(mode)
    write(path, f'[[alert]]\nurl = "{URL}"\nsecret_file = "{secret}"\n')
    (fault,) = alert_faults()
    assert reason in str(fault)
    assert str(secret) in str(fault)


@pytest.mark.parametrize("content", [b"", b"short\n", b"x" * 4097])
def test_a_secret_has_16_to_4096_bytes(path: Path, secret: Path, content: bytes) -> None:
    secret.write_bytes(content)
    with pytest.raises(PlanError, match=r"must hold 16 to 4096; make a secret"):
        read_secret(secret)
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_who_cannot_read_the_secret_is_warned_at_the_start(path: Path, tmp_path: Path) -> None:
    del tmp_path
    folder = Path("/tmp") / f"assay-alert-{os.getpid()}"  # noqa: S108 - another user must reach it
    folder.mkdir(mode=0o755)
    key = folder / "key"
    try:
        key.write_bytes(b"0123456789abcdef")
        key.chmod(0o600)
        reason = as_nobody(key)
    finally:
        key.unlink()
        folder.rmdir()
    assert "Permission denied; let this user read it" in reason
    assert not path.exists()


def as_nobody(key: Path) -> str:
    """What reading a secret says to another user, in a process that becomes one."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            read_secret(key)
        except PlanError as error:
            os.write(theirs, str(error).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as file:
        return file.read().decode()


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/x", "http://[::1]/x", "http://localhost/x", URL])
def test_https_and_this_host_are_posted_to(url: str) -> None:
    refuse_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "https://",
        "https://a.example.org:99999",
        "https://a b",
        "https://a/\r\nX: y",
        "http://127.0.0.1.example.org",
        "http://[::1",
        "https://\u00e4.example.org",
    ],
)
def test_other_addresses_are_refused_without_their_text(url: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        refuse_url(url)
    assert "example" not in str(error.value)


def test_a_pipe_or_folder_in_place_of_a_secret_is_refused(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(0o700)
    for name in ("pipe", "folder"):
        with pytest.raises(PlanError):
            read_secret(tmp_path / name)
    assert not path.exists()
