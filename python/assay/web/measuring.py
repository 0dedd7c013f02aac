"""Whether a real drive is measured on this host, as far as the served folders tell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.run.store.status import GoingRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_LOOK_S = 1.0


class Measuring:
    """Looks at the folders once a second at most. clock : monotonic, in s."""

    def __init__(self, folders: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._runs, self._clock = GoingRuns(folders), clock
        self._looked_s, self._result = float("-inf"), False

    def __call__(self) -> bool:
        """Whether a run on a drive that is not simulated goes on."""
        if self._clock() - self._looked_s >= _LOOK_S:
            self._looked_s = self._clock()
            self._result = any(run.measures_real for run in self._runs.look())
        return self._result
