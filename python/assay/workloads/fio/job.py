"""One job: its settings read one by one, each fault with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from assay.workloads.fio.values import ValueFaultError, flag, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.errors import PlanError
    from assay.workloads.fio.syntax import Place, Section

T = TypeVar("T")

SIDES = {"read": (0,), "write": (1,), "trim": (2,), "rw": (0, 1)}
"""Which of reads, writes and trims a direction has, by their places in comma lists."""


@dataclass(frozen=True, slots=True)
class Job:
    """A section with the means to read its keys."""

    section: Section
    place: Place

    def fault(self, key: str, reason: str, remedy: str) -> PlanError:
        """A fault of a key, at its line, or at the section's head where it is missing."""
        setting = self.section.settings.get(key)
        return self.place.fault(setting.line if setting else self.section.line, key, reason, remedy)

    def has(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self.section.settings

    def get(self, key: str, read: Callable[[str], T], otherwise: T) -> T:
        """A key's value as ``read`` makes it of the text. Raises PlanError where it is none."""
        setting = self.section.settings.get(key)
        if setting is None:
            return otherwise
        if not setting.value:
            raise self.fault(key, "has no value", f"write {key}=VALUE")
        try:
            return read(setting.value)
        except ValueFaultError as error:
            raise self.fault(key, error.reason, error.remedy) from None

    def text(self, key: str, otherwise: str) -> str:
        """A key's text."""
        return self.get(key, str, otherwise)

    def whole(self, key: str, otherwise: int, low: int, high: int) -> int:
        """A key's whole number of a range."""
        return self.get(key, lambda text: whole(text, low, high), otherwise)

    def flag(self, key: str) -> bool:
        """Whether a key is set."""
        setting = self.section.settings.get(key)
        if setting is None:
            return False
        try:
            return flag(setting.value)
        except ValueFaultError as error:
            raise self.fault(key, error.reason, error.remedy) from None

    @property
    def kb_base(self) -> int:
        """What the units of sizes are powers of."""
        return self.whole("kb_base", 1024, 1000, 1024)
