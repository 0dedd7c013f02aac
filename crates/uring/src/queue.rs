//! The I/Os of a worker over a ring.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use assay_core::contract::{Bytes, Completion, Direction, Errno, Io, Nanos};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{cqueue, opcode, squeue};

use crate::buffers::Buffers;
use crate::clock;
use crate::discard::{Discards, TrimWay};
use crate::locked;
use crate::path::Path;
use crate::ring::Ring;

/// A ring with registered file and buffers.
pub(crate) struct RingQueue {
    // Declared first, so that the ring is closed before its buffers go.
    ring: Ring,
    pub(crate) path: Path,
    pub(crate) buffers: Buffers,
    /// Why the buffers are not registered with the kernel, where they are not.
    pub(crate) registration_refused: Option<Errno>,
    in_flight: u32,
    discards: Discards,
    descriptor: RawFd,
    slot_count: u32,
    /// Of the trim or flush in each slot: their completions tell no length.
    lengths: Vec<Bytes>,
}

/// In the number of an entry, beside its slot: it moves nothing.
const COMMANDS: u64 = 1 << 32;

impl RingQueue {
    /// `locked_max` : what its ring and registered buffers may lock; `None` leaves that to the kernel.
    pub(crate) fn new(
        descriptor: BorrowedFd<'_>,
        slot_count: u32,
        buffers: Buffers,
        path: Path,
        locked_max: Option<Bytes>,
    ) -> io::Result<Self> {
        let ring = Ring::new(slot_count, path)?;
        ring.register_file(descriptor)?;
        let locked = Bytes(locked::ring_bytes(slot_count, path).0 + buffers.bytes());
        let registration_refused = if locked_max.is_some_and(|most| locked > most) {
            Some(Errno(libc::ENOMEM))
        } else {
            register_buffers(&ring, &buffers)?
        };
        let (discards, lengths) = (Discards::new(descriptor)?, vec![Bytes(0); slot_count as usize]);
        let descriptor = descriptor.as_raw_fd();
        Ok(Self { ring, path, buffers, registration_refused, in_flight: 0, discards, descriptor, slot_count, lengths })
    }

    /// The kernel runs completions only when this thread asks (since Linux 6.1).
    pub(crate) fn deferred_completions(&self) -> bool {
        self.ring.deferred_completions
    }

    /// How its trims reach the drive.
    pub(crate) fn trim_way(&self) -> TrimWay {
        self.discards.way()
    }

    #[inline]
    pub(crate) fn submit(&mut self, io: &Io) {
        self.buffers.complete(io);
        let commands = matches!(io.direction, Direction::Trim | Direction::Flush);
        let entry = if commands { self.command(io) } else { self.entry(io) };
        self.in_flight += 1;
        // SAFETY: the entry's buffer lies in `buffers`, belongs to this slot until it completes, and is long enough.
        unsafe { self.ring.push(&entry) };
    }

    #[inline]
    pub(crate) fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> io::Result<()> {
        if self.in_flight == 0 {
            clock::sleep_until(deadline);
            return Ok(());
        }
        self.ring.wait(deadline)?;
        let before = completions.len();
        let (discards, lengths) = (&self.discards, &self.lengths);
        for entry in self.ring.completions() {
            completions.push(if entry.user_data() < COMMANDS {
                completion(&entry)
            } else {
                ended(&entry, discards, lengths)
            });
        }
        self.in_flight -= (completions.len() - before) as u32;
        Ok(())
    }

    /// The entry of a trim or flush.
    #[cold]
    fn command(&mut self, io: &Io) -> squeue::Entry {
        self.lengths[io.slot as usize] = io.length;
        let entry = match io.direction {
            Direction::Trim => self.discards.entry(self.descriptor, self.slot_count, io),
            _ => Ok(opcode::Fsync::new(Fixed(0)).flags(FsyncFlags::DATASYNC).build()),
        };
        // Without a thread for it, a trim fails as one that was refused.
        entry.unwrap_or_else(|_| opcode::Fsync::new(Fixed(u32::MAX)).build()).user_data(COMMANDS | u64::from(io.slot))
    }

    #[inline]
    fn entry(&self, io: &Io) -> squeue::Entry {
        let (offset, length) = (io.offset.0, io.length.0 as u32);
        let (pointer, index) = (self.buffers.pointer(io), self.buffers.index(io));
        let entry = match (io.direction == Direction::Write, self.registration_refused.is_none()) {
            (false, true) => opcode::ReadFixed::new(Fixed(0), pointer, length, index).offset(offset).build(),
            (true, true) => opcode::WriteFixed::new(Fixed(0), pointer, length, index).offset(offset).build(),
            (false, false) => opcode::Read::new(Fixed(0), pointer, length).offset(offset).build(),
            (true, false) => opcode::Write::new(Fixed(0), pointer, length).offset(offset).build(),
        };
        entry.user_data(u64::from(io.slot))
    }
}

impl Drop for RingQueue {
    /// The kernel takes a closed ring apart at leisure; until then it would hold the drive, and refuse it to the next.
    fn drop(&mut self) {
        // Some kernels wait here for the I/Os under way, which on a drive that hangs never end.
        if self.in_flight == 0 {
            // What fails is left to the ring's own end.
            let _ = self.ring.submitter().unregister_files();
        }
    }
}

/// Why it was refused, where it was; the I/Os then go unregistered.
fn register_buffers(ring: &Ring, buffers: &Buffers) -> io::Result<Option<Errno>> {
    // SAFETY: the memory lives as long as the ring and is dropped after it.
    match unsafe { ring.submitter().register_buffers(&buffers.vectors()) } {
        Ok(()) => Ok(None),
        Err(error) => match error.raw_os_error() {
            Some(code @ (libc::ENOMEM | libc::EPERM | libc::EINVAL)) => Ok(Some(Errno(code))),
            _ => Err(error),
        },
    }
}

/// What became of a trim or flush.
#[cold]
fn ended(entry: &cqueue::Entry, discards: &Discards, lengths: &[Bytes]) -> Completion {
    let slot = entry.user_data() as u32;
    let at = clock::monotonic();
    let result = match discards.outcome(slot, entry.result()) {
        0.. => Ok(lengths[slot as usize]),
        negative => Err(Errno(-negative)),
    };
    Completion { slot, at, result }
}

#[inline]
fn completion(entry: &cqueue::Entry) -> Completion {
    let result = match entry.result() {
        moved if moved >= 0 => Ok(Bytes(moved as u64)),
        negative => Err(Errno(-negative)),
    };
    Completion { slot: entry.user_data() as u32, at: clock::monotonic(), result }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use assay_core::contract::DataPattern;

    use super::*;
    use crate::buffers::Origin;

    fn ended(way: Option<TrimWay>, direction: Direction) -> Completion {
        let name = std::env::temp_dir().join(format!("assay-trim-{}-{way:?}-{direction:?}", std::process::id()));
        let mut file = std::fs::File::options().create_new(true).read(true).write(true).open(&name).expect("new");
        std::fs::remove_file(&name).expect("ours");
        file.write_all(&[1; 8192]).expect("room");
        let buffers = Buffers::new(Origin::default(), &[DataPattern::Random], 2, 4096).expect("memory");
        let mut queue = RingQueue::new(file.as_fd(), 2, buffers, Path::Interrupt, None).expect("a ring");
        if let Some(way) = way {
            queue.discards.force(way);
        }
        queue.submit(&Io { slot: 1, direction, offset: Bytes(4096), length: Bytes(4096), data_index: 0 });
        let mut completions = Vec::new();
        while completions.is_empty() {
            queue.reap(&mut completions, Nanos(clock::monotonic().0 + 1_000_000_000)).expect("reaps");
        }
        completions.remove(0)
    }

    #[test]
    fn a_trim_of_a_file_is_a_hole_and_a_flush_moves_nothing() {
        assert_eq!(ended(None, Direction::Trim).result, Ok(Bytes(4096)));
        assert_eq!(ended(None, Direction::Flush).result, Ok(Bytes(4096)));
    }

    #[test]
    fn the_thread_for_trims_ends_each_in_the_ring_with_what_the_call_said() {
        let refused = ended(Some(TrimWay::Thread), Direction::Trim);
        // A file is no block device.
        assert_eq!((refused.slot, refused.result), (1, Err(Errno(libc::ENOTTY))));
    }
}
