"""``assay agent``: the service with rights on drives that the web page starts runs through."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click

from assay.cli.commands import HelpedCommand

CONFIG = Path("/etc/assay/agent.toml")
"""As in ``assay.agent.config``, which takes long to load."""


@click.command(cls=HelpedCommand, examples=("agent --install", "agent --config agent.toml"))
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=CONFIG,
    show_default=True,
    metavar="FILE",
    help="What it may do; owned by root.",
)
@click.option("--install", is_flag=True, help="Write FILE, where it is missing, and units for systemd.")
def agent(config: Path, install: bool) -> None:
    """Check plans and start runs for users of its socket, in turn, as FILE allows.

    It runs as root. FILE lists the drives that may be erased, none at first, and the group that may connect:
    membership of that group is the right to erase these drives. A run goes on when the agent ends.
    """
    if install:
        from assay.agent.install import install as write  # noqa: PLC0415

        for line in write(config):
            click.echo(line)
        return
    from assay.agent.config import read_config  # noqa: PLC0415
    from assay.agent.server import serve, tell_ready  # noqa: PLC0415

    def ready() -> None:
        click.echo(f"agent: {chosen.socket}; Ctrl-C ends it, runs go on", err=True)
        tell_ready()

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    chosen = read_config(config)
    serve(chosen, ready, ended)
