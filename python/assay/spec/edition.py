"""Editions: the parameters of one edition of the specification, every datum with its source note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import RangeDatum, SampledPreconditioning, WorkloadName

__all__ = ["Edition", "RangeDatum", "SampledPreconditioning", "WorkloadName"]


NoticeText = Annotated[str, Field(min_length=1, max_length=200)]


class Edition(Strict):
    """One edition: conditions common to its tests and, behind them, one table per test of the registry.

    header : the page header form, ``1.0`` (one block per group) or ``2.0`` (four columns).
    notices : what every report and terminal says of a run of it, where it is no edition of the specification.
    market : printed in titles, ``Client``, ``Enterprise`` or, where an edition makes no difference, ``SSD``.
    """

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    title: str
    market: Literal["Client", "Enterprise", "SSD"]
    header: Literal["1.0", "2.0"]
    notices: tuple[NoticeText, ...] | None = None
    write_cache: Datum[Literal["enabled", "disabled"]]
    data_pattern: Datum[Literal["random"]]

    if TYPE_CHECKING:
        # The tables of tests are fields of a class that the registry makes; see ``assay.procedures.editions``.
        def __getattr__(self, name: str) -> Any: ...

    def table(self, procedure: str) -> Any:
        """The table of a test, None where the edition has no such test."""
        return getattr(self, procedure, None)
