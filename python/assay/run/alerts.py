"""The alerts that root's file ``/etc/assay/alerts.toml`` sends of a run: commands, and signed posts to webhooks."""

from __future__ import annotations

import hashlib
import hmac
import http
import ipaddress
import os
import re
import socket
import ssl
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from assay.dut.real.command import CommandError, run_command
from assay.errors import PlanError, joined
from assay.run.ending import EVENTS, Event
from assay.spec.datum import Strict
from assay.spec.model_faults import model_faults
from assay.spec.root_file import owned_path, read_root_file
from assay.spec.toml_file import FILE_BYTES_MAX, fault_errors, named_bytes, refuse_other_kind
from assay.spec.units import SECOND_NS
from assay.version import tool_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.errors import AssayError
    from assay.run.ending import RunEnd


ALERTS_FILE = Path("/etc/assay/alerts.toml")
OWNER_UID = 0
"""Who alone may have written that file and its secrets. Tests replace both."""
ALERT_COUNT_MAX = 8
"""They are sent in turn, so that their time limits add up."""
SECRET_BYTES_MIN, SECRET_BYTES_MAX = 16, 4096

_Path = Annotated[str, Field(max_length=4096)]


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
        # A reason may quote a text.
        faults = [
            replace(fault, reason=re.sub(r'".*"', "a text", fault.reason, flags=re.DOTALL))
            for fault in model_faults(error, _AlertsFile, table)
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
    faults: list[AssayError] = []
    for alert in alerts:
        if alert.secret_file:
            try:
                read_secret(Path(alert.secret_file))
            except PlanError as error:
                faults.append(error)
    return faults


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


WEBHOOK_SECONDS = 5.0
"""Of the whole exchange: name, connection, certificate, request and the head of the response."""
SIGNATURE = "Assay-Signature"

_REDIRECTS = range(300, 400)


class UndeliveredError(Exception):
    """An alert that was not delivered; its text says why, without the address."""


def signature(body: bytes, secret: bytes, time_s: int) -> str:
    """The value of the header ``Assay-Signature``: HMAC-SHA256 of time, a dot and body.

    time_s : seconds since the Unix epoch. Worked: body ``{"schema": 1}``, secret ``0123456789abcdef``,
    time 1767225600 -> ``t=1767225600,v1=2c81be16``....
    """
    digest = hmac.new(secret, b"%d." % time_s + body, hashlib.sha256).hexdigest()
    return f"t={time_s},v1={digest}"


def post(url: str, body: bytes, secret: bytes, *, time_s: int, seconds: float = WEBHOOK_SECONDS) -> str:
    """Post a JSON document and return the status of the response. Worked: ``status 204 No Content``.

    url : as ``alerts_file.refuse_url`` lets pass. seconds : of the whole exchange, more than 0.
    The body of the response is not read. Certificates are checked against those of the system. Raises UndeliveredError
    where no response comes, or its status is not 2xx.
    """
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"assay/{tool_version()}",
        SIGNATURE: signature(body, secret, time_s),
    }
    connection = _connection(url, seconds)
    answers: SimpleQueue[int | UndeliveredError] = SimpleQueue()
    # The lookup of a name has no time limit, and that of a socket starts again with each byte.
    deadline = time.monotonic() + seconds
    Thread(target=lambda: answers.put(_exchange(connection, url, body, headers, deadline)), daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise UndeliveredError(f"no response within {seconds:g} s") from None
    finally:
        _cut(connection)
    if isinstance(answer, UndeliveredError):
        raise answer
    return _accepted(answer)


def _connection(url: str, seconds: float) -> HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "http":
        return HTTPConnection(host, parts.port or 80, timeout=seconds)
    return HTTPSConnection(host, parts.port or 443, timeout=seconds, context=ssl.create_default_context())


def _exchange(
    connection: HTTPConnection, url: str, body: bytes, headers: dict[str, str], deadline: float
) -> int | UndeliveredError:
    """The status of the response, or why there is none. deadline : of the monotonic clock."""
    try:
        return _status(connection, urlsplit(url), body, headers, deadline)
    except UndeliveredError as error:
        return error
    except ssl.SSLCertVerificationError as error:
        return UndeliveredError(f"its certificate is refused ({error.verify_message})")
    except OSError as error:
        return UndeliveredError(f"no connection ({_cause(error)})")
    except (HTTPException, ValueError, AttributeError):
        # A connection that is cut under it has no socket any more.
        return UndeliveredError("the response is not HTTP")
    finally:
        connection.close()


def _status(
    connection: HTTPConnection, parts: SplitResult, body: bytes, headers: dict[str, str], deadline: float
) -> int:
    """Post, and return the status. The head of a response has at most 100 lines of 64 KiB, and no more is read."""
    connection.connect()
    if parts.scheme == "http" and not is_loopback(connection.sock.getpeername()[0]):
        raise UndeliveredError("its name leads to another host, which needs https")
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise UndeliveredError("no connection in time")
    connection.sock.settimeout(left_s)
    connection.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
    return connection.getresponse().status


def _cause(error: OSError) -> str:
    """The cause in the system's words. Worked: errno 111 -> ``Connection refused``."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ssl.SSLError):
        return (error.reason or "TLS").replace("_", " ").lower()
    return error.strerror or type(error).__name__


def _accepted(status: int) -> str:
    """The status in words, or UndeliveredError. Worked: 204 -> ``status 204 No Content``; 302 is an error."""
    words = f"status {status}"
    with suppress(ValueError):
        words = f"{words} {http.HTTPStatus(status).phrase}"
    if status in _REDIRECTS:
        raise UndeliveredError(f"{words}: redirects are not followed")
    if not http.HTTPStatus.OK <= status < http.HTTPStatus.MULTIPLE_CHOICES:
        raise UndeliveredError(words)
    return words


def _cut(connection: HTTPConnection) -> None:
    """End an exchange that may still be under way."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


COMMAND_SECONDS = 60.0
"""After which a command is killed with its process group."""
_OUTPUT_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Delivery:
    """An alert that was sent. label : as of ``Alert.label``. response : status or exit code; else why there is none."""

    label: str
    delivered: bool
    response: str

    def __str__(self) -> str:
        """Worked: ``alert 1 (command): not delivered: exit code 9``."""
        return f"{self.label}: {'delivered' if self.delivered else 'not delivered'}: {self.response}"


def deliveries(alerts: Sequence[Alert], end: RunEnd) -> Iterator[Delivery]:
    """Send each alert that the end of a run calls for; of a trial all of them.

    Yields each as it is sent. Raises nothing that an alert is the cause of.
    """
    for number, alert in enumerate(alerts, 1):
        if end.trial or set(alert.on) & set(end.events):
            yield _delivery(alert, alert.label(number), end)


def _delivery(alert: Alert, label: str, end: RunEnd) -> Delivery:
    try:
        if alert.command:
            response = _run(alert.command, end.document)
        else:
            secret = read_secret(Path(alert.secret_file or ""))
            response = post(alert.url or "", end.document, secret, time_s=time.time_ns() // SECOND_NS)
        return Delivery(label, delivered=True, response=response)
    except (UndeliveredError, CommandError, PlanError) as error:
        return Delivery(label, delivered=False, response=str(error))
    except OSError as error:
        return Delivery(label, delivered=False, response=f"cannot be sent ({error.strerror or type(error).__name__})")


def _run(command: Sequence[str], document: bytes) -> str:
    """Run a command in ``/`` with an environment without the user's variables. Its output is not kept."""
    with _readable(document) as stdin:
        code = run_command(
            command[0],
            command[1:],
            seconds=COMMAND_SECONDS,
            output_bytes_max=_OUTPUT_BYTES_MAX,
            stdin=stdin,
            folder="/",
        ).code
    if code:
        raise UndeliveredError(f"exit code {code}" if code > 0 else f"ended by signal {-code}")
    return "exit code 0"


@contextmanager
def _readable(content: bytes) -> Iterator[int]:
    """A descriptor that gives the content. A pipe would block where the command reads nothing of a long document."""
    descriptor = os.memfd_create("assay-run-end")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
