"""Which bytes of a drive a trace touches, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT_MAX = 1 << 18
"""Separate regions that are kept; with more of them all are rounded out to a coarser grain."""


class Regions:
    """Touched bytes as regions that do not meet."""

    def __init__(self, kept_max: int = KEPT_MAX) -> None:
        self.kept_max = kept_max
        self.grain = 1
        self.starts = np.empty(0, np.int64)
        self.ends = np.empty(0, np.int64)
        self.waiting: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.waiting_count = 0

    def add(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Take in regions, in any order; empty ones touch nothing."""
        some = ends > starts
        self.waiting.append((starts[some], ends[some]))
        self.waiting_count += int(some.sum())
        if self.waiting_count > self.kept_max:
            self._merge()

    def result(self) -> tuple[int, int]:
        """How many bytes are touched, and the grain that they are rounded out to; 1 is exact."""
        self._merge()
        return sum((self.ends - self.starts).tolist()), self.grain

    def _merge(self) -> None:
        starts = np.concatenate([self.starts, *(one for one, _ in self.waiting)])
        ends = np.concatenate([self.ends, *(one for _, one in self.waiting)])
        self.waiting, self.waiting_count = [], 0
        self._join(starts, ends)
        while len(self.starts) > self.kept_max:
            self.grain = max(self.grain * 2, 512)
            self._join(self.starts, self.ends)

    def _join(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Round out, sort, and join what meets."""
        if not len(starts):
            return
        starts = starts // self.grain * self.grain
        # Rounded up by the rest, since the end of a drive of 2^63 bytes has nothing behind it.
        ends = np.where(ends % self.grain, np.maximum(ends, (ends // self.grain + 1) * self.grain), ends)
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        new = np.concatenate([[True], starts[1:] > ends[:-1]])
        last = np.concatenate([new[1:], [True]])
        self.starts, self.ends = starts[new], ends[last]
