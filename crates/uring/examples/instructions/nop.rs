//! A device without a drive: every I/O is a no-operation of the ring, so that the loop of the stimulus stands alone.

use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Errno, Io, Nanos, Probe};
use io_uring::{IoUring, opcode};

/// `TIMED` off freezes the clock while I/Os go in and out: what is left is the same loop without time stamps. It still
/// counts response times of zero, in the histogram too.
pub(crate) struct NopDevice<const TIMED: bool> {
    ring: Option<IoUring>,
    transfer: Bytes,
    outstanding: u64,
    entered: Nanos,
}

impl<const TIMED: bool> NopDevice<TIMED> {
    pub(crate) fn new(transfer: Bytes) -> Self {
        Self { ring: None, transfer, outstanding: 0, entered: clock() }
    }

    fn stamp(&self) -> Nanos {
        if TIMED { clock() } else { self.entered }
    }
}

fn clock() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result, and this clock exists on every Linux.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(result, 0, "the clock can be read");
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

impl<const TIMED: bool> Device for NopDevice<TIMED> {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: Bytes(1 << 34), logical_block: Bytes(512) }
    }

    fn now(&self) -> Nanos {
        self.stamp()
    }

    fn wall(&self) -> Nanos {
        Nanos(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64))
    }

    fn prepare(&mut self, _data: &[DataPattern], slot_count: u32, _transfer: Bytes) -> Result<(), Errno> {
        let entries = slot_count.next_power_of_two().max(8);
        let built = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
        self.ring = Some(built.map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EIO)))?);
        Ok(())
    }

    fn submit(&mut self, io: Io) {
        let ring = self.ring.as_mut().expect("prepare comes before submit");
        let entry = opcode::Nop::new().build().user_data(u64::from(io.slot));
        // SAFETY: a no-operation has no buffer.
        let pushed = unsafe { ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the ring has an entry for every slot");
        self.outstanding += 1;
    }

    fn reap(&mut self, completions: &mut Vec<Completion>, _deadline: Nanos) -> Result<(), Errno> {
        let ring = self.ring.as_mut().expect("prepare comes before reap");
        if self.outstanding == 0 {
            return Ok(());
        }
        ring.submit_and_wait(1).map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EIO)))?;
        if !TIMED {
            self.entered = clock();
        }
        let entered = self.entered;
        for entry in ring.completion() {
            let at = if TIMED { clock() } else { entered };
            completions.push(Completion { slot: entry.user_data() as u32, at, result: Ok(self.transfer) });
            self.outstanding -= 1;
        }
        Ok(())
    }

    fn probe(&mut self, _with_counters: bool) -> Probe {
        Probe::default()
    }
}
