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


@contextmanager
def postgresql_server() -> Iterator[str]:
    """The folder of a server's socket. Skips the test where there can be no server."""
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
        with (folder.parent / f"{folder.name}.log").open("wb") as log:
            server = subprocess.Popen([*before, postgres, "-D", data, *options], stdout=log, stderr=log, cwd=folder)
        try:
            _wait(name, server)
            yield name
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
            Path(log.name).unlink()


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
