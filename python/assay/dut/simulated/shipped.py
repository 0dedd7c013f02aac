"""The drive models of this package, as lists and completions show them: read as they are, without being checked.

What a test runs on is read by ``model``, which checks every parameter; that takes longer than listing them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

PREFIX = "sim:"
_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedModel:
    """A drive model as a list shows it. sources : where its parameters come from, by name of the parameter."""

    name: str
    title: str
    summary: str
    kind: str
    interface: str
    media: str
    capacity_bytes: int
    sources: dict[str, str]

    @property
    def drive(self) -> str:
        """What a command takes. Worked: ``sim:client-2011``."""
        return PREFIX + self.name

    @property
    def serial(self) -> str:
        """Serial number of the drive. Worked: ``SIM-CLIENT-2011``."""
        return serial(self.name)


def serial(name: str) -> str:
    """Serial number of a simulated drive by the name of its model. Worked: ``client-tlc`` -> ``SIM-CLIENT-TLC``."""
    return "SIM-" + name.upper()


def shipped_names() -> list[str]:
    """Names of the shipped drive models, sorted, without the ``sim:``."""
    entries = (resources.files("assay.dut.simulated") / "models").iterdir()
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in entries if entry.name.endswith(_SUFFIX))


def shipped_models() -> list[ShippedModel]:
    """Every shipped drive model in the order of the names."""
    return [_shipped(name) for name in shipped_names()]


def _shipped(name: str) -> ShippedModel:
    path = resources.files("assay.dut.simulated") / "models" / f"{name}{_SUFFIX}"
    content = tomllib.loads(path.read_text("utf-8"))
    parameters = content["parameters"]
    return ShippedModel(
        name=name,
        title=content["model"],
        summary=content["summary"],
        kind=content.get("kind", "flash"),
        interface=content["interface"],
        media=content["media"],
        capacity_bytes=parameters["capacity_bytes"]["value"],
        sources={key: datum["source"] for key, datum in parameters.items()},
    )
