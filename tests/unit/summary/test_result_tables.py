"""Tables of numbers: columns as data, views, and what CSV files and ``results.json`` have of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from assay.procedures.custom import DataTable
from assay.report.formats.data import table_csv
from assay.summary.record import Measure
from assay.summary.table import (
    BLOCK_KIB,
    IOPS,
    Column,
    Words,
    field_columns,
    named,
    percentile_columns,
    printed_table,
    table_of,
    table_of_columns,
)
from assay.words.coded import coded

TWICE = (
    (Column("x", "Number", role="key"), lambda one: one),
    (Column("twice", "Twice", "ms"), lambda one: 2 * one if one else None),
    (Column("text"), str),
)


def test_a_table_has_a_row_for_each_source() -> None:
    table = table_of("t", "Twice", TWICE, (0, 1))
    assert table.rows == ((0, None, "0"), (1, 2, "1"))
    assert table_csv(table) == b"x,twice,text\r\n0,n/a,0\r\n1,2,1\r\n"


def test_what_is_no_number_has_the_words_of_its_format() -> None:
    columns = ((Column("a"), (None, True, False, coded("not-applicable"))),)
    table = table_of_columns("t", "T", columns)
    assert table_csv(table).split() == [b"a", b"n/a", b"yes", b"no", b"N/A"]
    with_words = replace(table, words=Words(none="none", yes="True", no="False"))
    assert table_csv(with_words).split() == [b"a", b"none", b"True", b"False", b"N/A"]


def test_columns_of_unlike_length_are_no_table() -> None:
    with pytest.raises(ValueError, match="shorter"):
        table_of_columns("t", "T", ((IOPS, (1, 2)), (BLOCK_KIB, (1,))))


def test_shared_columns_have_titles_and_units_and_others_their_key_in_words() -> None:
    assert [one.heading for one in named(("block_kib", "iops", "art_limit_ms"))] == [
        "Transfer size (KiB)",
        "IOPS",
        "ART limit (ms)",
    ]
    assert [one.key for one in percentile_columns((0.999,))] == ["latency_ms_p99.9"]
    assert [column.key for column, _ in field_columns(Measure)][:2] == ["cell", "key"]


def test_a_table_of_another_package_is_made_as_before() -> None:
    table = DataTable(name="own", columns=("iops", "note"), rows=[(1.5, "n/a"), (None, "")])
    assert table_csv(table) == b"iops,note\r\n1.5,n/a\r\nn/a,\r\n"


def test_a_page_prints_values_by_their_column() -> None:
    columns = (
        (Column("label", "Accesses"), ("a  b", coded("not-applicable"))),
        (Column("count"), (1200, True)),
        (Column("rate", "Mean", "IOPS", page_title="Mean IOPS"), (3147.046, None)),
        (Column("time", "Longest", "ms"), (0.35, 0.00210487)),
        (Column("share", "Drop", printer=lambda share: f"{share * 100:g} %", missing="N/A"), (0.25, None)),
    )
    printed = printed_table(table_of_columns("t", "T", columns), notes=("Why.",))
    assert (printed.caption, printed.notes) == ("T", ("Why.",))
    assert printed.columns == ("Accesses", "count", "Mean IOPS", "Longest (ms)", "Drop")
    assert printed.rows == (("a b", "1,200", "3,147.0", "0.350", "25 %"), ("N/A", "yes", "n/a", "0.00210", "N/A"))
