"""The queue keeps its jobs in order, on disk."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from agent_trial import DRIVE, PLAN
from assay.agent import server
from assay.agent.jobs import ENDED_MAX, QUEUE, USER_WAITING_MAX, WAITING_MAX, Job, Queue
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
