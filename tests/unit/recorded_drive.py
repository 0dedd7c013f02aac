"""A drive that exists on paper only: a script of commands and replies in the layouts of the standards."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from assay.dut.real.ata import command
from assay.dut.real.purge import PurgeWatch
from assay.dut.real.transport import NvmeCommand, NvmeReply, ScsiCommand, ScsiReply

Sent = NvmeCommand | ScsiCommand
Reply = NvmeReply | ScsiReply
PATH = "/dev/recorded"
ATA_IDENTIFY = command(0xEC, data_bytes=512)


class Recorded:
    """Plays a script; a command that differs from it in one byte, or comes too early or late, fails the test."""

    def __init__(self, *script: tuple[Sent, Reply]) -> None:
        self._script = list(script)

    def namespace(self) -> int:
        """Number of the held namespace."""
        return 1

    def nvme_admin(self, command: NvmeCommand) -> NvmeReply:
        """Answer an NVMe command."""
        reply = self._next(command, (command.opcode, command.namespace, command.words, command.data_bytes))
        assert isinstance(reply, NvmeReply)
        return reply

    def scsi(self, command: ScsiCommand) -> ScsiReply:
        """Answer a SCSI command."""
        reply = self._next(command, (command.cdb.hex(" "), command.data, command.data_bytes))
        assert isinstance(reply, ScsiReply)
        return reply

    def _next(self, sent: Sent, shown: object) -> Reply:
        assert self._script, f"{shown} was sent after the end of the script"
        expected, reply = self._script.pop(0)
        wanted: object
        if isinstance(expected, NvmeCommand):
            wanted = (expected.opcode, expected.namespace, expected.words, expected.data_bytes)
        else:
            wanted = (expected.cdb.hex(" "), expected.data, expected.data_bytes)
        assert shown == wanted
        assert sent.limit_s > 0
        return reply

    def assert_played(self) -> None:
        """Nothing of the script is left."""
        assert self._script == []


@dataclass
class Watched:
    """Who watched a purge, and what was seen.

    pace_s : that pass from look to look; None for as many as are waited.
    """

    pace_s: float | None = 1.0
    seen: list[float | None] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    now: float = 0.0

    def watch(self) -> PurgeWatch:
        """The same as who watches."""
        return PurgeWatch(
            show=lambda done, _: self.seen.append(done),
            keep=self.kept.append,
            clock=lambda: self.now,
            pause=self._pass,
        )

    def _pass(self, waited_s: float) -> None:
        self.now += waited_s if self.pace_s is None else self.pace_s


def identify(structure: int, namespace: int = 0) -> NvmeCommand:
    return NvmeCommand(opcode=0x06, namespace=namespace, words=(structure,), data_bytes=4096)


def controller_data(*, commands: int = 0, format_options: int = 0, sanitizes: int = 0, cache: int = 0) -> NvmeReply:
    """Identify Controller: OACS at 256, FNA at 524, VWC at 525, SANICAP at 328."""
    data = bytearray(4096)
    struct.pack_into("<H", data, 256, commands)
    struct.pack_into("<BB", data, 524, format_options, cache)
    struct.pack_into("<I", data, 328, sanitizes)
    return NvmeReply(data=bytes(data))


def namespace_data(*, in_use: int = 0, protection: int = 0) -> NvmeReply:
    """Identify Namespace: FLBAS at 26, DPS at 29."""
    data = bytearray(4096)
    data[26], data[29] = in_use, protection
    return NvmeReply(data=bytes(data))


def namespace_list(*numbers: int) -> NvmeReply:
    return NvmeReply(data=struct.pack(f"<{len(numbers)}I", *numbers).ljust(4096, b"\0"))


SANITIZE_LOG = NvmeCommand(opcode=0x02, namespace=0xFFFFFFFF, words=(0x81 | 127 << 16,), data_bytes=512)
REFUSED = NvmeReply(status=0x4002)


def sanitize_status(status: int, progress: int = 0xFFFF, word: int = 0, estimate_s: int = 10) -> NvmeReply:
    """Sanitize Status log: SPROG, SSTAT, SCDW10, and estimates for overwrite, block erase and crypto erase."""
    data = struct.pack("<HHIIII", progress, status, word, estimate_s, estimate_s, estimate_s)
    return NvmeReply(data=data.ljust(512, b"\0"))


def ata_identity(*, security: int = 0, times: tuple[int, int] = (10, 20), sanitizes: int = 0) -> ScsiReply:
    """IDENTIFY DEVICE: words 59, 89, 90 and 128."""
    words = [0] * 256
    words[0], words[59], words[89], words[90], words[128] = 0x0040, sanitizes, *times, security
    return ScsiReply(data=struct.pack("<256H", *words))


def ata_registers(*, count: int = 0, lba: int = 0, status: int = 0x50) -> ScsiReply:
    """Descriptor sense data with the ATA Status Return descriptor, extended."""
    low = lba.to_bytes(6, "little")
    descriptor = [0x09, 0x0C, 1, 0, *count.to_bytes(2), low[3], low[0], low[4], low[1], low[5], low[2], 0x40, status]
    return ScsiReply(status=2, sense=bytes([0x72, 0x01, 0x00, 0x1D, 0, 0, 0, 14, *descriptor]))


REQUEST_SENSE = ScsiCommand(cdb=bytes.fromhex("03000000fc00"), data_bytes=252)


def scsi_sense(key: int = 0, code: int = 0, progress: int | None = None) -> bytes:
    """Fixed sense data, with the progress of a background operation in its sense-key specific field."""
    data = bytearray(252)
    data[0], data[2], data[7], data[12], data[13] = 0x70, key, 10, code >> 8, code & 0xFF
    if progress is not None:
        data[15] = 0x80
        data[16:18] = progress.to_bytes(2)
    return bytes(data)
