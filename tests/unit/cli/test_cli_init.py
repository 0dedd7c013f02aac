"""The plan file that ``assay init`` writes."""

import re
import tomllib
from pathlib import Path

import pytest
from assay.cli import assay
from assay.cli.init import plan_text
from assay.run.plan_file import Plan, load_plan
from click.testing import CliRunner

KEY = re.compile(r"#(\w+) = (.*)")
LINES = plan_text().splitlines()
NOTES = LINES.index("#[[special_notes]]")


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "plan.toml"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_the_file_loads_and_is_the_plan_without_a_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    done = CliRunner().invoke(assay, ["init", str(path)])
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, f"Written: {path}")
    made = Plan(drive="sim:client-2011?capacity=32GB", suite="client").resolved()
    assert load_plan(path, {}).model_dump() == made.model_dump()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, ["mine"])
    done = CliRunner().invoke(assay, ["init", str(path)])
    assert "is there already" in str(done.exception)
    assert path.read_text("utf-8") == "mine"


@pytest.mark.parametrize("place", [place for place in range(NOTES) if KEY.fullmatch(LINES[place])])
def test_every_key_can_be_set_by_taking_its_mark_away(place: int, tmp_path: Path) -> None:
    lines = [*LINES[:place], LINES[place].removeprefix("#"), *LINES[place + 1 :]]
    load_plan(written(tmp_path, lines), {})


def test_a_special_note_can_be_set_by_taking_its_marks_away(tmp_path: Path) -> None:
    lines = LINES[:NOTES] + [line.removeprefix("#") for line in LINES[NOTES:]]
    assert len(load_plan(written(tmp_path, lines), {}).special_notes) == 1


def test_every_key_of_a_plan_is_there_with_its_default() -> None:
    shown = tomllib.loads("\n".join(line.removeprefix("#") if KEY.fullmatch(line) else line for line in LINES[:NOTES]))
    for name, field in Plan.model_fields.items():
        if name in {"schema_version", "special_notes"}:
            continue
        table = getattr(field.annotation, "model_fields", None)
        if table is None:
            assert name in shown
            assert field.default is None or name == "drive" or tuple_free(shown[name]) == field.default
            continue
        typed = {key: inner for key, inner in table.items() if not (inner.json_schema_extra or {}).get("readOnly")}
        assert list(shown[name]) == list(typed)
        for key, inner in typed.items():
            assert inner.default is None or tuple_free(shown[name][key]) == inner.default


def tuple_free(value: object) -> object:
    """Lists of a file are tuples of a plan."""
    return tuple(value) if isinstance(value, list) else value
