"""Writes a fitted drive model as a TOML file that ``sim:FILE.toml`` reads, with the residuals it leaves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay.dut.simulated.model import known_parameters
from assay.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.dut.simulated.model import DriveModel, ModelFile

_NOT_IN_CARDS = {"seed"}


def write_drive_model(
    path: Path, drive_model: DriveModel, model: ModelFile, *, varied: Mapping[str, str], report: str
) -> None:
    """Write a drive model with the source of every parameter.

    model : the drive model that the fit began with; what was not varied keeps its source. varied : notes of what was.
    report : lines of residuals, kept as comments. Raises StoreError where the file cannot be written.
    """
    try:
        path.write_text(model_text(drive_model, model, varied=varied, report=report), "utf-8")
    except OSError as error:
        raise StoreError(str(path), error.strerror or str(error), "name another file with --out") from None


def model_text(drive_model: DriveModel, model: ModelFile, *, varied: Mapping[str, str], report: str) -> str:
    """A drive model as TOML text. Parameters that a drive does not have are left out."""
    known = {name: datum.source for name, datum in model.parameters.items()}
    lines = [*(f"# {line}" for line in report.splitlines()), "schema = 1"]
    lines += [f"{name} = {_toml(getattr(model, name))}" for name in ("name", "model", "summary", "interface", "media")]
    lines += ["", "[parameters]"]
    for parameter in known_parameters(drive_model.kind):
        name, value = parameter.name, drive_model[parameter.name]
        if name in _NOT_IN_CARDS or (name not in known and value == parameter.default):
            continue
        source = varied.get(name) or known.get(name) or "set by hand before the fit"
        lines.append(f"{name} = {{ value = {_toml(value)}, source = {_toml(source)} }}")
    return "\n".join(lines) + "\n"


def residual_lines(errors: Mapping[str, float]) -> list[str]:
    """One line per figure, the worst first: simulated over published in percent. Worked: 0.0953 -> ``+10.0 %``."""
    worst = sorted(errors.items(), key=lambda item: -abs(item[1]))
    return [f"{name:28} {100 * (math.exp(error) - 1):+8.1f} %" for name, error in worst]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return f"{value:_}" if isinstance(value, int) else f"{value!r}"
