"""A PostgreSQL server of the tests' own: in a temporary folder, reached over a socket there, and gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_USERS = ("postgres", "nobody")


class Server:
    """A server that can be stopped and started again. folder : of its socket."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.folder, self._command = str(folder), command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers. Skips the test where it does not start."""
        with Path(f"{self.folder}.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self.folder)
        _wait(self.folder, self._process)

    def stop(self) -> None:
        """End it, with the connections that it has."""
        if self._process:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            self._process = None


@contextmanager
def stoppable_server() -> Iterator[Server]:
    """A server. Skips the test where there can be none."""
    initdb, postgres = _programs()
    before = _as_other_user()
    with tempfile.TemporaryDirectory(prefix="assay-pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if before:
            user = pwd.getpwnam(_user())
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = str(folder / "data")
        made = [*before, initdb, "-D", data, "-A", "trust", "-U", "assay", "--no-sync", "-E", "UTF8", "--locale=C"]
        subprocess.run(made, check=True, capture_output=True, cwd=folder)
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", name]
        server = Server(folder, [*before, postgres, "-D", data, *options])
        try:
            server.start()
            yield server
        finally:
            server.stop()
            Path(f"{name}.log").unlink()


@contextmanager
def postgresql_server() -> Iterator[str]:
    """The folder of a server's socket. Skips the test where there can be no server."""
    with stoppable_server() as server:
        yield server.folder


def new_database(folder: str, name: str) -> str:
    """The URL of a new, empty database. folder : of the server's socket."""
    with psycopg.connect(_url(folder, "postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return _url(folder, name)


def _url(folder: str, name: str) -> str:
    return f"postgresql://assay@/{name}?host={folder}"


def _programs() -> tuple[str, str]:
    """Debian keeps them off the PATH, a folder a version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    found = [shutil.which(name, path=path) for name in ("initdb", "postgres")]
    if None in found:
        pytest.skip("needs Debian's package postgresql: no initdb and postgres")
    return str(found[0]), str(found[1])


def _as_other_user() -> list[str]:
    """What a command begins with: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv") or pytest.skip("PostgreSQL does not run as root, and there is no setpriv")
    user = pwd.getpwnam(_user())
    return [str(setpriv), f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def _user() -> str:
    known = {one.pw_name for one in pwd.getpwall()}
    found = next((name for name in _USERS if name in known), None)
    return found or pytest.skip(f"PostgreSQL does not run as root, and there is no user {' or '.join(_USERS)}")


def _wait(folder: str, server: subprocess.Popen[bytes]) -> None:
    while True:
        try:
            psycopg.connect(_url(folder, "postgres")).close()
        except psycopg.OperationalError:
            if server.poll() is not None:
                pytest.skip(f"PostgreSQL did not start: exit code {server.returncode}")
            time.sleep(0.1)
        else:
            return
