"""The tables brought to the form that this version knows, by the migrations that are shipped with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.index.version import SCHEMA, VERSION_TABLE

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEAD = f"{SCHEMA:04}"
_FOLDER = Path(__file__).parent / "migrations"


def migrate(connection: Connection, to: str = HEAD) -> None:
    """Bring the tables up or down to a revision, inside the transaction that the connection is in.

    to : ``"0001"`` and so on, or ``"base"`` for none of them.
    """
    from alembic.config import Config  # noqa: PLC0415 - takes a second to load, and is needed once
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    scripts = ScriptDirectory(str(_FOLDER), version_locations=[str(_FOLDER / "versions")])
    result = current(connection)
    revisions = scripts._upgrade_revs if to != "base" and to >= result else scripts._downgrade_revs  # noqa: SLF001 - as Alembic's own commands do
    with EnvironmentContext(Config(), scripts, fn=lambda rev, _: revisions(to, rev)) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        environment.run_migrations()


def current(connection: Connection) -> str:
    """The revision that the tables are of; empty where there are none."""
    from sqlalchemy import inspect, text  # noqa: PLC0415

    if not inspect(connection).has_table(VERSION_TABLE):
        return ""
    result = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - our own name
    return str(result) if result and re.fullmatch(r"\d{4}", str(result)) else ""
