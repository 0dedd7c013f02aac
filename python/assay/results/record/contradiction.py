"""Two values of a record that cannot both be true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.words.coded import Coded, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A stored value that another one of the same record rules out.

    where : step or sequence. stored : the value. expected : what the others give.
    """

    where: Place
    stored: Coded
    expected: Coded
