"""``assay completion``: scripts for shells, and what an argument may be completed to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class

from assay.cli.commands import HelpedCommand
from assay.errors import StoreError
from assay.spec.files import user_folder, write_user_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from click.shell_completion import ShellComplete
Items = list[CompletionItem[str]]


SHELLS = ("bash", "zsh", "fish")

_BASH = """\
%(complete_func)s() {
    local line="${COMP_LINE:0:COMP_POINT}" words cword current head="" kind value file
    read -ra words <<< "$line"
    cword=$(( ${#words[@]} - 1 ))
    if [[ "$line" == *[[:space:]] ]]; then cword=${#words[@]}; fi
    current="${words[cword]}"
    # Bash splits words at a colon and an equals sign, except between quotes.
    if [[ "$current" != [\\"\\']* ]]; then head="${current%%"${current##*[:=]}"}"; fi
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case "$kind" in
            plain)
                COMPREPLY+=("${value#"$head"}")
                if [[ "$value" == *= ]]; then compopt -o nospace 2>/dev/null; fi ;;
            file | dir)
                compopt -o filenames 2>/dev/null
                while IFS= read -r file; do COMPREPLY+=("${file#"$head"}"); done \\
                    < <(compgen -A "${kind/dir/directory}" -- "$value") ;;
        esac
    done < <(COMP_WORDS="$line" COMP_CWORD="$cword" %(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -F %(complete_func)s %(prog_name)s
"""

_HOW = {
    "bash": (
        "assay completion bash --install",
        "Then open a new shell; it needs the package bash-completion.",
        'Without that package, put this line into ~/.bashrc: eval "$(assay completion bash)"',
    ),
    "zsh": (
        "assay completion zsh --install",
        "Then put these two lines into ~/.zshrc, and open a new shell:",
        "fpath+=({folder})",
        "autoload -Uz compinit && compinit",
    ),
    "fish": ("assay completion fish --install", "New shells know it."),
}
"""The command, and what else it takes."""


class _Bash(BashComplete):
    """Bash, whose words break at the colon that names of simulated drives have."""

    source_template = _BASH

    @staticmethod
    def _check_version() -> None:
        """Nothing is run to write a script: it may be for another host."""


@click.command(
    cls=HelpedCommand,
    examples=(
        "completion bash > ~/.local/share/bash-completion/completions/assay",
        "completion fish > ~/.config/fish/completions/assay.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--install", is_flag=True, help="Install the script for the shell, and print its path.")
def completion(shell: str, install: bool) -> None:
    """Print the script that lets SHELL complete assay's commands, options, drives, tests, studies, editions and files.

    Its first lines say how to install it; --install does so for the user.
    """
    use_own_shells()
    # The first line tells zsh what the file is for; to other shells it is a comment as well, or nothing.
    first, _, rest = _source(shell).partition("\n")
    how = "\n".join(f"# {line}" for line in ("How to install:", *_how(shell)))
    script = f"{first}\n{how}\n{rest}" if shell == "zsh" else f"{how}\n{first}\n{rest}"
    if not install:
        click.echo(script, nl=False)
        return
    path = _place(shell)
    try:
        folder = next(folder for folder in map(user_folder, ("data", "config")) if path.is_relative_to(folder))
        write_user_file(folder, str(path.relative_to(folder)), script.encode())
    except OSError as error:
        remedy = f"put the output of assay completion {shell} where your shell looks for it"
        raise StoreError(str(path), error.strerror or "cannot be written", remedy) from None
    click.echo(f"Written: {path}")
    for line in _how(shell)[1:]:
        click.echo(line)


def use_own_shells() -> None:
    """Have click use our script for bash in place of its own."""
    add_completion_class(_Bash)


def _source(shell: str) -> str:
    result = get_completion_class(shell)
    assert result is not None, "the choice knows these shells only"  # noqa: S101
    made: ShellComplete = result(click.Command("assay"), {}, "assay", "_ASSAY_COMPLETE")
    return made.source()


def _how(shell: str) -> list[str]:
    return [line.format(folder=_place("zsh").parent) for line in _HOW[shell]]


def _place(shell: str) -> Path:
    """Where a shell looks for completions of a user."""
    data, config = user_folder("data"), user_folder("config")
    return {
        "bash": data / "bash-completion/completions/assay",
        "zsh": data / "zsh/site-functions/_assay",
        "fish": config / "fish/completions/assay.fish",
    }[shell]


_DEVICES = "/dev/"
_DRIVE_OPTIONS = ("capacity=", "seed=", "state=", "faults=")
_BLOCK = Path("/sys/block")


def drive_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Drives, simulated and real, and files: a file may be a target as well."""
    del ctx, param
    candidates = _matching(_drives(incomplete), incomplete)
    # The shell would list every node of /dev again, terminals and all.
    return candidates if candidates and incomplete.startswith(_DEVICES) else [*candidates, _file(incomplete)]


def simulated_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Simulated drives."""
    del ctx, param
    return _matching(_simulated(incomplete), incomplete)


def test_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of tests, also after a comma. Worked: ``iops,l`` -> ``iops,lat``."""
    from assay.procedures.registry import known_tests  # noqa: PLC0415

    del ctx, param
    return _listed(known_tests(), incomplete)


def study_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of studies, also after a comma."""
    from assay.procedures.registry import known_studies  # noqa: PLC0415

    del ctx, param
    return _listed(known_studies(), incomplete)


def suite_candidates(incomplete: str) -> Items:
    """Names of suites."""
    from assay.procedures.registry import SUITES  # noqa: PLC0415

    return _matching(SUITES, incomplete)


def edition_candidates(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of editions, and files: an edition may be one."""
    from assay.procedures.editions import edition_names  # noqa: PLC0415

    del ctx, param
    return [*_matching(edition_names(), incomplete), _file(incomplete)]


def _drives(incomplete: str) -> Iterator[str]:
    yield from _simulated(incomplete)
    if incomplete.startswith(_DEVICES) or _DEVICES.startswith(incomplete):
        yield from _nodes()


def _simulated(incomplete: str) -> list[str]:
    """Names of simulated drives; after a question mark, their settings."""
    from assay.dut.simulated.shipped import PREFIX, shipped_names  # noqa: PLC0415

    name, mark, given = incomplete.partition("?")
    if mark:
        before = given.rpartition("&")[0]
        head = f"{name}?{before}&" if before else f"{name}?"
        return [head + option for option in _DRIVE_OPTIONS if option not in before]
    return [PREFIX + shipped_name for shipped_name in shipped_names()]


def _nodes() -> list[str]:
    """Device nodes of whole disks that hold anything; RAM disks are none."""
    names = os.listdir(_BLOCK) if _BLOCK.is_dir() else []  # noqa: PTH208 - names are wanted
    return sorted(_DEVICES + name for name in names if not name.startswith(("ram", "zram")) and _size(name) != "0")


def _size(name: str) -> str:
    try:
        return (_BLOCK / name / "size").read_text("ascii").strip()
    except OSError:
        return "0"


def _listed(names: Iterable[str], incomplete: str) -> Items:
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in names if name.startswith(last) and name not in taken]


def _matching(names: Iterable[str], incomplete: str) -> Items:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _file(incomplete: str) -> CompletionItem[str]:
    """The shell completes files itself."""
    return CompletionItem(incomplete, type="file")
