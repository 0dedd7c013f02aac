"""Why there is no answer from a guest."""

from __future__ import annotations

import shutil


class GuestMissingError(Exception):
    """The host lacks what a guest needs; the message says what and where it comes from."""


class GuestFailedError(Exception):
    """The guest did not do its tasks: it ran out of time, panicked, or a task failed."""


def need_command(name: str, package: str) -> str:
    """Path of a command of the host. Raises GuestMissingError, which names the Debian package."""
    path = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    if path is None:
        raise GuestMissingError(
            f"{name} is missing: install the Debian package {package} (tools/debian-packages --install)"
        )
    return path
