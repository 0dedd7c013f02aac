"""Tables on the terminal."""

import pytest
from assay.cli.table import print_table


def test_columns_stand_under_their_headers(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("drive", "GB"), [("sim:a", "128")], right={"GB"})
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == ["drive   GB", "sim:a  128"]


def test_a_name_of_a_drive_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("drive",), [("A\x1b[2J",)])
    assert "\x1b" not in capsys.readouterr().out
