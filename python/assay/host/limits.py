"""The limits of the audit of the test system; a file may set others, with the reason, which is kept beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from assay.spec.toml_file import read_toml, validated

if TYPE_CHECKING:
    from pathlib import Path

_Time = Annotated[float, Field(ge=0, le=1e6)]
_Share = Annotated[float, Field(ge=0, le=1)]


class Limits(BaseModel):
    """Up to ``*_pass`` a check passes, beyond ``*_invalid`` numbers are the host's; in between it warns.

    Times in ns or ms as named, shares in [0, 1], temperatures in degrees Celsius.
    reason : why a file sets others; required there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    reason: str | None = Field(default=None, min_length=8, max_length=500)
    clock_read_ns_pass: _Time = 60
    clock_read_ns_invalid: _Time = 1000
    late_ms_p999_pass: _Time = 1
    late_ms_max_pass: _Time = 10
    late_ms_max_invalid: _Time = 600
    stalled_share_invalid: _Share = 0.01
    steal_share_pass: _Share = 0.005
    steal_share_invalid: _Share = 0.05
    tool_cpu_ns_pass: _Time = 2000
    commands_offered_pass: int = Field(default=32, ge=1, le=1_000_000)
    temperature_c_pass: float = Field(default=60, ge=-40, le=150)
    temperature_c_invalid: float = Field(default=80, ge=-40, le=150)
    memory_gb_pass: float = Field(default=1, ge=0, le=1e6)
    neighbour_mb_per_s_pass: float = Field(default=1, ge=0, le=1e6)
    certificate_days_pass: int = Field(default=30, ge=1, le=3650)


class _LimitsFile(Limits):
    reason: str = Field(min_length=8, max_length=500)


def load_limits(path: Path | None) -> Limits:
    """The limits of a TOML file of keys of ``Limits`` and a ``reason``; None gives the usual ones.

    Raises PlanError naming line and column where a key is unknown, a value illegal, or the reason missing.
    Worked: ``reason = "a virtual machine"`` and ``late_ms_max_pass = 50`` allow stalls of 50 ms.
    """
    if path is None:
        return Limits()
    content, positions = read_toml(path)
    return validated(_LimitsFile, path, content, positions)
