"""How much memory may still be taken, and simulated drives that need more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from assay._native import simulated_memory_bytes
from assay.dut import dut, needs
from assay.dut.real.memory import spare_memory_bytes
from assay.dut.simulated.model import parse_simulated
from assay.errors import PlanError, ValueRangeError
from assay.run.plan_file import load_plan
from on_terminal import ASSAY

MODEL = Path(__file__).parents[3] / "python/assay/dut/simulated/models/client-2011.toml"
SCRIPT = """
import json, resource
from assay.dut.real.memory import spare_memory_bytes
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
print(json.dumps(spare_memory_bytes()))
"""


def host(tmp_path: Path, cgroup: str, **files: str) -> tuple[Path, Path]:
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    (proc / "self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = groups / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return proc, groups


def test_without_limits_it_is_what_the_host_has(tmp_path: Path) -> None:
    proc, groups = host(tmp_path, "0::/\n")
    assert spare_memory_bytes(proc=proc, cgroups=groups) == (8_192_000_000, "available on this host")


def test_the_tightest_group_on_the_way_up_bounds_it(tmp_path: Path) -> None:
    proc, groups = host(
        tmp_path,
        "0::/box/inner\n",
        box__inner__memory_dot_max="max\n",
        box__inner__memory_dot_current="100\n",
        box__memory_dot_max="2000\n",
        box__memory_dot_current="1500\n",
        box__memory_dot_stat="anon 1\ninactive_file 300\n",
    )
    assert spare_memory_bytes(proc=proc, cgroups=groups) == (800, "left in the control group of this process")


def test_groups_of_version_1_count_too(tmp_path: Path) -> None:
    files = {
        "memory__box__memory_dot_limit_in_bytes": "5000\n",
        "memory__box__memory_dot_usage_in_bytes": "6000\n",
    }
    proc, groups = host(tmp_path, "5:cpu,cpuacct:/box\n4:memory:/box\n0::/\n", **files)
    assert spare_memory_bytes(proc=proc, cgroups=groups) == (0, "left in the control group of this process")


def test_a_limit_of_addresses_counts() -> None:
    found = json.loads(subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True).stdout)
    assert 0 < found[0] < 4_000_000_000


def test_a_drive_that_does_not_fit_is_refused_by_name_in_plan_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "spare_memory_bytes", lambda: (3_000_000_000, "available on this host"))
    drive = "sim:client-2011?capacity=8TB"
    with pytest.raises(ValueRangeError, match=r"8TB: needs about 16\.\d+ GB of memory, 3\.00 GB are available"):
        dut.find_drive(load_plan(None, {"drive": drive}))
    assert dut.find_drive(load_plan(None, {"drive": "sim:client-2011?capacity=256GB"}))


@pytest.mark.parametrize("command", ["plan", "run"])
def test_under_a_limit_of_addresses_nothing_is_aborted(command: str, tmp_path: Path) -> None:
    line = f"ulimit -v 3000000; exec {ASSAY} {command} 'sim:client-2011?capacity=8TB' --test iops --scale 0.001"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "of memory" in done.stderr


def test_what_it_needs_grows_with_its_pages() -> None:
    small, large = (parse_simulated(f"sim:client-2011?capacity={size}").drive_model.text for size in ("32GB", "320GB"))
    assert 8 < (simulated_memory_bytes(large) - simulated_memory_bytes(small)) / (288_000_000_000 / 4096) < 12
    assert simulated_memory_bytes(parse_simulated("sim:hdd-15k").drive_model.text) < 1 << 30


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("map_cache_bytes", 1 << 62),
        ("program_unit_bytes", 1 << 62),
        ("erase_unit_bytes", 1 << 62),
        ("write_buffer_bytes", 1 << 62),
        ("channel_count", 0),
    ],
)
def test_a_drive_model_that_no_drive_can_have_is_refused_by_name_before_the_run(
    name: str, value: int, tmp_path: Path
) -> None:
    kept = [line for line in MODEL.read_text("utf-8").splitlines() if not line.startswith(f"{name} = ")]
    path = tmp_path / "drive_model.toml"
    path.write_text("\n".join([*kept, f'{name} = {{ value = {value}, source = "x" }}', ""]), "utf-8")
    with pytest.raises(PlanError, match=rf"drive_model\.toml:\d+:1 parameters\.{name}: is {value}, not in its range"):
        dut.find_drive(load_plan(None, {"drive": f"sim:{path}"}))
