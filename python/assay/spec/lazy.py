"""Modules that take long to import, imported when one of their names is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class LazyModule:
    """Stands for a module that not every command needs. name : of the module. Worked: ``LazyModule("math").pi``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is imported when it is called. Worked: ``later("math", "sqrt")(9)`` -> 3.0."""

    def called(*values: Any) -> Any:
        return getattr(import_module(module), name)(*values)

    return called
