"""Tells systemd that the agent answers. Source: ``sd_notify(3)``."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def tell_ready() -> None:
    """Send ``READY=1`` where a service manager waits for it; nothing happens elsewhere."""
    address = os.environ.pop("NOTIFY_SOCKET", "")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection, suppress(OSError):
        connection.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)
