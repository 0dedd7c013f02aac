"""What steps were asked is kept once, comes back as it was, and is refused where nobody can have asked it."""

from dataclasses import replace
from typing import Any

import pytest
from assay.engine.records import Demand, StepSpec, StopRule
from assay.errors import StoreError
from assay.run.store.journal import AskedReader, AskedWriter, Entry
from report_run import asked_sequence

(SPEC,) = asked_sequence("round", 1).steps
DEEPER = replace(SPEC, demand=Demand(thread_count=2, queue_depth=16))


def entry(data: dict[str, Any]) -> Entry:
    return Entry(seq=1, wall_ns=0, kind="asked", data=data, place="journal.jsonl: line 1", digest="")


def test_equal_steps_and_ranges_are_written_once_and_come_back_as_they_were() -> None:
    writer, reader = AskedWriter(), AskedReader()
    first, data = writer.named([SPEC, SPEC, DEEPER, SPEC])
    assert data is not None
    assert (len(data["ranges"]), len(data["specs"])) == (1, 2)
    reader.take(entry(data))
    assert reader.specs(first, entry({})) == (SPEC, SPEC, DEEPER, SPEC)
    again, nothing = writer.named([DEEPER, SPEC])
    assert (again, nothing) == ([first[2], first[0]], None)
    longer = replace(SPEC, stop=StopRule(time_ns=1))
    _, more = writer.named([longer])
    assert more is not None
    assert (more["ranges"], len(more["specs"])) == ({}, 1)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (replace(SPEC, demand=Demand(thread_count=0, queue_depth=1)), "spec.demand: is no demand"),
        (replace(SPEC, pattern=replace(SPEC.pattern, sizes=())), "spec.pattern: has no sizes"),
        (
            replace(SPEC, active_range=replace(SPEC.active_range, segment_bytes=0)),
            "spec.active_range: covers nothing of the drive",
        ),
    ],
)
def test_what_no_step_can_have_been_asked_is_refused_by_its_place(spec: StepSpec, said: str) -> None:
    _, data = AskedWriter().named([spec])
    assert data is not None
    with pytest.raises(StoreError) as caught:
        AskedReader().take(entry(data))
    assert said in str(caught.value)


def test_a_name_that_is_not_the_digest_of_its_content_is_refused_and_one_that_no_line_has() -> None:
    names, data = AskedWriter().named([SPEC])
    assert data is not None
    data["specs"][names[0]]["label"] = "another"
    with pytest.raises(StoreError, match="is not the digest of what it names"):
        AskedReader().take(entry(data))
    with pytest.raises(StoreError, match="is in no line before"):
        AskedReader().specs(names, entry({}))
