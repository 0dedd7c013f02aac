"""Drive models of simulated disks: what their files may say, and that flash drive models stay what they were."""

from pathlib import Path

import pytest
from assay.dut.simulated.model import known_parameters, load_drive_model, parse_simulated
from assay.errors import PlanError, ValueRangeError

SHIPPED = Path(__file__).parents[3] / "python/assay/dut/simulated/models/hdd-15k.toml"


def test_the_kind_of_a_drive_model_chooses_its_parameters() -> None:
    disk, flash = parse_simulated("sim:hdd-15k?capacity=1GB&seed=7"), parse_simulated("sim:client-2011")
    assert (disk.model.kind, disk.drive_model.kind) == ("disk", "disk")
    assert (disk.drive_model.capacity_bytes, disk.drive_model["seed"], disk.drive_model["rotation_rpm"]) == (
        10**9,
        7,
        15_000,
    )
    assert (disk.identity.media, disk.identity.write_cache) == ("magnetic disk (simulated)", "disabled")
    assert (flash.model.kind, flash.drive_model.kind) == ("flash", "flash")
    assert "flash is unmapped" in flash.purge_proof
    assert "disk is overwritten" in disk.purge_proof


def test_every_parameter_of_the_shipped_disk_has_a_source() -> None:
    parameters = load_drive_model("hdd-15k").parameters
    assert set(parameters) == {one.name for one in known_parameters("disk")} - {"seed"}
    assert all(datum.source for datum in parameters.values())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "disk"', 'kind = "tape"', "kind"),
        (
            "rotation_rpm = ",
            "rotaton_rpm = ",
            r'drive_model.toml:15:1 parameters.rotaton_rpm: .* did you mean "rotation_rpm"',
        ),
        ("value = 15_000, source", "value = 150, source", r"parameters.rotation_rpm: is 150, .* 3,600 to 20,000"),
        ("value = 15_000, source", "value = true, sauce", "source"),
        ("head_count", "channel_count", "parameters.channel_count"),
    ],
)
def test_a_fault_of_a_drive_model_is_named_with_its_place(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "drive_model.toml"
    path.write_text(SHIPPED.read_text("utf-8").replace(old, new))
    with pytest.raises(PlanError, match=words):
        parse_simulated(f"sim:{path}")


def test_every_parameter_that_is_not_there_and_must_be_is_named(tmp_path: Path) -> None:
    path = tmp_path / "half.toml"
    lines = SHIPPED.with_name("client-2011.toml").read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("read_ns", "program_ns"))), "utf-8")
    with pytest.raises(PlanError, match=r"parameters.read_ns: is missing") as caught:
        load_drive_model(str(path))
    assert [one.thing.rpartition(" ")[2] for one in caught.value.further] == ["parameters.program_ns"]


def test_the_capacity_of_a_disk_has_the_limits_of_every_simulated_drive() -> None:
    with pytest.raises(ValueRangeError, match="128 MB to 16 TB"):
        parse_simulated("sim:hdd-15k?capacity=1MB")
