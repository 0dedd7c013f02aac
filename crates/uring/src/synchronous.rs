//! One I/O at a time by a system call that returns when it is done.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use assay_core::contract::{Bytes, Completion, Direction, Errno, Io, Nanos};

use crate::buffers::Buffers;
use crate::clock;
use crate::discard::discard;

/// The I/O is over when it has been submitted; what is reaped is what became of it.
pub(crate) struct SynchronousQueue {
    pub(crate) buffers: Buffers,
    done: Option<Completion>,
}

impl SynchronousQueue {
    pub(crate) fn new(buffers: Buffers) -> Self {
        Self { buffers, done: None }
    }

    #[inline]
    pub(crate) fn submit(&mut self, descriptor: BorrowedFd<'_>, io: &Io) {
        self.buffers.complete(io);
        let result = transfer(descriptor, io, self.buffers.pointer(io));
        self.done = Some(Completion { slot: io.slot, at: clock::monotonic(), result });
    }

    #[inline]
    pub(crate) fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) {
        match self.done.take() {
            Some(completion) => completions.push(completion),
            None => clock::sleep_until(deadline),
        }
    }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// What moves nothing is done whole or not at all.
fn commanded(result: i32, length: Bytes) -> Result<Bytes, Errno> {
    if result < 0 { Err(Errno(-result)) } else { Ok(length) }
}

/// Move the bytes. A signal that comes before any of them have moved begins the call anew.
fn transfer(descriptor: BorrowedFd<'_>, io: &Io, buffer: *mut u8) -> Result<Bytes, Errno> {
    let (file, length, offset) = (descriptor.as_raw_fd(), io.length.0 as usize, io.offset.0.cast_signed());
    loop {
        // SAFETY: the buffer is the slot's own and as long as the largest transfer; the call ends before it is used again.
        let moved = unsafe {
            match io.direction {
                Direction::Read => libc::pread(file, buffer.cast(), length, offset),
                Direction::Write => libc::pwrite(file, buffer.cast(), length, offset),
                Direction::Trim => return commanded(discard(file, [io.offset.0, io.length.0]), io.length),
                Direction::Flush => {
                    return commanded(if libc::fdatasync(file) == 0 { 0 } else { -last_errno() }, io.length);
                }
            }
        };
        if moved >= 0 {
            return Ok(Bytes(moved as u64));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(Errno(error.raw_os_error().unwrap_or(libc::EIO)));
        }
    }
}
