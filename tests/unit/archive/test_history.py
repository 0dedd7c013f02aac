"""A number of a drive model over time, from the index: which runs count, and that copies count once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.folders import run_address, site
from assay.archive.index.history import NEWEST, DriveModel, HistoryPoint, drive_models, excluded, history, metrics_of
from assay.archive.index.location import Place, named_place
from assay.archive.index.read import reading
from assay.archive.index.write import mark_missing, writing
from trend_runs import BEGIN_NS, DAY_NS, Given, several, store

if TYPE_CHECKING:
    from pathlib import Path

    from assay.summary.forms import Verdict

pytestmark = pytest.mark.xdist_group("postgresql")


@pytest.fixture
def file_place(tmp_path: Path) -> Place:
    return named_place(str(tmp_path / "index.sqlite"))


def points(place: Place, **more: Any) -> list[HistoryPoint]:
    """The points of the first metric of the model of the newest run."""
    with reading(place) as reader:
        assert reader
        model = drive_models(reader)[0]
        metrics = metrics_of(reader, model)
        return history(reader, model, metrics[0], **more) if metrics else []


def test_models_are_listed_by_their_newest_run(place: Place) -> None:
    store(place, [*several([1, 2]), Given(folder="n", day=9, value=3, model="New"), Given(folder="o", day=0, value=1,
                                                                                         model="Old")])  # fmt: skip
    with reading(place) as reader:
        assert reader
        models = drive_models(reader)
    assert [model.model for model in models] == ["New", "Model M", "Old"]
    assert models[1] == DriveModel(
        model="Model M", capacity_bytes=10**12, run_count=2, newest_ns=BEGIN_NS + DAY_NS, counts=True
    )


def test_runs_under_other_conditions_are_another_history(place: Place) -> None:
    shallow, deep = {"demand.queue_depth": 16, "scale": 1.0}, {"demand.queue_depth": 32, "scale": 1.0}
    store(place, [Given(folder="old", day=0, value=1.0)])
    store(place, [Given(folder=f"a{at}", day=1 + at, value=2.0, conditions=shallow) for at in range(3)])
    store(place, [Given(folder=f"b{at}", day=9 + at, value=3.0, conditions=deep) for at in range(2)])
    with reading(place) as reader:
        assert reader
        model = drive_models(reader)[0]
        metrics = [metric for metric in metrics_of(reader, model) if metric.label == "RND 4KiB 100/0"]
        runs = [[point.name for point in history(reader, model, metric)] for metric in metrics]
    # The newest first.
    assert [metric.held for metric in metrics] == [deep, shallow, {}]
    assert runs == [["b0", "b1"], ["a0", "a1", "a2"], ["old"]]
    assert [len(metric.conditions_key) for metric in metrics] == [12, 12, 0]


def test_a_model_without_results_that_count_is_last(file_place: Place) -> None:
    store(file_place, [*several([1.0]), Given(folder="n", day=9, value=3.0, model="New", verdict="cut-short")])
    with reading(file_place) as reader:
        assert reader
        assert [(model.model, model.counts) for model in drive_models(reader)] == [("Model M", True), ("New", False)]


def test_metrics_follow_from_the_rows(place: Place) -> None:
    store(place, several([100, 200]))
    with reading(place) as reader:
        assert reader
        metrics = metrics_of(reader, drive_models(reader)[0])
    assert [(metric.test, metric.edition, metric.name, metric.unit) for metric in metrics] == [
        ("iops", "1.1", "iops:block_kib=4,read_pct=100", "IOPS"),
        ("iops", "1.1", "iops:block_kib=4,read_pct=0", "IOPS"),
        ("iops", "1.1", "latency_ms_p99.9:block_kib=4,read_pct=0", "ms"),
    ]
    assert [metric.text for metric in metrics][1:] == [
        "RND 4KiB 0/100, IOPS",
        "RND 4KiB 0/100, 99.9 % response time (ms)",
    ]
    assert [metric.better for metric in metrics] == ["higher", "higher", "lower"]


def test_numbers_that_only_old_runs_have_are_listed_on_request(file_place: Place) -> None:
    store(file_place, [Given(folder="old", day=-1, value=1.0), *several([None] * NEWEST)])
    with reading(file_place) as reader:
        assert reader
        model = drive_models(reader)[0]
        assert metrics_of(reader, model) == []
        assert len(metrics_of(reader, model, newest=None)) == 3


def test_points_are_ordered_by_time_with_what_groups_need(place: Place) -> None:
    store(place, [Given(folder="b", day=2, value=90.0, firmware=None, host=""), Given(folder="a", day=1, value=100.0,
                                                                     tags=("lab", "x"), name="night")])  # fmt: skip
    first, second = points(place)
    assert first == HistoryPoint(
        address=run_address(site(), "/runs", "a"), name="night", time_ns=BEGIN_NS + DAY_NS, value=100.0,
        rounds=(99.0, 100.0, 101.0), bound=None, mark=None, firmware="A", serial="S1", host="host-1", tags=("lab", "x"),
    )  # fmt: skip
    assert (second.name, second.firmware, second.host, second.tags) == ("b", "", "", ())


@pytest.mark.parametrize(
    "other",
    [
        {"withheld": "the host stalled", "verdict": "withheld"},
        {"verdict": "cut-short"},
        {"verdict": "not-steady"},
        {"value": None},
        {"fault": "cannot be read"},
        {"edition": "2.0.1"},
        {"test": "iops-2"},
        {"capacity_bytes": 2 * 10**12},
        {"model": "Model N"},
    ],
    ids=str,
)
def test_what_does_not_count_or_is_not_alike_is_left_out(file_place: Place, other: dict[str, Any]) -> None:
    store(file_place, [*several([100.0, 101.0], run_id=""), Given(**{"folder": "z", "day": -1, "value": 5.0, **other})])
    assert [point.value for point in points(file_place)] == [100.0, 101.0]


@pytest.mark.parametrize("verdict", ["steady", "not-settled", "not-judged", "no-rule"])
def test_what_needs_no_steady_state_counts(file_place: Place, verdict: Verdict) -> None:
    store(file_place, several([100.0], verdict=verdict))
    assert len(points(file_place)) == 1


def test_a_run_whose_folder_is_gone_is_left_out(place: Place) -> None:
    store(place, several([100.0, 101.0]))
    with writing(place) as connection:
        mark_missing(connection, site(), "/runs", ["r00"], 1)
    assert [point.value for point in points(place)] == [101.0]


def test_a_copy_counts_once_and_that_of_this_host_is_taken(place: Place) -> None:
    store(place, several([100.0]))
    store(place, several([100.0]), where="another", parent="/copies")
    store(place, several([100.0]), parent="/zz")
    assert [point.address for point in points(place)] == [run_address(site(), "/runs", "r00")]


def test_runs_that_are_to_be_left_out_are(file_place: Place) -> None:
    store(file_place, several([100.0, 101.0]))
    without = {run_address(site(), "/runs", "r01")}
    assert [point.value for point in points(file_place, without=without)] == [100.0]


def test_an_index_without_notes_excludes_nothing(place: Place) -> None:
    store(place, several([100.0]))
    with reading(place) as reader:
        assert reader
        assert excluded(reader) == frozenset()


def test_hostile_names_are_only_values(place: Place) -> None:
    model = "M' OR 1=1 --%s"
    store(place, several([100.0], model=model, firmware="%(x)s", tags=("'; DROP TABLE assay_runs",)))
    (point,) = points(place)
    assert (point.firmware, point.tags) == ("%(x)s", ("'; DROP TABLE assay_runs",))


def test_hidden_and_bad_runs_are_excluded(place: Place) -> None:
    store(place, several([100.0]))
    rows = [("a", True, False), ("b", False, True), ("c", False, False), ("d", True, True)]
    with writing(place) as connection:
        connection.run("DROP TABLE IF EXISTS assay_notes")
        connection.run("CREATE TABLE assay_notes (address TEXT, hidden BOOLEAN, bad BOOLEAN)")
        connection.insert("assay_notes", [dict(zip(("address", "hidden", "bad"), row, strict=True)) for row in rows])
    with reading(place) as reader:
        assert reader
        assert excluded(reader) == {"a", "b", "d"}
