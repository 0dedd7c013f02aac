//! Does a device hand the I/Os of a ring to worker threads of the kernel?

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::thread::Builder;

use assay_core::contract::{Bytes, Direction, Io, Nanos};

use crate::buffers::{Buffers, Origin};
use crate::clock;
use crate::path::Path;
use crate::queue::RingQueue;

/// Reads that the answer rests on.
const READ_COUNT: u32 = 8;
/// They are waited for at most so long.
const PATIENCE: Nanos = Nanos(5_000_000_000);

/// Read the first block a few times over a ring and look for workers, which carry the number of the thread that they
/// serve in their name.
///
/// A device that does so answers one I/O at a time later than by a system call, since a worker is woken for each.
///
/// # Errors
/// When no thread can be started, no ring can be made, or the reads do not come back within 5 s.
///
/// # Panics
/// Never: the probe does not panic.
pub fn hands_to_workers(descriptor: BorrowedFd<'_>, logical_block: Bytes) -> io::Result<bool> {
    // Workers stay with their thread for a while: a thread of its own has none yet.
    std::thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, || look(descriptor, logical_block))?;
        thread.join().expect("the probe does not panic")
    })
}

fn look(descriptor: BorrowedFd<'_>, logical_block: Bytes) -> io::Result<bool> {
    let buffers = Buffers::new(Origin::default(), &[], READ_COUNT, logical_block.0 as usize)?;
    let mut queue = RingQueue::new(descriptor, READ_COUNT, buffers, Path::Interrupt, None)?;
    for slot in 0..READ_COUNT {
        queue.submit(&Io { slot, direction: Direction::Read, offset: Bytes(0), length: logical_block, data_index: 0 });
    }
    let (mut done, deadline) = (Vec::new(), clock::monotonic() + PATIENCE);
    while done.len() < READ_COUNT as usize {
        if clock::monotonic() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        queue.reap(&mut done, deadline)?;
    }
    has_worker(this_thread())
}

fn this_thread() -> libc::pid_t {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::gettid() }
}

fn has_worker(thread: libc::pid_t) -> io::Result<bool> {
    let name = format!("iou-wrk-{thread}");
    for task in fs::read_dir("/proc/self/task")? {
        // A thread may end while it is looked at.
        if fs::read_to_string(task?.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
            return Ok(true);
        }
    }
    Ok(false)
}
