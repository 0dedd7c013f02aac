"""``/etc/assay/alerts.toml``: commands and webhooks that root lets run at the end of a run."""

from __future__ import annotations

import ipaddress
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from assay.errors import PlanError, joined
from assay.run.ending.record import EVENTS, Event
from assay.spec.datum import Strict
from assay.spec.model_faults import model_faults
from assay.spec.root_file import owned_path, read_root_file
from assay.spec.text_file import named_bytes
from assay.spec.toml_file import FILE_BYTES_MAX, fault_errors, refuse_other_kind

if TYPE_CHECKING:
    from assay.errors import AssayError

ALERTS_FILE = Path("/etc/assay/alerts.toml")
OWNER_UID = 0
"""Who alone may have written that file and its secrets. Tests replace both."""
ALERT_COUNT_MAX = 8
"""They are sent in turn, so that their time limits add up."""
SECRET_BYTES_MIN, SECRET_BYTES_MAX = 16, 4096

_Path = Annotated[str, Field(max_length=4096)]
_REMEDY = "correct it"


class Alert(Strict):
    """One alert: a command or a webhook.

    on : the ends it is sent of. command : absolute path and arguments, run without a shell.
    url : ``https``, or ``http`` to the host itself. secret_file : the key that signs what is posted there.
    """

    on: tuple[Event, ...] = Field(default=EVENTS, min_length=1)
    command: tuple[Annotated[str, Field(max_length=4096)], ...] | None = Field(
        default=None, min_length=1, max_length=64
    )
    url: Annotated[str, Field(max_length=2048)] | None = None
    secret_file: _Path | None = None

    @field_validator("command")
    @classmethod
    def _absolute(cls, command: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if command and not command[0].startswith("/"):
            raise ValueError("names no absolute path", 'write it as ["/usr/bin/name", "argument"]')
        if command and any("\0" in word for word in command):
            raise ValueError("holds a NUL character", "remove it")
        return command

    @field_validator("url")
    @classmethod
    def _legal(cls, url: str | None) -> str | None:
        if url is not None:
            refuse_url(url)
        return url

    @field_validator("secret_file")
    @classmethod
    def _absolute_file(cls, path: str | None) -> str | None:
        if path is not None and (not path.startswith("/") or "\0" in path):
            raise ValueError("is no absolute path", "begin it with /")
        return path

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either command or url", "leave out the other")
        if (self.url is None) != (self.secret_file is None):
            raise ValueError("has url without secret_file, or the reverse", "give both, or command alone")
        return self

    def label(self, number: int) -> str:
        """Name of the alert in messages, which never hold its address or its arguments.

        number : in the file, from 1. Worked: ``alert 2 (hooks.example.org)``; of a command ``alert 1 (command)``.
        """
        host = urlsplit(self.url).hostname if self.url else "command"
        return f"alert {number} ({host})"


class _AlertsFile(Strict):
    alert: tuple[Alert, ...] = Field(default=(), max_length=ALERT_COUNT_MAX)


def read_alerts() -> tuple[Alert, ...]:
    """The alerts of ``ALERTS_FILE``, none where it does not exist.

    Raises PlanError where others than root can have written it, or it has faults; no error quotes a text of the file,
    because addresses and arguments may be secret.
    """
    try:
        ALERTS_FILE.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise PlanError(str(ALERTS_FILE), error.strerror or "cannot be read", "let this user read it") from None
    table, positions = read_root_file(ALERTS_FILE, owner=OWNER_UID)
    refuse_other_kind(ALERTS_FILE, table, "alerts")
    try:
        return _AlertsFile.model_validate(table).alert
    except ValidationError as error:
        faults = [
            replace(fault, reason=_without_value(fault.reason)) for fault in model_faults(error, _AlertsFile, table)
        ]
        raise joined(fault_errors(ALERTS_FILE, positions, faults), str(ALERTS_FILE)) from None


def read_secret(path: Path) -> bytes:
    r"""The key in a file, without the newline at its end: 16 to 4096 bytes.

    Raises PlanError where others than root can have written it, other users can read it, or its length is illegal.
    Worked: ``b"0123456789abcdef\\n"`` of mode 0600 -> ``b"0123456789abcdef"``; mode 0644 is refused.
    """
    real = owned_path(path, owner=OWNER_UID)
    if real.stat().st_mode & stat.S_IRWXO:
        raise PlanError(str(path), "can be read by every user", "keep the secret in a file that only root can read")
    content = named_bytes(real, bytes_max=FILE_BYTES_MAX, remedy="let this user read it").rstrip(b"\r\n")
    if not SECRET_BYTES_MIN <= len(content) <= SECRET_BYTES_MAX:
        reason = f"holds {len(content)} bytes, and must hold {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX}"
        raise PlanError(str(path), reason, f"make a secret: openssl rand -hex 32 > {path}")
    return content


def alert_faults() -> list[AssayError]:
    """What keeps alerts from being sent, as far as it is known before a run: the file, and each secret."""
    try:
        alerts = read_alerts()
    except PlanError as error:
        return [error]
    return [fault for alert in alerts if alert.secret_file for fault in _secret_fault(Path(alert.secret_file))]


def refuse_url(url: str) -> None:
    """Raise ValueError with reason and remedy, without the address, where it is none that is posted to.

    Worked: ``http://127.0.0.1:8080/x`` and ``https://hooks.example.org/x`` pass; ``http://hooks.example.org`` does not.
    """
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("holds a character that no address has", "write such characters as %XX")
    parts = _split(url)
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise ValueError("is no address of a web server", "begin it with https:// and a host")
    if "@" in parts.netloc:
        raise ValueError("holds a user or password", "put the token into its path, or use a command")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("is not encrypted and leaves this host", "begin it with https://")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this host by its form. Worked: ``localhost``, ``127.1.2.3`` and ``::1`` are."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        # The number is read when asked for.
        _ = parts.port
    except ValueError:
        raise ValueError("is no address of a web server", "correct host and port") from None
    return parts


def _secret_fault(path: Path) -> list[PlanError]:
    try:
        read_secret(path)
    except PlanError as error:
        return [error]
    return []


def _without_value(reason: str) -> str:
    """A reason without the text it quotes. Worked: ``is "https://x", not a list`` -> ``is a text, not a list``."""
    return re.sub(r'".*"', "a text", reason, flags=re.DOTALL)
