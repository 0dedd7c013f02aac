"""Find where code takes text apart, by syntax and by the annotations of the package."""

import ast
import re
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python/assay"

READ = (
    "summary",
    "words",
    "compare",
    "archive/index",
    "archive/frames.py",
    "cli",
    "plan",
    "report",
    "results",
    "procedures",
    "tools/crosscheck/pages.py",
    "tools/iostack/pages.py",
)
"""What presents or judges; `results` and `procedures` as a whole, since what computes in them hardly reads text."""

ALWAYS = {"startswith", "endswith", "partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix"}
ALWAYS |= {"removesuffix", "strip", "lstrip", "rstrip", "match", "fullmatch", "search", "sub", "subn", "findall"}
ALWAYS |= {"finditer", "isdigit", "isdecimal", "isnumeric"}
"""Methods of text and of patterns that hardly anything else has."""

ON_TEXT = {"replace", "find", "rfind", "index", "rindex", "translate"}
"""Methods that lists, paths and times have, too."""

NUMBERS = {"float", "int", "Decimal", "Fraction"}
TO_TEXT = {"str", "repr", "lower", "upper", "casefold", "join", "format", "decode", "read_text", "hexdigest", "strip"}
TO_TEXT |= {"lstrip", "rstrip", "removeprefix", "removesuffix"}
TO_TEXTS = {"split", "rsplit", "partition", "rpartition", "splitlines"}
TEXT = re.compile(r"(str|Literal\[['\"].*\])( \| None)?")
TEXTS = re.compile(r"\w+\[str(, (\.\.\.|str))*\]( \| None)?")
PRINTED = re.compile(r".*[A-Z /].*", re.DOTALL)
"""Words as they are printed, in contrast to codes: a capital, a space or a stroke."""


@dataclass(frozen=True)
class Names:
    """What annotations say of `name`, `.field` and `function()`; of constants their values."""

    kinds: ChainMap[str, str] = field(default_factory=ChainMap)
    constants: ChainMap[str, ast.expr] = field(default_factory=ChainMap)

    def annotate(self, name: str, annotation: ast.expr | None) -> None:
        """Keep what an annotation says of a name; where two differ, whether one of them says text."""
        stated = ast.unparse(annotation) if annotation else ""
        kind = "text" if TEXT.fullmatch(stated) else "texts" if TEXTS.fullmatch(stated) else "other"
        before = self.kinds.maps[0].get(name, kind)
        self.kinds[name] = kind if before == kind else "maybe" if {"text", "maybe"} & {before, kind} else "other"

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Keep what a name is after an assignment."""
        inner = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
        if isinstance(target, ast.Name) and is_text(value, self):
            self.kinds[target.id] = "text"
        elif is_texts(value, self):
            self.kinds.update(dict.fromkeys(inner, "texts" if isinstance(target, ast.Name) else "text"))

    def each(self, target: ast.expr, value: ast.expr) -> None:
        """Keep what the variable of a loop is."""
        if isinstance(target, ast.Name) and is_texts(value, self):
            self.kinds[target.id] = "text"


def is_text(node: ast.expr, names: Names, *, maybe: bool = False) -> bool:  # noqa: PLR0911 - one case each
    """Whether a value is a string; `maybe`: or has a name that some class gives to a string."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str)
        case ast.Name() | ast.Attribute():
            return names.kinds.get(key(node)) in ({"text", "maybe"} if maybe else {"text"})
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in TO_TEXT or names.kinds.get(f"{name}()") == "text"
        case ast.Subscript(value=value):
            return is_text(value, names) or is_texts(value, names)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return is_text(one, names) or is_text(other, names)
        case ast.BoolOp(values=values):
            return any(is_text(value, names) for value in values)
    return isinstance(node, ast.JoinedStr)


def key(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else f".{node.attr}"


def is_texts(node: ast.expr, names: Names) -> bool:  # noqa: PLR0911 - one case each
    """Whether a value may be a collection of strings."""
    match node:
        case ast.Name() | ast.Attribute():
            return names.kinds.get(key(node)) == "texts"
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            if name == "values" and isinstance(node.func, ast.Attribute):
                return is_texts(node.func.value, names)
            return name in TO_TEXTS or names.kinds.get(f"{name}()") == "texts"
        case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
            return bool(values) and all(is_text(value, names) for value in values)
        case ast.Subscript(value=value, slice=ast.Slice()):
            return is_texts(value, names)
        case ast.ListComp(elt=value) | ast.GeneratorExp(elt=value) | ast.SetComp(elt=value):
            return is_text(value, names)
    return False


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def of_package() -> Names:
    """Fields, constants and functions of the whole package, by their bare names."""
    names = Names()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in tree_of(path).body:
            for one in [node, *getattr(node, "body", [])]:
                annotate(one, names, in_class=one is not node)
        names.constants.update(constants_of(tree_of(path)))
    return names


def annotate(node: ast.stmt, names: Names, *, in_class: bool) -> None:
    """Keep what a function returns, and what a field is."""
    if isinstance(node, ast.FunctionDef):
        is_field = any("property" in ast.unparse(one) for one in node.decorator_list)
        names.annotate(f".{node.name}" if is_field else f"{node.name}()", node.returns)
    elif in_class and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        names.annotate(f".{node.target.id}", node.annotation)


def constants_of(tree: ast.Module) -> dict[str, ast.expr]:
    """Constants of a module: name and value."""
    found = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id.isupper() and getattr(node, "value", None):
            found[target.id] = node.value
    return found


def of_function(node: ast.AST, outer: Names) -> Names:
    """Names of a function: those of the package, its parameters, what it assigns and what it walks over."""
    names = Names(outer.kinds.new_child(), outer.constants)
    for one in ast.walk(node):
        if isinstance(one, ast.arg):
            names.annotate(one.arg, one.annotation)
    for one in ast.walk(node):
        if isinstance(one, ast.Assign):
            names.assign(one.targets[0], one.value)
        elif isinstance(one, ast.NamedExpr):
            names.assign(one.target, one.value)
        elif isinstance(one, ast.For | ast.comprehension):
            names.each(one.target, one.iter)
    return names


def words(node: ast.expr, names: Names, depth: int = 0) -> set[str]:
    """The strings that a literal, or the constant of a name, consists of; of a dictionary its keys."""
    if isinstance(node, ast.Name | ast.Attribute):
        value = names.constants.get(node.id if isinstance(node, ast.Name) else node.attr)
        return words(value, names, depth + 1) if value and depth < 4 else set()
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    if isinstance(node, ast.Call):
        return words(node.args[0], names, depth) if node.args and ast.unparse(node.func) == "frozenset" else set()
    parts = getattr(node, "elts", None) or getattr(node, "keys", None) or []
    return set().union(*(words(one, names, depth) for one in parts if one))


def shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def call_places(node: ast.Call, names: Names) -> Iterator[str]:
    """What a call does to text: `partition(':')`, `_NUMBER.fullmatch`, `float(text)`."""
    arguments = ", ".join(shown(one) for one in node.args)
    if isinstance(node.func, ast.Name) and node.func.id in NUMBERS and node.args:
        made = isinstance(node.args[0], ast.JoinedStr) or shown(node.args[0]).startswith("str(")
        if is_text(node.args[0], names) and not made:
            yield f"{node.func.id}({arguments})"
    if not isinstance(node.func, ast.Attribute) or shown(node.func) in {"self.strip", "test_record.strip"}:
        return
    name, on = node.func.attr, node.func.value
    if is_pattern(node.func, names):
        return
    if shown(on) == "re" and name in ALWAYS:
        yield f"re.{name}({shown(node.args[0])})"
    elif name in ALWAYS or (name in ON_TEXT and (is_text(on, names) or (name == "replace" and len(node.args) > 1))):
        yield f"{name}({arguments})"
    elif name == "issuperset" and printed(on, names):
        yield f"{shown(on)}.{name}"


def is_pattern(node: ast.Attribute, names: Names) -> bool:
    """Whether it is a method of a compiled pattern, called or handed on."""
    on = node.value
    return node.attr in ALWAYS and isinstance(on, ast.Name) and on.id.isupper() and not is_text(on, names)


def compare_places(node: ast.Compare, names: Names) -> Iterator[str]:
    """What a comparison looks for in a text, or which printed words it takes for a code."""
    sides = [node.left, *node.comparators]
    for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
        inside = isinstance(operator, ast.In | ast.NotIn)
        if inside and is_text(right, names, maybe=bool(words(left, names))):
            yield f"{shown(left)} in {shown(right)}"
        elif inside and printed(right, names):
            yield f"in {shown(right)}"
        elif isinstance(operator, ast.Eq | ast.NotEq):
            yield from (f"== {shown(one)}" for one in (left, right) if printed(one, names))


def printed(node: ast.expr, names: Names) -> bool:
    return any(PRINTED.fullmatch(one) for one in words(node, names))


def places_of(node: ast.AST, names: Names) -> Iterator[str]:
    if isinstance(node, ast.Call):
        yield from call_places(node, names)
    elif isinstance(node, ast.Compare):
        yield from compare_places(node, names)
    elif isinstance(node, ast.Attribute) and is_pattern(node, names):
        yield shown(node)
    elif isinstance(node, ast.Subscript) and is_text(node.value, names):
        yield f"[{shown(node.slice)}]"


def python_places(tree: ast.Module, outer: Names) -> Iterator[tuple[str, int]]:
    """Places of a module as `function::what`, each with its line, in the order of the tree."""
    own = Names(outer.kinds.new_child(), outer.constants.new_child(constants_of(tree)))
    for name, value in own.constants.maps[0].items():
        own.assign(ast.Name(name), value)
    yield from below(tree, "", own)


TEMPLATES = ("report/assets/*.j2", "report/assets/*.typ", "report/assets/report.js")
IN_TEMPLATE = re.compile(
    r"""(?:/\^[^\s,]+?/)?(?<!classList)\.(?:starts-with|startswith|contains|includes|partition|split|replace|replaceAll"""
    r"""|match|matches|test)\((?!"\.)(?:[^()"]|"[^"]*")*|\bregex\("[^"]*"\)|\bshow "[^"]*"|"[^"]*" (?:not )?in [\w.]+"""
    r"""|[!=]== "[^"]*[A-Z /][^"]*\"""",
)
"""Methods of Jinja, Typst and JavaScript that look into text; by their spelling only."""


def template_places(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        yield from ((f"template::{' '.join(one[0].split())}", number) for one in IN_TEMPLATE.finditer(line))


def all_places() -> Iterator[tuple[str, int]]:
    """Places of all files in scope as `file::function::what`, each with its line."""
    for name in READ:
        for path in [PACKAGE / name] if name.endswith(".py") else sorted((PACKAGE / name).rglob("*.py")):
            yield from (
                (f"{path.relative_to(PACKAGE)}::{one}", line)
                for one, line in python_places(tree_of(path), of_package())
            )
    for path in sorted(one for pattern in TEMPLATES for one in PACKAGE.glob(pattern)):
        yield from (
            (f"{path.relative_to(PACKAGE)}::{one}", line) for one, line in template_places(path.read_text("utf-8"))
        )


def below(node: ast.AST, inside: str, names: Names) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        name = inside
        known = names
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{inside}.{child.name}".lstrip(".")
            known = of_function(child, names) if isinstance(child, ast.FunctionDef) else names
        yield from ((f"{name or 'module'}::{one}", child.lineno) for one in places_of(child, known))
        yield from below(child, name, known)
