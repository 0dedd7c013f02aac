//! The I/Os of a worker over a ring.

use std::io;
use std::os::fd::BorrowedFd;

use assay_core::contract::{Bytes, Completion, Direction, Errno, Io, Nanos};
use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};

use crate::buffers::Buffers;
use crate::clock;
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
}

impl RingQueue {
    pub(crate) fn new(descriptor: BorrowedFd<'_>, slot_count: u32, buffers: Buffers, path: Path) -> io::Result<Self> {
        let ring = Ring::new(slot_count, path)?;
        ring.register_file(descriptor)?;
        let registration_refused = register_buffers(&ring, &buffers)?;
        Ok(Self { ring, path, buffers, registration_refused, in_flight: 0 })
    }

    /// The kernel runs completions only when this thread asks (since Linux 6.1).
    pub(crate) fn deferred_completions(&self) -> bool {
        self.ring.deferred_completions
    }

    #[inline]
    pub(crate) fn submit(&mut self, io: &Io) {
        self.buffers.complete(io);
        let entry = self.entry(io);
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
        for entry in self.ring.completions() {
            completions.push(completion(&entry));
        }
        self.in_flight -= (completions.len() - before) as u32;
        Ok(())
    }

    fn entry(&self, io: &Io) -> squeue::Entry {
        let (offset, length) = (io.offset.0, io.length.0 as u32);
        let (pointer, index) = (self.buffers.pointer(io), self.buffers.index(io));
        let entry = match (io.direction, self.registration_refused.is_none()) {
            (Direction::Read, true) => opcode::ReadFixed::new(Fixed(0), pointer, length, index).offset(offset).build(),
            (Direction::Write, true) => {
                opcode::WriteFixed::new(Fixed(0), pointer, length, index).offset(offset).build()
            }
            (Direction::Read, false) => opcode::Read::new(Fixed(0), pointer, length).offset(offset).build(),
            (Direction::Write, false) => opcode::Write::new(Fixed(0), pointer, length).offset(offset).build(),
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

fn completion(entry: &cqueue::Entry) -> Completion {
    let result = match entry.result() {
        moved if moved >= 0 => Ok(Bytes(moved as u64)),
        negative => Err(Errno(-negative)),
    };
    Completion { slot: entry.user_data() as u32, at: clock::monotonic(), result }
}
