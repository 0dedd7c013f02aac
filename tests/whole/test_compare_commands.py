"""assay compare as a user calls it: formats, exit codes, and that a blind comparison tells no name."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from assay.cli import assay
from assay.report.comparison.facts import ComparisonFacts
from assay.run.store.read import read_run
from click.testing import CliRunner
from compared_runs import short_run

if TYPE_CHECKING:
    from click.testing import Result

FILES = ["comparison.csv", "comparison.json", "comparison.xlsx", "report.html", "report.pdf", "subjects.csv"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of two drives, and of a third with another demand."""
    folder = tmp_path_factory.mktemp("secret-lab")
    report = {"operator": "Ottilie Operator", "sponsor": "Secret Sponsor"}
    for name, drive in (("one", "client-2011"), ("two", "mlc-a")):
        more = {"drive": f"sim:{drive}?capacity=1GB", "report": report, "tests": ["wsat", "lat"]}
        short_run(folder / name, **{**more, "report": {**report, "name": f"called-{name}"}})
    short_run(folder / "three", lat={"thread_count": 2})
    return [folder / name for name in ("one", "two", "three")]


def command(*arguments: object) -> Result:
    return CliRunner().invoke(assay, ["compare", *map(str, arguments)], standalone_mode=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def everything(folder: Path) -> str:
    """Names and bytes of all files, with what is packed inside them."""
    found = []
    for name, content in contents(folder).items():
        found += [name, content.decode("utf-8", "replace")]
        if name.endswith(".xlsx"):
            book = zipfile.ZipFile(io.BytesIO(content))
            found += [part for one in book.namelist() for part in (one, book.read(one).decode("utf-8", "replace"))]
        if name.endswith(".pdf"):
            pdf = pypdfium2.PdfDocument(content)
            found += [str(pdf.get_metadata_dict()), *(page.get_textpage().get_text_range() for page in pdf)]
    return "\n".join(found)


def identities(folder: Path) -> set[str]:
    run = read_run(folder)
    drive, platform = run.identity, run.platform
    told = {drive.id, drive.path, drive.model_number, drive.serial, drive.firmware, drive.interface, drive.media}
    told |= {run.run_id, folder.name, str(folder.parent), folder.parent.name, platform.host_id, platform.build}
    told |= {run.journal.hash if run.journal else None, str(run.started_wall_ns), *run.description.values()}
    # The names of the folders of this test are words of the language.
    return {one for one in told if one and len(one) > 3}


@pytest.fixture(scope="module")
def blind(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A blind comparison of the first two, with what it printed."""
    out = tmp_path_factory.mktemp("blind") / "out"
    return out, command(*runs[:2], "--blind", "--json", "--out", out)


def test_a_blind_comparison_tells_no_identity_in_any_byte(runs: list[Path], blind: tuple[Path, Result]) -> None:
    out, done = blind
    assert done.exit_code == 0, done.output
    text = everything(out) + done.output + command(*runs[:2], "--blind").output
    assert "A simulated SATA drive 1 GB" in text
    names = set.union(*map(identities, runs[:2]))
    assert len(names) > 15
    assert not [one for one in names if one in text]
    assert [one for one in names if one in command(*runs[:2]).output]


def test_blind_letters_do_not_depend_on_the_order_of_runs(
    runs: list[Path], blind: tuple[Path, Result], tmp_path: Path
) -> None:
    assert command(runs[1], runs[0], "--blind", "--out", tmp_path / "turned").exit_code == 0
    assert contents(tmp_path / "turned") == contents(blind[0])
    assert sorted(contents(blind[0])) == FILES


def test_json_is_of_its_form_and_the_same_as_in_the_folder(blind: tuple[Path, Result]) -> None:
    out, done = blind
    found = json.loads(done.stdout)
    facts = ComparisonFacts.model_validate(found)
    assert [one.letter for one in facts.subjects] == ["A", "B"]
    kept = json.loads((out / "comparison.json").read_text())
    assert {**kept, "report": found["report"]} == found


def test_unlike_runs_are_refused_or_shown_apart(runs: list[Path]) -> None:
    done = command(runs[0], runs[2])
    assert getattr(done.exception, "exit_code", None) == 2
    shown = command(runs[0], runs[2], "--despite")
    assert shown.exit_code == 0
    assert "apart" in shown.output
    assert "LAT: demand, thread count 2 instead of 1" in shown.output


@pytest.mark.parametrize(("undecided", "code"), [((), 8), (("--undecided", "pass"), 0)])
def test_a_gate_that_cannot_decide_fails_unless_asked_otherwise(
    runs: list[Path], tmp_path: Path, undecided: tuple[str, ...], code: int
) -> None:
    junit = tmp_path / "junit.xml"
    written = () if undecided else ("--out", tmp_path / "gate")
    options = ("--fail-over", "5%", "--annotate", "--junit", junit, *written, *undecided)
    done = command("--baseline", runs[0], runs[1], *options)
    assert done.return_value == code
    assert "CANNOT DECIDE" in done.output
    assert f"::{'warning' if undecided else 'error'} title=" in done.output
    assert b'failures="0"' in junit.read_bytes() or not undecided
    if written:
        assert (tmp_path / "gate/junit.xml").read_bytes() == junit.read_bytes()
        assert len(pypdfium2.PdfDocument(tmp_path / "gate/report.pdf")) == 1


@pytest.mark.parametrize(
    "wrong",
    [("--fail-over", "5%"), ("--annotate",), ("--blind-key", "k"), ("--baseline", "RUN")],
)
def test_options_that_do_not_fit_are_refused(runs: list[Path], wrong: tuple[str, ...]) -> None:
    given = [str(runs[1]) if one == "RUN" else one for one in wrong]
    assert getattr(command(runs[0], *given).exception, "exit_code", None) == 2


@pytest.mark.long
def test_slower_drives_are_found_and_equal_ones_pass() -> None:
    import sys  # noqa: PLC0415

    sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
    from gate_alarms import verdicts  # noqa: PLC0415

    found = verdicts(3, first_seed=7001)
    assert (found[0.0]["fail"], found[0.02]["fail"]) == (0, 0)
    assert found[0.10]["fail"] == 3
