"""What writes hold, without a drive: how far it compresses, and that it follows from origin and number alone."""

import itertools
import zlib
from collections.abc import Iterator

import pyarrow as pa
import pytest
from assay._native import addressed_tags
from assay.engine.records import DataPattern
from assay.engine.stimulus import fill_rate, written_data
from assay.errors import ValueRangeError

ZSTD = pa.Codec("zstd", compression_level=3)
ZSTD_HEADER = 9
"""Magic number and frame header; there is no checksum here."""


def gzip_share(content: bytes) -> float:
    press = zlib.compressobj(1, zlib.DEFLATED, -15)
    return (len(press.compress(content)) + len(press.flush())) / len(content)


def zstd_share(content: bytes) -> float:
    return (len(ZSTD.compress(content)) - ZSTD_HEADER) / len(content)


MASK = (1 << 64) - 1


def splitmix(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & MASK
        yield mixed ^ mixed >> 31


def xoshiro(seed: int) -> Iterator[int]:
    """xoshiro256++ as its authors seed it."""
    a, b, c, d = itertools.islice(splitmix(seed), 4)
    while True:
        mixed = (a + d) & MASK
        yield ((mixed << 23 | mixed >> 41) + a) & MASK
        c, d, kept = c ^ a, d ^ b, b << 17 & MASK
        b, a, c = b ^ c, a ^ d, c ^ kept
        d = (d << 45 | d >> 19) & MASK


def defined(origin: int, number: int, size: int) -> bytes:
    """What a write of random data holds, from the definition at the top of the generator."""
    key = number * 0x9E3779B97F4A7C15 % (1 << 63)
    key ^= key >> 32
    lanes = [word % (1 << 63) ^ key for word in itertools.islice(xoshiro(origin), 32)]
    content = b""
    while len(content) < size:
        lanes = [lane % (1 << 32) * 0xF39CBFD6 + (lane >> 32) for lane in lanes]
        content += b"".join(lane.to_bytes(8, "little") for lane in lanes)
    return content[:size]


@pytest.mark.parametrize("transfer_bytes", [512, 4096, 131_072])
@pytest.mark.parametrize("share", [0.05, 0.06, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
def test_compressible_data_come_to_their_share_in_any_4_kib_and_in_all(share: float, transfer_bytes: int) -> None:
    data = DataPattern(kind="compressible", stored_share=share)
    content = written_data(data, 5, transfer_bytes, 0, (4 << 20) // transfer_bytes)
    for press in (gzip_share, zstd_share):
        assert press(content) == pytest.approx(share, abs=0.02)
        # Any 4 KiB, not only those that begin with a write.
        for place in (*range(0, len(content) - 4096, 131_072), 777, 5000, 100_001):
            assert press(content[place : place + 4096]) == pytest.approx(share, abs=0.02), place


def test_random_data_do_not_compress() -> None:
    content = written_data(DataPattern(), 5, 4096, 0, 4096)
    assert gzip_share(content) >= 1
    assert zstd_share(content) >= 1
    addressed = written_data(DataPattern(kind="addressed"), 5, 4096, 0, 4096)
    assert gzip_share(addressed) >= 1
    assert zstd_share(addressed) >= 1
    stamped = written_data(DataPattern(kind="stamped"), 5, 4096, 0, 4096)
    assert gzip_share(stamped) < 0.1


def test_writes_follow_from_origin_and_number() -> None:
    first = written_data(DataPattern(), 1, 4096, 0, 8)
    # Of other sizes too: a shorter write holds the beginning of the same.
    assert written_data(DataPattern(), 1, 512, 3, 1) == first[3 * 4096 :][:512]
    assert written_data(DataPattern(), 2, 4096, 0, 8) != first
    assert first[:16].hex() == "112390a2348ba469102a1d2eaaa1fa8e"
    assert first[4096:8192] == defined(1, 1, 4096)


def test_addressed_data_name_their_sector_write_thread_and_run() -> None:
    origin, data = 0x5555_0000_0000_0007, DataPattern(kind="addressed")
    content = written_data(data, origin ^ 3 << 48, 1024, 70_000, 2, from_bytes=1 << 40)
    runs = {run for _, _, _, run in filter(None, addressed_tags(content))}
    assert len(runs) == 1
    read = [None if tag is None else (tag[0], tag[1], tag[2] ^ 0x555) for tag in addressed_tags(content)]
    assert read == [((1 << 31) + sector, 70_000 + sector // 2, 3) for sector in range(4)]
    damaged = content[:600] + bytes([content[600] ^ 1]) + content[601:]
    assert [tag is None for tag in addressed_tags(damaged)] == [False, True, False, False]
    assert addressed_tags(bytes(512)) == [None]


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(ValueRangeError, match='data pattern: kind: there is none of the name "rnd"'):
        written_data(DataPattern(kind="rnd"), 1, 4096, 0, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueRangeError, match="choose 1 to"):
        written_data(DataPattern(), 1, 1 << 30, 0, 2)
    with pytest.raises(ValueRangeError, match="transfer_bytes"):
        fill_rate(DataPattern(), 0, 0.1)
