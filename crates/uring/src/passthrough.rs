//! `NVMe` commands over a ring, past the block layer.
//!
//! The descriptor is a namespace's generic character device. Its I/Os are neither split, merged, scheduled, retried nor
//! counted by the kernel: what is submitted is the command that the drive gets. Layout and numbers: Linux
//! `include/uapi/linux/nvme_ioctl.h`; statuses: NVM Express Base Specification, "Status Field".

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use assay_core::contract::{Bytes, Completion, Direction, Errno, Io, Nanos};
use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};

use crate::buffers::Buffers;
use crate::clock;
use crate::path::Path;
use crate::ring::Ring;

/// `_IO('N', 0x40)`: the number of the namespace.
const NVME_IOCTL_ID: libc::c_ulong = 0x4e40;
/// `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;
const NVME_WRITE: u8 = 1;
const NVME_READ: u8 = 2;
const NVME_FLUSH: u8 = 0;
const NVME_DATASET_MANAGEMENT: u8 = 9;
/// Of a Dataset Management command: its ranges are no longer needed.
const DEALLOCATE: u32 = 1 << 2;
/// Context attributes, blocks and first block of one range.
const RANGE_BYTES: u32 = 16;
/// Blocks of one command, whose count has 16 bits.
const BLOCK_COUNT_MAX: u64 = 1 << 16;
/// Bytes of a command in an entry of the ring.
const COMMAND_BYTES: usize = 80;

/// `struct nvme_uring_cmd`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved_1: u16,
    namespace: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    dwords_10_15: [u32; 6],
    timeout_ms: u32,
    reserved_2: u32,
}

const _: () = assert!(size_of::<Command>() == 72, "as the number of the command says");

/// The `NVMe` commands of one thread.
///
/// Buffers are mapped per command: kernels 6.4 to 6.11 refuse registered huge pages here.
pub(crate) struct PassthroughQueue {
    // Declared first, so that the ring is closed before its buffers go.
    ring: Ring<squeue::Entry128, cqueue::Entry32>,
    pub(crate) buffers: Buffers,
    namespace: u32,
    logical_block: Bytes,
    /// Of the command in each slot: a completion tells its status only.
    lengths: Vec<Bytes>,
    in_flight: u32,
}

impl PassthroughQueue {
    pub(crate) fn new(
        descriptor: BorrowedFd<'_>,
        logical_block: Bytes,
        slot_count: u32,
        buffers: Buffers,
    ) -> io::Result<Self> {
        let namespace = namespace(descriptor)?;
        let ring = Ring::new(slot_count, Path::Passthrough)?;
        ring.register_file(descriptor)?;
        let lengths = vec![Bytes(0); slot_count as usize];
        Ok(Self { ring, buffers, namespace, logical_block, lengths, in_flight: 0 })
    }

    /// The kernel runs completions only when this thread asks (since Linux 6.1).
    pub(crate) fn deferred_completions(&self) -> bool {
        self.ring.deferred_completions
    }

    #[inline]
    pub(crate) fn submit(&mut self, io: &Io) {
        self.buffers.complete(io);
        let address = self.buffers.pointer(io) as u64;
        if io.direction == Direction::Trim {
            self.name_range(io);
        }
        let command = command(io, self.namespace, self.logical_block, address);
        let entry = opcode::UringCmd80::new(Fixed(0), NVME_URING_CMD_IO).cmd(raw(command)).build();
        self.lengths[io.slot as usize] = io.length;
        self.in_flight += 1;
        // SAFETY: the command's buffer lies in `buffers`, belongs to this slot until it completes, and is long enough.
        unsafe { self.ring.push(&entry.user_data(u64::from(io.slot))) };
    }

    /// The range that a trim names, in the memory of its slot.
    fn name_range(&self, io: &Io) {
        let mut range = [0_u8; RANGE_BYTES as usize];
        range[4..8].copy_from_slice(&((io.length.0 / self.logical_block.0) as u32).to_le_bytes());
        range[8..].copy_from_slice(&(io.offset.0 / self.logical_block.0).to_le_bytes());
        // SAFETY: the slot's memory is at least one logical block long and nobody else's until the command is complete.
        unsafe { self.buffers.pointer(io).copy_from_nonoverlapping(range.as_ptr(), range.len()) };
    }

    #[inline]
    pub(crate) fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> io::Result<()> {
        if self.in_flight == 0 {
            clock::sleep_until(deadline);
            return Ok(());
        }
        self.ring.wait(deadline)?;
        let before = completions.len();
        for entry in self.ring.completions() {
            let slot = entry.user_data() as u32;
            let result = outcome(entry.result(), self.lengths[slot as usize]);
            completions.push(Completion { slot, at: clock::monotonic(), result });
        }
        self.in_flight -= (completions.len() - before) as u32;
        Ok(())
    }
}

fn namespace(descriptor: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: the request takes no argument and touches no memory of ours.
    let number = unsafe { libc::ioctl(descriptor.as_raw_fd(), NVME_IOCTL_ID) };
    if number > 0 { Ok(number.cast_unsigned()) } else { Err(io::Error::last_os_error()) }
}

fn command(io: &Io, namespace: u32, logical_block: Bytes, address: u64) -> Command {
    let base = Command { namespace, ..Command::default() };
    let (start, blocks) = (io.offset.0 / logical_block.0, io.length.0 / logical_block.0);
    let opcode = match io.direction {
        Direction::Read => NVME_READ,
        Direction::Write => NVME_WRITE,
        Direction::Flush => return Command { opcode: NVME_FLUSH, ..base },
        Direction::Trim => {
            let dwords_10_15 = [0, DEALLOCATE, 0, 0, 0, 0];
            return Command { opcode: NVME_DATASET_MANAGEMENT, address, data_bytes: RANGE_BYTES, dwords_10_15, ..base };
        }
    };
    assert!((1..=BLOCK_COUNT_MAX).contains(&blocks), "the gate lets no larger transfer through");
    Command {
        opcode,
        address,
        data_bytes: io.length.0 as u32,
        dwords_10_15: [start as u32, (start >> 32) as u32, (blocks - 1) as u32, 0, 0, 0],
        ..base
    }
}

fn raw(command: Command) -> [u8; COMMAND_BYTES] {
    let mut bytes = [0; COMMAND_BYTES];
    // SAFETY: the command is plain data without padding and shorter than what it is copied to, whose start is its own.
    unsafe { bytes.as_mut_ptr().cast::<Command>().write_unaligned(command) };
    bytes
}

/// A command moves all or nothing. Its result is the kernel's error where negative, else the drive's status.
fn outcome(result: i32, length: Bytes) -> Result<Bytes, Errno> {
    match result {
        0 => Ok(length),
        ..0 => Err(Errno(-result)),
        status => Err(status_errno(status)),
    }
}

/// The error that the block layer makes of the same status, so that a drive fails alike on every path.
///
/// Status code type in bits 8 to 10, status code in bits 0 to 7; above them are hints on retrying.
fn status_errno(status: i32) -> Errno {
    Errno(match status & 0x7ff {
        // Capacity exceeded.
        0x081 => libc::ENOSPC,
        // Range of blocks; interrupted; namespace not ready.
        0x080 | 0x021 | 0x082 => libc::EREMOTEIO,
        // Media: write fault, unrecovered read, access denied, unwritten block; a range that is read-only.
        0x280 | 0x281 | 0x286 | 0x287 | 0x182 => libc::ENODATA,
        // Protection information: guard, application tag, reference tag; or it is invalid.
        0x282..=0x284 | 0x181 => libc::EILSEQ,
        // Reservation conflict.
        0x083 => libc::EBADE,
        _ => libc::EIO,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_blocks_as_the_specification_says() {
        let io = Io {
            slot: 0,
            direction: Direction::Write,
            offset: Bytes(0x1_2345_6789 * 512),
            length: Bytes(8 * 512),
            data_index: 0,
        };
        let bytes = raw(command(&io, 7, Bytes(512), 0x1000));
        assert_eq!(bytes[0], NVME_WRITE);
        assert_eq!(bytes[4..8], 7_u32.to_le_bytes());
        assert_eq!(bytes[24..32], 0x1000_u64.to_le_bytes());
        assert_eq!(bytes[36..40], 4096_u32.to_le_bytes());
        // The count of blocks begins at zero.
        assert_eq!(bytes[40..52], [0x89, 0x67, 0x45, 0x23, 1, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(bytes[52..], [0; 28]);
        let large = Io { direction: Direction::Read, offset: Bytes(4096 * 3), length: Bytes(4096), ..io };
        assert_eq!(raw(command(&large, 7, Bytes(4096), 0))[40..52], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_media_error_is_told_from_others_and_hints_on_retrying_are_left_aside() {
        let length = Bytes(4096);
        assert_eq!(outcome(0, length), Ok(length));
        assert_eq!(outcome(-libc::ENODEV, length), Err(Errno(libc::ENODEV)));
        // Unrecovered read error with "more" and "do not retry", as QEMU and drives answer.
        assert_eq!(outcome(0x6281, length), Err(Errno(libc::ENODATA)));
        assert_eq!(outcome(0x4080, length), Err(Errno(libc::EREMOTEIO)));
        assert_eq!(outcome(0x0006, length), Err(Errno(libc::EIO)));
    }

    #[test]
    fn a_descriptor_that_is_no_namespace_is_an_error() {
        let file = std::fs::File::open("/dev/null").expect("every system has it");
        let error = namespace(std::os::fd::AsFd::as_fd(&file)).expect_err("no namespace");
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }
}
