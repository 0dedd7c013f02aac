//! A device without a drive: every I/O is a no-operation of the ring, so that the loop of the stimulus stands alone.

use std::fs::File;
use std::io;

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Errno, Io, Nanos, Probe};
use assay_core::sampled::Sampling;
use assay_uring::device::{Target, UringDevice};
use assay_uring::path::Path;
use io_uring::{IoUring, opcode};

/// `TIMED` off freezes the clock while I/Os go in and out: what is left is the same loop without time stamps. It still
/// counts response times of zero, in the histogram too.
pub(crate) struct NopDevice<const TIMED: bool> {
    ring: Option<IoUring>,
    /// Does nothing but tell the time, as it does in the tool.
    clock: UringDevice,
    transfer: Bytes,
    outstanding: u64,
    entered: Nanos,
}

impl<const TIMED: bool> NopDevice<TIMED> {
    pub(crate) fn new(transfer: Bytes) -> io::Result<Self> {
        let info = DeviceInfo { capacity: Bytes(1 << 34), logical_block: Bytes(512) };
        let descriptor = File::open("/dev/null")?.into();
        let clock = UringDevice::new(Target {
            descriptor,
            info,
            counters: None,
            data_origin: 0,
            sampling: Sampling::new(info, info.capacity, 1),
            transfer,
            path: Path::Interrupt,
            ring_beyond: true,
            locked_max: None,
            cpu: None,
        })?;
        let entered = clock.now();
        Ok(Self { ring: None, clock, transfer, outstanding: 0, entered })
    }

    fn stamp(&self) -> Nanos {
        if TIMED { self.clock.now() } else { self.entered }
    }
}

impl<const TIMED: bool> Device for NopDevice<TIMED> {
    fn info(&self) -> DeviceInfo {
        self.clock.info()
    }

    fn now(&self) -> Nanos {
        self.stamp()
    }

    fn wall(&self) -> Nanos {
        self.clock.wall()
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
            // A step of stated count ends a moment behind its last submission.
            self.entered = self.clock.now();
            return Ok(());
        }
        ring.submit_and_wait(1).map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EIO)))?;
        if !TIMED {
            self.entered = self.clock.now();
        }
        let entered = self.entered;
        for entry in ring.completion() {
            let at = if TIMED { self.clock.now() } else { entered };
            completions.push(Completion { slot: entry.user_data() as u32, at, result: Ok(self.transfer) });
            self.outstanding -= 1;
        }
        Ok(())
    }

    fn probe(&mut self, _with_counters: bool) -> Probe {
        Probe::default()
    }
}
