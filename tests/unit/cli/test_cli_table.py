"""Tables on the terminal."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout

import click
import pytest
from assay.cli.table import fits, numeric, print_heading, print_paragraph, print_table

Printed = Callable[[Callable[[], None]], list[str]]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What is printed on a terminal of 20 columns."""
    for name, text in {"COLUMNS": "20", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, text)

    def on_terminal(work: Callable[[], None]) -> list[str]:
        written = io.StringIO()
        written.isatty = lambda: True  # type: ignore[method-assign]
        with redirect_stdout(written):
            work()
        return [line.rstrip() for line in click.unstyle(written.getvalue()).splitlines()]

    return on_terminal


def test_columns_stand_under_their_headers(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("drive", "GB"), [("sim:a", "128")], right={"GB"})
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == ["drive   GB", "sim:a  128"]


def test_a_name_of_a_drive_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("drive",), [("A\x1b[2J",)])
    print_heading("A\x1b[2J")
    print_paragraph("A\x1b[2J", mark="\x1b[2J")
    assert "\x1b" not in capsys.readouterr().out


def test_a_table_without_rows_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("drive", "GB"), [])
    assert capsys.readouterr().out == "drive  GB\n"


def test_what_is_too_wide_comes_in_even_parts_without_a_broken_number(printed: Printed) -> None:
    headers, rows = ("KiB", "a", "b", "c"), [("4", *("12,345.6",) * 3)]
    assert printed(lambda: print_table(headers, rows, right=set(headers))) == [
        "KiB         a", "  4  12,345.6", "",
        "KiB         b", "  4  12,345.6", "",
        "KiB         c", "  4  12,345.6",
    ]  # fmt: skip


def test_columns_are_spread_evenly_over_the_parts(printed: Printed) -> None:
    def work() -> None:
        assert not fits(headers, rows)
        print_table(headers, rows)

    headers, rows = ("KiB", "a", "b", "c", "d"), [("4", *("1,234",) * 4)]
    assert [line for line in printed(work) if "KiB" in line] == ["KiB  a      b", "KiB  c      d"]


def test_columns_that_name_a_row_are_in_every_part(printed: Printed) -> None:
    shown = printed(lambda: print_table(("test", "of", "a", "b"), [("iops", "R", "1,234,567", "x")], key=2))
    assert shown == ["test  of  a", "iops  R   1,234,567", "", "test  of  b", "iops  R   x"]


def test_a_share_keeps_its_sign_and_words_stay_whole(printed: Printed) -> None:
    assert printed(lambda: print_paragraph("at most of the cells 4.8 %.")) == ["at most of the cells", "4.8 %."]
    shown = printed(lambda: print_table(("what", "share"), [("some words here", "4.8 %")]))
    assert shown == ["what           share", "some words     4.8 %", "here"]


def test_an_overlong_word_is_broken_and_a_wide_letter_takes_two_columns(printed: Printed) -> None:
    shown = printed(lambda: print_table(("path",), [("/dev/disk/by-id/a-very-long-name",)]))
    assert [len(line) <= 20 for line in shown] == [True] * 3
    assert printed(lambda: print_table(("name",), [("\u6771" * 15,)]))[1:] == ["\u6771" * 10, "\u6771" * 5]


@pytest.mark.parametrize(
    ("cells", "is_numeric"),
    [(("1,579.8 %", "N/A"), True), (("-0.5", "n/a", ""), True), (("1-5",), False), (("4 KiB",), False)],
)
def test_a_column_of_numbers_is_known(cells: tuple[str, ...], is_numeric: bool) -> None:
    assert numeric(("a",), [(cell,) for cell in cells]) == ({"a"} if is_numeric else set())
