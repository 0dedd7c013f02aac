"""Webhooks: what is posted, how it is signed, and that no server keeps a run from its end."""

from __future__ import annotations

import hashlib
import hmac
import re
import ssl
import tracemalloc
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest
from assay.run.alerts import UndeliveredError, post, signature
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hook_server import OK, Hook, drip, flood, hook

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

SECRET = b"0123456789abcdef"
BODY = b'{"schema": 1}'
TIME_S = 1_767_225_600
SHORT_S = 0.5


def refused(url: str, seconds: float = 5) -> str:
    """Why an alert is not delivered; nothing of its path, secret or signature is in that text."""
    with pytest.raises(UndeliveredError) as error:
        post(url, BODY, SECRET, time_s=TIME_S, seconds=seconds)
    assert not any(word in str(error.value) for word in ("topsecrettoken", "path", SECRET.decode(), "v1="))
    return str(error.value)


def test_the_worked_signature() -> None:
    expected = "2c81be166b2ad749fe57512ba631d6af8564ca38b1f6d50ea7ad52fbe719c370"
    assert signature(BODY, SECRET, TIME_S) == f"t=1767225600,v1={expected}"


def test_the_body_is_posted_with_its_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with hook() as server:
        assert post(server.url, BODY, SECRET, time_s=TIME_S) == "status 204 No Content"
    ((head, body),) = server.requests
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /path/topsecrettoken?x=1 HTTP/1.1"
    headers = dict(line.split(": ", 1) for line in lines[1:])
    assert (body, headers["Content-Type"]) == (BODY, "application/json")
    digest = hmac.new(SECRET, b"1767225600." + body, hashlib.sha256).hexdigest()
    assert headers["Assay-Signature"] == f"t=1767225600,v1={digest}"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (b"302 Found", "status 302 Found: redirects are not followed"),
        (b"307 x", "status 307 Temporary Redirect: redirects are not followed"),
        (b"404 topsecrettoken", "status 404 Not Found"),
        (b"500 x", "status 500 Internal Server Error"),
        (b"799 topsecrettoken", "status 799"),
    ],
)
def test_only_2xx_is_delivered_and_no_redirect_is_followed(status: bytes, reason: str) -> None:
    with hook() as other:
        location = f"Location: {other.url}\r\n".encode()
        with hook(b"HTTP/1.1 " + status + b"\r\n" + location + b"Content-Length: 0\r\n\r\n") as server:
            assert refused(server.url) == reason
        assert len(server.requests) == 1
    assert other.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        drip(b"HTTP/1.1 200 OK\r\n"),
        drip(b"X: y\r\n"),
        flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        lambda hook, _: hook.over.wait(),
    ],
    ids=["dripping status", "dripping headers", "endless 100", "silent"],
)
def test_a_slow_server_is_given_up_in_time(answer: Callable[[Hook, socket.socket], None]) -> None:
    with hook(answer) as server:
        text = refused(server.url, SHORT_S)
    late = {f"no response within {SHORT_S} s", "no connection (no answer in time)"}
    assert text in {*late, "the response is not HTTP"}


def test_a_server_that_drips_a_good_head_is_given_up_in_time() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 4000
    with hook(drip(head)) as server:
        assert refused(server.url, SHORT_S) == f"no response within {SHORT_S} s"


def test_a_huge_response_is_not_read() -> None:
    endless = flood(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 65536)
    with hook(endless) as server:
        assert post(server.url, BODY, SECRET, time_s=TIME_S) == "status 200 OK"


def test_a_head_without_end_takes_little_memory() -> None:
    with hook(flood(b"HTTP/1.1 200 OK\r\n", b"X: " + b"x" * 8000 + b"\r\n")) as server:
        tracemalloc.start()
        text = refused(server.url)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert text == "the response is not HTTP"
    assert peak < 16 << 20


@pytest.mark.parametrize("answer", [b"topsecrettoken\r\n\r\n", b"HTTP/1.1 x\r\n\r\n", b"\0" * 70_000])
def test_what_is_not_http_is_refused(answer: bytes) -> None:
    with hook(answer) as server:
        assert refused(server.url) == "the response is not HTTP"


def test_a_refused_and_a_closed_connection_are_named() -> None:
    with hook() as server:
        url = server.url
    assert refused(url) == "no connection (Connection refused)"
    with hook(b"") as server:
        assert refused(server.url) in {"no connection (RemoteDisconnected)", "the response is not HTTP"}


def test_http_to_a_name_of_another_host_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with hook() as server:
        monkeypatch.setattr("assay.run.alerts.is_loopback", lambda _: False)
        assert refused(server.url) == "its name leads to another host, which needs https"
    assert server.requests == []


def test_a_connection_that_comes_late_posts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lookup of a name may outlast the limit; the document is not sent after it."""
    looked_up, late = Event(), Event()
    connect, close = HTTPConnection.connect, HTTPConnection.close

    def connect_late(self: HTTPConnection) -> None:
        looked_up.wait()
        connect(self)

    def close_and_say(self: HTTPConnection) -> None:
        close(self)
        late.set()

    monkeypatch.setattr(HTTPConnection, "connect", connect_late)
    monkeypatch.setattr(HTTPConnection, "close", close_and_say)
    with hook() as server:
        assert refused(server.url, SHORT_S) == f"no response within {SHORT_S} s"
        looked_up.set()
        assert late.wait(5)
    assert server.requests == []


def certificate(folder: Path, name: str, days: int = 1) -> Path:
    """A certificate that signs itself, with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def serving(path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def https(server: Hook) -> str:
    return f"https://localhost:{server.port}/path/topsecrettoken"


def test_a_certificate_that_the_system_does_not_know_is_refused(tmp_path: Path) -> None:
    with hook(OK, serving(certificate(tmp_path, "localhost"))) as server:
        assert refused(https(server)) == "its certificate is refused (self-signed certificate)"
    assert server.requests == []


@pytest.mark.parametrize(
    ("name", "days", "reason"),
    [("other.example.org", 1, "Hostname mismatch"), ("localhost", -1, "certificate has expired")],
)
def test_a_certificate_of_another_host_or_time_is_refused(
    name: str, days: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = certificate(tmp_path, name, days)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with hook(OK, serving(path)) as server:
        assert f"its certificate is refused ({reason}" in refused(https(server))
    assert server.requests == []


def test_a_certificate_that_the_system_knows_is_posted_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with hook(OK, serving(path)) as server:
        assert post(https(server), BODY, SECRET, time_s=TIME_S) == "status 204 No Content"
    assert [body for _, body in server.requests] == [BODY]


def test_a_server_that_speaks_no_tls_is_refused() -> None:
    with hook(b"") as server:
        assert refused(f"https://localhost:{server.port}/topsecrettoken", SHORT_S).startswith("no ")


def test_the_check_and_the_example_of_the_guide_agree_with_the_signature() -> None:
    page = (Path(__file__).parents[3] / "docs/guide/alerts.md").read_text("utf-8")
    (header,) = re.findall(r"^Assay-Signature: (t=\S+)$", page, re.MULTILINE)
    assert header == signature(BODY, SECRET, TIME_S)
    (check,) = re.findall(r"^```python\n(import hashlib.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Callable[..., bool]] = {}
    exec(check, names)  # noqa: S102 - the text of our guide
    assert names["is_genuine"](header, BODY, SECRET, TIME_S + 299)
    assert not names["is_genuine"](header, BODY, SECRET, TIME_S + 301)
    assert not names["is_genuine"](header, BODY + b" ", SECRET, TIME_S)
    assert not names["is_genuine"](header, BODY, SECRET + b"0", TIME_S)
