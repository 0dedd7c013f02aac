"""The table ``[workload]`` of a plan file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assay.errors import UsageError
from assay.plan.options import Options
from assay.spec.workload import Stage, Workload


class WorkloadOptions(Options, Workload):
    """A workload as the tester states it; without stages there is none."""

    stages: Annotated[tuple[Stage, ...], Field(max_length=10_000)] = ()

    def require_stages(self) -> None:
        """Raise UsageError where there are no stages."""
        if not self.stages:
            raise UsageError(
                "workload",
                "has no stages",
                "state [[workload.stages]] in a plan, or name a file with --icf or --fio",
            )
