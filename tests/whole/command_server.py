"""``assay`` for scripts that call it often: each call is a fork of one process that has imported everything.

``python command_server.py SOCKET`` serves; ``python command_server.py SOCKET ARGUMENT ...`` is one call. A call has a
process, folder, environment, streams and signals; only the imports are shared, which take longer than most commands.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

_REQUEST_BYTES_MAX = 1_000_000
_PID_BYTES = 8
_IMPORTED = (
    "assay.run.run",
    "assay.report",
    "assay.archive.verify",
    "assay.compare.comparison",
    "assay.compare.limits.judge",
)


def serve(path: str) -> None:
    """Answer calls until the process is ended."""
    import click  # noqa: PLC0415 - a call needs none of this
    from assay.cli import assay  # noqa: PLC0415

    for name in assay.list_commands(click.Context(assay)):
        assay.get_command(click.Context(assay), name)
    for name in _IMPORTED:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _child(connection)
            connection.close()


def _child(connection: socket.socket) -> None:
    """Run the command in a process, and send its number and later its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, descriptors, _, _ = socket.recv_fds(connection, _REQUEST_BYTES_MAX, 3)
    called = json.loads(request)
    child = os.fork()
    if child == 0:
        connection.close()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(called["folder"])
        os.environ.clear()
        os.environ.update(called["environment"])
        sys.argv = ["assay", *called["arguments"]]
        from assay.cli import main  # noqa: PLC0415

        main()
    connection.sendall(child.to_bytes(_PID_BYTES))
    _, status = os.waitpid(child, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def call(path: str, arguments: list[str]) -> int:
    """The exit code of a command."""
    request = {"arguments": arguments, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
        child = int.from_bytes(connection.recv(_PID_BYTES, socket.MSG_WAITALL))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(child, number))
        return int(connection.recv(16) or b"70")


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
