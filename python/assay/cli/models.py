"""``assay models``: the simulated drives that come with the tool."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from assay.cli.commands import HelpedCommand


@click.command(cls=HelpedCommand, examples=("models", "models --json"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the source of every parameter.")
def models(as_json: bool) -> None:
    """List the simulated drives: capacity, kind, what each stands for.

    Each of their parameters names its source: what is known of such drives, or a fit to published figures. See them
    by assay drives --describe sim:NAME.
    """
    from assay.dut.simulated.shipped import shipped_models  # noqa: PLC0415

    result = shipped_models()
    if as_json:
        click.echo(json.dumps([{"drive": model.drive, **asdict(model)} for model in result], indent=2))
        return
    from assay.cli.table import print_table  # noqa: PLC0415
    from assay.spec.units import gigabytes  # noqa: PLC0415

    rows = [
        (
            model.drive,
            f"{gigabytes(model.capacity_bytes):,.2f}",
            model.kind,
            model.interface,
            model.summary,
            _stated(model.sources),
        )
        for model in result
    ]
    headers = ("drive", "GB", "kind", "interface", "what it stands for", "parameters")
    print_table(headers, rows, right={"GB"}, prose=True)
    click.echo("Another capacity: sim:NAME?capacity=32GB. Custom model: sim:FILE.toml.")


def _stated(sources: dict[str, str]) -> str:
    """How many parameters a source gives, and how many were fitted. Worked: of 24 -> ``14 stated, 10 fitted``."""
    fitted = sum("fitted" in text for text in sources.values())
    return f"{len(sources) - fitted} stated, {fitted} fitted"
