//! What a worker wrote to sampled blocks, and reading them back.

use assay_core::contract::{Bytes, Completion, Device, Direction, Errno, Io, Nanos};

use super::{PROBE_LIMIT, UringDevice};
use crate::clock;
use crate::remembered::Remembered;

/// Reads at a time, where the queue has as many slots.
const DEPTH: u32 = 32;

/// Blocks that are being read: which of them is in each slot.
struct Reading<'a> {
    places: &'a [Bytes],
    slots: Vec<Option<usize>>,
    next: usize,
    done: usize,
}

impl UringDevice {
    /// What this worker wrote last to the sampled blocks.
    #[must_use]
    pub fn remembered(&self) -> Remembered {
        Remembered {
            origin: self.target.data_origin,
            write_count: self.queue.as_ref().map_or(self.write_count, |queue| queue.buffers().write_count()),
            data: self.written.data.clone(),
            blocks: self.memory.blocks().clone(),
        }
    }

    /// Something else than an I/O of the stimulus changed what lies between two offsets.
    pub fn forget(&mut self, from: Bytes, to: Bytes) {
        self.memory.forget(from, to);
    }

    /// Read blocks of one logical block each, several at a time, and hand over what each read returned.
    ///
    /// Returns once all are in, or, with those that were begun, after the deadline; how many were handed over. No I/O may be
    /// outstanding.
    ///
    /// # Errors
    /// The queue failed, or a read does not come back.
    pub(crate) fn read_blocks(
        &mut self,
        places: &[Bytes],
        deadline: Nanos,
        mut take: impl FnMut(usize, Result<&[u8], Errno>),
    ) -> Result<usize, Errno> {
        if self.queue.is_none() {
            self.prepare(&[], 1, self.target.info.logical_block)?;
        }
        let slots = self.queue.as_ref().map_or(1, |queue| queue.buffers().slot_count()).min(DEPTH);
        let mut reading = Reading { places, slots: vec![None; slots as usize], next: 0, done: 0 };
        let mut completions = Vec::new();
        loop {
            self.begin_reads(&mut reading, deadline);
            if reading.done == reading.next {
                return Ok(reading.done);
            }
            self.reap(&mut completions, Nanos(clock::monotonic().0 + PROBE_LIMIT.0))?;
            if completions.is_empty() {
                return Err(Errno::TIMED_OUT);
            }
            for completion in completions.drain(..) {
                let index = reading.slots[completion.slot as usize].take().expect("its slot was in use");
                take(index, self.returned(&completion));
                reading.done += 1;
            }
        }
    }

    /// Use every free slot, or the one of a device whose `submit` blocks.
    fn begin_reads(&mut self, reading: &mut Reading<'_>, deadline: Nanos) {
        while reading.next < reading.places.len() && clock::monotonic() < deadline {
            let Some(slot) = reading.slots.iter().position(Option::is_none) else { return };
            reading.slots[slot] = Some(reading.next);
            let (slot, offset, length) = (slot as u32, reading.places[reading.next], self.target.info.logical_block);
            self.submit(Io { slot, direction: Direction::Read, offset, length, data_index: 0 });
            reading.next += 1;
            if self.blocks() {
                return;
            }
        }
    }

    fn returned(&self, completion: &Completion) -> Result<&[u8], Errno> {
        let block = self.target.info.logical_block;
        if completion.result? != block {
            return Err(Errno::SHORT_TRANSFER);
        }
        let queue = self.queue.as_ref().expect("it was prepared");
        Ok(queue.buffers().received(completion.slot, block))
    }

    /// Remember an I/O that changes a sampled block and is submitted next.
    #[cold]
    #[inline(never)]
    pub(super) fn remember(&mut self, io: &Io) {
        let buffers = self.queue.as_ref().expect("prepare comes before submit").buffers();
        let made = self.written.index(io).map(|data| (data, buffers.next_number()));
        self.memory.submitted(io, made, clock::monotonic());
    }

    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, completions: &[Completion]) {
        for completion in completions {
            self.memory.completed(completion);
        }
    }
}
