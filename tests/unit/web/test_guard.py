"""No page sees a request of another host, origin, size or session; whatever is answered has the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.location import Place
from assay.web.app import ADDRESSES
from assay.web.guard import BODY_MAX, POLICY, _name
from assay.web.serving import Serving, site_of
from web_site import HOST, client_of, site_in

if TYPE_CHECKING:
    from pathlib import Path

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost:80@evil", "", "[::1", "192.0.2.1"]
)
def test_another_host_is_refused(tmp_path: Path, method: str, host: str) -> None:
    client = client_of(site_in(tmp_path), "operator")
    for path in ("/runs", "/assets/web.js", "/session", "/nothing"):
        assert client.request(method, path, headers={"host": host}).status_code == 403


def test_this_host_is_known_by_its_names_and_any_port(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "viewer")
    hosts = ("localhost", "LOCALHOST:1", "127.0.0.1:9999", "[::1]:8375", "[::1]")
    assert {client.get("/runs", headers={"host": host}).status_code for host in hosts} == {200}
    assert [_name(host) for host in ("[::1]:1", "A.b", "a/b", "a@b", "a:x", "a?b")] == ["[::1]", "a.b", "", "", "", ""]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8375"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
    ],
)
def test_another_site_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    client = client_of(site_in(tmp_path), "operator")
    assert client.get("/runs", headers=headers).status_code == 403
    assert client.post("/session", headers=headers, json={"token": "x"}).status_code == 403


def test_cookies_of_other_ports_are_named_where_they_are_too_long(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "viewer")
    for number in range(17):
        client.cookies.set(f"other{number}", "x" * 1000)
    answer = client.get("/runs")
    assert answer.status_code == 431
    assert "open localhost instead" in answer.text


def test_a_link_on_another_site_may_lead_here(tmp_path: Path) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    client = client_of(site_in(tmp_path), "viewer")
    assert client.get("/runs", headers=headers).status_code == 200
    assert client.get("/runs", headers={"origin": HOST}).status_code == 200


VALUES = {"run": "0" * 20, "drive": "0" * 20, "key": "0", "name": "x", "name:path": "run.json", "kind": "pdf"}


def filled(path: str) -> str:
    """An address of the table with something in each of its parts."""
    for name, value in VALUES.items():
        path = path.replace(f"{{{name}}}", value)
    return path


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.name)
def test_every_address_refuses_other_hosts_and_sites(tmp_path: Path, address: Any) -> None:
    client = client_of(site_in(tmp_path), "operator")
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        assert client.request(address.methods[0], filled(address.path), headers=headers).status_code == 403


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.name)
def test_a_damaged_index_is_said_by_every_address(tmp_path: Path, address: Any) -> None:
    if address.path.startswith("/live"):
        pytest.skip("streams go on; tests of their own read them")
    (tmp_path / "index.sqlite").write_bytes(b"no database" * 999)
    site = site_in(tmp_path)
    answer = client_of(site, "operator").request(address.methods[0], filled(address.path), json={})
    assert answer.status_code <= 503
    assert "Traceback" not in answer.text
    if answer.status_code >= 500:
        assert "index" in answer.text


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.name)
def test_a_body_beyond_the_limit_reaches_no_page(tmp_path: Path, address: Any) -> None:
    if "POST" not in address.methods or address.path == "/bundles":
        return
    client = client_of(site_in(tmp_path), "operator")
    assert client.post(filled(address.path), content=b"x" * (BODY_MAX + 1)).status_code == 413


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.name)
def test_no_address_but_those_of_nobody_answers_without_a_session(tmp_path: Path, address: object) -> None:
    client = client_of(site_in(tmp_path))
    path, role, methods = address.path, address.role, address.methods  # type: ignore[attr-defined]
    if role is None:
        return
    path = filled(path)
    for method in methods:
        answer = client.request(method, path)
        assert answer.status_code in ({401} if method == "GET" else {403})
        assert "Runs" not in answer.text


def test_a_change_needs_an_operator_and_the_key_of_the_session(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    path = "/runs/x"
    assert client_of(site).post(path).status_code == 403
    assert client_of(site, "viewer").post(path).status_code == 403
    operator = client_of(site, "operator")
    assert operator.post(path, headers={"x-assay-key": "0" * 64}).status_code == 403
    assert operator.post(path).status_code == 405


def test_a_large_body_is_refused_and_not_kept(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path))
    assert client.post("/session", content=b"x" * (BODY_MAX + 1)).status_code == 413
    assert client.post("/session", content=b"x" * BODY_MAX).status_code == 400


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"token": 3}', b'{"token": "' + b"x" * 300 + b'"}', b"[" * 9999]
)
def test_a_session_takes_a_token_alone(tmp_path: Path, content: bytes) -> None:
    assert client_of(site_in(tmp_path)).post("/session", content=content).status_code == 400


def test_a_token_opens_a_session_whose_cookie_no_script_reads(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    client = client_of(site)
    token = site.sessions.links.first()
    answer = client.post("/session", json={"token": token})
    assert answer.json().keys() == {"role", "key"}
    assert answer.json()["key"] not in answer.headers["set-cookie"]
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("assay-8375=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert client.get("/runs").status_code == 200
    assert client_of(site).post("/session", json={"token": token}).status_code == 403


def test_a_cookie_is_for_one_host_with_tls_and_for_one_path_with_a_prefix(tmp_path: Path) -> None:
    names = []
    for options in ({}, {"behind_proxy": True}, {"behind_proxy": True, "prefix": "/assay"}):
        serving = Serving(folders=(tmp_path,), place=Place(shown="index", path=tmp_path / "index.sqlite"), **options)
        names.append(site_of(serving, "8375", lambda: False).rules.cookie)
    assert names == ["assay-8375", "__Host-assay-8375", "__Secure-assay-8375"]


def test_every_answer_has_the_policy(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "viewer")
    paths = ("/runs", "/runs/" + "0" * 20, "/assets/web.js", "/assets/../app.py", "/nothing", "/compare?run=a")
    for answer in (*map(client.get, paths), client.get("/runs", headers={"host": "evil"})):
        if answer.status_code != 403:
            assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", [
    "/runs/..%2f..%2fetc%2fpasswd", "/runs/%2e%2e/%2e%2e/etc/passwd", "/runs//etc/passwd", "/runs/%00",
    "/assets/..%2fapp.py", "/assets/%2e%2e%2fguard.py", "/assets/web.js%00", "/jobs/..%2f..",
])  # fmt: skip
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    answer = client_of(site_in(tmp_path), "operator").get(path)
    assert answer.status_code == 404 or answer.json() == {"state": "done", "failure": ""}


def test_a_websocket_is_refused(tmp_path: Path) -> None:
    from starlette.websockets import WebSocketDisconnect  # noqa: PLC0415

    client = client_of(site_in(tmp_path), "operator")
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/runs"):
        pass
