"""The certificate of a host: figures that hang together, kept under their date."""

import json
from pathlib import Path

import pytest
from assay.certificate import keep_certificate, kept_certificates, measure_host
from assay.cli import assay
from assay.errors import StoreError
from click.testing import CliRunner


def test_a_host_is_measured_without_a_drive_and_the_figures_hang_together() -> None:
    certificate = measure_host(seconds=0.1)
    single, deep = certificate.ceiling
    assert deep.iops > single.iops > 1000
    assert 0 < deep.cpu_ns < single.cpu_ns
    for timer in certificate.timers:
        assert timer.late_ns_mean >= 0
        assert timer.late_ns_p99 <= timer.late_ns_max + 1
        assert timer.effective_depth == pytest.approx(timer.queue_depth, rel=0.2)


def test_certificates_are_kept_and_the_newest_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = CliRunner().invoke(assay, ["calibrate", "--seconds", "0.05", "--json"])
    facts = json.loads(done.stdout)
    assert Path(facts["path"]).parent == tmp_path / "assay/certificates"
    assert kept_certificates()[0]["ceiling"] == facts["ceiling"]
    assert facts["platform"]["kernel"]


def test_a_folder_that_cannot_be_written_is_an_error_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(StoreError, match="XDG_DATA_HOME"):
        keep_certificate(measure_host(seconds=0.05))
