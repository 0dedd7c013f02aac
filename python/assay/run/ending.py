"""The end of a run as one record: for the variables of ``--on-end``, and as the JSON document of an alert."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from assay.errors import (
    EXIT_NOT_MET,
    EXIT_NOT_STEADY,
    EXIT_OK,
    EXIT_WITHHELD,
    AssayError,
    GateRefusedError,
    InterruptedRunError,
    UsageError,
)
from assay.results.ended import missed_steady_state
from assay.results.outcome import withheld_reason
from assay.run.store.read import read_run
from assay.spec.units import SECOND_NS
from assay.version import tool_version
from assay.words.printed import utc_datetime
from assay.words.text import text_or_none
from assay.words.visible import unicode_name, visible

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import StoredTest


Event = Literal["ok", "withheld", "not-steady", "limits", "ended", "failed", "refused", "interrupted"]
EVENTS: tuple[Event, ...] = get_args(Event)

_EVENTS_BY_CODE: dict[int, Event] = {
    EXIT_OK: "ok",
    EXIT_WITHHELD: "withheld",
    EXIT_NOT_STEADY: "not-steady",
    EXIT_NOT_MET: "limits",
}
_REFUSED = {UsageError.exit_code, GateRefusedError.exit_code}
_MESSAGE_MAX = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The outcome of a run before its folder is read.

    exit_codes : all that apply, strongest first; none is 0. error : slug of the error that ended the run, empty for a
    run whose tests are over. message : of that error.
    """

    exit_codes: tuple[int, ...] = ()
    error: str = ""
    message: str = ""

    @property
    def exit_code(self) -> int:
        """The strongest code. Worked: codes 5 and 7 -> 5; none -> 0."""
        return next(iter(self.exit_codes), EXIT_OK)

    @property
    def outcome(self) -> str:
        """The outcome in a word: that of the exit code, or the slug of the error. Worked: 7 -> ``not-steady``."""
        return self.error or _EVENTS_BY_CODE.get(self.exit_code, "ended")

    @property
    def events(self) -> tuple[Event, ...]:
        """What an alert may ask for, most specific first.

        Worked: codes 5 and 7 -> ``withheld``, ``not-steady``, ``ended``; a refusal by the gate -> ``refused``.
        """
        if not self.error:
            codes = self.exit_codes or (EXIT_OK,)
            return (*(_EVENTS_BY_CODE[code] for code in codes if code in _EVENTS_BY_CODE), "ended")
        if self.exit_code == InterruptedRunError.exit_code:
            return ("interrupted",)
        return ("refused",) if self.exit_code in _REFUSED else ("failed",)


def failed_with(error: AssayError | type[AssayError], message: str = "") -> RunResult:
    """The outcome of a run that an error ended. Worked: a busy drive -> exit code 3, ``drive-busy``."""
    return RunResult(exit_codes=(error.exit_code,), error=error.slug, message=message)


class _Form(BaseModel):
    """A part of the document: nothing but its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EndedDrive(_Form):
    """The drive of a run that ended."""

    path: str = Field(description="Its path or name, as in the plan.")
    id: str | None = Field(default=None, description="Its full identity; null without a run folder.")
    model_number: str | None = Field(default=None, description="Its model; null where it reports none.")
    serial: str | None = Field(default=None, description="Its serial number; null where it reports none.")


class EndedTest(_Form):
    """A test of a run that ended."""

    test: str = Field(description="Its name.")
    ended: str | None = Field(description="How it ended, as in the journal; null where it did not.")
    reached: bool = Field(description="False where a required steady state was not reached.")
    withheld: str | None = Field(description="Why its results are withheld; null where they are not.")


class RunEnd(_Form):
    """The end of a run, as alerts receive it."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    trial: bool = Field(default=False, description="True for an event of assay alerts test, without a run.")
    events: tuple[Event, ...] = Field(description="Words of alerts.toml that apply, most specific first.")
    outcome: str = Field(description="The outcome in a word, as ASSAY_OUTCOME of --on-end.")
    exit_code: int = Field(description="Exit code of assay run.")
    exit_codes: tuple[int, ...] = Field(description="Every reason not to exit with 0, strongest first.")
    message: str | None = Field(description="The error that ended the run; null without an error.")
    run: str | None = Field(description="The run folder; null where none was made.")
    run_id: str | None = Field(description="Identifier of the run; null without a readable run folder.")
    name: str | None = Field(description="Name of the run (--name); null without a name.")
    drive: EndedDrive = Field(description="The drive.")
    tests: tuple[EndedTest, ...] | None = Field(description="Its tests in order; null without a readable run folder.")
    ended: str = Field(description="When the run ended, in UTC.")
    ended_wall_ns: int = Field(description="The same in nanoseconds since the Unix epoch.")
    host: str = Field(description="Name of the host.")
    version: str = Field(description="Version of Assay.")

    @property
    def document(self) -> bytes:
        """The JSON document: UTF-8, one line, keys in the order of the form."""
        return json.dumps(self.model_dump(mode="json", by_alias=True)).encode()


def variables_of(folder: str, exit_code: int, outcome: str) -> dict[str, str]:
    """The variables of ``--on-end``. folder : empty where none was made.

    Worked: ``variables_of("", 3, "drive-busy")["ASSAY_EXIT_CODE"]`` is ``"3"``.
    """
    return {"ASSAY_RUN": folder, "ASSAY_EXIT_CODE": str(exit_code), "ASSAY_OUTCOME": outcome}


def run_end(result: RunResult, folder: Path | None, target: str, *, ended_wall_ns: int | None = None) -> RunEnd:
    """The record of the end of a run, with what its folder holds by now.

    folder : of the run, None where none was made. target : the drive as the plan names it. ended_wall_ns : since the
    Unix epoch; None is now.
    A folder that cannot be read leaves identity and tests null. Worked: a refusal without a folder has no tests.
    """
    try:
        stored = read_run(folder) if folder else None
    except (AssayError, OSError, MemoryError):
        # An alert of a damaged run is sent all the same.
        stored = None
    drive = EndedDrive(path=unicode_name(target))
    if stored:
        known = stored.identity
        path = unicode_name(known.path)
        drive = EndedDrive(path=path, id=known.id, model_number=known.model_number, serial=known.serial)
    wall_ns = time.time_ns() if ended_wall_ns is None else ended_wall_ns
    return RunEnd(
        events=result.events,
        outcome=result.outcome,
        exit_code=result.exit_code,
        exit_codes=result.exit_codes,
        message=visible(result.message)[:_MESSAGE_MAX] or None,
        run=unicode_name(str(folder.resolve())) if folder else None,
        run_id=stored.run_id if stored else None,
        name=stored.description.get("name") if stored else None,
        drive=drive,
        tests=tuple(ended_test(test, reached=not missed_steady_state(test)) for test in stored.tests)
        if stored
        else None,
        ended=f"{utc_datetime(wall_ns // SECOND_NS * SECOND_NS):%Y-%m-%dT%H:%M:%SZ}",
        ended_wall_ns=wall_ns,
        host=unicode_name(socket.gethostname()),
        version=tool_version(),
    )


def trial_end() -> RunEnd:
    """The event of ``assay alerts test``: the form of a run that ended well, without a run."""
    return run_end(RunResult(), None, "trial").model_copy(update={"trial": True})


def ended_test(test: StoredTest, *, reached: bool) -> EndedTest:
    """A test by what is stored of it. reached : whether it is steady where that is required."""
    withheld = text_or_none(withheld_reason(test))
    return EndedTest(test=test.settings.test, ended=test.ended, reached=reached, withheld=withheld)
