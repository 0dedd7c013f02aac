//! A real drive as one worker sees it.

mod sampled;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos, Probe};
use assay_core::sampled::{Memory, Sampling};

use crate::affinity::pin_this_thread;
use crate::buffers::{Buffers, Origin};
use crate::clock;
use crate::counters::CounterFile;
use crate::discard::TrimWay;
use crate::passthrough::PassthroughQueue;
use crate::path::Path;
use crate::queue::RingQueue;
use crate::remembered::Written;
use crate::synchronous::SynchronousQueue;
use crate::waited::WaitMeter;

/// A drive that answers no read for so long is lost.
const PROBE_LIMIT: Nanos = Nanos(30 * Nanos::SECOND.0);

/// What a worker needs to know of the drive; every worker gets its own duplicate of the gate's descriptor.
pub struct Target {
    /// Opened by the gate with `O_DIRECT`.
    pub descriptor: OwnedFd,
    /// Capacity and logical block.
    pub info: DeviceInfo,
    /// The disk's counters in sysfs; `None` for a file.
    pub counters: Option<PathBuf>,
    /// Makes the data of this worker and run unlike any other's: what a write holds follows from it and from how many writes
    /// the worker did before.
    pub data_origin: u64,
    /// Which blocks are remembered; the same for all workers.
    pub sampling: Sampling,
    /// Largest transfer of the run: buffers are made for it at once, not again when a larger sequence comes.
    pub transfer: Bytes,
    /// The way that the I/Os take.
    pub path: Path,
    /// More I/Os at a time than a system call carries go over a ring; else a sequence that has them is refused.
    pub ring_beyond: bool,
    /// What this worker may lock, see [`worker_share`](crate::locked::worker_share).
    pub locked_max: Option<Bytes>,
    /// The CPU that the worker's thread stays on, if any.
    pub cpu: Option<u32>,
}

/// Duplicate the gate's descriptor for a worker; the gate keeps its own.
///
/// # Errors
/// When the number is no open descriptor.
pub fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: not -1, and only borrowed for the call, which fails by itself where nothing is open.
    unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()
}

/// How the I/Os are carried out, for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disclosure {
    /// The way that they took.
    pub path: Path,
    /// Why the transfer buffers are not registered with the kernel, such as too low a memory lock limit; `None`: they are,
    /// or need not be.
    pub registration_refused: Option<Errno>,
    /// The kernel runs completions only when this thread asks (since Linux 6.1).
    pub deferred_completions: bool,
    /// Response times are stamped with the time stamp counter; without, with the kernel's monotonic clock.
    pub counter_clock: bool,
    /// How trims reach the drive.
    pub trims: Option<TrimWay>,
}

/// A drive behind an open descriptor.
pub struct UringDevice {
    // Declared first, so that it is let go of before the descriptor.
    queue: Option<Queue>,
    target: Target,
    counters: Option<CounterFile>,
    waits: WaitMeter,
    /// Writes over the queues before this one.
    write_count: u64,
    /// Its last writes of the sampled blocks, and what data they held.
    memory: Memory,
    written: Written,
}

#[allow(clippy::large_enum_variant, reason = "one per worker, and a step of indirection would be paid per I/O")]
enum Queue {
    Ring(RingQueue),
    Synchronous(SynchronousQueue),
    Passthrough(PassthroughQueue),
}

impl UringDevice {
    /// Take over a worker's descriptor and, where one is named, keep the calling thread on its CPU, so that everything the
    /// worker touches first lies at that CPU's NUMA node.
    ///
    /// # Errors
    /// When the CPU cannot be used or the disk's counters cannot be opened; `EOPNOTSUPP` where completions are to be polled
    /// for and the drive has no queues for that, which one read of its first block tells.
    pub fn new(target: Target) -> io::Result<Self> {
        if let Some(cpu) = target.cpu {
            let named = |error| io::Error::new(io::Error::kind(&error), format!("CPU {cpu} cannot be used: {error}"));
            pin_this_thread(cpu).map_err(named)?;
        }
        if target.path == Path::Polled {
            probe_polling(&target)?;
        }
        let counters = target.counters.as_deref().map(CounterFile::open).transpose()?;
        let (memory, written) = (Memory::new(target.sampling), Written::default());
        let waits = WaitMeter::of_this_thread();
        Ok(Self { queue: None, target, counters, waits, write_count: 0, memory, written })
    }

    /// The origin of this worker's data, and its writes so far.
    #[must_use]
    pub fn written(&self) -> (u64, u64) {
        let count = self.queue.as_ref().map_or(self.write_count, |queue| queue.buffers().write_count());
        (self.target.data_origin, count)
    }

    /// How the I/Os of the last sequence were carried out; `None` before the first.
    #[must_use]
    pub fn disclosure(&self) -> Option<Disclosure> {
        self.queue.as_ref().map(Queue::disclosure)
    }
}

impl Device for UringDevice {
    fn info(&self) -> DeviceInfo {
        self.target.info
    }

    fn now(&self) -> Nanos {
        clock::monotonic()
    }

    fn wall(&self) -> Nanos {
        clock::wall()
    }

    fn prepare(&mut self, data: &[DataPattern], slot_count: u32, transfer: Bytes) -> Result<(), Errno> {
        self.written.name(data);
        // A trim names its range in its slot's memory.
        let transfer = transfer.max(self.target.transfer).max(self.target.info.logical_block);
        if slot_count == 0
            || self.queue.as_ref().is_some_and(|queue| queue.serves(data, slot_count, transfer, self.target.path))
        {
            return Ok(());
        }
        if let Some(queue) = self.queue.take() {
            self.write_count = queue.buffers().write_count();
        }
        let origin = Origin { seed: self.target.data_origin, write_count: self.write_count };
        let queue =
            Queue::new(&self.target, origin, data, slot_count, transfer.0 as usize).map_err(|error| errno(&error))?;
        self.queue = Some(queue);
        Ok(())
    }

    #[inline]
    fn make_ready(&mut self, io: &Io) {
        match self.queue.as_mut().expect("prepare comes before submit") {
            Queue::Ring(ring) => ring.buffers.make_ready(io),
            Queue::Passthrough(queue) => queue.buffers.make_ready(io),
            Queue::Synchronous(queue) => queue.buffers.make_ready(io),
        }
    }

    fn blocks(&self) -> bool {
        matches!(self.queue, Some(Queue::Synchronous(_)))
    }

    #[inline]
    fn submit(&mut self, io: Io) {
        if self.memory.concerns(&io) {
            self.remember(&io);
        }
        match self.queue.as_mut().expect("prepare comes before submit") {
            Queue::Ring(ring) => ring.submit(&io),
            Queue::Passthrough(queue) => queue.submit(&io),
            Queue::Synchronous(queue) => queue.submit(self.target.descriptor.as_fd(), &io),
        }
    }

    #[inline]
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let before = completions.len();
        match &mut self.queue {
            Some(Queue::Ring(ring)) => ring.reap(completions, deadline).map_err(|error| errno(&error))?,
            Some(Queue::Passthrough(queue)) => queue.reap(completions, deadline).map_err(|error| errno(&error))?,
            Some(Queue::Synchronous(queue)) => queue.reap(completions, deadline),
            None => clock::sleep_until(deadline),
        }
        if self.memory.waits() {
            self.note(&completions[before..]);
        }
        Ok(())
    }

    fn probe(&mut self, with_counters: bool) -> Probe {
        let counters = self.counters.as_ref().filter(|_| with_counters).and_then(CounterFile::read);
        Probe { counters, cpu: Some(clock::thread_cpu()), waited: self.waits.read() }
    }
}

impl Queue {
    fn new(
        target: &Target,
        origin: Origin,
        data: &[DataPattern],
        slot_count: u32,
        transfer: usize,
    ) -> io::Result<Self> {
        let buffers = Buffers::new(origin, data, slot_count, transfer)?;
        match target.path {
            Path::Synchronous if slot_count == 1 => Ok(Self::Synchronous(SynchronousQueue::new(buffers))),
            Path::Passthrough => {
                let block = target.info.logical_block;
                PassthroughQueue::new(target.descriptor.as_fd(), block, slot_count, buffers).map(Self::Passthrough)
            }
            Path::Synchronous if !target.ring_beyond => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            Path::Synchronous => Self::ring(target, slot_count, buffers, Path::Interrupt),
            path => Self::ring(target, slot_count, buffers, path),
        }
    }

    fn ring(target: &Target, slot_count: u32, buffers: Buffers, path: Path) -> io::Result<Self> {
        RingQueue::new(target.descriptor.as_fd(), slot_count, buffers, path, target.locked_max).map(Self::Ring)
    }

    /// A larger queue serves a smaller sequence, except that one I/O at a time may go another way.
    fn serves(&self, data: &[DataPattern], slot_count: u32, transfer: Bytes, path: Path) -> bool {
        let other_way = matches!(self, Self::Ring(_)) && path == Path::Synchronous && slot_count == 1;
        !other_way && self.buffers().serves(data, slot_count, transfer)
    }

    fn buffers(&self) -> &Buffers {
        match self {
            Self::Ring(ring) => &ring.buffers,
            Self::Passthrough(queue) => &queue.buffers,
            Self::Synchronous(queue) => &queue.buffers,
        }
    }

    fn disclosure(&self) -> Disclosure {
        let counter_clock = clock::is_counter();
        match self {
            Self::Ring(ring) => Disclosure {
                path: ring.path,
                registration_refused: ring.registration_refused,
                deferred_completions: ring.deferred_completions(),
                counter_clock,
                trims: Some(ring.trim_way()),
            },
            Self::Passthrough(queue) => Disclosure {
                path: Path::Passthrough,
                deferred_completions: queue.deferred_completions(),
                counter_clock,
                trims: Some(TrimWay::Command),
                ..Disclosure::default()
            },
            Self::Synchronous(_) => Disclosure {
                path: Path::Synchronous,
                counter_clock,
                trims: Some(TrimWay::Call),
                ..Disclosure::default()
            },
        }
    }
}

/// Drives without such queues refuse each I/O, and not the ring.
fn probe_polling(target: &Target) -> io::Result<()> {
    let length = target.info.logical_block;
    let buffers = Buffers::new(Origin::default(), &[], 1, length.0 as usize)?;
    let mut queue = RingQueue::new(target.descriptor.as_fd(), 1, buffers, Path::Polled, target.locked_max)?;
    queue.submit(&Io { slot: 0, direction: Direction::Read, offset: Bytes(0), length, data_index: 0 });
    let mut completions = Vec::new();
    queue.reap(&mut completions, Nanos(clock::monotonic().0 + PROBE_LIMIT.0))?;
    match completions.first().map(|completion| completion.result) {
        None => Err(io::Error::from_raw_os_error(libc::ETIMEDOUT)),
        Some(Err(Errno(libc::EOPNOTSUPP))) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        // Another fault is not about the way and meets the I/Os of the steps.
        Some(_) => Ok(()),
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
