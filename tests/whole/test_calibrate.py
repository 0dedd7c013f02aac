"""Calibration of simulated drives: a known drive model is found again, as far as a short search goes."""

from pathlib import Path

import pytest
from assay.dut.simulated.model import load_drive_model, parse_simulated
from assay.errors import UsageError
from assay.run.plan_file import load_plan
from assay.tools.simfit import Rig, fit, measured, read_targets, refine, residuals, scattered
from assay.tools.simfit import measure as measure_module
from assay.tools.simfit.search import model_text, residual_lines

pytestmark = pytest.mark.long

DRIVE = "sim:client-2011"
SMALL_BYTES = 128_000_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setattr(measure_module.measured, "__defaults__", (SMALL_BYTES, 0.25))
    return Rig.of(load_plan(None, {"drive": DRIVE}), 128 * 10**9)


def test_a_perturbed_card_is_brought_nearer_and_the_same_seed_gives_the_same_drive_model(small: Rig) -> None:
    truth = parse_simulated(DRIVE).drive_model
    targets = measured(truth, small)
    start = truth.replaced(
        read_command_ns=truth["read_command_ns"] * 2, link_bytes_per_s=truth["link_bytes_per_s"] // 2
    )
    before = residuals(start, small, targets)
    found = [fit(start, small, targets, evaluations=48, seed=4) for _ in range(2)]
    assert found[0] == found[1]
    after = residuals(found[0].drive_model, small, targets)
    assert sum(map(abs, after.values())) < sum(map(abs, before.values()))
    assert residuals(truth, small, targets) == dict.fromkeys(targets, 0.0)


def test_least_squares_bring_a_scattered_card_nearer_with_few_drive_models(small: Rig) -> None:
    truth = parse_simulated(DRIVE).drive_model
    targets = measured(truth, small, SMALL_BYTES, 1.0)
    start = scattered(truth, seed=2, spread=0.1)
    assert start != truth
    found = refine(start, small, targets, rounds=2, scaled_bytes=SMALL_BYTES)
    assert found.evaluations <= 1 + 3 * (12 + 1)
    assert found.error < 0.8 * refine(start, small, targets, rounds=0, scaled_bytes=SMALL_BYTES).error
    assert refine(truth.replaced(queue_limit=0), small, targets, rounds=1).error == pytest.approx(3.0)


def test_a_fitted_drive_model_is_written_with_sources_and_read_again(small: Rig, tmp_path: Path) -> None:
    model, drive_model = load_drive_model("client-2011"), parse_simulated(DRIVE).drive_model
    changed = drive_model.replaced(in_order=True, read_ns=70_000)
    report = "\n".join(residual_lines({"iops_4_0": 0.0953, "iops_4_100": -0.5}))
    path = tmp_path / "mine.toml"
    path.write_text(model_text(changed, model, varied={"read_ns": "fitted"}, report=report))
    assert "iops_4_100                      -39.3 %" in path.read_text()
    again = parse_simulated(f"sim:{path}?capacity=1GB")
    assert again.drive_model.replaced(capacity_bytes=drive_model.capacity_bytes) == changed
    assert again.model.parameters["read_ns"].source == "fitted"
    assert small.tests["iops"].demand.queue_depth == 8


def test_published_figures_are_read_and_faults_are_named(tmp_path: Path) -> None:
    root = Path(__file__).parents[2] / "published"
    targets = read_targets(root / "mlc-a_iops.csv", root / "mlc-a_figures.csv")
    assert (targets["iops_4_0"], targets["wsat_fob_iops"], targets["lat_4_0_average_ms"]) == (3147.0, 56896.0, 0.35)
    assert "lat_4_0_max_ms" not in targets
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="has no column block_kib"):
        read_targets(wrong)


@pytest.mark.parametrize("name", sorted(path.stem for path in Path("python/assay/dut/simulated/models").glob("*.toml")))
def test_every_shipped_drive_model_builds_and_sources_every_parameter(name: str) -> None:
    model = load_drive_model(name)
    assert model.name == name
    assert all(datum.source for datum in model.parameters.values())
    drive = parse_simulated(f"sim:{name}?capacity=2GiB&seed=7")
    assert drive.drive_model["seed"] == 7
    rig = Rig.of(load_plan(None, {"drive": DRIVE}), 128 * 10**9, drive.drive_model.logical_block_bytes)
    if drive.drive_model.kind == "disk":
        return  # Only flash is calibrated; tests/golden/test_published_disk.py builds the disk.
    # The whole of the calibration's tests, on a drive large enough for the drive model's dies.
    assert min(measured(drive.drive_model, rig, 2 << 30).values()) > 0
