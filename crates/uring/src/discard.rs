//! Trims of a block device or file: as a command of the ring, or where the kernel has none (before Linux 6.12) by the discard
//! call on a thread of its own, one at a time.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Sender, channel};

use assay_core::contract::Io;
use io_uring::types::{Fd, Fixed};
use io_uring::{opcode, squeue};

/// `BLOCK_URING_CMD_DISCARD` of `linux/blkdev.h`, `_IO(0x12, 0)`.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
/// `BLKDISCARD` of `linux/fs.h`, `_IO(0x12, 119)`.
const BLKDISCARD: libc::c_ulong = 0x1277;

/// How trims reach the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimWay {
    /// The block layer's discard command, over the ring.
    Ring,
    /// Holes punched into a file, over the ring.
    Hole,
    /// The discard call, on a thread of its own.
    Thread,
    /// The drive's own command, over its character device.
    Command,
    /// The discard call in the worker's own thread.
    Call,
}

impl TrimWay {
    /// What reports say.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "discard command over the ring",
            Self::Hole => "holes punched into the file, over the ring",
            Self::Thread => "discard call on a thread of its own, one at a time",
            Self::Command => "NVMe Dataset Management commands",
            Self::Call => "discard call in the stimulus thread",
        }
    }
}

/// The trims of one ring.
pub(crate) struct Discards {
    way: TrimWay,
    thread: Option<DiscardThread>,
}

impl Discards {
    pub(crate) fn new(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let owned = descriptor.try_clone_to_owned()?;
        let file = File::from(owned);
        let way = if !file.metadata()?.file_type().is_block_device() {
            TrimWay::Hole
        } else if kernel_discards() {
            TrimWay::Ring
        } else {
            TrimWay::Thread
        };
        Ok(Self { way, thread: None })
    }

    #[cfg(test)]
    pub(crate) fn force(&mut self, way: TrimWay) {
        self.way = way;
    }

    pub(crate) fn way(&self) -> TrimWay {
        self.way
    }

    /// The entry whose completion ends a trim.
    pub(crate) fn entry(&mut self, descriptor: RawFd, slot_count: u32, io: &Io) -> io::Result<squeue::Entry> {
        Ok(match self.way {
            TrimWay::Hole => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                opcode::Fallocate::new(Fixed(0), io.length.0).offset(io.offset.0).mode(mode).build()
            }
            TrimWay::Thread => {
                if self.thread.is_none() {
                    self.thread = Some(DiscardThread::new(descriptor, slot_count)?);
                }
                self.thread.as_mut().expect("just made").entry(io)
            }
            _ => ring_command(io),
        })
    }

    /// What a trim that the ring has ended came to, where its entry does not say.
    pub(crate) fn outcome(&self, slot: u32, result: i32) -> i32 {
        match &self.thread {
            Some(thread) if result >= 0 => thread.results[slot as usize].load(Ordering::Acquire),
            _ => result,
        }
    }
}

/// The command takes its start where an entry has its address, and its length behind that.
fn ring_command(io: &Io) -> squeue::Entry {
    let mut command = [0; 16];
    command[..8].copy_from_slice(&io.length.0.to_ne_bytes());
    let mut entry = opcode::UringCmd16::new(Fixed(0), BLOCK_URING_CMD_DISCARD).cmd(command).build();
    const { assert!(size_of::<squeue::Entry>() == 64) };
    // SAFETY: an entry is plain data of 64 bytes, of which bytes 16 to 23 are the address.
    unsafe { (&raw mut entry).cast::<u64>().add(2).write_unaligned(io.offset.0) };
    entry
}

/// Whether the kernel is Linux 6.12 or later.
fn kernel_discards() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release_is_at_least(&release, (6, 12))
}

fn release_is_at_least(release: &str, least: (u32, u32)) -> bool {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= least
}

/// Makes the discard call for one trim after the other; each ends in the ring by a read of an event counter.
struct DiscardThread {
    jobs: Sender<(u32, [u64; 2])>,
    results: Arc<[AtomicI32]>,
    events: Arc<[OwnedFd]>,
    counts: Box<[u64]>,
}

impl DiscardThread {
    fn new(descriptor: RawFd, slot_count: u32) -> io::Result<Self> {
        // SAFETY: the worker's descriptor is open for as long as its queue.
        let drive = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()?;
        let events: Arc<[OwnedFd]> = (0..slot_count).map(|_| event()).collect::<io::Result<_>>()?;
        let results: Arc<[AtomicI32]> = (0..slot_count).map(|_| AtomicI32::new(0)).collect();
        let (jobs, queue) = channel::<(u32, [u64; 2])>();
        let (ended, told) = (Arc::clone(&results), Arc::clone(&events));
        let body = move || {
            for (slot, range) in queue {
                ended[slot as usize].store(discard(drive.as_raw_fd(), range), Ordering::Release);
                tell(&told[slot as usize]);
            }
        };
        std::thread::Builder::new().name("discard".to_owned()).spawn(body)?;
        Ok(Self { jobs, results, events, counts: vec![0; slot_count as usize].into() })
    }

    fn entry(&mut self, io: &Io) -> squeue::Entry {
        let slot = io.slot as usize;
        // A thread that is gone leaves the trim outstanding, which the time limit of an I/O ends.
        let _ = self.jobs.send((io.slot, [io.offset.0, io.length.0]));
        let count = (&raw mut self.counts[slot]).cast();
        opcode::Read::new(Fd(self.events[slot].as_raw_fd()), count, 8).build()
    }
}

fn event() -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers and touches no memory of ours.
    let number = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn tell(event: &OwnedFd) {
    let one = 1_u64;
    // SAFETY: eight bytes are read from a number that lives as long as the call.
    let _ = unsafe { libc::write(event.as_raw_fd(), (&raw const one).cast(), 8) };
}

/// Zero, or the negative error as entries of a ring have it.
pub(crate) fn discard(descriptor: RawFd, range: [u64; 2]) -> i32 {
    // SAFETY: the call reads two numbers that live as long as it does.
    let made = unsafe { libc::ioctl(descriptor, BLKDISCARD, range.as_ptr()) };
    if made == 0 { 0 } else { -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_compared_by_its_first_two_numbers() {
        assert!(release_is_at_least("6.12.0-1-amd64\n", (6, 12)));
        assert!(release_is_at_least("7.0-rc1", (6, 12)));
        assert!(!release_is_at_least("6.1.0-28-amd64", (6, 12)));
        assert!(!release_is_at_least("", (6, 12)));
    }
}
