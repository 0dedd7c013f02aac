"""Every link of a document leads to a page and a heading; every file, module and option that it names exists."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click
import pytest
from assay.cli import assay
from docs_blocks import PAGES, ROOT, page_name

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:python|crates|tests|tools|benches|plans|published|docs|packaging)/[\w./-]+)`")
MODULE = re.compile(r"`(assay(?:\.[a-z_]\w*)+)")
OPTION = re.compile(r"`(--[a-z][a-z-]+)")
OTHERS = {"--refill_buffers", "--security-unlock", "--security-disable", "--long", "--locked", "--keep", "--install"}
"""Options of other programs."""


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as sites make them."""
    headings = re.findall(r"^#{1,6} (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def options() -> set[str]:
    context = click.Context(assay)
    found = set()
    for name in assay.list_commands(context):
        command = assay.get_command(context, name)
        assert command
        groups = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
        found |= {word for one in groups for param in one.params for word in (*param.opts, *param.secondary_opts)}
    return found | {"--help", "--version"}


@pytest.mark.parametrize("page", DOCUMENTS, ids=page_name)
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=page_name)
def test_every_file_and_module_that_is_named_exists(page: Path) -> None:
    text = prose(page)
    for name in NAMED.findall(text):
        assert (ROOT / name).exists(), f"{page.name}: {name}"
    for name in MODULE.findall(text):
        assert exists(name), f"{page.name}: {name}"


def exists(name: str) -> bool:
    """Whether a dotted name is a module, something in a module, or the group of entry points."""
    if name == "assay.procedures":
        return True
    module, _, rest = name.rpartition(".")
    try:
        if find_spec(name):
            return True
    except ModuleNotFoundError:
        return exists(module) if module.count(".") else False
    return hasattr(import_module(module), rest)


@pytest.mark.parametrize("page", [page for page in DOCUMENTS if page.name != "CONTRIBUTING.md"], ids=page_name)
def test_every_option_that_is_named_exists(page: Path) -> None:
    assert {*OPTION.findall(prose(page))} - options() - OTHERS == set()


def test_the_site_lists_every_page() -> None:
    listed = set(re.findall(r": ([\w/-]+\.md)", (ROOT / "mkdocs.yml").read_text("utf-8")))
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert listed - pages == set()
    assert {page for page in pages - listed if not page.startswith("procedures/")} == set()
