"""The server behind Debian's nginx: TLS, a prefix, and streams that are not held back."""

from __future__ import annotations

import datetime as dt
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest
from chromium import PROGRAM, browser
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from test_web_server import serving
from web_neighbour import Neighbour

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="SKIPPED: needs the Debian package nginx-light")
HOST = "lab.example.org"
CONFIGURATION = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{
        listen 127.0.0.1:{port} ssl; server_name {host};
        ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
        location /other/ {{ proxy_pass http://127.0.0.1:{other}; }}
        location /assay/ {{
            proxy_pass http://127.0.0.1:{behind};
            proxy_set_header Host $http_host;
            proxy_buffering off;
            proxy_read_timeout 1h;
            client_max_body_size 2g;
        }}
    }}
}}
"""


def certificate(folder: Path) -> None:
    """A certificate of its own, of today."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + dt.timedelta(days=1))
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(secret)


@contextmanager
def proxied(folder: Path, behind: int, other: int = 9) -> Iterator[int]:
    """Nginx in front of a port; its own. other : port of another application at the same name."""
    assert NGINX
    certificate(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    text = CONFIGURATION.format(folder=folder, port=port, behind=behind, other=other, host=HOST)
    (folder / "nginx.conf").write_text(text)
    with subprocess.Popen(
        [NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL
    ) as nginx:
        try:
            until = time.monotonic() + 20
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    assert time.monotonic() < until, (folder / "error.log").read_text()
                    time.sleep(0.05)
            yield port
        finally:
            nginx.terminate()


class Answer(NamedTuple):
    """Of the server, through the proxy."""

    status: int
    cookie: str
    text: str


class Browser:
    """Asks the proxy as a browser of another host does."""

    def __init__(self, port: int) -> None:
        self._port, self.cookie = port, ""

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        """What is answered."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=20, context=context)
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        with closing(connection):
            connection.request(method, path, body or None, {"Host": HOST, **cookie, **headers})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers.get("set-cookie", ""), answer.read().decode())

    def first(self, path: str) -> bytes:
        """The first bytes of a stream."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=20, context=context)
        with closing(connection):
            connection.request("GET", path, None, {"Host": HOST, "Cookie": self.cookie})
            with closing(connection.getresponse()) as answer:
                return answer.read1(64)


def test_pages_have_their_prefix_and_cookies_are_secure(tmp_path: Path) -> None:
    options = ("--behind-proxy", "--prefix", "/assay", "--allow-host", HOST)
    with serving(tmp_path, *options) as server, proxied(tmp_path, server.port) as port:
        browser = Browser(port)
        page = browser.ask("GET", "/assay/runs")
        assert page.status == 401
        assert 'href="/assay/assets/page.css"' in page.text
        assert browser.ask("GET", "/assay/assets/page.css").status == 200
        link = server.typed("link", "--role", "operator").split()[0]
        assert link.startswith(f"https://{HOST}/assay/#")
        token = json.dumps({"token": link.partition("#")[2]})
        assert browser.ask("POST", "/assay/session", token, Origin="http://" + HOST).status == 403
        # A browser names another port than 443 in both.
        opened = browser.ask("POST", "/assay/session", token, Origin=f"https://{HOST}:8443", Host=f"{HOST}:8443")
        assert opened.status == 200
        assert opened.cookie.startswith("__Secure-")
        assert {"Secure", "HttpOnly", "Path=/assay/"} <= set(opened.cookie.split("; "))
        browser.cookie = opened.cookie.partition(";")[0]
        assert browser.ask("GET", "/assay/runs").status == 200
        assert browser.first("/assay/live").startswith(b"event: ")


@pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium")
def test_another_application_at_the_same_name_gets_no_cookie(tmp_path: Path) -> None:
    options = ("--behind-proxy", "--prefix", "/assay", "--allow-host", "127.0.0.1")
    with (
        Neighbour().listening() as other,
        serving(tmp_path, *options) as server,
        proxied(tmp_path, server.port, int(other.address.rpartition(":")[2])) as port,
        browser() as page,
    ):
        page.ask("Security.setIgnoreCertificateErrors", ignore=True)
        link = server.typed("link", "--role", "operator").split()[0]
        page.open(link.replace("https://127.0.0.1/", f"https://127.0.0.1:{port}/"))
        page.until("document.querySelector('.who')")
        page.open(f"https://127.0.0.1:{port}/other/")
        page.until("document.title === 'neighbour'")
        assert other.cookies == []
