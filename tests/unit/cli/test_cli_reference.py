"""Help, manual pages and the reference page: made from the commands, and complete."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import click
import pytest
from assay.cli import _COMMANDS, assay
from assay.cli.commands import CommandFacts, all_commands, exit_codes
from assay.cli.man import pages
from assay.cli.options import plan_options
from assay.dut.simulated.model import known_parameters
from assay.errors import AssayError
from assay.run.plan_file import Plan
from click.testing import CliRunner
from reference_page import page

GUIDE = Path(__file__).parents[3] / "docs/guide/simulated-drives.md"
CONTEXT = click.Context(assay)
OPTIONS = [
    pytest.param(option, click.Context(command, info_name=name), id=f"{name} {option.opts[0]}")
    for name in _COMMANDS
    if (command := assay.get_command(CONTEXT, name))
    for option in command.params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize("facts", all_commands(assay), ids=lambda facts: facts.name)
def test_examples_of_a_command_parse(facts: CommandFacts) -> None:
    assert len(facts.examples) == (1 if facts.name == "alerts" else 2)
    for example in facts.examples:
        name, *words = shlex.split(example.partition(" > ")[0])[1:]
        command = assay.get_command(CONTEXT, name)
        assert command
        assert name == facts.name
        command.make_context(name, words, parent=CONTEXT)


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_fits_a_terminal_and_groups_its_options(name: str) -> None:
    shown = CliRunner().invoke(assay, [name, "--help"], env={"COLUMNS": "200"}).output
    assert max(map(len, shown.splitlines())) <= 100
    assert shown.rstrip().splitlines()[-1].startswith(f"  assay {name} ")
    if name == "run":
        assert shown.index("\nTests:") < shown.index("\nWhat may be destroyed:") < shown.index("\nOptions:")


@pytest.mark.parametrize(("option", "context"), OPTIONS)
def test_help_of_an_option_has_its_default(option: click.Option, context: click.Context) -> None:
    record = option.get_help_record(context)
    assert record is not None
    assert option.help
    assert option.is_flag or option.required or re.search(r"Default: |\[default: |\[required\]", record[1]), record


def test_defaults_in_the_help_of_a_plan_are_those_of_plans() -> None:
    command = click.command()(plan_options(lambda: None))
    context = click.Context(command, info_name="plan")
    for option in command.params:
        field = Plan.model_fields.get(option.name or "")
        if isinstance(option, click.Option) and field is not None and not option.is_flag and not option.multiple:
            record = option.get_help_record(context)
            said = re.search(r"Default: ([\w.-]+)", record[1] if record else "")
            assert said is not None
            if isinstance(field.default, (str, int, float)):
                assert (
                    said[1].rstrip(".") == f"{field.default:g}".rstrip(".")
                    if not isinstance(field.default, str)
                    else field.default
                ), option.name


def errors(base: type[AssayError] = AssayError) -> list[type[AssayError]]:
    return [base, *(found for one in base.__subclasses__() for found in errors(one))]


def test_every_exit_code_is_explained() -> None:
    known = {code: slugs for code, _, slugs in exit_codes()}
    assert {one.exit_code for one in errors()} <= set(known)
    assert {slug for slugs in known.values() for slug in slugs} >= {one.slug for one in errors()[1:]}


def test_there_is_a_manual_page_for_every_command_and_it_names_every_option() -> None:
    made = pages()
    assert set(made) == {"assay.1", *(f"assay-{name}.1" for name in _COMMANDS)}
    for one in all_commands(assay):
        text = made[f"assay-{one.name}.1"].replace("\\-", "-")
        assert [part for part in one.options if part.names not in text or part.help not in text] == []
        sections = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
        assert sections[:5] == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"]
        assert sections[5:] == ["EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO"]


def test_manual_pages_are_the_same_each_time_and_written_where_asked(tmp_path: Path) -> None:
    done = CliRunner().invoke(assay, ["man", str(tmp_path / "man1")])
    assert done.exit_code == 0
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "man1").iterdir()} == pages()


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_manual_pages_are_set_without_a_warning(tmp_path: Path) -> None:
    groff = shutil.which("groff") or ""
    for name, text in pages().items():
        (tmp_path / name).write_text(text, "utf-8")
    command = [groff, "-man", "-ww", "-z", "-k", "-Tutf8", *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_reference_page_names_every_command_option_code_and_key() -> None:
    text = page()
    for one in all_commands(assay):
        assert f"### assay {one.name}" in text
        assert all(f"| `{part.names.replace('|', chr(92) + '|')}` |" in text for part in one.options)
    assert all(f"| {code} | {meaning} |" in text for code, meaning, _ in exit_codes())
    assert {"`scale`", "`wsat.time_hours`", "`report.operator`", "`ASSAY_OPERATOR`"} <= set(
        re.findall(r"`[^`]+`", text)
    )


@pytest.mark.parametrize("kind", ["flash", "disk"])
def test_the_guide_lists_what_a_drive_model_must_state(kind: Literal["flash", "disk"]) -> None:
    (listed,) = re.findall(rf"^- {kind}: ((?:.*\n)(?:  .*\n)*)", GUIDE.read_text("utf-8"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", listed) == [one.name for one in known_parameters(kind) if one.default is None]
