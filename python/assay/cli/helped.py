"""Help of a command: options by subject, and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., Any]")

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
