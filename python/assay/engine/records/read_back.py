"""What a drive returned, held against what was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Returned = Literal["zeros", "stale", "elsewhere", "another", "other"]
"""What a block holds instead of what was written last: zeros, what was written before, what was written to another
sampled block, the data of any other write of the run, or none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongBlock:
    """A logical block that holds something else than was written last. lba : in logical blocks. returned : what."""

    lba: int
    returned: Returned


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """Blocks that were read back between two sequences of a test, or at its end.

    after : name of the sequence before; empty at the end of the test, where all known blocks are read.
    checked_count : blocks read and compared, in ``span_ns`` of at most about ``limit_ns``.
    known_count : blocks whose content is known. given_count : that hold data which repeat or come from a file, and are
    not compared. unknown_count : of which nobody can tell, as after a trim.
    wrong_count : of the checked blocks. wrong : the first 64 of them. unread : a block that could not be read.
    """

    after: str
    checked_count: int
    known_count: int
    given_count: int
    unknown_count: int
    wrong_count: int
    span_ns: int
    limit_ns: int
    wrong: tuple[WrongBlock, ...] = ()
    unread_lba: int | None = None
