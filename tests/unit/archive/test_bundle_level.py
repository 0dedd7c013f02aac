"""Who vouches for a result: keys, signatures, what is said of an imported run, and what replicates what."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.bundle import (
    Level,
    bundle_level,
    export_run,
    import_bundle,
    level_text,
    make_key,
    opened,
    own_public_key,
    read_public_key,
    replicated_by,
    replication,
    signer,
    trust_key,
    trusted_keys,
    with_origin,
)
from assay.archive.bundle.keys import PRIVATE_KEY, PUBLIC_KEY, PublicKey
from assay.engine.records import JournalEnd, RunOrigin
from assay.errors import AssayError, StoreError, UsageError, VerificationError
from assay.report.annex.trust import level_label
from assay.report.formats.terminal.listed import listed_run
from every_kind import run_of
from test_bundle_archive import compressed, members, unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.bundle import Bundle
    from assay.engine.records import StepRecord, StoredRun


def inspect(path: Path) -> Bundle:
    """A bundle that was checked whole."""
    with opened(path) as found:
        return found.bundle


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("level") / "lat"
    run_of("lat", folder)
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys") / "assay"
    make_key(folder, "Lab 2")
    return folder


@pytest.fixture(scope="module")
def signed(run: Path, keys: Path) -> Path:
    return export_run(run, run.with_name("signed.assay"), key=signer(keys)).path


@pytest.mark.parametrize(
    "name",
    [
        "Lab 2, replicated by 9 runs", "Verified", "self-checked", "an unknown key", "not signed", "redacted", "L: x",
        "\u041b\u0430b", "\u0391lab", "\uff2cab", "\u2160", "La\u200bb", " Lab", "x" * 61, "",
        "Lab\u1160", "Lab\u115f", "Lab\ufe0f", "Lab\u034f", "Lab\u2800", "Lab\U000e0100", "La\u0131b",
        "\u01c0ab", "Lab  2",
    ],
)  # fmt: skip
def test_a_key_is_not_called_like_a_level_or_another_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no part of a level"):
        make_key(tmp_path / "keys", name)


def test_a_name_may_be_of_another_language_and_a_fingerprint_has_128_bits(tmp_path: Path) -> None:
    for place, name in enumerate(("M\u00fcller GmbH", "\u6771\u4eac\u30e9\u30dc", "Lab-2 (ground floor)")):
        assert len(make_key(tmp_path / f"keys{place}", name).fingerprint) == 32


def test_a_private_key_is_for_its_user_alone(keys: Path, tmp_path: Path) -> None:
    path = keys / PRIVATE_KEY
    assert path.stat().st_mode & 0o777 == 0o600
    assert keys.stat().st_mode & 0o077 == 0
    with pytest.raises(UsageError, match="is there already"):
        make_key(keys, "Lab 3")
    copy = tmp_path / PRIVATE_KEY
    copy.write_bytes(path.read_bytes())
    for mode in (0o640, 0o604, 0o620):
        copy.chmod(mode)
        with pytest.raises(StoreError, match="is accessible to other users"):
            signer(tmp_path)
    copy.chmod(0o600)
    assert signer(tmp_path) is not None
    copy.write_bytes(b"no key")
    with pytest.raises(StoreError, match="not an Ed25519 private key"):
        signer(tmp_path)
    assert signer(tmp_path / "none") is None


def test_a_public_key_is_a_line_that_can_be_trusted_under_a_name(keys: Path, tmp_path: Path) -> None:
    public = read_public_key(keys / PUBLIC_KEY)
    assert public == own_public_key(keys)
    trust_key(tmp_path, public)
    trust_key(tmp_path, public)
    assert trusted_keys(tmp_path) == (public,)
    for other in (replace(public, name="another"), PublicKey(bytes(32), "Lab 2")):
        with pytest.raises(UsageError, match="trusted already"):
            trust_key(tmp_path, other)
    for name in ("", " x", "x\ny", "x\x1b[2J", "x" * 61):
        with pytest.raises(UsageError):
            trust_key(tmp_path, PublicKey(bytes(32), name))
    for text in ("", "hello", "assay-ed25519 AAAA x", public.line * 2, public.line.replace(" Lab 2", "")):
        (tmp_path / "bad").write_text(text, "utf-8")
        with pytest.raises(StoreError):
            read_public_key(tmp_path / "bad")


def test_a_signature_holds_for_its_manifest_alone(signed: Path, keys: Path, run: Path, tmp_path: Path) -> None:
    bundle = inspect(signed)
    level = bundle_level(bundle, trusted_keys(keys), passed=True)
    assert level_text(level) == "signed by Lab 2"
    assert level_text(bundle_level(bundle, (), passed=None)).startswith("not checked here, signed by an unknown key ")
    again = export_run(run, tmp_path / "again.assay", key=signer(keys)).path
    assert again.read_bytes() == signed.read_bytes()
    tar = unpacked(signed)
    place = tar.index(b'"signature":"') + len(b'"signature":"')
    for digit in (b"A", b"/", b"!", b"="):
        bad = tar[:place] + (b"B" if tar[place : place + 1] == digit else digit) + tar[place + 1 :]
        (tmp_path / "bad.assay").write_bytes(compressed(bad))
        with pytest.raises((VerificationError, StoreError)):
            inspect(tmp_path / "bad.assay")


def test_a_changed_manifest_under_an_old_signature_is_refused(signed: Path, tmp_path: Path) -> None:
    tar = unpacked(signed).replace(b'"complete":true', b'"complete":null', 1)
    (tmp_path / "bad.assay").write_bytes(compressed(tar))
    with pytest.raises(AssayError):
        inspect(tmp_path / "bad.assay")
    tar = unpacked(signed).replace(b'"tool":"Assay"', b'"tool":"Essay"', 1)
    (tmp_path / "bad.assay").write_bytes(compressed(tar))
    with pytest.raises(VerificationError, match="its signature does not match its manifest"):
        inspect(tmp_path / "bad.assay")
    assert list(members(signed))[:2] == ["manifest.json", "signature.json"]


@pytest.mark.parametrize(
    ("signer_", "signed_", "passed", "redacted", "text"),
    [
        (None, False, None, False, "not checked here, unsigned"),
        (None, False, True, False, "verified bundle, unsigned"),
        (None, True, True, False, "verified bundle, signed by an unknown key 0123"),
        (None, True, None, False, "not checked here, signed by an unknown key 0123"),
        ("Lab 2", True, True, False, "signed by Lab 2"),
        ("Lab 2", True, None, False, "signed by Lab 2, not checked here"),
        ("Lab 2", True, False, False, "unverified: it breaks rules, signed by Lab 2"),
        ("Lab 2", True, True, True, "signed by Lab 2, redacted by its maker"),
    ],
)
def test_a_level_says_what_is_known(
    signer_: str | None, signed_: bool, passed: bool | None, redacted: bool, text: str
) -> None:
    level = Level(
        signed=signed_, fingerprint="0123" if signed_ else None, signer=signer_, passed=passed, redacted=redacted
    )
    assert level_text(level) == text


def imported(signed: Path, into: Path) -> tuple[StoredRun, Path]:
    found = import_bundle(signed, into)
    return found.run, found.folder


def level_of(run: StoredRun, folder: Path, keys: Path, **more: Any) -> str:
    shown = with_origin(run, folder, trusted_keys(keys), **{"checked": True, **more})
    said = {level_label(shown), listed_run(shown, "").level}
    assert len(said) == 1
    return said.pop()


def test_the_origin_is_held_against_run_and_signature_when_it_is_shown(
    signed: Path, keys: Path, tmp_path: Path
) -> None:
    run, folder = imported(signed, tmp_path)
    assert level_of(run, folder, keys) == "signed by Lab 2"
    assert level_of(run, folder, tmp_path / "other").startswith("verified bundle, signed by an unknown key")
    origin = json.loads((folder / "origin.json").read_bytes())
    changes = [
        {"manifest": origin["manifest"].replace('"tool":"Assay"', '"tool":"Essay"')},
        {"signature": {**origin["signature"], "key": "A" * 43 + "="}},
        {"signature": {**origin["signature"], "key": "A" * 41}},
        {"schema": 2},
        {"checkers": {"passed": True}},
        {"manifest": "{}"},
        {"manifest": 1},
    ]
    for change in changes:
        (folder / "origin.json").write_text(json.dumps({**origin, **change}), "utf-8")
        assert level_of(run, folder, keys).startswith("unverified: origin.json does not fit"), change
    (folder / "origin.json").write_bytes(b"\xff")
    assert level_of(run, folder, keys).startswith("unverified: ")
    (folder / "origin.json").unlink()
    (folder / "origin.json").symlink_to("/etc/passwd")
    assert level_of(run, folder, keys).startswith("unverified: ")
    # Another run under this origin.
    (folder / "origin.json").unlink()
    (folder / "origin.json").write_text(json.dumps(origin), "utf-8")
    assert run.journal
    other = replace(run, journal=replace(run.journal, hash="0" * 64))
    assert level_of(other, folder, keys).startswith("unverified: origin.json does not fit")


def test_files_that_the_journal_does_not_hold_are_held_by_the_manifest(run: Path, keys: Path, tmp_path: Path) -> None:
    date = run / "report_date.json"
    date.write_text('{"wall_ns":1795355342681748283}', "utf-8")
    try:
        path = export_run(run, tmp_path / "x.assay", key=signer(keys)).path
    finally:
        date.unlink()
    found, folder = imported(path, tmp_path / "runs")
    (folder / "report_date.json").write_text('{"wall_ns":1795355342681748284}', "utf-8")
    assert level_of(found, folder, keys).startswith("unverified: origin.json does not fit")
    assert level_of(found, folder, keys, whole=False) == "signed by Lab 2"


def test_an_origin_carries_no_verdict_and_that_of_an_older_one_counts_for_nothing(signed: Path, tmp_path: Path) -> None:
    run, folder = imported(signed, tmp_path)
    origin = json.loads((folder / "origin.json").read_bytes())
    assert origin.keys() == {"schema", "manifest", "signature"}
    for checker in ({"passed": True, "version": "0.1.0"}, {"passed": False, "version": "0.1.0"}, None, 1, "passed"):
        (folder / "origin.json").write_text(json.dumps({**origin, "checker": checker}), "utf-8")
        other = tmp_path / "other"
        assert level_of(run, folder, other, checked=None).startswith("not checked here, signed by an unknown key")
        assert level_of(run, folder, other, checked=True).startswith("verified bundle, signed by an unknown key")
        assert level_of(run, folder, other, checked=False).startswith("unverified: it breaks rules")


def test_a_run_of_this_host_is_self_checked_and_one_of_another_is_not(run: Path, keys: Path) -> None:
    with opened(export_run(run, run.with_name("o.assay")).path) as found:
        stored = replace(found.run, platform=replace(found.run.platform, host_id="a" * 16))
    nameless = replace(stored, platform=replace(stored.platform, host_id=None))
    unnamed = "unverified: the host that measured it is not known; name this host before the next run: "
    assert level_of(stored, run, keys, host_id="a" * 16) == "self-checked"
    assert level_of(stored, run, keys, host_id="a" * 16, checked=None) == "not checked here"
    assert level_of(stored, run, keys, host_id="b" * 16).startswith("unverified: a run folder of another host")
    for host_id in ("a" * 16, None):
        assert level_of(nameless, run, keys, host_id=host_id) == "self-checked", "it is simulated"
        real = replace(nameless, identity=replace(nameless.identity, kind="block"))
        assert level_of(real, run, keys, host_id=host_id).startswith(unnamed)
        assert level_of(stored, run, keys, host_id=host_id, checked=False) == "unverified: it breaks rules"
    assert level_of(stored, run, keys).startswith(unnamed)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """A run as if of a real drive on a host of its own."""
    found = run_of("wsat", tmp_path_factory.mktemp("real") / "wsat")
    identity = replace(found.identity, kind="block", model_number="NV9000", serial="A1", wwn=None)
    return replace(
        found,
        identity=identity,
        platform=replace(found.platform, host_id="a" * 16),
        journal=JournalEnd(line_count=1, complete=True, hash="0" * 64),
    )


SIGNED = RunOrigin(level="signed by Lab 2", signer="Lab 2", checked=True)


def copied(run: StoredRun, **changes: Any) -> StoredRun:
    """A run that names another drive and host, signed by somebody whom the user trusts."""
    identity = replace(run.identity, serial="B2", **changes)
    return replace(run, identity=identity, platform=replace(run.platform, host_id="b" * 16), origin=SIGNED)


def elsewhere(run: StoredRun, **changes: Any) -> StoredRun:
    """The same as a run of its own: later, from another seed, with other response times."""
    own = {"run_id": "another", "started_wall_ns": run.started_wall_ns + 1, "seed": 2, "digests": frozenset("b")}
    return replace(copied(run, **changes), **own)


def quicker(step: StepRecord, share: float) -> StepRecord:
    """A step in a shorter window, in which as many I/Os were outstanding."""
    span_ns = round(step.span_ns / (1 + share))
    spent_ns = sum(side.latency_ns_sum + side.failed_ns for side in step.sides)
    held_ns = step.outstanding_ns * span_ns // step.span_ns
    short = replace(step, span_ns=span_ns, outstanding_ns=held_ns)
    return replace(short, carried_out_ns=spent_ns + step.carried_in_ns - held_ns)


def faster(run: StoredRun, share: float) -> StoredRun:
    """The same run in windows that were shorter, so that every rate is higher by a share."""
    tests = []
    for test in run.tests:
        sequences = [
            replace(one, histograms=None, series=None, steps=tuple(quicker(step, share) for step in one.steps))
            for one in test.sequences
        ]
        tests.append(replace(test, sequences=tuple(sequences)))
    return replace(run, tests=tuple(tests))


def test_a_run_is_replicated_by_another_drive_on_another_host(real: StoredRun) -> None:
    other = elsewhere(real)
    assert replication(real, other).replicated
    assert replication(real, other).difference_max == 0
    assert replicated_by([real, other, real]) == [[1], [0, 2], [1]]
    assert level_label(replace(real, checked=True), 1) == "self-checked, replicated by 1 run"
    assert level_label(real, 1) == "not checked here, replicated by 1 run"


def test_what_is_not_another_sample_replicates_nothing(real: StoredRun) -> None:
    redacted = replace(elsewhere(real), description={"redacted": "by its maker"})
    cases = {
        "the same host": replace(elsewhere(real), platform=real.platform),
        "the same drive": replace(elsewhere(real), identity=real.identity),
        "different models": elsewhere(real, model_number="NV9001"),
        "simulated drive has no second": elsewhere(real, kind="simulated"),
        "redacted run": redacted,
        "not known": replace(elsewhere(real), platform=replace(real.platform, host_id=None)),
        "label differ": replace(elsewhere(real), deviations=("another",)),
        "did not end": replace(elsewhere(real), journal=JournalEnd(line_count=1, complete=False, hash="0" * 64)),
        "tests or their demands": replace(elsewhere(real), tests=(*real.tests, *real.tests)),
    }
    for reason, other in cases.items():
        for pair in ((real, other), (other, real)):
            found = replication(*pair)
            assert not found.replicated, reason
            assert reason in found.reason
        assert replicated_by([real, other]) == [[], []]


def test_a_copy_under_another_serial_and_host_replicates_nothing(real: StoredRun) -> None:
    assert real.digests
    assert replication(real, elsewhere(real)).replicated
    cases = {
        "the same run ID": replace(elsewhere(real), run_id=real.run_id),
        "at the same instant": replace(elsewhere(real), started_wall_ns=real.started_wall_ns),
        "from the same seed": replace(elsewhere(real), seed=real.seed),
        "the same response times": replace(elsewhere(real), digests=real.digests),
    }
    for reason, other in cases.items():
        assert reason in replication(real, other).reason
        assert replicated_by([real, other]) == [[], []]
    assert not replication(real, copied(real)).replicated


def test_only_a_run_of_this_host_replicates_without_a_trusted_signature(real: StoredRun) -> None:
    unknown = replace(SIGNED, signer=None, fingerprint="0" * 16)
    both = replace(real, origin=SIGNED)
    for signed in (real, both):
        assert replication(signed, elsewhere(real)).replicated
        assert "not signed" in replication(signed, replace(elsewhere(real), origin=unknown)).reason
    assert "not signed" in replication(real, replace(elsewhere(real), origin=None)).reason


def test_every_number_must_be_within_five_per_cent() -> None:
    from assay.archive.bundle.replication import _judged  # noqa: PLC0415

    assert _judged({"a": 100_000.0, "b": 1.0}, {"a": 104_900.0, "b": 1.0}).replicated
    found = _judged({"a": 100_000.0, "b": 1.0}, {"a": 105_100.0, "b": 1.0})
    assert (found.replicated, found.reason) == (False, "a differs by 5.10 %")
    assert _judged({"a": 1.0499}, {"a": 1.0}).replicated
    assert not _judged({"a": None}, {"a": 1.0}).replicated
    assert not _judged({"a": 0.0}, {"a": 1.0}).replicated
    assert _judged({"a": 0.0}, {"a": 0.0}).replicated
