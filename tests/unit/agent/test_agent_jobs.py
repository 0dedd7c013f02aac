"""The queue keeps its jobs in order, on disk."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from agent_trial import DRIVE, PLAN
from assay.agent import server
from assay.agent.jobs import AFTER_RUN, ENDED_MAX, QUEUE, USER_WAITING_MAX, WAITING_MAX, Job, Queue
from assay.agent.messages import ANSWER_BYTES_MAX, CheckRequest, JobFacts, QueueAnswer
from assay.errors import StoreError, UsageError


def job(number: int, **facts: Any) -> Job:
    known: dict[str, Any] = {
        "id": f"{number:012x}",
        "state": "waiting",
        "drive": DRIVE,
        "identity": DRIVE,
        "tests": ("iops",),
        "folder": "",
        "uid": 0,
        "claimed": "",
        "put_wall_ns": time.time_ns(),
    }
    request = CheckRequest(drive=DRIVE, plan=PLAN)
    return Job(
        facts=JobFacts(**{**known, **facts}), request=request, digest="0" * 64, node=DRIVE, checked={"plan": "0"}
    )


def order(queue: Queue) -> list[int]:
    return [int(known.id, 16) for known in queue.all()]


def filled(folder: Path, count: int) -> Queue:
    queue = Queue(folder)
    for number in range(count):
        queue.add(job(number, uid=number % 2))
    return queue


def test_jobs_move_hold_and_survive(tmp_path: Path) -> None:
    queue = filled(tmp_path, 4)
    queue.move(job(3).id, 0)
    queue.take(job(1).id, state="held")
    assert order(queue) == order(Queue(tmp_path)) == [3, 0, 1, 2]
    assert Queue(tmp_path).find(job(1).id).facts.state == "held"


def test_what_ended_goes_behind_what_waits(tmp_path: Path) -> None:
    queue = filled(tmp_path, 3)
    queue.take(job(0).id, state="running")
    queue.replace(job(0, state="ended"))
    queue.add(job(9))
    assert order(queue) == [1, 2, 9, 0]


def test_what_began_is_not_moved(tmp_path: Path) -> None:
    queue = filled(tmp_path, 2)
    queue.take(job(0).id, state="running")
    with pytest.raises(UsageError, match="is running; only a job that has not begun"):
        queue.move(job(0).id, 1)
    with pytest.raises(UsageError, match="is not in the queue"):
        queue.move(job(7).id, 1)


def test_a_held_job_is_not_taken_as_waiting(tmp_path: Path) -> None:
    queue = filled(tmp_path, 1)
    queue.take(job(0).id, state="held")
    with pytest.raises(UsageError, match="is held"):
        queue.take(job(0).id, was=("waiting",), state="running")


def test_the_queue_is_limited(tmp_path: Path) -> None:
    queue = filled(tmp_path, WAITING_MAX)
    with pytest.raises(UsageError, match=f"holds {WAITING_MAX} jobs"):
        queue.add(job(WAITING_MAX, uid=2))
    for number in range(WAITING_MAX):
        queue.replace(job(number, state="ended"))
    assert len(queue.all()) == ENDED_MAX


def test_a_user_leaves_places_for_others(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for number in range(USER_WAITING_MAX):
        queue.add(job(number))
    with pytest.raises(UsageError, match=f"holds {USER_WAITING_MAX} jobs"):
        queue.add(job(USER_WAITING_MAX))
    queue.add(job(USER_WAITING_MAX, uid=1))


def test_a_full_queue_fits_into_an_answer() -> None:
    texts = {"drive": "\u20ac" * 512, "identity": "\u20ac" * 512, "message": "\u20ac" * 2000, "claimed": "\u20ac" * 200}
    jobs = tuple(job(0, folder="/" + "r" * 4200, **texts).facts for _ in range(WAITING_MAX + ENDED_MAX + 1))
    line = server._line({"answer": QueueAnswer(jobs=jobs).model_dump(mode="json")})
    assert len(line) <= ANSWER_BYTES_MAX
    assert json.loads(line)["answer"]["jobs"][-1]["drive"] == texts["drive"]
    assert json.loads(server._line({"answer": "x" * (ANSWER_BYTES_MAX + 1)}))["error"]["reason"] == "is too long"


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"jobs": [{}]}', b'{"schema_version": 2}'])
def test_a_damaged_queue_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / QUEUE).write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"):
        Queue(tmp_path)


def test_a_queue_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    queue = filled(tmp_path, 1)
    (tmp_path / QUEUE).unlink()
    (tmp_path / QUEUE).mkdir()
    with pytest.raises(StoreError, match=QUEUE):
        queue.add(job(1))
    assert order(queue) == [0]


NODE = "/dev/sdz"
SEEN, OTHER, LEFT = ({"contents": text, "writes": text} for text in ("seen", "other", "left"))


def real(number: int, **checked: str) -> Job:
    """A job of a real drive."""
    plain = job(number, drive=NODE, identity="S1")
    request = plain.request.model_copy(update={"drive": NODE})
    return plain.model_copy(update={"request": request, "node": NODE, "checked": {"plan": "0", **checked}})


def test_the_jobs_of_real_drives_are_held_once_they_are_old_and_by_every_new_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("assay.agent.jobs._now_s", lambda: now[0])
    queue = Queue(tmp_path)
    queue.add(real(1))
    queue.add(job(2))
    for hours, state in ((24, "waiting"), (0.1, "held")):
        now[0] += hours * 3600
        queue.hold_unconfirmed(24)
        assert [known.facts.state for known in queue.all()] == [state, "waiting"]
    assert queue.find(real(1).id).facts.message == "was confirmed more than 24 h ago: confirm again to release it"
    queue.release(real(1).id)
    assert (queue.find(real(1).id).facts.state, queue.find(real(1).id).facts.message) == ("waiting", "")
    # A release of a job that waits renews its confirmation.
    now[0] += 23 * 3600
    queue.release(real(1).id)
    now[0] += 23 * 3600
    queue.hold_unconfirmed(24)
    assert queue.find(real(1).id).facts.state == "waiting"
    anew = Queue(tmp_path)
    anew.hold_unconfirmed(24)
    assert [known.facts.state for known in anew.all()] == ["held", "waiting"]


def test_jobs_rest_on_what_a_run_leaves_only_where_they_saw_what_it_saw(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    for number, checked in enumerate((SEEN, OTHER, {}, SEEN, dict.fromkeys(SEEN, AFTER_RUN))):
        queue.add(real(number, **checked))
    queue.add(real(9, **SEEN).model_copy(update={"node": "/dev/sdy"}))
    first = queue.take(real(0).id, state="running")
    queue.follow(first)
    queue.take(first.id, was=("running",), state="ended")
    queue.see(NODE, LEFT)
    checked = {int(known.id, 16): known.checked.get("contents") for known in Queue(tmp_path).all()}
    assert checked == {0: "seen", 1: "other", 2: None, 3: "left", 4: "left", 9: "seen"}
    # A run that writes nothing leaves what was there: nobody follows it.
    queue.follow(real(7))
    queue.see(NODE, OTHER)
    assert queue.find(real(3).id).checked["contents"] == "left"


def test_an_end_holds_though_no_disk_takes_it(tmp_path: Path) -> None:
    queue = filled(tmp_path, 2)
    (tmp_path / QUEUE).unlink()
    (tmp_path / QUEUE).mkdir()
    queue.take(job(0).id, state="ended")
    assert order(queue) == [1, 0]
    with pytest.raises(StoreError, match=QUEUE):
        queue.keep()
    (tmp_path / QUEUE).rmdir()
    queue.keep()
    assert order(Queue(tmp_path)) == [1, 0]
