"""The lists of what there is: drives, models, tests, editions."""

import json
import re
import subprocess
import sys

import pytest
from assay.cli import assay
from assay.cli.drives import _short, describe_real
from assay.cli.table import PROSE_COLUMNS
from assay.dut.simulated.model import PREFIX, parse_simulated
from assay.dut.simulated.shipped import shipped_models, shipped_names
from assay.procedures.editions import edition_names
from assay.procedures.registry import procedures
from click.testing import CliRunner


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(assay, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("name", shipped_names())
def test_a_listed_model_is_the_drive_that_its_name_means(name: str) -> None:
    listed = next(one for one in shipped_models() if one.name == name)
    identity = parse_simulated(PREFIX + name).identity
    assert (listed.drive, listed.title, listed.serial) == (identity.path, identity.model_number, identity.serial)
    assert listed.capacity_bytes == identity.capacity_bytes


def test_columns_of_drives_stand_under_their_headers() -> None:
    lines = printed("drives").splitlines()
    places = [lines[0].index(header) for header in ("model", "identity", "may be tested")]
    assert all(line[place - 1] == " " != line[place] for line in lines for place in places)
    assert all(len(line.rstrip()) < 250 for line in lines)


def test_reasons_against_a_drive_are_short_in_the_list() -> None:
    system = tuple(f"backs the running system (/{name})" for name in "abc")
    assert _short((*system, "mounted on /", "is swap")) == "no: backs the running system (3x); mounted on /; 1 more"
    assert _short(()) == "yes"
    assert len(_short(("mounted on /" + "x" * 300,))) < 80


def test_a_capacity_that_was_asked_for_is_not_said_to_be_the_models() -> None:
    facts = json.loads(printed("drives", "--json", "--describe", "sim:client-2011?capacity=32GB&seed=3"))
    sources = {name: one["source"] for name, one in facts["parameters"].items()}
    assert sources["capacity_bytes"] == sources["seed"] == "given in the drive's name"
    assert "128 GiB of flash" in sources["over_provisioning"]


def test_a_drive_is_described_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed("drives", "--describe", "sim:client-2011")
    assert "takes commands  trim, write-cache" in text
    assert not re.search(r"\('|None|unknown|_native|\[`", text)
    facts = {"id": "X1", "path": "/dev/sdx", "serial": None, "wwn": None, "controls": ("trim",), "faults": ()}
    describe_real({**facts, "condition": {"link": None}, "refusals": ("mounted on /", "is swap")})
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == ["identity X1", "drive /dev/sdx", "takes commands trim", "unknown serial, WWN, link"]
    assert lines[4:] == ["It may not be tested:", "mounted on /", "is swap"]


def test_models_are_listed_with_the_sources_of_their_parameters() -> None:
    lines = printed("models").splitlines()
    assert [line.split()[0] for line in lines if line.startswith(PREFIX)] == [PREFIX + n for n in shipped_names()]
    assert max(map(len, lines)) <= PROSE_COLUMNS
    assert all(all(one["sources"].values()) for one in json.loads(printed("models", "--json")))


def test_tests_are_listed_with_their_question_and_editions() -> None:
    listed = {one["name"]: one for one in json.loads(printed("tests", "--json"))}
    assert all(listed[one.name]["question"] == one.question for one in procedures())
    assert listed["hir"]["editions"] == ["pts-c-2.0", "pts-e-1.1", "pts-e-2.0"]
    assert all(one.title in printed("tests") for one in procedures()[:2])


def test_editions_are_listed_and_every_value_has_its_source() -> None:
    listed = json.loads(printed("editions", "--json"))
    assert [one["name"] for one in listed] == edition_names()
    assert all(value["source"] for one in listed for value in one["values"])
    lines = printed("editions").splitlines()
    assert [line.split()[0] for line in lines[1:-1] if not line.startswith(" ")] == edition_names()
    assert max(map(len, lines)) <= PROSE_COLUMNS
    assert re.search(r"iops\.step_seconds +60 +2012 deck", printed("editions", "pts-c-1.0"))


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        # Who has a drive open is looked at natively.
        (("drives",), ("pydantic", "rich", "assay.procedures", "assay.engine.records.run")),
        (("--help",), ("pydantic", "rich", "assay._native", "assay.procedures", "assay.dut")),
        (("run", "--help"), ("pydantic", "numpy", "assay._native", "assay.dut", "assay.procedures.iops")),
        (("check", "--help"), ("numpy", "assay._native", "assay.dut", "assay.results.step")),
        (("plan", "sim:client-2011?capacity=32GB"), ("numpy", "pyarrow", "assay.report", "assay.summary.table")),
        (("tests",), ("numpy", "pyarrow", "assay.report", "assay.dut.dut", "assay.summary.table")),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments: tuple[str, ...], spared: tuple[str, ...]) -> None:
    tried = f"from assay.cli import assay; assay({arguments!r}, standalone_mode=False)"
    script = f"import sys; {tried}; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [name for name in spared if name in done.stderr.split()] == []
