"""What a user sets once: the file, the environment, and what wins."""

import json
from pathlib import Path

import pytest
from assay.archive.index.location import default_place
from assay.cli import assay
from assay.cli.config import TEXTS, output_folder, settings
from assay.cli.options import make_plan
from assay.errors import AssayError, PlanError, UsageError, ValueRangeError
from assay.plan.record import ANSWERABLE
from assay.run.plan_file import Plan
from click.testing import CliRunner

DRIVE = "sim:client-2011?capacity=1GB"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder of configuration, and no variable of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("CONFIG", "OPERATOR", "SPONSOR", "LAB", "OUTPUT", "INDEX"):
        monkeypatch.delenv(f"ASSAY_{name}", raising=False)
    (tmp_path / "assay").mkdir()
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "assay/config.toml"
    path.write_text(text, "utf-8")
    return path


def planned(*targets: str, **options: object) -> Plan:
    return make_plan((DRIVE, *targets), thread_count=None, queue_depth=None, arrival=None, **options)  # type: ignore[arg-type]


def test_options_win_over_the_plan_over_the_environment_over_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, 'operator = "file"\nsponsor = "file"\nlab = "file"\n')
    monkeypatch.setenv("ASSAY_SPONSOR", "variable")
    monkeypatch.setenv("ASSAY_LAB", "variable")
    plan_file = folder / "plan.toml"
    plan_file.write_text(f'schema = 1\ndrive = "{DRIVE}"\n[report]\nlab = "plan"\nname = "plan"\ntags = ["a"]\n')
    report = planned(str(plan_file), name="option").report
    assert (report.operator, report.sponsor, report.lab) == ("file", "variable", "plan")
    assert (report.name, report.tags) == ("option", ("a",))
    sources = {key: report.stored[f"{key}_from"] for key in ANSWERABLE}
    assert sources == {
        "operator": "settings file", "sponsor": "environment variable ASSAY_SPONSOR", "lab": "plan",
    }  # fmt: skip
    assert ANSWERABLE == TEXTS
    assert planned(str(plan_file), tags=("b", "c")).report.stored["tags"] == "b, c"


def test_without_settings_nothing_is_added() -> None:
    assert planned().report.stored == {}
    assert output_folder() == Path("runs")


def test_the_file_may_be_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.toml").write_text('output = "/srv/runs"\n')
    monkeypatch.setenv("ASSAY_CONFIG", str(folder / "mine.toml"))
    assert output_folder() == Path("/srv/runs")
    monkeypatch.setenv("ASSAY_CONFIG", str(folder / "none.toml"))
    with pytest.raises(UsageError, match="is no file"):
        settings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('operater = "x"', r"config\.toml:1:1 operater: .*did you mean .operator.\?"),
        ('\nzzz = "x"', r"config\.toml:2:1 zzz: .*known are operator, sponsor, lab, output"),
        ("lab = 3", "must be a text"),
        ("lab = ", r"config\.toml:1:"),
    ],
)
def test_a_fault_of_the_file_is_named_with_its_place(text: str, words: str, folder: Path) -> None:
    write(folder, text)
    with pytest.raises(PlanError, match=words):
        settings()


def test_a_name_that_is_too_long_is_named_as_the_option() -> None:
    with pytest.raises(ValueRangeError, match="--name"):
        planned(name="x" * 201)
    with pytest.raises(AssayError, match="--tag"):
        planned(tags=("",))


def test_what_is_set_is_shown_with_where_it_comes_from(folder: Path) -> None:
    path = write(folder, 'operator = "Kim"\n')
    shown = json.loads(CliRunner().invoke(assay, ["config", "--json"], env={"ASSAY_LAB": "B 12"}).stdout)
    found = {row["key"]: (row["value"], row["source"]) for row in shown["settings"]}
    assert found == {
        "operator": ("Kim", str(path)),
        "sponsor": (None, "not set"),
        "lab": ("B 12", "environment variable ASSAY_LAB"),
        "output": ("runs", "default"),
        "index": (str(default_place().path), "default"),
    }
    assert "Kim" in CliRunner().invoke(assay, ["config"]).stdout


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("/srv/index.sqlite", "/srv/index.sqlite"),
        ("postgresql://kim:secret@db:5433/lab", "postgresql://kim@db:5433/lab"),
        ("postgresql://kim@db/lab?password=secret", "postgresql://kim@db/lab"),
        ("postgresql://kim:sec@ret@db/lab", "(not shown: it cannot be read)"),
    ],
)
def test_the_index_is_shown_without_its_password(given: str, shown: str) -> None:
    printed = CliRunner().invoke(assay, ["config", "--json"], env={"ASSAY_INDEX": given}).stdout
    (row,) = [row for row in json.loads(printed)["settings"] if row["key"] == "index"]
    assert row["value"] == shown


def test_a_run_keeps_its_name_its_tags_and_what_was_set(folder: Path) -> None:
    write(folder, f'operator = "Kim"\noutput = "{folder}/all"\n')
    command = ["run", DRIVE, "--test", "lat", "--scale", "0.001", "--no-report", "--json"]
    done = CliRunner().invoke(
        assay, [*command, "--name", "firmware 1.2", "--tag", "bay 3", "--tag", "nightly"], standalone_mode=False
    )
    run = Path(json.loads(done.stdout)["run"])
    assert run.parent == folder / "all"
    description = json.loads((run / "run.json").read_text("utf-8"))["description"]
    assert description == {
        "name": "firmware 1.2", "tags": "bay 3, nightly", "operator": "Kim", "operator_from": "settings file",
    }  # fmt: skip
