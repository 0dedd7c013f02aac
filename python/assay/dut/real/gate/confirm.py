"""The confirmation of a destructive act."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from assay.dut.real.identity import file_id
from assay.errors import ConfirmationError, IdentityError

if TYPE_CHECKING:
    from assay.dut.real.gate.facts import Request


def refuse_unconfirmed(request: Request, descriptor: int) -> None:
    """Raise ConfirmationError unless the drive's full identity was given, letter by letter."""
    del descriptor
    identity, given = request.identity, request.confirmation
    if given != identity.id:
        reason = "no confirmation was given" if given is None else f"{given!r} is not its identity"
        remedy = f"to destroy all data on it, confirm with --yes-destroy {shlex.quote(identity.id)}"
        raise ConfirmationError(identity.path, reason, remedy)


def refuse_unseen(request: Request, descriptor: int) -> None:
    """Raise IdentityError where the held file is not the one that was shown when it was confirmed by its path."""
    if request.shown_file_id not in (None, file_id(os.fstat(descriptor))):
        reason = "the file was replaced after it was shown for confirmation"
        raise IdentityError(request.identity.path, reason, "look at it and name it again")
