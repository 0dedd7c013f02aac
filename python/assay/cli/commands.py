"""The class of the commands, whose help lists options by subject and ends with examples; and all commands as data."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay import errors

if TYPE_CHECKING:
    from collections.abc import Callable


Command = TypeVar("Command", bound="Callable[..., Any]")

run_argument = click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
same_as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the same as JSON; its form is in docs/formats/output.md."
)

_OTHERS = "Options"
_SUBJECTS: dict[click.Parameter, str] = {}


class HelpedCommand(click.Command):
    """A command whose help ends with examples. examples : command lines without ``assay``, two or more."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), **facts: Any) -> None:
        super().__init__(*arguments, **facts)
        self.examples = tuple(f"assay {example}" for example in examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options below their subjects, in the order of the command; those without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                sections.setdefault(_SUBJECTS.get(parameter, _OTHERS), []).append(record)
        others = sections.pop(_OTHERS)
        for subject, records in (sections | {_OTHERS: others}).items():
            with formatter.section(subject):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples."""
        del ctx
        with formatter.section("Examples"):
            formatter.write("".join(f"  {example}\n" for example in self.examples))


def with_options(*options: Callable[[Any], Any], subject: str = _OTHERS) -> Callable[[Command], Command]:
    """Add options in their order; the help lists them below ``subject``."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
            # Where click.option keeps them until the command is made.
            _SUBJECTS[command.__click_params__[-1]] = subject  # type: ignore[attr-defined]
        return command

    return add


NAME = "assay"


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """An option. names : as typed, with what it takes. help : with its default."""

    names: str
    help: str


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """A command. usage : what follows its name. paragraphs : of its help, the summary first; lists keep their lines."""

    name: str
    usage: str
    paragraphs: tuple[str, ...]
    options: tuple[OptionFacts, ...]
    examples: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The first sentence, without its stop. Worked: ``List the drives.`` -> ``List the drives``."""
        return self.paragraphs[0].partition(". ")[0].removesuffix(".")


def all_commands(group: click.Group) -> tuple[CommandFacts, ...]:
    """The commands of the tool in the order of their use."""
    context = click.Context(group, info_name=NAME, **group.context_settings)
    commands = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    return tuple(_facts(command, name, context) for name, command in commands if command is not None)


def group_facts(group: click.Group) -> CommandFacts:
    """The tool itself."""
    return _facts(group, NAME, None)


def exit_codes() -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Every exit code with its meaning and the slugs of the errors that end so, in rising order."""
    slugs: dict[int, list[str]] = {}
    for error_class in _error_classes():
        slugs.setdefault(error_class.exit_code, []).append(error_class.slug)
    return tuple((code, text, tuple(slugs.get(code, ()))) for code, text in _EXITS.items())


def _error_classes() -> list[type[errors.AssayError]]:
    """Every class of the tree in ``errors``, in its order."""
    named = [
        value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, errors.AssayError)
    ]
    return [error for error in named if error is not errors.AssayError]


_EXITS = {
    errors.EXIT_OK: "all is well",
    1: "standard output could not be written, or the system refused something unforeseen",
    2: "usage: a command, an option, a plan or another file is wrong",
    3: "refused: the drive is protected, busy, not confirmed or unfit, or the host has too little; nothing was written",
    4: "the drive failed, or was changed or used by others under the test",
    errors.EXIT_WITHHELD: "results are withheld, a run folder was tampered with, or a check of the host is invalid",
    6: "a run folder or file cannot be read or written",
    errors.EXIT_NOT_STEADY: "a required steady state was not reached",
    errors.EXIT_NOT_MET: "a limit or a baseline was not met, or it cannot be decided",
    70: "a defect of this program; the file that is named has the details",
    130: "interrupted; what was measured is kept",
}


def _facts(command: click.Command, name: str, parent: click.Context | None) -> CommandFacts:
    context = click.Context(command, parent=parent, info_name=name, **command.context_settings)
    usage = " ".join(part for part in command.collect_usage_pieces(context) if part)
    known = (param for param in command.get_params(context) if isinstance(param, click.Option))
    records = (option.get_help_record(context) for option in known)
    options = tuple(OptionFacts(*record) for record in records if record is not None)
    examples = command.examples if isinstance(command, HelpedCommand) else ()
    paragraphs = _paragraphs(command.help or "")
    return CommandFacts(name=name, usage=usage, paragraphs=paragraphs, options=options, examples=examples)


def _paragraphs(text: str) -> tuple[str, ...]:
    """The paragraphs of a help text. A list, which click marks by a backspace, keeps its lines."""
    paragraphs = []
    for part in inspect.cleandoc(text).split("\n\n"):
        marked = part.startswith("\b\n")
        paragraphs.append(part.removeprefix("\b\n") if marked else " ".join(part.split()))
    return tuple(paragraphs)
