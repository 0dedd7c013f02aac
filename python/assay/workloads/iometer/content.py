"""What Iometer's writes hold, as content of our streams and back.

| pattern | what Iometer writes | as content |
|---|---|---|
| 0 | one byte repeated through the I/O, another for each | compressible, of which 5 % is stored: the least there is |
| 1 | a buffer of random bytes for each worker, the same for every I/O | repeating, as long as the largest I/O |
| 2 | windows of a buffer of 16 MiB of random bytes | repeating, 16 MiB long |

Releases from 2005 to 2007 have no patterns and write as 1 does. Those to 2004 never fill their buffers, so that nobody
knows what they wrote. Since 2008 a file that says nothing means 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.workload import Content
from assay.workloads.iometer.model import VERSION_2006

if TYPE_CHECKING:
    from assay.spec.workload import Stream
    from assay.workloads.iometer.model import AccessSpec, Version

FULL_BYTES = 16 << 20
LEAST_STORED_PERCENT = 5.0
_SECTOR_BYTES = 512
_POOL_BYTES_MAX = 1 << 30
_FIRST_FILLED, _FIRST_BYTES = (2005, 1, 1), (2008, 1, 1)


def pattern_of(version: Version | None, stated: int | None) -> int | None:
    """The pattern that a worker writes; None where nobody knows. version : of the file. stated : what it says."""
    if stated is not None:
        return stated
    version = version or VERSION_2006
    if not version.is_dated or version.numbers >= _FIRST_BYTES:
        return 0
    return 1 if version.numbers >= _FIRST_FILLED else None


def content_of(version: Version | None, stated: int | None, spec: AccessSpec) -> Content | None:
    """The content of a worker's writes; None, what the plan says of all writes, where nobody knows or nothing is."""
    if all(row.read_percent == 100 for row in spec.rows):  # noqa: PLR2004 - per cent
        return None
    pattern = pattern_of(version, stated)
    if pattern is None:
        return None
    if pattern == 0:
        return Content(kind="compressible", stored_percent=LEAST_STORED_PERCENT)
    return Content(kind="repeating", pool_bytes=FULL_BYTES if pattern > 1 else _buffer_bytes(spec))


def pattern_from(stream: Stream) -> int | None:
    """The pattern that writes a stream's content, None where no pattern does. Random data are nearest to windows."""
    content = stream.data
    if content is None or content.kind == "random":
        return 2
    if content.kind == "compressible" and content.stored_percent == LEAST_STORED_PERCENT:
        return 0
    if content.kind == "repeating":
        largest = max(line.size_bytes for line in stream.lines)
        return {largest: 1, FULL_BYTES: 2}.get(content.pool_bytes or 0)
    return None


def _buffer_bytes(spec: AccessSpec) -> int:
    largest = max(row.size_bytes for row in spec.rows)
    return min(max(largest, _SECTOR_BYTES), _POOL_BYTES_MAX)
