//! A ring with a registered file and registered buffers and nothing else: what the kernel costs.
//!
//! It submits every free slot, waits for one completion and takes all there are, as the engine does. Nothing is timed
//! but the whole, and nothing is counted but the I/Os.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

use assay_core::contract::{DeviceInfo, Nanos};
use assay_uring::path::Path;
use io_uring::types::Fixed;
use io_uring::{IoUring, opcode, squeue};

use crate::request::Request;
use crate::{Outcome, WARM_UP_SHARE};

/// Without a drive every I/O is a no-operation of the ring.
pub(crate) fn run(drive: Option<&(OwnedFd, DeviceInfo)>, request: &Request) -> io::Result<Outcome> {
    let mut bare = Bare::new(drive, request)?;
    bare.keep_outstanding(request.count / WARM_UP_SHARE)?;
    let begun = Instant::now();
    let io_count = bare.keep_outstanding(request.count)?;
    let elapsed = Nanos(begun.elapsed().as_nanos() as u64);
    Ok(Outcome { io_count, elapsed, latency_ns_mean: 0.0, effective_depth: 0.0 })
}

struct Bare {
    ring: IoUring,
    memory: Vec<u8>,
    free: Vec<u32>,
    draw: u64,
    place_count: u64,
    bytes: u64,
    operation: Operation,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Nop,
    Read,
    Write,
}

impl Bare {
    fn new(drive: Option<&(OwnedFd, DeviceInfo)>, request: &Request) -> io::Result<Self> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun();
        if request.path == Path::Polled {
            builder.setup_iopoll();
        }
        let ring = builder.build(request.depth.next_power_of_two().max(8))?;
        if let Some((descriptor, _)) = drive {
            ring.submitter().register_files(&[descriptor.as_raw_fd()])?;
        }
        // One page more, for a start on a page.
        let bytes = request.bytes as usize;
        let bare = Self {
            ring,
            memory: vec![1; bytes * request.depth as usize + 4096],
            free: (0..request.depth).collect(),
            draw: 1,
            place_count: drive.map_or(1, |(_, info)| info.capacity.0 / request.bytes),
            bytes: request.bytes,
            operation: match (drive.is_some(), request.write) {
                (false, _) => Operation::Nop,
                (true, false) => Operation::Read,
                (true, true) => Operation::Write,
            },
        };
        let iovec = |slot| libc::iovec { iov_base: bare.buffer(slot).cast(), iov_len: bytes };
        let buffers: Vec<_> = (0..request.depth).map(iovec).collect();
        // SAFETY: the buffers lie in `memory`, which lives as long as the ring and is dropped after it.
        unsafe { bare.ring.submitter().register_buffers(&buffers)? };
        Ok(bare)
    }

    /// Completed I/Os, at least `count`; none is outstanding afterwards.
    fn keep_outstanding(&mut self, count: u64) -> io::Result<u64> {
        let (mut submitted, mut completed) = (0, 0);
        let moved = if self.operation == Operation::Nop { 0 } else { self.bytes as i32 };
        while completed < count {
            while submitted < count
                && let Some(slot) = self.free.pop()
            {
                self.push(slot);
                submitted += 1;
            }
            self.ring.submit_and_wait(1)?;
            for entry in self.ring.completion() {
                if entry.result() != moved {
                    return Err(io::Error::from_raw_os_error(-entry.result()));
                }
                self.free.push(entry.user_data() as u32);
                completed += 1;
            }
        }
        Ok(completed)
    }

    fn push(&mut self, slot: u32) {
        let entry = self.entry(slot).user_data(u64::from(slot));
        // SAFETY: the entry's buffer lies in `memory` and belongs to this slot until it completes.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the ring has an entry for every slot");
    }

    fn entry(&mut self, slot: u32) -> squeue::Entry {
        let (offset, length, buffer) = (self.next_place() * self.bytes, self.bytes as u32, self.buffer(slot));
        match self.operation {
            Operation::Nop => opcode::Nop::new().build(),
            Operation::Read => opcode::ReadFixed::new(Fixed(0), buffer, length, slot as u16).offset(offset).build(),
            Operation::Write => opcode::WriteFixed::new(Fixed(0), buffer, length, slot as u16).offset(offset).build(),
        }
    }

    /// Xorshift: the cheapest draw whose places are spread over the device.
    fn next_place(&mut self) -> u64 {
        self.draw ^= self.draw << 13;
        self.draw ^= self.draw >> 7;
        self.draw ^= self.draw << 17;
        ((u128::from(self.draw) * u128::from(self.place_count)) >> 64) as u64
    }

    fn buffer(&self, slot: u32) -> *mut u8 {
        let start = self.memory.as_ptr().align_offset(4096);
        self.memory[start + slot as usize * self.bytes as usize..].as_ptr().cast_mut()
    }
}
