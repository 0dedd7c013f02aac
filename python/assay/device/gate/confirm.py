"""The confirmation of a destructive act."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from assay.errors import ConfirmationError

if TYPE_CHECKING:
    from assay.device.gate.facts import Request


def refuse_unconfirmed(request: Request, descriptor: int) -> None:
    """Raise ConfirmationError unless the drive's full identity was given, letter by letter."""
    del descriptor
    identity, given = request.identity, request.confirmation
    if given != identity.id:
        reason = "no confirmation was given" if given is None else f"{given!r} is not its identity"
        remedy = f"to destroy all data on it, confirm with --yes-destroy {shlex.quote(identity.id)}"
        raise ConfirmationError(identity.path, reason, remedy)
