"""The server as a process: slow clients, many of them, what it prints, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from on_terminal import ASSAY

if TYPE_CHECKING:
    from collections.abc import Iterator

MB = 10**6


class Server:
    """A running server. Its log is read at the end."""

    def __init__(self, process: subprocess.Popen[str], port: int, variables: dict[str, str]) -> None:
        self.process, self.port, self.variables = process, port, variables

    def connected(self) -> socket.socket:
        """A connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def answered(self, request: bytes) -> bytes:
        """The first bytes of an answer to a request as it stands; empty where the connection is ended."""
        with self.connected() as connection:
            connection.sendall(request)
            with suppress(ConnectionResetError):
                return connection.recv(4096)
            return b""

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """An ended ``assay serve ...`` of the same user."""
        return subprocess.run(
            [ASSAY, "serve", *arguments, "--port", str(self.port)],
            env=os.environ | self.variables, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def typed(self, *arguments: str) -> str:
        """What such a command prints."""
        done = self.command(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rss_bytes(self) -> int:
        """Its resident memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * resource.getpagesize()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    variables = {f"XDG_{name}_HOME": str(folder / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    (folder / "runs").mkdir(exist_ok=True)
    command = [ASSAY, "serve", str(folder / "runs"), "--port", "0", "--index", str(folder / "index.sqlite"), *options]
    with subprocess.Popen(
        command, env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line + (process.stderr.read() if process.stderr else "")
        assert "#" not in line, "without a terminal no token is printed"
        try:
            yield Server(process, int(found[1]), variables)
        finally:
            process.kill()


def request(path: str = "/assets/web.js", **headers: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_ctrl_c_ends_it_beside_an_idle_client_and_its_log_is_json(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert server.answered(request()).startswith(b"HTTP/1.1 200")
        assert server.answered(request("/runs/\x1b[2J?token=secret")).split()[1] in {b"400", b"401"}
        assert server.answered(request("/runs/%1b[2J?token=secret")).split()[1] == b"401"
        with server.connected() as idle:
            idle.sendall(b"GET / HTTP/1.1\r\n")
            server.process.send_signal(signal.SIGINT)
            server.process.wait()
        assert server.process.stderr
        lines = [json.loads(line) for line in server.process.stderr.read().splitlines()]
        assert server.process.returncode == 0
    assert {line["status"] for line in lines if "status" in line} >= {200, 401}
    assert "secret" not in json.dumps(lines)
    assert all(str(line.get("path")).isprintable() for line in lines)


def test_a_header_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert not server.answered(request(X="y" * (1 << 20))).startswith(b"HTTP/1.1 200")
        assert server.answered(request()).startswith(b"HTTP/1.1 200")


@pytest.mark.long
def test_a_thousand_slow_clients_leave_others_served_and_memory_flat(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with serving(tmp_path) as server, ExitStack() as stack:
        server.answered(request())
        for _ in range(1_000):
            slow = stack.enter_context(server.connected())
            slow.sendall(b"POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n{")
        assert server.answered(request()).startswith(b"HTTP/1.1 200")
        assert server.rss_bytes() < 200 * MB
        # A request that does not come whole is ended.
        slow.settimeout(None)
        assert slow.recv(4096).startswith(b"HTTP/1.1 408")


@pytest.mark.long
def test_silent_clients_are_ended_in_ten_seconds_and_many_keep_no_operator_out(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    with serving(tmp_path) as server, ExitStack() as stack:
        cookie, _ = entered(server)
        signed_in = http.client.HTTPConnection("127.0.0.1", server.port)
        stack.callback(signed_in.close)

        def runs() -> int:
            signed_in.request("GET", "/runs", headers={"Cookie": cookie})
            with signed_in.getresponse() as answer:
                answer.read()
                return answer.status

        assert runs() == 200
        kept = signed_in.sock
        head = stack.enter_context(server.connected())
        head.sendall(b"GET / HTTP/1.1\r\nX-Long: y\r\n")
        idle = [stack.enter_context(server.connected()) for _ in range(3000)]
        assert server.answered(request("/runs", Cookie=cookie)).startswith(b"HTTP/1.1 200")
        assert runs() == 200
        assert signed_in.sock is kept, "its connection was kept"
        # The server ends them: a client that waits for its answer sees that.
        for connection in (head, idle[0], idle[-1]):
            connection.settimeout(None)
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def entered(server: Server, role: str = "operator") -> tuple[str, str]:
    """Cookie and key of a session that a link opened."""
    url = server.typed("link", "--role", role).split()[0]
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/session", json.dumps({"token": url.partition("#")[2]}))
    answer = connection.getresponse()
    cookie, key = answer.headers["set-cookie"].partition(";")[0], json.loads(answer.read())["key"]
    connection.close()
    return cookie, key


def test_sessions_end_with_the_server_and_links_are_asked_of_it(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        cookie, _ = entered(server)
        assert server.answered(request("/runs", Cookie=cookie)).startswith(b"HTTP/1.1 200")
        assert server.typed("code") == "no start waits for a code\n"
        control = tmp_path / f"STATE/assay/serve-{server.port}.sock"
        assert control.stat().st_mode & 0o777 == 0o600
        port = server.port
    with serving(tmp_path, "--port", str(port)) as server:
        assert server.answered(request("/runs", Cookie=cookie)).startswith(b"HTTP/1.1 401")
    done = server.command("link")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {port}: has no server of this user" in done.stderr


def test_a_unix_socket_is_served_to_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "page.sock"
    variables = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    command = [ASSAY, "serve", str(tmp_path), "--socket", str(path)]
    with subprocess.Popen(command, env=os.environ | variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert "is served" in process.stdout.readline()
            assert path.stat().st_mode & 0o777 == 0o600
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                connection.sendall(request())
                assert connection.recv(4096).startswith(b"HTTP/1.1 200")
            link = subprocess.run(
                [ASSAY, "serve", "link", "--socket", str(path)],
                env=os.environ | variables, capture_output=True, text=True, check=True,
            )  # fmt: skip
            assert link.stdout.startswith("http://127.0.0.1:8375/#")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def test_the_socket_of_a_unit_is_taken_over(tmp_path: Path) -> None:
    script = (
        "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ['LISTEN_PID'] = str(os.getpid());"
        "os.execv(sys.argv[2], sys.argv[2:])"
    )
    variables = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    with socket.create_server(("127.0.0.1", 0)) as unit:
        port = unit.getsockname()[1]
        with subprocess.Popen(
            [sys.executable, "-c", script, str(unit.fileno()), ASSAY, "serve", str(tmp_path)],
            env=os.environ | variables | {"LISTEN_FDS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=(unit.fileno(),),
        ) as process:
            try:
                assert process.stdout
                assert f"127.0.0.1:{port}/ is served" in process.stdout.readline()
                with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                    connection.sendall(request())
                    assert connection.recv(4096).startswith(b"HTTP/1.1 200")
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(30)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "runs").mkdir()
        done = subprocess.run(
            [ASSAY, "serve", str(tmp_path / "runs"), "--port", str(port)], capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert f"port {port}: is taken by another program" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "does not exist; name a folder of runs, or mkdir -p nowhere"),
        (["/dev/null"], "is no folder"),
        (["--address", "192.0.2.1", "."], "without TLS"),
        (["--index", "postgresql://kim:secret@db/lab", "."], "holds a password"),
        (["link", "more"], "assay serve link"),
        (["revoke"], "of assay serve links"),
        (["revoke", "abc"], "is no link that is valid"),
        (["link"], "port 8375: has no server of this user; start it first: assay serve"),
        (["code", "--socket", "here.sock"], "has no server of this user"),
        (["--prefix", "assay", "."], "give a path such as /assay"),
        (["--prefix", "/assay/", "."], "without an end slash"),
        (["--allow-host", "lab.example.org:443", "."], "without a port"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, arguments: list[str], told: str) -> None:
    variables = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    command = [ASSAY, "serve", *arguments]
    done = subprocess.run(
        command, env=os.environ | variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode in {2, 6}
    assert told in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr
