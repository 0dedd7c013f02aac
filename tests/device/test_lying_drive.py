"""A file that lies about what it keeps is always found, and an honest one never accused.

ASSAY_LIE_TRIALS says how many sequences the soak runs on the honest file, ASSAY_LIE_SEEDS how many seeds of each lie.
"""

from __future__ import annotations

import math
import os
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import timed_file as timed
from assay.archive.verify import verify_run
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepSpec, StopRule
from assay.errors import WrongDataError
from assay.results.outcome import withheld_reason
from assay.run.store.read import read_run
from assay.words.text import text_or_none
from conftest import PATIENT, LoopDrive, stimulus_on
from scipy.stats import binom
from timed_file import Service, timed_file
from undisturbed import quiet_assay, undisturbed, verdict_code

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from assay._native import NativeReadBack
    from assay.engine.records import AccessPattern
    from assay.engine.stimulus import Stimulus

pytestmark = pytest.mark.xdist_group("lying-drive")

MIB = 1 << 20
SIZE_BYTES = 64 * MIB
HONEST_COUNT, SEEDS = 50, 2
LIES = ("drop", "wrap", "misdirect", "age", "flip")
SHARES = (1.0, 0.1, 0.01)
# Of 1,024 sampled blocks; in 1 MiB many writes are outstanding together.
KNOWN_MIN = 900
SECOND_NS = 10**9
KINDS = ("random", "compressible", "stamped")
THREADS = 4


@pytest.fixture(scope="module", autouse=True)
def _served() -> None:
    if (reason := timed.missing()) is not None:
        pytest.skip(f"SKIPPED: {reason}")


@contextmanager
def served(lie: str = "none", share: float = 0.0, seed: int = 1) -> Iterator[Stimulus]:
    """Four threads on a file that keeps data; it answers up to 16 I/Os at a time, in 20 us each."""
    service = Service(
        service_ns=20_000, servers=16, keep=1, lie=lie, lie_share=share, wrap_bytes=SIZE_BYTES // 4, seed=seed
    )
    with (
        timed_file(service, SIZE_BYTES) as file,
        stimulus_on(file.path, SIZE_BYTES, thread_count=THREADS) as stimulus,
    ):
        yield stimulus


def step(pattern: AccessPattern, demand: Demand, amount_bytes: int, range_bytes: int = SIZE_BYTES) -> StepSpec:
    return StepSpec(
        label="step",
        pattern=pattern,
        demand=demand,
        active_range=leading_range(range_bytes),
        stop=StopRule(amount_bytes=amount_bytes),
    )


def fill(data: DataPattern) -> StepSpec:
    return step(fill_pattern(128 << 10, data), Demand(thread_count=1, queue_depth=8), SIZE_BYTES)


def check(stimulus: Stimulus, count: int | None = None, turn: int = 0) -> NativeReadBack:
    result = stimulus.read_back(count, turn, 30 * SECOND_NS)
    assert result is not None
    assert result.failed is None
    return result


def drawn(draws: random.Random) -> StepSpec:
    """Overwrites of sizes, demands and ranges that are drawn; in the smallest many are outstanding together."""
    kind = draws.choice(KINDS)
    data = DataPattern(kind=kind, stored_share=0.5 if kind == "compressible" else 1.0)
    pattern = random_pattern(draws.choice((512, 4096, 16384)), draws.choice((0.0, 0.3)), data)
    demand = Demand(thread_count=draws.randint(1, THREADS), queue_depth=draws.choice((1, 4, 32)))
    return step(pattern, demand, 2 * MIB, draws.choice((MIB, 8 * MIB, SIZE_BYTES)))


def never_accused(sequence_count: int, seed: int, opened: Callable[[], AbstractContextManager[Stimulus]]) -> None:
    draws = random.Random(seed)  # noqa: S311 - repeatable
    compared = 0
    with opened() as stimulus:
        stimulus.run([fill(DataPattern())])
        assert check(stimulus).checked_count > KNOWN_MIN
        for number in range(sequence_count):
            stimulus.run([drawn(draws) for _ in range(draws.randint(1, 3))])
            result = check(stimulus)
            assert (result.wrong_count, result.wrong) == (0, []), f"seed {seed}, sequence {number}"
            compared += result.checked_count
    # It is worth something only where most blocks are compared.
    assert compared > KNOWN_MIN * sequence_count


def found(lie: str, share: float, seed: int) -> NativeReadBack:
    """What is found of a file that lies after a fill and overwrites of all of it."""
    with served(lie, share, seed) as stimulus:
        stimulus.run([fill(DataPattern())])
        demand = Demand(thread_count=2, queue_depth=16)
        stimulus.run([step(random_pattern(4096, 0.0, DataPattern()), demand, SIZE_BYTES)])
        return check(stimulus)


def test_an_honest_file_is_never_accused() -> None:
    never_accused(HONEST_COUNT, 1, served)


@pytest.mark.soak
def test_an_honest_file_is_never_accused_in_a_thousand_sequences() -> None:
    never_accused(int(os.environ.get("ASSAY_LIE_TRIALS", "1000")), 2, served)


@pytest.mark.soak
def test_an_honest_loop_device_is_never_accused_in_a_hundred_sequences(loop_drive: LoopDrive) -> None:
    node = loop_drive(SIZE_BYTES)
    never_accused(100, 3, lambda: stimulus_on(node, SIZE_BYTES, thread_count=THREADS))


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("share", SHARES)
def test_lies_about_a_hundredth_of_the_writes_or_more_are_always_found(lie: str, share: float) -> None:
    assert_found(lie, share, SEEDS)


@pytest.mark.soak
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("share", SHARES)
def test_lies_are_always_found_with_twenty_seeds(lie: str, share: float) -> None:
    assert_found(lie, share, int(os.environ.get("ASSAY_LIE_SEEDS", "20")))


def assert_found(lie: str, share: float, seeds: int) -> None:
    """A lie is found, of a quarter of the blocks that its share lets expect, unless so few may be missed by chance."""
    for seed in range(seeds):
        result = found(lie, share, seed)
        assert result.checked_count > KNOWN_MIN
        expected = result.checked_count * share
        # Of ten expected, two or fewer come once in 400 times, none once in 28,000.
        least = max(1, min(expected / 4, expected - 5 * math.sqrt(expected)))
        assert result.wrong_count >= least, f"{lie} {share} seed {seed}"


@pytest.mark.parametrize(
    ("lie", "expected"),
    [("drop", {"zeros"}), ("age", {"stale"}), ("flip", {"other"}), ("wrap", {"another"}), ("misdirect", {"stale"})],
)
def test_a_lie_is_named_by_what_was_read(lie: str, expected: set[str]) -> None:
    with served(lie, 0.1) as stimulus:
        for _ in range(4):
            stimulus.run([fill(DataPattern())])
        kinds = {kind for _, kind in check(stimulus).wrong}
    # Four fills of which a tenth is lied about: twice in a row is rare, and then what is read is older still.
    assert expected <= kinds
    assert len(kinds - expected) <= 1


def run_on(out: Path, lie: str, share: float) -> subprocess.CompletedProcess[str]:
    """A short latency test on the file."""
    service = Service(
        service_ns=20_000, servers=4, keep=1, lie=lie, lie_share=share, wrap_bytes=SIZE_BYTES // 4, seed=5
    )
    with timed_file(service, SIZE_BYTES) as file:
        consent = ("--file-target", "--yes-destroy", file.path, "--acknowledge", "unknown-backing")
        options = ("--test", "lat", "--scale", "0.001", "--no-report", *PATIENT)
        return quiet_assay("run", file.path, *consent, *options, "--out", str(out))


def test_a_run_on_an_honest_file_is_read_back_after_its_preparation_and_at_its_end(tmp_path: Path) -> None:
    done, out = undisturbed(lambda out: run_on(out, "none", 0.0), tmp_path)
    (test,) = read_run(out).tests
    assert [record.after for record in test.read_backs] == ["preconditioning", ""], done.stderr
    between, end = test.read_backs
    # A host that is busy for the whole time limit reads fewer.
    assert between.checked_count in range(65)
    assert (between.wrong_count, end.wrong_count) == (0, 0)
    assert end.checked_count == end.known_count > 1_000
    assert done.returncode == verdict_code(out), done.stderr
    assert verify_run(out).answers == ()


@pytest.mark.parametrize(("lie", "share"), [("drop", 1.0), ("wrap", 1.0), ("misdirect", 0.1), ("flip", 0.05)])
def test_a_run_on_a_file_that_lies_ends_with_its_results_withheld(lie: str, share: float, tmp_path: Path) -> None:
    done = run_on(tmp_path / "run", lie, share)
    assert done.returncode == WrongDataError.exit_code == 4, done.stderr
    assert "LBA" in done.stderr
    assert "returned" in done.stderr
    (test,) = read_run(tmp_path / "run").tests
    assert test.ended == WrongDataError.slug
    reason = text_or_none(withheld_reason(test))
    assert reason is not None
    assert not test.rounds
    # Where the purge already showed it, nothing was read back.
    assert "LBA" in reason or not test.read_backs
    assert verify_run(tmp_path / "run").answers == ()


@pytest.mark.soak
@pytest.mark.parametrize("share", [1e-3, 1e-5])
def test_rarer_lies_are_found_as_often_as_the_sampled_blocks_let_expect(share: float) -> None:
    """Each sampled block is lied about with the share, where different writes wrote them: docs/guide/trust.md."""
    seeds = int(os.environ.get("ASSAY_LIE_SEEDS", "20"))
    results = [found("drop", share, seed) for seed in range(seeds)]
    blocks = [result.checked_count for result in results]
    times = sum(result.wrong_count > 0 for result in results)
    # Overwritten by a random write are at least half of the blocks, at most all.
    rarest, oftenest = (1 - (1 - share) ** count for count in (min(blocks) / 2, max(blocks)))
    least, most = binom.ppf(0.005, seeds, rarest), binom.ppf(0.995, seeds, oftenest)
    assert least <= times <= most, f"{times} of {seeds}, {least} to {most} expected"
