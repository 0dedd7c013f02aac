"""What the blind survey of 2010 published of its pool, to stand beside a survey of today."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from assay.summary.pages.model import Table

_FILE = "survey-2010.toml"


def published_tables() -> tuple[Table, ...]:
    """The pool's IOPS of 4 KiB random accesses: fresh against steady writes, and steady reads and writes.

    Source: Calypso Blind Survey 2010. Worked: MLC-3 from 50,156 to 2,716 IOPS -> ``"0.054"``.
    """
    data = _data()
    note = f"Published in {data['source']}, not measured here. {data['note']}"
    fresh = tuple((one["drive"], _count(one["fresh"]), _count(one["steady"]), _share(one)) for one in data["fresh"])
    steady = tuple((one["drive"], _count(one["read"]), _count(one["write"])) for one in data["steady"])
    return (
        Table(
            caption="Pool of 2010: RND 4KiB W, fresh and steady",
            columns=("Drive", "Fresh IOPS", "Steady IOPS", "Steady over fresh"),
            rows=fresh,
            notes=(note,),
        ),
        Table(
            caption="Pool of 2010: RND 4KiB at steady state",
            columns=("Drive", "Read IOPS", "Write IOPS"),
            rows=steady,
            notes=(note,),
        ),
    )


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files("assay.spec").joinpath(_FILE).read_text("utf-8"))


def _count(iops: int) -> str:
    return f"{iops:,}"


def _share(one: dict[str, Any]) -> str:
    return f"{one['steady'] / one['fresh']:.3f}"
