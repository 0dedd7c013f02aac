"""Iometer's configuration files: read whole, in all versions, written again, and refused with line and section.

``icf/oem-guide-2006.07.27.icf`` is the example script of the OEM guide AN0006, tables 3-1 and 3-2, with its misprints
corrected: tabs, commas and apostrophes that the table has lost; ``'Target assignments`` without its first letters; the
header of the second specification, whose name is that of table 3-1 and whose row is by analogy
131072,100,0,0,0,1,4096,0; underscores in ``4k_ran_100wr``; and the lists of assigned specifications and of targets,
which are printed empty, so that nothing would run. The other files are written by hand from the grammar, one or more
for each version.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from assay.errors import PlanError, UsageError
from assay.workloads.iometer import read_icf, to_workload, write_icf
from assay.workloads.iometer.model import AccessRow, AccessSpec, IcfFile, Setup, Version, spec_name
from assay.workloads.iometer.read import parse_icf

FOLDER = Path(__file__).parents[1] / "icf"
FILES = sorted(FOLDER.glob("*.icf"))
OEM = FOLDER / "oem-guide-2006.07.27.icf"
IN_2006 = {one.name for one in FILES} - {"general-1.1.0.icf", "seeds-1.1.0-rc1.icf", "large-2008.06.22-rc2.icf"}


def lines_of(path: Path = OEM) -> list[str]:
    return path.read_bytes().decode("cp1252").split("\r\n")


def read(lines: list[str]) -> IcfFile:
    return parse_icf("\n".join(lines).encode(), "x.icf")


def changed(old: str, new: str, path: Path = OEM) -> list[str]:
    """The lines with the first that holds a text changed."""
    lines = lines_of(path)
    place = next(number for number, line in enumerate(lines) if old in line)
    return [*lines[:place], *lines[place].replace(old, new).split("\n"), *lines[place + 1 :]]


def refused(lines: list[str]) -> str:
    with pytest.raises(PlanError) as caught:
        read(lines)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_there_are_twelve_files_and_more_of_as_many_versions() -> None:
    versions = {read_icf(path).version for path in FILES}
    assert len(FILES) >= 12
    assert len({one.text if one else None for one in versions}) >= 9


def test_the_script_of_the_oem_guide_says_what_its_tables_say() -> None:
    icf = read_icf(OEM)
    assert icf.setup == Setup(description="Viking DVT Performance Test", run_time=(0, 0, 30), ramp_up_s=10)
    rows = [(spec.name, spec.rows[0].size_bytes, spec.rows[0].read_percent) for spec in icf.specs]
    assert rows == [
        ("128k_seq_100rd", 131072, 100),
        ("128k_seq_100wr", 131072, 0),
        ("4k_ran_100rd", 4096, 100),
        ("4k_ran_100wr", 4096, 0),
    ]
    assert {spec.rows[0].align_bytes for spec in icf.specs} == {4096}
    assert icf.managers is not None
    assert icf.managers[0].workers[0].settings.outstanding == 32
    assert icf.display is not None
    assert len(icf.display.texts) == 38
    assert icf.notes == ()


def test_as_printed_the_script_of_the_guide_assigns_nothing_and_that_is_said() -> None:
    assigned = {f"\t{spec.name}" for spec in read_icf(OEM).specs}
    with pytest.raises(PlanError, match=r"x.icf:\d+ MANAGER LIST.*nothing would run.*'Assigned access specs"):
        to_workload(read([line for line in lines_of() if line not in assigned]), cpu_count=4)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_that_is_written_in_1_1_0_says_the_same_and_has_the_ends_of_windows(path: Path) -> None:
    icf = read_icf(path)
    raw = write_icf(icf, "1.1.0")
    again = parse_icf(raw, "again")
    assert raw.count(b"\n") == raw.count(b"\r\n")
    assert raw.startswith(b"Version 1.1.0 \r\n")
    assert (again.setup, again.specs) == (icf.setup, icf.specs)
    assert write_icf(again, "1.1.0") == raw


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_written_in_2006_where_that_form_has_a_place_for_it(path: Path) -> None:
    icf = read_icf(path)
    if path.name in IN_2006:
        again = parse_icf(write_icf(icf, "2006.07.27"), "again")
        assert (again.setup, again.specs, again.managers) == (icf.setup, icf.specs, icf.managers)
    else:
        with pytest.raises(UsageError, match=r"2006\.07\.27 does not know|32 bits"):
            write_icf(icf, "2006.07.27")


def test_a_file_of_2006_is_written_as_it_is() -> None:
    assert write_icf(read_icf(OEM), "2006.07.27") == OEM.read_bytes()


def test_old_files_have_numbers_for_words() -> None:
    setup = read_icf(FOLDER / "numbers-2001.07.19.icf").setup
    assert setup is not None
    assert (setup.test_type, setup.record, setup.disk_workers) == ("CYCLE_OUTSTANDING_IOS", "NO_WORKERS", 2)
    assert (setup.worker_cycling.kind, setup.queue_cycling.kind) == ("EXPONENTIAL", "LINEAR")


def test_files_before_names_end_a_specification_at_100_per_cent() -> None:
    specs = read_icf(FOLDER / "unnamed-1998.02.03.icf").specs
    assert [(spec.name, spec.assignment, len(spec.rows)) for spec in specs] == [
        ("2 KiB random 67% reads", "ALL", 1),
        ("512 B sequential 100% reads and 1 more", "ALL", 2),
    ]


def test_a_file_of_1_1_0_has_seed_and_pattern() -> None:
    managers = read_icf(FOLDER / "seeds-1.1.0-rc1.icf").managers
    assert managers is not None
    first, second = (one.settings for one in managers[0].workers)
    assert (first.fixed_seed, first.data_pattern) == (2**64 - 1, 1)
    assert (second.fixed_seed, second.data_pattern) == (None, 2)


def test_texts_are_in_the_code_of_windows_or_in_utf_8_with_or_without_its_mark() -> None:
    for raw in ("Gerät", "\ufeffGerät"):
        lines = changed("Viking DVT Performance Test", "Gerät")
        text = "\n".join(lines)
        found = [
            parse_icf(text.encode("cp1252"), "x"),
            parse_icf(("\ufeff" * raw.startswith("\ufeff") + text).encode(), "x"),
        ]
        assert [one.setup.description for one in found if one.setup] == ["Gerät", "Gerät"]


@pytest.mark.parametrize(
    ("first", "numbers"),
    [
        ("Version 2006.07.27 ", (2006, 7, 27)),
        ("'Version 2004.07.30", (2004, 7, 30)),
        ("version 1.1.0-RC1", (1, 1, 0)),
        ("2003.12.16", (2003, 12, 16)),
    ],
)
def test_a_version_has_an_apostrophe_a_suffix_or_neither(first: str, numbers: tuple[int, int, int]) -> None:
    version = read([first, *lines_of()[1:-2]]).version
    assert version is not None
    assert version.numbers == numbers


def test_a_version_by_numbers_is_newer_than_every_date() -> None:
    dated, later, numbered = (
        Version("2006.07.27", (2006, 7, 27)),
        Version("2008", (2008, 6, 22)),
        Version("", (1, 1, 0)),
    )
    assert dated.is_before(later.numbers)
    assert not later.is_before(dated.numbers)
    assert not numbered.is_before(later.numbers)


@pytest.mark.parametrize(
    ("text", "name"), [("a, b", "a"), ("a|b", "a"), ("größe", "gr"), (" 4 KiB; 100% Read ", "4 KiB; 100% Read")]
)
def test_the_name_of_a_specification_ends_where_iometer_ends_it(text: str, name: str) -> None:
    assert spec_name(text) == name


FAULTS = [
    ("'Test Type", "'Tset Type", "x.icf:25 TEST SETUP", "'Test Type"),
    ("'Test Type", " 'Test Type", "no apostrophe stands in the first column", "expected"),
    ("NORMAL", "SOMETIMES", "x.icf:26 TEST SETUP", "CYCLE_TARGETS"),
    ("NORMAL", "NORMAL\n", "x.icf:27 TEST SETUP", "is blank"),
    ("\t0          0          30", "\t0          30", "x.icf:7 TEST SETUP", "hours minutes seconds"),
    ("\t0          0          30", "\t0          0          -30", 'seconds is "-30"', "a whole number from 0"),
    ("\t10", "\tten", "x.icf:9 TEST SETUP", "a whole number"),
    ("'END test setup", "'Record Results\n\tALL\n'END test setup", "'Record Results is there twice", "each key once"),
    ("128k_seq_100rd,ALL", "128k_seq_100rd", "has no default assignment", "name,NONE|ALL|DISK|NET"),
    ("128k_seq_100rd,ALL", "128k_seq_100rd,SOME", 'the default assignment is "SOME"', "NONE, ALL, DISK, NET"),
    ("128k_seq_100rd,ALL", "idle,ALL", "built in", "another name"),
    ("131072,100,100,0,0,1,4096,0", "131072,100,100,0,0,1,4096", "has 7 values where there should be 8", "size,% of"),
    ("131072,100,100,0,0,1,4096,0", "131072,99,100,0,0,1,4096,0", "sum to 99", "a sum of 100"),
    ("131072,100,100,0,0,1,4096,0", "131072,101,100,0,0,1,4096,0", '% of size is "101"', "from 0 to 100"),
    ("131072,100,100,0,0,1,4096,0", "128K,100,100,0,0,1,4096,0", 'size is "128K"', "a whole number"),
    ("131072,100,100,0,0,1,4096,0", "131072,100,100,0,0,1,4294967296,0", 'align is "4294967296"', "2147483647"),
    ("32,DISABLED,1", "32,DISABLED", "MANAGER LIST: has 2 values", "test connection rate"),
    ("32,DISABLED,1", "32,MAYBE,1", 'test connection rate is "MAYBE"', "ENABLED, DISABLED"),
    ("\tDISK", "\tTAPE", 'the type is "TAPE"', "NETWORK,TCP"),
    ("'End worker", "'End", "MANAGER LIST", "'End worker"),
    ("'MANAGER LIST", "'ACCESS SPECIFICATIONS", "a second section", "each section once"),
    ("'RESULTS DISPLAY", "'RESULTS", "x.icf:28:", "'TEST SETUP or 'RESULTS DISPLAY"),
    ("Version 2006.07.27", "Version new", "x.icf:1:", "Version 2006.07.27"),
]


@pytest.mark.parametrize(("old", "new", "where", "expected"), FAULTS)
def test_a_fault_names_line_section_and_what_is_expected(old: str, new: str, where: str, expected: str) -> None:
    said = refused(changed(old, new))
    assert where in said
    assert expected in said


@pytest.mark.parametrize("count", range(1, 110, 9))
def test_a_file_that_ends_inside_a_section_is_refused(count: int) -> None:
    lines = lines_of()[:count]
    ends = {"'END test setup", "'END results display", "'END access specifications", "'END manager list"}
    if count > 1 and lines[-1] not in ends:
        assert "the file ends here" in refused(lines)


def test_hostile_files_are_refused_soon_and_clearly() -> None:
    rows = ["\t512,1,0,0,0,1,0,0"] * 101
    spec = [
        "'Access specification name,default assignment",
        "\tx,ALL",
        "'size,% of size,% reads,% random,delay,burst,align,reply",
    ]
    for content, said in (
        (b"\0" * 100, "holds a zero byte"),
        ("Version 2006.07.27".encode("utf-16"), "is UTF-16 text"),
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (bytes(range(1, 256)) * 100, "expected:"),
        (b"x\n" * 1_000_000, "has more than 200,000 lines"),
        (b"Version 2006.07.27\n" + b"'" * 1_000_000, "is longer than 199 characters"),
        (b"Version 2006.07.27\n'TEST SETUP\n" + b"'Run Time\n" * 190_000, "has no value"),
        (b"Version 2006.07.27\n'TEST SETUP\n'Run Time\n" + b"'caption\n" * 190_000, "the file ends here"),
        ("\n".join(["Version 1.1.0", "'ACCESS SPECIFICATIONS", *spec, *rows]).encode(), "100 lines at most"),
        (b"Version 99999.99999.99999", "none of the sections"),
        (b"Version 1" + b"9" * 5000 + b".1.1", "expected:"),
    ):
        with pytest.raises(PlanError) as caught:
            parse_icf(content, "x.icf")
        assert said in str(caught.value)
        assert len(str(caught.value)) < 500


def test_a_file_is_read_up_to_its_limit_only(tmp_path: Path) -> None:
    path = tmp_path / "large.icf"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(PlanError, match="is larger than 4 MiB"):
        read_icf(path)
    with pytest.raises(PlanError, match="is not a regular file"):
        read_icf(tmp_path)


def test_what_no_file_can_hold_is_not_written() -> None:
    icf = read_icf(OEM)
    row = AccessRow(size_bytes=512, percent=100, read_percent=100, random_percent=0)
    for name in ("a,b", "a|b", "größe", "", "x" * 128, " x", "a\nb", "Idle"):
        with pytest.raises((UsageError, PlanError)):
            write_icf(replace(icf, specs=(AccessSpec(name=name, rows=(row,)),)))
    for description in ("東", "x" * 300, "a\r\nb", " x"):
        with pytest.raises((UsageError, PlanError)):
            write_icf(replace(icf, setup=Setup(description=description)))


def test_a_network_target_names_its_manager_as_iometer_writes_it() -> None:
    icf = read_icf(FOLDER / "network-2003.12.16.icf")
    targets = [target for manager in icf.managers or () for worker in manager.workers for target in worker.targets]
    hosts = [(one.kind, one.manager) for one in targets]
    assert hosts[-2:] == [("NETWORK,TCP", "1,HOST"), ("NETWORK,VI", "1,HOST")]
    assert hosts[0] == ("DISK", None)
    assert write_icf(icf, "1.1.0").count(b"'Target manager ID, manager name\r\n\t1,HOST\r\n'End target\r\n") == 2
