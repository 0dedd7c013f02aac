"""The tables of the index, the same in SQLite and PostgreSQL. The migrations make them; a test holds both together.

Times are integers of nanoseconds, since dates come back differently from the two. Lists of texts and numbers that
nothing is searched by are JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

from assay.archive.index.folded import RUN_FOLDS, TEST_FOLDS, storable

if TYPE_CHECKING:
    from sqlalchemy import Dialect
    from sqlalchemy.types import TypeEngine

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


class KeptText(TypeDecorator[str]):
    """A text of whoever made the run; what no database takes, NUL and halves of surrogate pairs, is kept escaped."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text as it goes into the database."""
        del dialect
        return None if value is None else storable(value)


def _text(name: str) -> Column[str]:
    return Column(name, KeptText, nullable=False)


def _added(name: str) -> Column[str]:
    """A text that older rows have no value of; migrations and writers give every row one."""
    return Column(name, KeptText, nullable=False, server_default="")


def _whole(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _unless_none(name: str, kind: type[TypeEngine[Any]]) -> Column[Any]:
    return Column(name, kind, nullable=True)


def _part_of(table: str, name: str) -> Column[int]:
    return Column(name, Integer, ForeignKey(f"{table}.key", ondelete="CASCADE"), nullable=False)


RUNS = Table(
    "assay_runs",
    METADATA,
    Column("key", Integer, primary_key=True),
    # Where it lies: the host, the folder of runs, and the run folder in it.
    _text("site"),
    _text("parent"),
    _text("folder"),
    # What the folder looked like when it was read, and by what; when it was first found missing.
    _text("look"),
    _text("made_by"),
    _unless_none("missing_since_ns", BigInteger),
    _text("run_id"),
    _unless_none("run_schema", Integer),
    _text("name"),
    _text("started"),
    _unless_none("started_wall_ns", BigInteger),
    _text("tool_version"),
    _text("edition"),
    _text("suite"),
    _text("operator"),
    _text("lab"),
    _text("host"),
    _text("system"),
    _text("label"),
    _text("label_class"),
    _text("deviations"),
    _text("level"),
    _text("drive"),
    _unless_none("drive_id", KeptText),
    _unless_none("drive_kind", KeptText),
    _unless_none("drive_model", KeptText),
    _unless_none("drive_serial", KeptText),
    _unless_none("drive_firmware", KeptText),
    _unless_none("drive_capacity_bytes", BigInteger),
    _text("journal_hash"),
    _whole("journal_lines"),
    _flag("complete"),
    _flag("interrupted"),
    _flag("withheld"),
    _text("exit_codes"),
    _number("exit_code"),
    _unless_none("fault", KeptText),
    _unless_none("numbers_fault", KeptText),
    UniqueConstraint("site", "parent", "folder"),
    # What pages ask for it by, and its drive.
    _added("address"),
    _added("drive_address"),
    # What is searched, without regard to case.
    *map(_added, RUN_FOLDS),
    _added("words"),
    # What was done to the drive, and what it reported.
    _unless_none("written_bytes", BigInteger),
    _unless_none("wear_pct_first", Double),
    _unless_none("wear_pct_last", Double),
    _unless_none("temperature_c_max", Double),
    _added("health"),
    Index(None, "address"),
    Index(None, "drive_address"),
    # The newest runs are listed from this alone.
    Index(None, "started_wall_ns", "missing_since_ns", "site", "parent", "address"),
)

TAGS = Table(
    "assay_tags",
    METADATA,
    Column("key", Integer, primary_key=True),
    _part_of("assay_runs", "run_key"),
    _number("place"),
    _text("tag"),
    _added("tag_folded"),
    Index(None, "run_key"),
)

TESTS = Table(
    "assay_tests",
    METADATA,
    Column("key", Integer, primary_key=True),
    _part_of("assay_runs", "run_key"),
    _number("place"),
    _text("test"),
    _text("procedure"),
    _text("edition"),
    _text("verdict"),
    _text("measured"),
    _unless_none("ended", KeptText),
    _flag("reached"),
    _flag("cut_short"),
    _unless_none("withheld", KeptText),
    _whole("started_wall_ns"),
    _unless_none("ended_wall_ns", BigInteger),
    *map(_added, TEST_FOLDS),
    # What runs share in a trend, as JSON, and its digest; last, since only one row of many is read.
    _added("conditions_key"),
    _added("conditions"),
    Index(None, "run_key"),
)

HEADLINES = Table(
    "assay_headlines",
    METADATA,
    Column("key", Integer, primary_key=True),
    _part_of("assay_tests", "test_key"),
    _number("place"),
    _text("item"),
    _text("unit"),
    _unless_none("value", Double),
    _unless_none("least", Double),
    _unless_none("greatest", Double),
    _text("basis"),
    _unless_none("claim", Double),
    _unless_none("bound", Double),
    _unless_none("mark", KeptText),
    Index(None, "test_key"),
)

MEASURES = Table(
    "assay_measures",
    METADATA,
    Column("key", Integer, primary_key=True),
    _part_of("assay_tests", "test_key"),
    _number("place"),
    # Pairs of a name and a value, as JSON.
    _text("cell"),
    _text("label"),
    _text("name"),
    _text("unit"),
    _text("better"),
    _unless_none("value", Double),
    # Numbers, as JSON.
    _text("rounds"),
    _flag("judged"),
    _unless_none("bound", Double),
    _unless_none("mark", KeptText),
    Index(None, "test_key"),
)

NOTES = Table(
    "assay_notes",
    METADATA,
    # Of the run, whether or not it is in the index: a run that is read again keeps it.
    Column("address", KeptText, primary_key=True),
    _flag("hidden"),
    _flag("bad"),
    _text("reason"),
    _text("note"),
    # Of the session that wrote it.
    _text("role"),
    _whole("at_ns"),
)
