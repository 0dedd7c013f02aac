"""The guest's wishes to the machine that it runs on: drives that go, come back or shrink while a test looks on.

The guest writes one JSON object per line to its third serial port and reads one for an answer; see ``Control.VERBS``.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any, Self

from guest.errors import GuestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from guest.drives import EmulatedDrive

PORT = "/dev/ttyS2"
"""The channel as the guest sees it."""
# A drive is gone when the guest's kernel has let go of it, which waits for its I/Os.
_REMOVAL_SECONDS = 120


class Monitor:
    """QEMU's own control protocol (QMP): one command at a time, events kept until somebody waits for them."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(_REMOVAL_SECONDS)
        self._stream = connection.makefile("rw", encoding="utf-8")
        self._events: list[dict[str, Any]] = []
        self._read()
        self.execute("qmp_capabilities")

    def execute(self, command: str, **arguments: object) -> None:
        """Run a command. Raises GuestFailedError with QEMU's own words."""
        named = {name.replace("_", "-"): value for name, value in arguments.items()}
        self._stream.write(json.dumps({"execute": command, "arguments": named}) + "\n")
        self._stream.flush()
        while "return" not in (answer := self._read()):
            if "error" in answer:
                raise GuestFailedError(f"QEMU refused {command}: {answer['error']['desc']}")
            self._events.append(answer)

    def wait_for(self, event: str, device: str) -> None:
        """Wait until an event of a device has come. Raises GuestFailedError after two minutes."""
        while not any(kept["event"] == event and kept["data"].get("device") == device for kept in self._events):
            self._events.append(self._read())
        self._events = [kept for kept in self._events if kept["data"].get("device") != device]

    def _read(self) -> dict[str, Any]:
        try:
            line = self._stream.readline()
        except TimeoutError:
            raise GuestFailedError(f"QEMU said nothing for {_REMOVAL_SECONDS} s") from None
        if not line:
            raise GuestFailedError("QEMU has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Control:
    """Does what the guest asks for, in a thread of its own, from before the guest starts until it has ended.

    drives : those that may be asked for. say : is given each line that the guest wants to be shown.
    Use it as a context manager around ``run_guest``, and pass ``options`` to its Machine.
    """

    def __init__(self, drives: Sequence[EmulatedDrive], folder: Path, say: Callable[[str], None]) -> None:
        self._drives = {drive.name: drive for drive in drives}
        self._say = say
        self._monitor: Monitor | None = None
        self._listeners = [_listen(folder / name) for name in ("qmp", "requests")]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.options: tuple[str, ...] = (
            *("-qmp", f"unix:{folder}/qmp,server=off"),
            *("-chardev", f"socket,id=requests,path={folder}/requests,server=off", "-serial", "chardev:requests"),
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Where the guest was never started, the thread still waits for it.
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self._thread.join()

    def remove(self, drive: str) -> None:
        """Take an NVMe drive out of its slot; done when the guest's kernel has let go of it."""
        self._qemu.execute("device_del", id=self._drives[drive].name)
        self._qemu.wait_for("DEVICE_DELETED", drive)

    def insert(self, drive: str) -> None:
        """Put a removed drive of one namespace back, with what was written to it."""
        for device in self._drives[drive].devices():
            self._qemu.execute("device_add", **device)

    def resize(self, drive: str, capacity_bytes: int) -> None:
        """Change the capacity of a SCSI drive, which tells the guest's kernel; others stay what they were."""
        self._qemu.execute("block_resize", node_name=self._drives[drive].images[0], size=capacity_bytes)

    def say(self, text: str) -> None:
        """Show a line on the host."""
        self._say(text)

    VERBS: Mapping[str, Callable[..., None]] = {"remove": remove, "insert": insert, "resize": resize, "say": say}
    """By the request's ``verb``; its other keys are the arguments."""

    @property
    def _qemu(self) -> Monitor:
        if self._monitor is None:
            raise GuestFailedError("QEMU is not connected")
        return self._monitor

    def _serve(self) -> None:
        try:
            monitor, requests = (listener.accept()[0] for listener in self._listeners)
        except OSError:
            return
        # A machine that ended too early is for ``run_guest`` to tell.
        with (
            monitor,
            requests,
            requests.makefile("rw", encoding="utf-8") as stream,
            contextlib.suppress(OSError),
        ):
            with contextlib.suppress(GuestFailedError):
                self._monitor = Monitor(monitor)
            for line in stream:
                stream.write(json.dumps(self._answer(line)) + "\n")
                stream.flush()
            # Its stream would keep the connection open.
            monitor.shutdown(socket.SHUT_RDWR)

    def _answer(self, line: str) -> dict[str, str]:
        try:
            request = json.loads(line)
            self.VERBS[request.pop("verb")](self, **request)
        except (GuestFailedError, ValueError, KeyError, TypeError) as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {}


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    return listener
