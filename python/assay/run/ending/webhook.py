"""A signed POST to a webhook: no redirect, no proxy, and an end after five seconds whatever the server does."""

from __future__ import annotations

import hashlib
import hmac
import http
import socket
import ssl
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.run.ending.alerts_file import is_loopback
from assay.version import tool_version

if TYPE_CHECKING:
    from urllib.parse import SplitResult

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
