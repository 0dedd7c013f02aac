"""The origin of an imported run, kept in ``origin.json``, and its trust level in words.

The origin is checked against run and signature whenever it is shown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from assay.archive.bundle.manifest import MANIFEST_BYTES_MAX, Manifest, bundle_file, read_manifest
from assay.archive.bundle.signature import Signature, check_signature, signer_name
from assay.engine.codec import canonical, decode, parse
from assay.engine.records import RunOrigin
from assay.errors import AssayError, StoreError
from assay.run.store import ORIGIN
from assay.run.store.tables import TABLE_KINDS
from assay.spec.files import exists_inside, read_inside
from assay.version import tool_version
from assay.words.outcomes import BREAKS_RULES, NOT_CHECKED, REDACTED, UNVERIFIED, VERIFIED_BUNDLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.archive.bundle.keys import PublicKey
    from assay.engine.records import StoredRun

_HELD_BY_JOURNAL = ("run.json", "journal.jsonl", *(f"{kind}/" for kind in TABLE_KINDS))
_REMEDY = "import the bundle again"
_NAME_HOST = "name this host before the next run: systemd-machine-id-setup makes /etc/machine-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Facts that decide a level.

    signed : a signature is there and holds. fingerprint : of its key. signer : name under which the user trusts the
    key; None if untrusted. passed : whether the run keeps all rules; None if unchecked here. redacted : names were
    taken out.
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
    return ", ".join((*_standing(level), *([REDACTED] if level.redacted else [])))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """``origin.json``. manifest : of the bundle, as text.

    checker : a verdict of the rules, which versions up to 0.1.0 wrote here. Anybody can write one, so nothing reads it.
    """

    schema: Literal[1] = 1
    manifest: Annotated[str, Field(max_length=MANIFEST_BYTES_MAX)]
    signature: Signature | None
    checker: Any = None

    @classmethod
    def of(cls, manifest: bytes, signature: Signature | None) -> Origin:
        """The text of ``origin.json``."""
        return cls(manifest=manifest.decode("utf-8"), signature=signature)

    def encoded(self) -> bytes:
        """The bytes that are stored."""
        kept = asdict(self)
        del kept["checker"]
        return canonical(kept) + b"\n"


def with_origin(
    run: StoredRun,
    folder: Path,
    keys: Sequence[PublicKey],
    *,
    host_id: str | None = None,
    checked: bool | None = None,
    whole: bool = True,
) -> StoredRun:
    """A run with where it comes from, as far as that can be shown now, and whether it keeps the rules.

    keys : that the user trusts. host_id : of this host; None if it has none, and then no run is known to be of it.
    checked : whether the run keeps all rules, as this user's host found; nothing in the folder says that. whole : hold
    also those files against the manifest that the journal does not hold, captured completions among them, which may be
    large.
    Raises nothing: what does not fit is said in the level.
    """
    run = replace(run, checked=checked)
    try:
        if not exists_inside(folder, ORIGIN):
            return replace(run, origin=_of_folder(run, host_id))
        origin = _read(folder)
        _check(origin, run, folder, whole=whole)
    except (AssayError, OSError) as error:
        reason = error.reason if isinstance(error, AssayError) else error.strerror or "cannot be read"
        return replace(run, origin=_unverified(f"{ORIGIN} does not fit the run: {reason}"))
    return replace(run, origin=_origin(origin, keys, checked))


def _read(folder: Path) -> Origin:
    name = str(folder / ORIGIN)
    content = read_inside(folder, ORIGIN, bytes_max=2 * MANIFEST_BYTES_MAX)
    return decode(Origin, parse(content, name=name), name=name)


def _check(origin: Origin, run: StoredRun, folder: Path, *, whole: bool) -> None:
    """Raise StoreError or VerificationError if run or signature are not those of the bundle."""
    manifest, name = _manifest(origin), str(folder / ORIGIN)
    if origin.signature is not None:
        check_signature(origin.signature, origin.manifest.encode(), name=name)
    if run.journal is None or run.journal.hash != manifest.final_hash:
        raise StoreError(name, "the journal differs from that of the bundle", _REMEDY)
    for member in manifest.files if whole else ():
        if not member.name.startswith(_HELD_BY_JOURNAL) and bundle_file(folder, member.name) != member:
            raise StoreError(name, f"{member.name} differs from that of the bundle", _REMEDY)


def _manifest(origin: Origin) -> Manifest:
    return read_manifest(origin.manifest.encode(), name=ORIGIN)


def _origin(origin: Origin, keys: Sequence[PublicKey], checked: bool | None) -> RunOrigin:
    manifest, signature = _manifest(origin), origin.signature
    level = level_of(signature, keys, passed=checked, redacted=manifest.redacted)
    return RunOrigin(
        level=level_text(level),
        fingerprint=level.fingerprint,
        signer=level.signer,
        checked=level.passed,
        checker=None if checked is None else tool_version(),
        redacted=manifest.redacted,
        original_hash=manifest.original_hash,
        exported_by=f"{manifest.tool} {manifest.tool_version}",
    )


def level_of(signature: Signature | None, keys: Sequence[PublicKey], *, passed: bool | None, redacted: bool) -> Level:
    """How far a bundle is vouched for. keys : that the user trusts. passed : whether its run keeps all rules."""
    return Level(
        signed=signature is not None,
        fingerprint=signature.fingerprint if signature else None,
        signer=signer_name(signature, keys) if signature else None,
        passed=passed,
        redacted=redacted,
    )


def _of_folder(run: StoredRun, host_id: str | None) -> RunOrigin | None:
    """The origin of a run that was not imported; None if it names this host, or is simulated and names none."""
    measured_on = run.platform.host_id
    if measured_on is not None and measured_on == host_id:
        return None
    if run.checked is False:
        return RunOrigin(level=BREAKS_RULES, checked=False, checker=tool_version())
    if measured_on is None and run.identity.kind == "simulated":
        return None
    if measured_on is None or host_id is None:
        return _unverified(f"the host that measured it is not known; {_NAME_HOST}")
    return _unverified("a run folder of another host, copied and not imported")


def _unverified(reason: str) -> RunOrigin:
    return RunOrigin(level=f"{UNVERIFIED}: {reason}")
