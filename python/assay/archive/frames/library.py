"""Which library makes the frames: polars or pandas, whichever is installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from assay.errors import UsageError
from assay.spec.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

FrameLibrary = Literal["polars", "pandas"]
_KNOWN: tuple[FrameLibrary, ...] = get_args(FrameLibrary)


def frame_maker(library: FrameLibrary | None) -> Callable[[Any], Any]:
    """What turns a table of pyarrow into a frame.

    library : None takes polars, or pandas where that is not installed; where neither is, an error is raised once a
    frame is asked for. Raises UsageError where the library is unknown or not installed.
    """
    if library is None:
        return next((result for one in _KNOWN if (result := _maker(one))), _neither)
    if library not in _KNOWN:
        remedy = did_you_mean(str(library), _KNOWN, f"choose from {', '.join(_KNOWN)}")
        raise UsageError("frames", f'is "{library}", none of {", ".join(_KNOWN)}', remedy)
    result = _maker(library)
    if result is None:
        raise UsageError("frames", f"{library} is not installed", f"install it: pip install {library}")
    return result


def _maker(library: FrameLibrary) -> Callable[[Any], Any] | None:
    try:
        module = import_module(library)
    except ImportError:
        return None
    if library == "polars":
        made: Callable[[Any], Any] = module.from_arrow
        return made
    return _to_pandas


def _to_pandas(table: Any) -> Any:
    return table.to_pandas()


def _neither(table: Any) -> Any:
    del table
    remedy = "run pip install polars, or use the pyarrow tables in .arrow"
    raise UsageError("frames", "neither polars nor pandas is installed", remedy)
