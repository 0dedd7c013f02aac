"""``assay serve``: the web page of this host's runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand
from assay.cli.config import output_folder
from assay.cli.index import index_place
from assay.cli.options import index_option
from assay.cli.progress_lines import time_label
from assay.cli.table import print_table
from assay.errors import StoreError, UsageError
from assay.spec.units import count_label
from assay.web.links import ROLES, Links, Role

if TYPE_CHECKING:
    from assay.web.serving import Serving
    from assay.web.site import Site

LOOPBACK = "127.0.0.1"
AGENT = Path("/run/assay/agent.sock")
"""As in ``assay.agent.config``, which takes long to load."""
_ACTIONS = {
    "link": "assay serve link [--role ROLE] [--days N]",
    "code": "assay serve code",
    "links": "assay serve links",
    "revoke": "assay serve revoke ID, of assay serve links",
}
"""What is not the name of a folder; a folder of that name is ``./link``."""


@click.command(cls=HelpedCommand, examples=("serve runs", "serve link --role operator"))
@click.argument("arguments", nargs=-1, metavar="[FOLDER]... | link | links | revoke ID | code")
@click.option("--port", type=click.IntRange(0, 65535), default=8375, show_default=True, help="Port; 0: any free port.")
@click.option(
    "--socket",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Unix socket instead of a port, for ssh -L. Default: none.",
)
@click.option("--behind-proxy", is_flag=True, help="A proxy with TLS stands in front; allows --address.")
@click.option("--address", default=LOOPBACK, show_default=True, help="Address to listen at.")
@click.option("--prefix", default="", metavar="PATH", help="What the proxy puts before every address. Default: none.")
@click.option("--allow-host", "allow_hosts", multiple=True, metavar="NAME", help="Also answer to NAME. Default: none.")
@click.option("--render-while-measuring", is_flag=True, help="Make pages while a drive on this host is measured, too.")
@click.option("--metrics-identity", is_flag=True, help="Name serial numbers and folders in /metrics.")
@click.option(
    "--agent",
    type=click.Path(path_type=Path, readable=False),
    default=AGENT,
    show_default=True,
    metavar="SOCKET",
    help="Socket of the agent that runs are started by.",
)
@click.option("--role", type=click.Choice(ROLES), default="viewer", show_default=True, help="link: what it allows.")
@click.option("--days", type=int, default=30, show_default=True, metavar="N", help="link: valid so long, 1 to 366.")
@index_option
def serve(arguments: tuple[str, ...], *, index: str | None, role: Role, days: int, **options: Any) -> None:
    """Show the runs in FOLDER (default: runs, or the folder that assay config shows) in a browser.

    It has no rights on drives; runs are started by assay agent. The link that it prints is valid for ten minutes, once.

    link prints a link for another browser; links lists them; revoke ID ends it. A viewer reads; an operator also
    starts runs, adds bundles and notes, eight hours at most, and the link opens once. A program reads the API and
    metrics with the token as bearer. code prints the codes that starts of real drives wait for.
    """
    action = arguments[0] if arguments and arguments[0] in _ACTIONS else ""
    if not action:
        _serve(list(map(Path, arguments)), index, options)
    elif len(arguments) != 1 + (action == "revoke"):
        raise UsageError(f"assay serve {action}", f"is given {len(arguments) - 1} names", _ACTIONS[action])
    elif action == "link":
        _print_link(role, days, options)
    elif action == "code":
        click.echo("\n".join(_answer(options, verb="codes")["lines"]) or "no start waits for a code")
    elif action == "links":
        _print_links()
    else:
        Links().revoke(arguments[1])


def _serve(folders: list[Path], index: str | None, options: dict[str, Any]) -> None:
    try:
        from assay.web.serving import Serving  # noqa: PLC0415
        from assay.web.serving import serve as run  # noqa: PLC0415
    except ImportError as error:
        remedy = "install the wheel with its extra: pip install 'WHEEL[web]'"
        raise UsageError("assay serve", f"lacks a library ({error.name})", remedy) from None
    _refuse_password(index)
    if options["address"] != LOOPBACK and not options["behind_proxy"]:
        reason = "is reached by others, without TLS"
        raise UsageError("--address", reason, "set up a proxy with TLS; see assay serve --help")
    _refuse_names(options)
    chosen = tuple(map(_folder, folders or [output_folder()]))
    serving = Serving(folders=chosen, place=index_place(index), **options)
    if os.geteuid() == 0:
        _print_log(json.dumps({"warning": "runs as root, which it never needs; start it as an ordinary user"}))
    with ExitStack() as stack:
        run(serving, lambda site: _tell(stack, serving, site), _print_log, _announce)


def _answer(options: dict[str, Any], **question: Any) -> dict[str, Any]:
    """What the running server of a port or socket answers. Raises AssayError."""
    from assay.web.control import ask, server_name  # noqa: PLC0415 - takes long

    return ask(server_name(options["socket"], options["port"]), question)


def _print_link(role: Role, days: int, options: dict[str, Any]) -> None:
    made = _answer(options, verb="link", role=role, days=days)
    click.echo(f"Authorization: Bearer {made['token']}" if role == "program" else made["url"])
    opens = ", opens once" if role == "operator" else ""
    span = count_label(days, "day")
    click.echo(f"Link {made['id']}, {role}, valid for {span}{opens}; end it with: assay serve revoke {made['id']}")


def _print_links() -> None:
    rows = [(link.id, link.role, time_label(link.made_ns), time_label(link.until_ns)) for link in Links().listed()]
    if rows:
        print_table(("Link", "Role", "Made", "Valid until"), rows)
    else:
        click.echo("no links; assay serve link makes a link")


def _folder(path: Path) -> Path:
    if not path.exists():
        raise StoreError(str(path), "does not exist", f"name a folder of runs, or mkdir -p {shlex.quote(str(path))}")
    if not path.is_dir():
        raise StoreError(str(path), "is no folder", "name a folder of runs; assay run makes them in runs")
    if not os.access(path, os.R_OK | os.X_OK):
        raise StoreError(str(path), "cannot be read by this user", "run as a user who can read it")
    return path.resolve()


def _refuse_names(options: dict[str, Any]) -> None:
    """Raise UsageError for a prefix or host that no address can have."""
    if not re.fullmatch(r"(/[\w.~-]+)*", options["prefix"], re.ASCII):
        raise UsageError("--prefix", f"is {options['prefix']!r}", "give a path such as /assay, without an end slash")
    for host in options["allow_hosts"]:
        if not re.fullmatch(r"[\w.-]+|\[[0-9a-fA-F:.]+\]", host, re.ASCII):
            raise UsageError("--allow-host", f"is {host!r}", "give a name such as lab.example.org, without a port")


def _refuse_password(index: str | None) -> None:
    from assay.archive.index.location import has_password  # noqa: PLC0415

    if index and has_password(index):
        raise UsageError(
            "--index", "holds a password, which ps would show", "use ASSAY_INDEX, a service file or .pgpass"
        )


def _tell(stack: ExitStack, serving: Serving, site: Site) -> None:
    """Where the page is. stack : ends with the server. On a desktop a browser opens it, without its token in ``ps``."""
    port = site.name if serving.socket is None else str(serving.port)
    if not sys.stdout.isatty():
        at = f"http://127.0.0.1:{port}{serving.prefix}/" if serving.socket is None else serving.socket
        click.echo(f"{at} is served; for a link: assay serve link")
        return
    click.echo(url := f"{site.base}/#{site.sessions.links.first()}")
    click.echo("Valid for ten minutes, once. From another host, first:")
    end = f"127.0.0.1:{port}" if serving.socket is None else shlex.quote(str(serving.socket.absolute()))
    click.echo(f"ssh -N -L {port}:{end} {socket.gethostname()}")
    if serving.socket is not None:
        return
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        # The file that a browser is given the name of lies in a folder of its user alone.
        page = Path(stack.enter_context(TemporaryDirectory(prefix="assay-")), "open.html")
        page.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}">', "ascii")
        page.chmod(0o600)
        webbrowser.open(page.as_uri())


def _announce(line: str) -> None:
    """A code, for the person at the terminal; a log does not get it."""
    if sys.stdout.isatty():
        click.echo(line)


def _print_log(line: str) -> None:
    click.echo(line, err=True)
