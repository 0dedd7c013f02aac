"""``assay plan``: what a run would write, take and need, and what it would be refused for; touches nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import HelpedCommand, json_option
from assay.cli.config import output_folder
from assay.cli.options import gate_options, make_plan, plan_options, refuse_writes_limit, run_folder_option
from assay.errors import error_facts

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    cls=HelpedCommand, examples=("plan sim:client-2011 --suite client", "plan /dev/nvme0n1 --test iops,lat --scale 0.1")
)
@plan_options
@gate_options
@run_folder_option
@json_option
def plan(as_json: bool, out: Path | None, **options: Any) -> None:
    """Show what a run of DRIVE or PLAN.toml would write, how long it takes and what it needs. Nothing is touched.

    Reasons to refuse the run follow, with the exit code that it would have.
    """
    from assay.dut.dut import Answers  # noqa: PLC0415
    from assay.run.foreseen import describe, foresee, plan_facts  # noqa: PLC0415

    limits = {name: options.pop(name) for name in ("acknowledged", "drive_writes_max", "all_namespaces")}
    answers = Answers(signatures=frozenset(options.pop("signatures")), **limits)
    plan = make_plan(**options)
    refuse_writes_limit(plan, answers.drive_writes_max)
    foreseen = foresee(plan, out=out, answers=answers, below=output_folder())
    refusal = foreseen.refusal
    if as_json:
        refused = refusal and error_facts(refusal)
        click.echo(json.dumps({**plan_facts(foreseen), "refused": refused}, indent=2))
    else:
        click.echo(describe(foreseen))
    if refusal:
        raise refusal
