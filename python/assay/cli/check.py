"""``assay check``: whether this test system is fit to test a drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.candidates import drive_candidates

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity

EXIT_INVALID = 5


@click.command()
@click.argument("drive", shell_complete=drive_candidates)
@click.option(
    "--limits",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML of other limits, with a reason. Default: the limits below.",
)
@click.option(
    "--seconds", type=click.FloatRange(0.1, 600), default=2.0, show_default=True, help="That the host is watched."
)
@click.option("--file-target", is_flag=True, help="DRIVE is a regular file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(drive: str, limits: Path | None, seconds: float, file_target: bool, as_json: bool) -> int:
    """Audit the test system for tests of DRIVE: clock, tester, stalls, link, power, queue, neighbours.

    Nothing is written. Exit codes: 0 all checks pass, warn or cannot be told; 5 one of them is invalid.
    """
    from assay.finding import facts  # noqa: PLC0415
    from assay.host import audit_host, load_limits  # noqa: PLC0415

    allowed = load_limits(limits)
    found = audit_host(_identity(drive, file_target), allowed, seconds)
    if as_json:
        content = {"drive": drive, "limits": allowed.model_dump(), "checks": [facts(one) for one in found]}
        click.echo(json.dumps(content, indent=2))
    else:
        if allowed.reason:
            click.echo(f"Limits of {limits}: {allowed.reason}")
        for one in found:
            name = f"{one.check.number} {one.check.title}".strip()
            click.echo(f"{one.level:8}{name}: {one.finding.reason} (limit: {one.check.passes})")
            if one.remedy:
                click.echo(f"        {one.remedy}")
    return EXIT_INVALID if any(one.level == "invalid" for one in found) else 0


def _identity(target: str, file_target: bool) -> DriveIdentity:
    from assay.dut.real.identity import identify  # noqa: PLC0415
    from assay.dut.simulated.model import is_simulated, parse_simulated  # noqa: PLC0415

    return parse_simulated(target).identity if is_simulated(target) else identify(target, file_target=file_target)
