"""How far a result is vouched for, in the words that stand beside it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.words.outcomes import BREAKS_RULES, NOT_CHECKED, REDACTED, VERIFIED_BUNDLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What a level follows from.

    signed : a signature is there and holds. fingerprint : of its key. signer : by what name the user trusts the key;
    None where he does not. passed : whether the run keeps all rules; None where it was not checked here. redacted :
    names were taken out.
    """

    signed: bool
    fingerprint: str | None
    signer: str | None
    passed: bool | None
    redacted: bool


def level_text(level: Level) -> str:
    """The level of an imported run.

    Worked: rules kept, no signature -> ``"verified bundle, unsigned"``; a trusted key and rules not checked ->
    ``"signed by Lab 2, not checked here"``; neither -> ``"not checked here, unsigned"``.
    """
    said = [*_standing(level)]
    if level.redacted:
        said.append(REDACTED)
    return ", ".join(said)


def _standing(level: Level) -> tuple[str, ...]:
    if level.passed is False:
        return (BREAKS_RULES, _signature(level))
    if level.signer is not None:
        return (_signature(level),) if level.passed else (_signature(level), NOT_CHECKED)
    return (VERIFIED_BUNDLE if level.passed else NOT_CHECKED, _signature(level))


def _signature(level: Level) -> str:
    if level.signer is not None:
        return f"signed by {level.signer}"
    return f"signed by an unknown key {level.fingerprint}" if level.signed else "unsigned"
