"""A plan as a record: all of it but what the list of tests is needed for, so that drives and hosts can read it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Literal, Self, get_args

from pydantic import Field, PrivateAttr, field_validator, model_validator

from assay.engine.records import DataPattern, IoPath, PurgeMethod
from assay.plan.options import check_data_file
from assay.spec.datum import OF_FILES, FileName, Strict
from assay.spec.nearest import did_you_mean
from assay.spec.units import KIB

if TYPE_CHECKING:
    from collections.abc import Mapping

_POOL_KIB_MIN = 0.5


_STORED_SHARES = (0.05, 0.95)
"""Of compressible data; as ``DataPattern`` of the native core, which refuses others too."""


Text = Annotated[str, Field(max_length=2000)]


ANSWERABLE = ("operator", "sponsor", "lab")
"""Texts of who answers for a run, which the settings of a user give as well."""


class ReportTexts(Strict):
    """What only people know, printed in the report. name, tags : of the run, to find it by. lab : where it was run."""

    name: Annotated[str, Field(max_length=200)] = ""
    tags: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=50)
    objective: Text = ""
    baseline: Text = ""
    samples: Text = ""
    sponsor: Text = ""
    auditor: Text = ""
    notes: Text = ""
    vendor: Text = ""
    nand_type: Text = ""
    interface: Text = ""
    form_factor: Text = ""
    features: Text = ""
    system: Text = ""
    hba: Text = ""
    primary_storage: Text = ""
    operator: Text = ""
    lab: Text = ""
    file_system: Text = ""
    platform_serial: Text = ""
    pcie: Text = ""
    peripherals: Text = ""
    _sources: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def stored(self) -> dict[str, str]:
        """What is given, as the run folder keeps it, with where it comes from who answers for the run.

        Worked: tags ``("a", "b")`` and the operator of the plan -> ``{"tags": "a, b", "operator": "..",
        "operator_from": "plan"}``.
        """
        texts = {key: ", ".join(text) if isinstance(text, tuple) else text for key, text in self}
        given = {key: text for key, text in texts.items() if text}
        return given | {f"{key}_from": self._sources.get(key, "plan") for key in ANSWERABLE if key in given}

    def filled(self, texts: Mapping[str, str], sources: Mapping[str, str]) -> Self:
        """A description with texts that come from elsewhere than the plan. sources : of each, as reports name it."""
        made = type(self).model_validate({**self.model_dump(), **texts})
        made._sources.update(sources)  # noqa: SLF001 - of its own kind
        return made


class Claims(Strict):
    """What the drive's data sheet claims, printed beside what was measured. Rates in IOPS and MB/s, times in ms."""

    rnd_4k_write_iops: float | None = Field(default=None, gt=0)
    rnd_4k_read_iops: float | None = Field(default=None, gt=0)
    seq_write_mb_per_s: float | None = Field(default=None, gt=0)
    seq_read_mb_per_s: float | None = Field(default=None, gt=0)
    write_latency_ms: float | None = Field(default=None, gt=0)
    read_latency_ms: float | None = Field(default=None, gt=0)


class Baseline(Claims):
    """What the same numbers were before, or elsewhere: printed beside what was measured, and judged by nothing."""

    wsat_first_iops: float | None = Field(default=None, gt=0)
    wsat_settled_iops: float | None = Field(default=None, gt=0)


class SpecialNote(Strict):
    """One line of the Test Sponsor - Special Notes."""

    item: Text
    notation: Text = ""
    comments: Text = ""


_DataKind = Literal["random", "compressible", "stamped", "repeating", "addressed", "file"]


class DataOptions(Strict):
    """Content of the data written; anything but random is a listed deviation. As a text: ``compressible:0.5``."""

    kind: Annotated[_DataKind, Field(json_schema_extra={OF_FILES: ["file"]})] = "random"
    stored_share: float = Field(default=1.0, gt=0, le=1)
    pool_kib: float = Field(default=0, ge=0, le=1024 * 1024)
    path: FileName = ""

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        kind, colon, text = value.partition(":")
        field = {"compressible": "stored_share", "repeating": "pool_kib", "file": "path"}.get(kind)
        known = get_args(_DataKind)
        if kind not in known:
            raise ValueError(
                f'is "{kind}", none of {", ".join(known)}', did_you_mean(kind, known, "choose a listed value")
            )
        if colon and field is None:
            raise ValueError(f"{kind} data take no value after a colon", f"write {kind} alone")
        if not colon or field is None:
            return {"kind": kind}
        with suppress(ValueError):
            return {"kind": kind, field: text if field == "path" else float(text)}
        # The model says that it is no number.
        return {"kind": kind, field: text}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        least, most = _STORED_SHARES
        if self.kind == "compressible" and not least <= self.stored_share <= most:
            raise ValueError(f"compressible data need stored_share of {least} to {most}, not {self.stored_share:g}")
        if self.kind == "repeating" and self.pool_kib < _POOL_KIB_MIN:
            raise ValueError(f"a repeating pattern needs pool_kib of at least {_POOL_KIB_MIN}")
        if self.kind == "file" and not self.path:
            raise ValueError("a file pattern needs path")
        return self

    def check_file(self) -> None:
        """Raise UsageError where the file to write from cannot be read or is empty."""
        if self.kind == "file":
            check_data_file(self.path)

    def to_pattern(self) -> DataPattern:
        """These options as the record that steps take."""
        return DataPattern(
            kind=self.kind,
            stored_share=self.stored_share,
            pool_bytes=int(self.pool_kib * KIB),
            path=self.path,
        )


class PlanRecord(Strict):
    """A plan without its tests and limits.

    drive : path, by-id link or ``sim:NAME``. scale : multiplies durations, in (0, 1]; 1 is the specification.
    seed : of the address streams and segment places; None draws one, which the report states.
    capture : keep every completion of what is measured: its time and response time, or also its place and size.
    pin : CPUs of the threads on a real drive: ``auto``, ``none``, or a list such as ``0,2,4-7``.
    io_path : the way that the I/Os of a real drive take; ``auto`` probes it.
    io_time_limit_seconds : the oldest I/O in flight, where it completes no sooner, ends the run as a device failure;
    what waits in a queue that the drive works off does not.
    stall_limit_seconds : longest time in which a drive may complete nothing; beyond, a round or sample is void.
    on_stall : after a void round or sample, ``continue`` with a window that begins anew, or ``stop``.
    purge : how a real drive is purged; ``auto`` takes the strongest way that needs no name.
    write_cache : ``edition`` sets what the edition demands, where the drive can; else ``on``, ``off`` or ``as-is``.
    read_only : the drive is opened for reading only, and tests that would write are refused; so is the suite
    ``quick-read-only``.
    owner : whom the run belongs to, as a service that starts it says; stored, and never interpreted.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    drive: Annotated[str, Field(min_length=1, max_length=4096)]
    edition: str | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    scale: float = Field(default=1.0, gt=0, le=1)
    file_target: bool = False
    read_only: bool = False
    capture: Literal["none", "times", "addresses"] = "none"
    pin: str = "auto"
    io_path: IoPath | Literal["auto"] = "auto"
    io_time_limit_seconds: float = Field(default=35, ge=1, le=3600)
    stall_limit_seconds: float = Field(default=2, ge=0.5, le=3600)
    on_stall: Literal["continue", "stop"] = "continue"
    purge: PurgeMethod | Literal["auto"] = "auto"
    write_cache: Literal["edition", "on", "off", "as-is"] = "edition"
    owner: Annotated[str, Field(max_length=200)] = ""
    report: ReportTexts = ReportTexts()
    special_notes: tuple[SpecialNote, ...] = Field(default=(), max_length=12)
    claims: Claims = Claims()
    baseline: Baseline = Baseline()

    @field_validator("pin")
    @classmethod
    def _cpus(cls, pin: str) -> str:
        if re.fullmatch(r"auto|none|\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", pin, re.ASCII) is None:
            raise ValueError(f'is "{pin:.60}", which names no CPUs', "give auto, none, or CPUs such as 0,2,4-7")
        return pin
