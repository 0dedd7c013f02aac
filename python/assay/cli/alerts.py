"""``assay alerts``: try the alerts that root set up for the end of a run."""

from __future__ import annotations

import click

from assay.cli.helped import HelpedCommand
from assay.errors import PlanError, SystemRefusedError
from assay.words.visible import visible

_ACTIONS = ("test",)


@click.command(cls=HelpedCommand, examples=("alerts test",))
@click.argument("action", metavar="test", type=click.Choice(_ACTIONS))
def alerts(action: str) -> None:
    """Send a trial event to each alert in /etc/assay/alerts.toml, and print each response.

    The event has the form of a run that ended well, with trial = true. It is sent whatever ends an alert is for.

    Exit codes: 0 all were delivered; 1 an alert was not delivered; 2 the file is missing or has faults.
    """
    from assay.run.alerts import (  # noqa: PLC0415
        ALERTS_FILE,
        deliveries,
        read_alerts,
    )
    from assay.run.ending import trial_end  # noqa: PLC0415

    del action
    entries = read_alerts()
    if not entries:
        raise PlanError(str(ALERTS_FILE), "holds no alert", "write it as docs/guide/alerts.md shows")
    failed = 0
    for delivery in deliveries(entries, trial_end()):
        click.echo(visible(str(delivery)))
        failed += not delivery.delivered
    if failed:
        reason = f"{failed} of {len(entries)} not delivered"
        raise SystemRefusedError("alerts", reason, "correct what is named above and try again")
