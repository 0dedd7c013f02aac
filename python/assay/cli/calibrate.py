"""``assay calibrate``: what this host costs, how fast it can go, and whether it repeats what it measured."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.completion import drive_candidates
from assay.cli.options import file_target_option, signature_option, yes_destroy_option
from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import HostCalibration, ReferenceDrive
    from assay.host.certificate import Certificate, SimulatorCheck

EXIT_OUTSIDE = 5


@click.command(cls=HelpedCommand, examples=("calibrate", "calibrate --reference /dev/nvme0n1 --new-baseline"))
@click.option(
    "--seconds",
    type=click.FloatRange(0.05, 600),
    default=1.0,
    show_default=True,
    help="Seconds per measurement without a drive.",
)
@click.option(
    "--reference",
    metavar="DRIVE",
    shell_complete=drive_candidates,
    help="Measure how well this drive repeats; its first 4 GiB are LOST. Default: none.",
)
@click.option(
    "--reference-seconds",
    type=click.FloatRange(0.1, 3600),
    default=5.0,
    show_default=True,
    help="Seconds per measurement of the reference drive, 24 in all.",
)
@click.option("--new-baseline", is_flag=True, help="Use this measurement as the new baseline of the drive.")
@yes_destroy_option
@signature_option
@file_target_option
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
def calibrate(seconds: float, as_json: bool, **options: Any) -> int:
    """Measure the limits of this host without a drive, and store a dated certificate.

    Measured are I/Os per second, the delay of timers, and the rate of random data for writes.

    A simulated drive must give exactly its earlier results; a reference drive must give IOPS within 5 % of its
    baseline. Exit codes: 0 both pass, or there is no reference drive; 5 a check failed, which reports will state.
    """
    from assay.host.certificate import keep_certificate, kept_certificates, measure_host, outside  # noqa: PLC0415

    reference = _reference(**options)
    kept = kept_certificates().certificates
    certificate = measure_host(seconds, _tell, reference=reference, kept=kept)
    path = keep_certificate(certificate)
    result = outside(certificate.simulator, certificate.reference)
    if as_json:
        click.echo(json.dumps({**asdict(certificate), "outside": result, "path": str(path)}, indent=2))
    else:
        _print(certificate, str(path), result)
    return EXIT_OUTSIDE if result else 0


def _tell(text: str) -> None:
    click.echo(f"assay: now: {text}", err=True)


def _reference(
    *,
    reference: str | None,
    reference_seconds: float,
    new_baseline: bool,
    yes_destroy: str | None,
    signatures: tuple[str, ...],
    acknowledged: frozenset[str],
    file_target: bool,
) -> ReferenceDrive | None:
    from assay.dut.dut import Answers  # noqa: PLC0415
    from assay.host.reference import measure_reference  # noqa: PLC0415

    if reference is None:
        if new_baseline or yes_destroy or signatures or acknowledged or file_target:
            raise UsageError(
                "--reference", "is missing, and other options speak of its drive", "name the drive with it"
            )
        return None
    return measure_reference(
        reference,
        Answers(confirmation=yes_destroy, signatures=frozenset(signatures), acknowledged=acknowledged),
        file_target=file_target,
        seconds=reference_seconds,
        new_baseline=new_baseline,
        show=_tell,
    )


def _print(certificate: Certificate, path: str, drifts: list[str]) -> None:
    from assay.host.certificate import VALID_DAYS  # noqa: PLC0415
    from assay.spec.units import KIB, MB, MICROSECOND_NS  # noqa: PLC0415

    for point in certificate.ceiling:
        click.echo(
            f"device that answers at once, TC {point.thread_count} x QD {point.queue_depth}: {point.iops:,.0f} IOPS, "
            f"{point.cpu_ns:,.0f} ns of CPU per I/O, 99 % within {point.p99_ns / MICROSECOND_NS:,.1f} us"
        )
    for timer in certificate.timers:
        click.echo(
            f"device that takes {timer.constant_ns / MICROSECOND_NS:,.0f} us, QD {timer.queue_depth}: seen late by "
            f"{timer.late_ns_mean / MICROSECOND_NS:,.1f} us in the mean, 99 % within "
            f"{timer.late_ns_p99 / MICROSECOND_NS:,.1f} us, at most {timer.late_ns_max / MICROSECOND_NS:,.1f} us"
        )
    if certificate.calibration is not None:
        for line in _quiet_lines(certificate.calibration):
            click.echo(line)
    for fill in certificate.fills:
        click.echo(
            f"random data for writes of {fill.transfer_bytes // KIB} KiB: {fill.bytes_per_s / MB:,.0f} MB/s per core"
        )
    if certificate.simulator is not None:
        click.echo(_simulator_line(certificate.simulator))
    if certificate.reference is not None:
        for line in _reference_lines(certificate.reference):
            click.echo(line)
    for reason in drifts:
        click.echo(f"DRIFTED: {reason}")
    click.echo(f"Certificate: {path}; for {VALID_DAYS.value} days, this host, kernel and build of the tool")


def _quiet_lines(calibration: HostCalibration) -> Iterator[str]:
    from assay.results.host_part import is_calm  # noqa: PLC0415
    from assay.spec.units import MICROSECOND_NS  # noqa: PLC0415

    for point in calibration.points:
        waited = "unknown" if point.wait_share is None else f"{point.wait_share:.2%}"
        yield (
            f"stimulus threads without a processor, TC {point.thread_count} x QD {point.queue_depth}, "
            f"{point.answer_ns / MICROSECOND_NS:,.0f} us: {waited} of the time"
        )
    if not is_calm(calibration):
        yield "WARN: the host was not quiet; nothing is subtracted from later runs. End other programs, then repeat"


def _simulator_line(check: SimulatorCheck) -> str:
    known = "twice and in an earlier certificate" if check.earlier else "twice; no earlier certificate of this build"
    result = "the very same" if check.is_exact else "NOT the same"
    return f"simulated drive: {result} {known}; {check.first.io_count:,} I/Os, {check.first.outcome[:16]}"


def _reference_lines(reference: ReferenceDrive) -> Iterator[str]:
    from assay.results.reference import SPREAD_MAX, is_repeatable  # noqa: PLC0415
    from assay.spec.units import MICROSECOND_NS  # noqa: PLC0415

    changes = {change.label: f"; {change.iops_change:+.1%} since the baseline" for change in reference.changes}
    for point in reference.points:
        yield (
            f"reference drive, {point.label}: {point.iops.mean:,.0f} IOPS, spread {point.iops.spread:.1%}, variation "
            f"{point.iops.variation:.1%}; {point.mean_ns.mean / MICROSECOND_NS:,.1f} us{changes.get(point.label, '')}"
        )
    if is_repeatable(reference):
        yield f"reference drive: PASS, repeatable within {SPREAD_MAX:.0%}"
    else:
        yield f"reference drive: WARN, not repeatable within {SPREAD_MAX:.0%}, and no baseline for later ones"
