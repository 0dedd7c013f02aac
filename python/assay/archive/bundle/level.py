"""How far a result is vouched for, in the words that stand beside it."""

from __future__ import annotations

from dataclasses import dataclass

UNVERIFIED, VERIFIED_BUNDLE = "unverified", "verified bundle"
REDACTED = "redacted by its maker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What a level follows from.

    signed : a signature is there and holds. fingerprint : of its key. signer : by what name the user trusts the key;
    None where he does not. passed : whether the run keeps all rules; None where that was not looked at. redacted :
    names were taken out.
    """

    signed: bool
    fingerprint: str | None
    signer: str | None
    passed: bool | None
    redacted: bool


def level_text(level: Level) -> str:
    """The level of an imported run.

    Worked: rules kept, no signature -> ``"verified bundle, unsigned"``; a trusted key and rules not looked at ->
    ``"signed by Lab 2, rules not checked"``; neither -> ``"unverified, unsigned"``.
    """
    said = [*_standing(level)]
    if level.redacted:
        said.append(REDACTED)
    return ", ".join(said)


def _standing(level: Level) -> tuple[str, ...]:
    if level.passed is False:
        return (f"{UNVERIFIED}: it breaks rules", _signature(level))
    if level.signer is not None:
        return (_signature(level),) if level.passed else (_signature(level), "rules not checked")
    return (VERIFIED_BUNDLE if level.passed else UNVERIFIED, _signature(level))


def _signature(level: Level) -> str:
    if level.signer is not None:
        return f"signed by {level.signer}"
    return f"signed by an unknown key {level.fingerprint}" if level.signed else "unsigned"
