//! One ring on one open descriptor.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos, Probe};
use io_uring::types::Fixed;
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::clock;
use crate::counters::CounterFile;
use crate::memory::Memory;
use crate::payload::Payload;
use crate::ring;

/// The last part of a wait, which is not slept through.
const AWAKE: Nanos = Nanos(150_000);

/// What a lane needs to know of the drive; every lane gets its own duplicate of the gate's descriptor.
pub struct Target {
    /// Opened by the gate with `O_DIRECT`.
    pub descriptor: OwnedFd,
    /// Capacity and logical block.
    pub info: DeviceInfo,
    /// The disk's counters in sysfs; `None` for a file.
    pub counters: Option<PathBuf>,
    /// Makes the data of this lane and run unlike any other's.
    pub data_origin: u64,
    /// Largest transfer of the run: buffers are made for it at once, not again when a larger program comes.
    pub transfer: Bytes,
}

/// Duplicate the gate's descriptor for a lane; the gate keeps its own.
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
    /// Why the transfer buffers are not registered with the kernel, such as too low a memory lock limit; `None`: they are.
    pub registration_refused: Option<Errno>,
    /// The kernel runs completions only when this thread asks (since Linux 6.1).
    pub deferred_completions: bool,
    /// Response times are stamped with the time stamp counter; without, with the kernel's monotonic clock.
    pub counter_clock: bool,
}

/// A real drive as one lane sees it.
pub struct UringDevice {
    target: Target,
    counters: Option<CounterFile>,
    queue: Option<Queue>,
    in_flight: u32,
}

/// A ring with its buffers, made for a number of slots, a transfer size and a list of data patterns.
struct Queue {
    // Declared first, so that the ring is closed before its buffers go.
    ring: IoUring,
    memory: Memory,
    data: Vec<DataPattern>,
    payloads: Vec<Payload>,
    slot_count: u32,
    transfer: usize,
    disclosure: Disclosure,
}

impl UringDevice {
    /// Take over a lane's descriptor.
    ///
    /// # Errors
    /// When the disk's counters cannot be opened.
    pub fn new(target: Target) -> io::Result<Self> {
        let counters = target.counters.as_deref().map(CounterFile::open).transpose()?;
        Ok(Self { target, counters, queue: None, in_flight: 0 })
    }

    /// How the I/Os of the last program were carried out; `None` before the first.
    #[must_use]
    pub fn disclosure(&self) -> Option<Disclosure> {
        self.queue.as_ref().map(|queue| queue.disclosure)
    }

    fn queue(&mut self) -> &mut Queue {
        self.queue.as_mut().expect("prepare comes before submit")
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
        let transfer = transfer.max(self.target.transfer);
        if slot_count == 0 || self.queue.as_ref().is_some_and(|queue| queue.serves(data, slot_count, transfer)) {
            return Ok(());
        }
        self.queue = None;
        let queue = Queue::new(&self.target, data, slot_count, transfer.0 as usize).map_err(|error| errno(&error))?;
        self.queue = Some(queue);
        Ok(())
    }

    fn submit(&mut self, io: Io) {
        let queue = self.queue.as_mut().expect("prepare comes before submit");
        if io.direction == Direction::Write {
            let place = queue.write_place(io.slot, io.data_index);
            let buffer = queue.memory.slice_mut(place, io.length.0 as usize);
            queue.payloads[io.data_index as usize].refresh(buffer);
        }
        let entry = queue.entry(&io);
        self.in_flight += 1;
        queue.push(&entry);
    }

    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        if self.in_flight == 0 {
            sleep_until(deadline);
            return Ok(());
        }
        let queue = self.queue();
        ring::enter(&queue.ring, deadline).map_err(|error| errno(&error))?;
        let before = completions.len();
        for entry in queue.ring.completion() {
            completions.push(completion(&entry));
        }
        self.in_flight -= (completions.len() - before) as u32;
        Ok(())
    }

    fn probe(&mut self, with_counters: bool) -> Probe {
        let counters = self.counters.as_ref().filter(|_| with_counters).and_then(CounterFile::read);
        Probe { counters, cpu: Some(clock::thread_cpu()) }
    }
}

impl Queue {
    fn new(target: &Target, data: &[DataPattern], slot_count: u32, transfer: usize) -> io::Result<Self> {
        let (ring, deferred_completions) = ring::build(slot_count)?;
        let memory = Memory::new(transfer * slot_count as usize * (data.len() + 1))?;
        ring.submitter().register_files(&[target.descriptor.as_raw_fd()])?;
        let counter_clock = clock::is_counter();
        let disclosure = Disclosure { registration_refused: None, deferred_completions, counter_clock };
        let origin = target.data_origin ^ clock::monotonic().0;
        let payloads = data.iter().map(|pattern| Payload::new(pattern, origin)).collect();
        let mut queue = Self { ring, memory, data: data.to_vec(), payloads, slot_count, transfer, disclosure };
        queue.fill();
        queue.disclosure.registration_refused = queue.register_buffers()?;
        Ok(queue)
    }

    fn serves(&self, data: &[DataPattern], slot_count: u32, transfer: Bytes) -> bool {
        self.data == data && self.slot_count >= slot_count && self.transfer >= transfer.0 as usize
    }

    /// Reads go to the first part of the memory, writes come from one further part per data pattern.
    fn place(&self, part: u32, slot: u32) -> usize {
        (part as usize * self.slot_count as usize + slot as usize) * self.transfer
    }

    fn write_place(&self, slot: u32, data_index: u32) -> usize {
        self.place(data_index + 1, slot)
    }

    fn fill(&mut self) {
        for index in 0..self.data.len() as u32 {
            for slot in 0..self.slot_count {
                let place = self.write_place(slot, index);
                let buffer = self.memory.slice_mut(place, self.transfer);
                self.payloads[index as usize].fill(buffer, u64::from(slot));
            }
        }
    }

    /// Why it was refused, where it was; the I/Os then go unregistered.
    fn register_buffers(&self) -> io::Result<Option<Errno>> {
        let parts = self.data.len() as u32 + 1;
        let slots = (0..parts).flat_map(|part| (0..self.slot_count).map(move |slot| (part, slot)));
        let buffers: Vec<libc::iovec> = slots
            .map(|(part, slot)| libc::iovec {
                iov_base: self.memory.pointer(self.place(part, slot)).cast(),
                iov_len: self.transfer,
            })
            .collect();
        // SAFETY: the buffers lie in `memory`, which lives as long as the ring and is dropped after it.
        match unsafe { self.ring.submitter().register_buffers(&buffers) } {
            Ok(()) => Ok(None),
            Err(error) => match error.raw_os_error() {
                Some(code @ (libc::ENOMEM | libc::EPERM | libc::EINVAL)) => Ok(Some(Errno(code))),
                _ => Err(error),
            },
        }
    }

    fn entry(&self, io: &Io) -> squeue::Entry {
        let (offset, length) = (io.offset.0, io.length.0 as u32);
        let part = match io.direction {
            Direction::Read => 0,
            Direction::Write => io.data_index + 1,
        };
        let pointer = self.memory.pointer(self.place(part, io.slot));
        let index = (part * self.slot_count + io.slot) as u16;
        let entry = match (io.direction, self.disclosure.registration_refused.is_none()) {
            (Direction::Read, true) => opcode::ReadFixed::new(Fixed(0), pointer, length, index).offset(offset).build(),
            (Direction::Write, true) => {
                opcode::WriteFixed::new(Fixed(0), pointer, length, index).offset(offset).build()
            }
            (Direction::Read, false) => opcode::Read::new(Fixed(0), pointer, length).offset(offset).build(),
            (Direction::Write, false) => opcode::Write::new(Fixed(0), pointer, length).offset(offset).build(),
        };
        entry.user_data(u64::from(io.slot))
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the entry's buffer lies in `memory`, belongs to this slot until it completes, and is long enough.
        let pushed = unsafe { self.ring.submission().push(entry) };
        assert!(pushed.is_ok(), "the ring has an entry for every slot");
    }
}

fn completion(entry: &cqueue::Entry) -> Completion {
    let result = match entry.result() {
        moved if moved >= 0 => Ok(Bytes(moved as u64)),
        negative => Err(Errno(-negative)),
    };
    Completion { slot: entry.user_data() as u32, at: clock::monotonic(), result }
}

fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

/// Sleep wakes late by some tens of microseconds: the last of the wait is spent awake, so that steps begin on time.
pub(crate) fn sleep_until(deadline: Nanos) {
    let asleep = deadline.0.saturating_sub(clock::monotonic().0 + AWAKE.0);
    if asleep > 0 {
        std::thread::sleep(std::time::Duration::from_nanos(asleep));
    }
    while clock::monotonic() < deadline {
        std::hint::spin_loop();
    }
}
