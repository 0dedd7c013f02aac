"""The columns of Iometer's result files, as 2001 to 2006.07.27 write them, and as 1.1.0 changed them."""

from __future__ import annotations

_RESPONSES = ("Response Time", "Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")
_RAW = ("Read Response Time", "Write Response Time", "Transaction Time", "Connection Time")

COLUMNS: tuple[str, ...] = (
    "Target Type",
    "Target Name",
    "Access Specification Name",
    "# Managers",
    "# Workers",
    "# Disks",
    "IOps",
    "Read IOps",
    "Write IOps",
    "MBps",
    "Read MBps",
    "Write MBps",
    "Transactions per Second",
    "Connections per Second",
    *(f"Average {one}" for one in _RESPONSES),
    *(f"Maximum {one}" for one in _RESPONSES),
    "Errors",
    "Read Errors",
    "Write Errors",
    "Bytes Read",
    "Bytes Written",
    "Read I/Os",
    "Write I/Os",
    "Connections",
    "Transactions per Connection",
    *(f"Total Raw {one}" for one in _RAW),
    *(f"Maximum Raw {one}" for one in _RAW),
    "Total Raw Run Time",
    "Starting Sector",
    "Maximum Size",
    "Queue Depth",
    "% CPU Utilization",
    "% User Time",
    "% Privileged Time",
    "% DPC Time",
    "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second",
    "CPU Effectiveness",
    "Packets/Second",
    "Packet Errors",
    "Segments Retransmitted/Second",
)
"""The 56 columns up to 2006.07.27."""

_PLACES = {name: index for index, name in enumerate(COLUMNS)}


def _span(first: str, last: str) -> frozenset[str]:
    return frozenset(COLUMNS[_PLACES[first] : _PLACES[last] + 1])


_RAW_TIMES = _span("Total Raw Read Response Time", "Total Raw Run Time")
_CPU = _span("% CPU Utilization", "% Interrupt Time")
_NETWORK = _span("CPU Effectiveness", "Segments Retransmitted/Second")
_BELOW_MANAGER = _CPU | _span("Interrupts per Second", "Segments Retransmitted/Second")

EMPTY: dict[str, frozenset[str]] = {
    "ALL": _RAW_TIMES | {"Processor Speed"},
    "MANAGER": frozenset({"# Managers"}),
    "PROCESSOR": _span("Access Specification Name", "Queue Depth") | _NETWORK,
    "WORKER": _BELOW_MANAGER | {"# Managers", "# Workers"},
    "DISK": _BELOW_MANAGER | _span("Access Specification Name", "# Disks"),
}
"""Columns that Iometer leaves empty in the rows of a kind."""

WHOLE = (
    _span("# Managers", "# Disks")
    | _span("Errors", "Queue Depth")
    | {"Target Type", "Target Name", "Access Specification Name", "Processor Speed", "Packet Errors"}
)
"""Columns of whole numbers and texts; all others have six decimals."""

KINDS = ("ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK", "NETWORK")
"""Of rows, in the order of a file."""

MEBIBYTES = ("MBps", "MBps (Binary)", "MiBps (Binary)")
"""What the releases call the rate in 2^20 bytes per second, with ``Read`` or ``Write`` before it for one direction."""
