"""``assay check``: whether this test system is fit to test a drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import HelpedCommand, json_option
from assay.cli.completion import drive_candidates
from assay.errors import GateRefusedError
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DriveIdentity
    from assay.results.finding import Checked

EXIT_INVALID = 5
_REFUSALS = 2
"""So many reasons stand on the first line."""


class _Check(HelpedCommand):
    """Its help lists the limits, which are read when it is shown."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from assay.host.limits import Limits  # noqa: PLC0415
        from assay.spec.model_keys import Form  # noqa: PLC0415

        form = Form(Limits)
        rows = [
            (key, f"{form.legal(schema)}; default {schema['default']:g}")
            for key, schema in form.properties.items()
            if key != "reason"
        ]
        with formatter.section("Limits, keys of the FILE, which must give a reason as well"):
            formatter.write_dl(rows)
        super().format_epilog(ctx, formatter)


@click.command(cls=_Check, examples=("check /dev/nvme0n1", "check /dev/nvme0n1 --seconds 60 --json"))
@click.argument("drive", shell_complete=drive_candidates)
@click.option(
    "--limits",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file of custom limits, with a reason. Default: the limits below.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 600),
    default=2.0,
    show_default=True,
    help="Seconds to monitor the host.",
)
@click.option("--file-target", is_flag=True, help="DRIVE is a regular file.")
@click.option("--put-back", is_flag=True, help="First restore settings that a killed run left on DRIVE.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a redacted compatibility file for the maintainers. Default: none.",
)
@json_option
def check(
    *,
    drive: str,
    limits: Path | None,
    seconds: float,
    file_target: bool,
    put_back: bool,
    report: Path | None,
    as_json: bool,
) -> int:
    """Audit the test system for tests of DRIVE: clock, tester, stalls, link, power, queue, neighbours.

    Nothing is written to the drive. Only --put-back changes a setting, which the output states. Levels: pass,
    within the limit; warn, beyond it; invalid, figures would describe the host instead of the drive; unknown, this
    host does not report it; n/a, does not apply to this kind of drive. The last line states whether the host is
    fit.

    The first line says whether DRIVE may be tested now, by this user.

    Exit codes: 0 fit to test; 3 DRIVE may not be tested; 5 not fit, a check is invalid.
    """
    from assay.host.audit import audit_host  # noqa: PLC0415
    from assay.host.limits import load_limits  # noqa: PLC0415
    from assay.results.finding import facts  # noqa: PLC0415

    allowed = load_limits(limits)
    identity = _identity(drive, file_target)
    done = _put_back(identity) if put_back else []
    refusals = _refusals(identity)
    result = audit_host(identity, allowed, seconds)
    if report:
        _report(report, identity, result, refusals)
    code = GateRefusedError.exit_code if refusals else EXIT_INVALID if _named(result, "invalid") else 0
    if as_json:
        content = {
            "drive": drive,
            "put_back": done,
            "refusals": refusals,
            "limits": allowed.model_dump(),
            "checks": [facts(check) for check in result],
        }
        click.echo(json.dumps({**content, "fit": not _named(result, "invalid"), "verdict": verdict(result)}, indent=2))
        return code
    more = f"; and {len(refusals) - _REFUSALS} more" if len(refusals) > _REFUSALS else ""
    may = f"may not be tested: {'; '.join(refusals[:_REFUSALS])}{more}" if refusals else "may be tested"
    click.echo(visible(f"{drive} {may}."))
    if put_back:
        click.echo(visible(f"Put back: {'; '.join(done) or 'nothing, no run has left anything changed'}"))
    if allowed.reason:
        click.echo(visible(f"Limits of {limits}: {allowed.reason}"))
    for checked in result:
        limit = f"(limit: {checked.check.passes})"
        click.echo(visible(f"{checked.level:9}{checked.check.title}: {checked.finding.words} {limit}"))
        if checked.remedy:
            click.echo(f"         To do: {checked.remedy}")
    click.echo(verdict(result))
    if report:
        click.echo(
            f"Compatibility file: {report}, without serial numbers, paths and host name; look at it, then send it"
        )
    return code


def _refusals(identity: DriveIdentity) -> Sequence[str]:
    """Why the drive may not be tested now."""
    if identity.kind == "simulated":
        return ()
    from assay.dut.real.gate import examined  # noqa: PLC0415

    return examined(identity).refusals


def _report(path: Path, identity: DriveIdentity, checks: Sequence[Checked], refusals: Sequence[str]) -> None:
    from assay.host.compatibility import compatibility, write_compatibility  # noqa: PLC0415

    write_compatibility(path, compatibility(identity, checks, refusals))


def _put_back(identity: DriveIdentity) -> list[str]:
    from assay.dut.real.put_back import put_back  # noqa: PLC0415

    return put_back(identity)


def verdict(checks: Sequence[Checked]) -> str:
    """Whether the test system is fit, and why.

    Worked: ``Not fit to test: invalid: Host stalls; unknown: Temperature``.
    """
    invalid, warned, unknown = (_named(checks, level) for level in ("invalid", "warn", "unknown"))
    rest = [f"beyond its limit: {', '.join(warned)}"] if warned else []
    rest += [f"unknown: {', '.join(unknown)}"] if unknown else []
    if invalid:
        return "; ".join([f"Not fit to test: invalid: {', '.join(invalid)}", *rest])
    return "; ".join([f"Fit to test{', with a warning' if warned else ''}: nothing is invalid", *rest])


def _named(checks: Sequence[Checked], level: str) -> list[str]:
    return [answer.check.title for answer in checks if answer.level == level]


def _identity(target: str, file_target: bool) -> DriveIdentity:
    from assay.dut.real.identity import identify  # noqa: PLC0415
    from assay.dut.simulated.model import is_simulated, parse_simulated  # noqa: PLC0415

    return parse_simulated(target).identity if is_simulated(target) else identify(target, file_target=file_target)
