"""The forms of what the API answers, beyond those that commands print; see docs/formats/openapi.json."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assay.run.store.progress_file import KeptProgress  # noqa: TC001 - read by pydantic
from assay.run.store.status import State  # noqa: TC001 - read by pydantic
from assay.summary.forms import Facts, ListedRun
from assay.web.trend import Grouping  # noqa: TC001 - read by pydantic


class AddressedRun(ListedRun):
    """A run of the index."""

    address: str = Field(description="Its identifier in addresses of this server.")


class StartedTest(Facts):
    """A test that began."""

    test: str = Field(description="Its name.")
    ended: str | None = Field(description="How it ended; null where it goes on.")


class RunStatus(Facts):
    """The progress of a run, as assay status --json prints it."""

    run: str = Field(description="The run folder.")
    state: State = Field(description="running, suspended, finished, ended-early or dead.")
    started_wall_ns: int = Field(description="Start in nanoseconds since the Unix epoch.")
    last_wall_ns: int = Field(description="Last sign of the run, likewise.")
    exit_code: int | None = Field(description="Of a run that ended.")
    message: str = Field(description="Why it ended early; empty where it did not.")
    limit_count: int = Field(description="Limits that its plan states.")
    tests: tuple[StartedTest, ...] = Field(description="The tests that began, in order.")
    progress: KeptProgress | None = Field(description="The last that was kept; see docs/formats/run-folder.md.")


class TrendDrive(Facts):
    """A drive model with runs."""

    drive: str = Field(description="Value of the parameter drive.")
    model: str = Field(description="As the drive reports it.")
    capacity_bytes: int = Field(description="User capacity.")
    run_count: int = Field(description="Runs in the index.")


class TrendMetric(Facts):
    """A number that runs of the model have."""

    metric: str = Field(description="Value of the parameter metric.")
    label: str = Field(description="The number in words.")
    unit: str = Field(description="IOPS, MB/s, ms, GB, or x for a ratio.")
    better: str = Field(description="higher, lower or neither.")


class TrendRun(Facts):
    """The number of a run."""

    address: str = Field(description="Identifier of the run in addresses of this server.")
    run: str = Field(description="Name of the run, else of its folder.")
    time_ns: int = Field(description="Start of the test in nanoseconds since the Unix epoch.")
    value: float = Field(description="Unrounded.")
    rounds: tuple[float, ...] = Field(description="The same of each round, oldest first.")
    interval_low: float | None = Field(description="95 % interval of the mean of the rounds; null below two rounds.")
    interval_high: float | None = Field(description="Likewise.")
    from_baseline: float | None = Field(description="Difference from the baseline as a share.")
    firmware: str = Field(description="Firmware of the drive; empty where it reports none.")
    host: str = Field(description="Identifier of the test system; empty where unknown.")
    tags: tuple[str, ...] = Field(description="Tags of the run.")
    bound: float | None = Field(description="The host's part, as in the results of a run.")
    mark: str | None = Field(description="Likewise.")


class TrendChange(Facts):
    """A change between two levels."""

    index: int = Field(description="Index of the first run of the new level, from 0.")
    size: float = Field(description="Difference from the level before, as a share.")
    low: float = Field(description="95 % interval.")
    high: float = Field(description="Likewise.")
    text: str = Field(description="The change in words.")
    outcome: str = Field(description="better or worse; empty where neither is.")


class TrendLevelFacts(Facts):
    """Runs without a change between them."""

    first: int = Field(description="Index of the first run, from 0.")
    last: int = Field(description="Index of the last run.")
    value: float = Field(description="Geometric mean.")


class TrendSeriesFacts(Facts):
    """Runs that are judged together."""

    group: str = Field(description="Host or tag; empty where all runs are a series.")
    not_judged: str = Field(description="Why changes are not judged; empty where they are.")
    runs: tuple[TrendRun, ...] = Field(description="In the order in which they are judged.")
    levels: tuple[TrendLevelFacts, ...] = Field(description="In order; none where changes are not judged.")
    changes: tuple[TrendChange, ...] = Field(description="In order.")


class TrendFacts(Facts):
    """A metric of a drive model over time, with what else can be chosen."""

    drive: str = Field(description="The chosen drive; empty where the index has none.")
    test: str = Field(description="The chosen test; empty where no run counts.")
    metric: str = Field(description="The chosen metric, likewise.")
    conditions: dict[str, Any] = Field(
        description="Settings and conditions that the runs share, by their names; empty where unknown."
    )
    by: Grouping = Field(description="time, firmware, host or tag.")
    baseline: str = Field(description="Address of the baseline run; empty without runs.")
    series: tuple[TrendSeriesFacts, ...] = Field(
        description="A single series for time and firmware, else a series per group."
    )
    drives: tuple[TrendDrive, ...] = Field(
        description="Drive models of the index; those with results that count first."
    )
    tests: tuple[str, ...] = Field(
        description="Tests of the drive model with results that count: name, edition and digest of the conditions."
    )
    metrics: tuple[TrendMetric, ...] = Field(description="Metrics of the chosen test.")
    notices: tuple[str, ...] = Field(description="Parameters that name nothing in the index.")


class ApiError(Facts):
    """An error, as commands print it with --json."""

    error: str = Field(description="Its slug.")
    thing: str = Field(description="What it is about.")
    reason: str = Field(description="Why it cannot be used.")
    remedy: str = Field(description="What to do.")
