"""What ``assay verify --json`` prints of a run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from assay.archive.verify import Verification
from assay.errors import EXIT_OK, EXIT_WITHHELD
from assay.summary.forms import Facts
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from assay.errors import AssayError


class BrokenRule(Facts):
    """One place where a rule does not hold."""

    rule: str = Field(description="ID of the rule, as in docs/rules.md.")
    place: str = Field(description="File and line, step, or key in which it is broken.")
    found: str = Field(description="What is there.")
    expected: str = Field(description="What the rule expects there.")


class VerifiedRun(Facts):
    """A run folder as `assay verify RUN... --json` prints it."""

    schema_version: Literal[1] = Field(default=1, alias="schema", description="Version of this form.")
    run: str = Field(description="The run folder as it was named.")
    passed: bool = Field(description="Whether no rule is broken; false where the folder cannot be read.")
    exit_code: int = Field(description="0; 5 if a rule is broken or results of the run are withheld; 6 if it cannot be "
                           "read.")  # fmt: skip
    error: str | None = Field(description="Why the folder cannot be read; null where it can.")
    level: str | None = Field(
        description="Trust level, as assay show has it; null where rules are broken in a run folder."
    )
    checker: str = Field(description="Version of Assay that verified it.")
    tool_version: str = Field(description="Version of Assay that wrote it; empty where unknown.")
    edition: str = Field(description="Name of its edition; empty where unknown.")
    run_id: str = Field(description="The ID of the run; empty where unknown.")
    rules: tuple[str, ...] = Field(description="IDs of the rules that were checked.")
    unchecked: tuple[str, ...] = Field(
        description="IDs of those that were not: they rest on what is broken, or ask for what an "
        "earlier version did not store."
    )
    broken: tuple[BrokenRule, ...] = Field(description="Every violation of a rule.")
    withheld: dict[str, str] = Field(description="Tests whose results the run itself withholds, each with the reason.")
    complete: bool = Field(
        description="Whether the journal ends as that of a finished run; else it goes on or was cut."
    )
    sequence_count: int | None = Field(
        default=None, description="Stored sequences of steps; 0: nothing was measured. Null where it cannot be read."
    )
    journal_hash: str = Field(description="SHA-256 of the last line of the journal; empty where its chain is broken.")


def verified_run(verification: Verification, name: str, level: str | None = None) -> VerifiedRun:
    """A verification as it is printed. name : of the run folder, as the user gave it. level : its trust level."""
    return VerifiedRun.of_records(
        verification,
        run=unicode_name(name),
        exit_code=exit_code(verification),
        error=None,
        level=level and unicode_name(level),
        broken=tuple(
            BrokenRule(**{field: unicode_name(getattr(answer, field)) for field in BrokenRule.model_fields})
            for answer in verification.answers
        ),
        withheld=dict(verification.withheld),
    )


def unreadable_run(error: AssayError, name: str, checker: str) -> VerifiedRun:
    """A folder that cannot be read, as it is printed. checker : version of Assay that verifies."""
    return VerifiedRun.of_records(
        Verification(checker=checker),
        run=unicode_name(name),
        passed=False,
        exit_code=error.exit_code,
        error=unicode_name(str(error)),
        level=None,
        broken=(),
        withheld={},
    )


def exit_code(verification: Verification) -> int:
    """5 where a rule is broken, and where the run withholds results: a verifier overrules no run. Else 0."""
    return EXIT_WITHHELD if not verification.passed or EXIT_WITHHELD in verification.exit_codes else EXIT_OK
