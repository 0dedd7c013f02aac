"""``assay calibrate``: what this host costs and how fast it can go, without any drive."""

from __future__ import annotations

import json
from dataclasses import asdict

import click


@click.command()
@click.option("--seconds", type=click.FloatRange(0.05, 600), default=1.0, help="Of each point.")
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
def calibrate(seconds: float, as_json: bool) -> None:
    """Measure the ceiling and the lateness of this host without a drive, and keep them as a dated certificate."""
    from assay.certificate import VALID_DAYS, keep_certificate, measure_host  # noqa: PLC0415
    from assay.units import MICROSECOND_NS  # noqa: PLC0415

    certificate = measure_host(seconds, lambda text: click.echo(text, err=True))
    path = keep_certificate(certificate)
    if as_json:
        click.echo(json.dumps({**asdict(certificate), "path": str(path)}, indent=2))
        return
    for point in certificate.ceiling:
        click.echo(
            f"answers at once, {point.thread_count} x QD {point.queue_depth}: {point.iops:.0f} IOPS, "
            f"{point.cpu_ns:.0f} ns of CPU per I/O, 99 % within {point.p99_ns / MICROSECOND_NS:.1f} us"
        )
    for timer in certificate.timers:
        click.echo(
            f"constant {timer.constant_ns / MICROSECOND_NS:.0f} us, QD {timer.queue_depth}: seen late by "
            f"{timer.late_ns_mean / MICROSECOND_NS:.1f} us in the mean, 99 % within "
            f"{timer.late_ns_p99 / MICROSECOND_NS:.1f} us, at most {timer.late_ns_max / MICROSECOND_NS:.1f} us"
        )
    click.echo(f"Certificate: {path}; for {VALID_DAYS.value} days, this host, kernel and build of the tool")
