//! A device without a drive: what it measures is this host's own part in a measurement.

use std::io;

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Errno, Io, Nanos, Probe};
use io_uring::types::Timespec;
use io_uring::{cqueue, opcode};

use crate::affinity::pin_this_thread;
use crate::clock;
use crate::path::Path;
use crate::ring::Ring;
use crate::waited::WaitMeter;

/// Its I/Os go to the kernel and come back, at once or after a constant time, without any data.
pub struct NullDevice {
    /// Boxed, since the kernel reads it at its place.
    answer: Option<Box<Timespec>>,
    ring: Option<Ring>,
    /// Of the thread that prepared it.
    waits: Option<WaitMeter>,
    lengths: Vec<Bytes>,
    in_flight: u32,
}

/// What it says of its size: there is nothing to address.
const INFO: DeviceInfo = DeviceInfo { capacity: Bytes(1 << 34), logical_block: Bytes(512) };

impl NullDevice {
    /// `answer` is the time that every I/O takes; `None` means at once, as a no-operation of the ring.
    #[must_use]
    pub fn new(answer: Option<Nanos>) -> Self {
        let span =
            |nanos: Nanos| Timespec::new().sec(nanos.0 / Nanos::SECOND.0).nsec((nanos.0 % Nanos::SECOND.0) as u32);
        Self {
            answer: answer.map(|nanos| Box::new(span(nanos))),
            ring: None,
            waits: None,
            lengths: Vec::new(),
            in_flight: 0,
        }
    }

    /// The same, with the calling thread kept on a CPU where one is named.
    ///
    /// # Errors
    /// When the CPU cannot be used.
    pub fn placed(answer: Option<Nanos>, cpu: Option<u32>) -> io::Result<Self> {
        cpu.map_or(Ok(()), pin_this_thread)?;
        Ok(Self::new(answer))
    }

    fn completion(&self, entry: &cqueue::Entry) -> Completion {
        let slot = entry.user_data() as u32;
        // A timer that has run out says so as an error.
        let result = match entry.result() {
            code if code >= 0 || code == -libc::ETIME => Ok(self.lengths[slot as usize]),
            code => Err(Errno(-code)),
        };
        Completion { slot, at: clock::monotonic(), result }
    }
}

impl Device for NullDevice {
    fn info(&self) -> DeviceInfo {
        INFO
    }

    fn now(&self) -> Nanos {
        clock::monotonic()
    }

    fn wall(&self) -> Nanos {
        clock::wall()
    }

    fn prepare(&mut self, _: &[DataPattern], slot_count: u32, _: Bytes) -> Result<(), Errno> {
        self.ring = Some(Ring::new(slot_count, Path::Interrupt).map_err(|error| errno(&error))?);
        self.waits.get_or_insert_with(WaitMeter::of_this_thread);
        self.lengths = vec![Bytes(0); slot_count as usize];
        Ok(())
    }

    fn submit(&mut self, io: Io) {
        let entry = match &self.answer {
            None => opcode::Nop::new().build(),
            Some(span) => opcode::Timeout::new(&raw const **span).build(),
        };
        self.lengths[io.slot as usize] = io.length;
        self.in_flight += 1;
        let ring = self.ring.as_mut().expect("prepare comes before submit");
        // SAFETY: no buffer, and the time is read at submission from a place that lives as long as the device.
        unsafe { ring.push(&entry.user_data(u64::from(io.slot))) };
    }

    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        if self.in_flight == 0 {
            clock::sleep_until(deadline);
            return Ok(());
        }
        let mut ring = self.ring.take().expect("prepare comes before reap");
        let entered = ring.wait(deadline).map_err(|error| errno(&error));
        let before = completions.len();
        for entry in ring.completions() {
            completions.push(self.completion(&entry));
        }
        self.in_flight -= (completions.len() - before) as u32;
        self.ring = Some(ring);
        entered
    }

    fn probe(&mut self, _: bool) -> Probe {
        Probe { counters: None, cpu: Some(clock::thread_cpu()), waited: self.waits.as_ref().and_then(WaitMeter::read) }
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::active_range::ActiveRange;
    use assay_core::pattern::AccessPattern;
    use assay_core::record::StepRecord;
    use assay_core::step::{Demand, StepSpec, StopRule};
    use assay_core::stimulus::{Decision, Limits, Stimulus};

    fn run(answer: Option<Nanos>, queue_depth: u32, count: u64) -> StepRecord {
        let pattern = AccessPattern::uniform(4096, 1.0, 1.0);
        let step = StepSpec {
            pattern,
            demand: Demand { thread_count: 1, queue_depth, arrival: None },
            range: ActiveRange::new(vec![0], 1 << 30).expect("valid"),
            stop: StopRule::Count(count),
            beside: false,
        };
        let mut stimulus = Stimulus::open(1, vec![move || Ok::<_, ()>(NullDevice::new(answer))]).expect("opens");
        stimulus.run(&[step], Limits::default(), |_| Decision::Continue).expect("runs").remove(0)
    }

    #[test]
    fn every_no_operation_comes_back_whole() {
        let record = run(None, 32, 20_000);
        assert_eq!(record.read.window_io_count + record.read.tail_io_count, 20_000);
        assert_eq!(record.read.window_bytes + record.read.tail_bytes, Bytes(20_000 * 4096));
        assert_eq!(record.read.error_count(), 0);
    }

    #[test]
    fn a_constant_time_is_never_answered_early() {
        let record = run(Some(Nanos(500_000)), 4, 200);
        assert_eq!(record.read.error_count(), 0);
        assert!(record.read.latency_min_ns.expect("completed") >= 500_000);
    }
}
