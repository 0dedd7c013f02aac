//! The memory that I/Os transfer from and to, and what is written.

use std::io;

use assay_core::contract::{Bytes, DataPattern, Direction, Io};

use crate::memory::Memory;
use crate::payload::Payload;

/// One buffer per slot to read into, and one per slot and data pattern to write from.
pub(crate) struct Buffers {
    memory: Memory,
    data: Vec<DataPattern>,
    payloads: Vec<Payload>,
    /// Writes of the worker so far, those over earlier buffers too: none holds what another does.
    write_count: u64,
    /// The next I/O's data are made.
    ready: bool,
    slot_count: u32,
    transfer: usize,
}

/// Where the data of a worker come from, and how many writes have taken of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Differs between workers and runs.
    pub(crate) seed: u64,
    pub(crate) write_count: u64,
}

impl Buffers {
    pub(crate) fn new(origin: Origin, data: &[DataPattern], slot_count: u32, transfer: usize) -> io::Result<Self> {
        let memory = Memory::new(transfer * slot_count as usize * (data.len() + 1))?;
        let payloads = data.iter().map(|pattern| Payload::new(pattern, origin.seed)).collect();
        let write_count = origin.write_count;
        let data = data.to_vec();
        let mut buffers = Self { memory, data, payloads, write_count, ready: false, slot_count, transfer };
        buffers.fill();
        Ok(buffers)
    }

    pub(crate) fn write_count(&self) -> u64 {
        self.write_count
    }

    /// The number of the write that is submitted next, whether its data are made or not.
    pub(crate) fn next_number(&self) -> u64 {
        self.write_count - u64::from(self.ready)
    }

    pub(crate) fn slot_count(&self) -> u32 {
        self.slot_count
    }

    /// What the last read of a slot returned.
    pub(crate) fn received(&self, slot: u32, length: Bytes) -> &[u8] {
        self.memory.slice(self.place(0, slot), length.0 as usize)
    }

    pub(crate) fn serves(&self, data: &[DataPattern], slot_count: u32, transfer: Bytes) -> bool {
        self.data == data && self.slot_count >= slot_count && self.transfer >= transfer.0 as usize
    }

    /// Make the data of the next I/O, where it is a write, before its time begins.
    #[inline]
    pub(crate) fn make_ready(&mut self, io: &Io) {
        if io.direction == Direction::Write {
            self.refresh(io);
            self.ready = true;
        }
    }

    /// The data of an I/O that is about to be sent, unless they are made.
    #[inline]
    pub(crate) fn complete(&mut self, io: &Io) {
        if io.direction == Direction::Write && !std::mem::take(&mut self.ready) {
            self.refresh(io);
        }
    }

    #[inline]
    fn refresh(&mut self, io: &Io) {
        let place = self.place(part(io), io.slot);
        let buffer = self.memory.slice_mut(place, io.length.0 as usize);
        self.payloads[io.data_index as usize].refresh(self.write_count, io.offset, buffer);
        self.write_count += 1;
    }

    #[inline]
    pub(crate) fn pointer(&self, io: &Io) -> *mut u8 {
        self.memory.pointer(self.place(part(io), io.slot))
    }

    /// Which of [`Self::vectors`] the I/O's is.
    #[inline]
    pub(crate) fn index(&self, io: &Io) -> u16 {
        (part(io) * self.slot_count + io.slot) as u16
    }

    /// All of them.
    pub(crate) fn bytes(&self) -> u64 {
        (self.transfer * self.slot_count as usize * (self.data.len() + 1)) as u64
    }

    /// All of them, to be registered with the kernel.
    pub(crate) fn vectors(&self) -> Vec<libc::iovec> {
        let parts = self.data.len() as u32 + 1;
        let slots = (0..parts).flat_map(|part| (0..self.slot_count).map(move |slot| (part, slot)));
        let vector = |(part, slot)| libc::iovec {
            iov_base: self.memory.pointer(self.place(part, slot)).cast(),
            iov_len: self.transfer,
        };
        slots.map(vector).collect()
    }

    #[cfg(test)]
    pub(crate) fn content(&mut self, io: &Io) -> Vec<u8> {
        self.memory.slice_mut(self.place(part(io), io.slot), io.length.0 as usize).to_vec()
    }

    #[inline]
    fn place(&self, part: u32, slot: u32) -> usize {
        (part as usize * self.slot_count as usize + slot as usize) * self.transfer
    }

    /// Called in the worker's thread: the first touch decides at which NUMA node a page lies, of those to read into as well.
    fn fill(&mut self) {
        self.memory.touch();
        for index in 0..self.data.len() as u32 {
            for slot in 0..self.slot_count {
                let place = self.place(index + 1, slot);
                let buffer = self.memory.slice_mut(place, self.transfer);
                self.payloads[index as usize].fill(buffer, u64::from(slot));
            }
        }
    }
}

/// Reads go to the first part of the memory, writes come from one further part per data pattern.
#[inline]
fn part(io: &Io) -> u32 {
    if io.direction == Direction::Write { io.data_index + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn write(slot: u32, length: u64) -> Io {
        Io { slot, direction: Direction::Write, offset: Bytes(0), length: Bytes(length), data_index: 0 }
    }

    fn buffers(write_count: u64, slot_count: u32) -> Buffers {
        Buffers::new(Origin { seed: 1, write_count }, &[DataPattern::Random], slot_count, 8192).expect("memory")
    }

    /// What so many writes hold, slot by slot.
    fn contents(buffers: &mut Buffers, count: u32) -> Vec<Vec<u8>> {
        let content = |number| {
            let io = write(number % buffers.slot_count, 4096);
            buffers.complete(&io);
            buffers.content(&io)
        };
        (0..count).map(content).collect()
    }

    #[test]
    fn the_nth_write_of_a_worker_holds_the_same_over_whatever_buffers() {
        let all = contents(&mut buffers(0, 4), 32);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 32);
        let mut first = buffers(0, 1);
        assert_eq!(contents(&mut first, 20), all[..20]);
        assert_eq!(contents(&mut buffers(first.write_count(), 3), 12), all[20..]);
    }

    #[test]
    fn data_that_are_ready_are_not_made_twice() {
        let mut buffers = buffers(0, 2);
        let io = write(1, 4096);
        buffers.make_ready(&io);
        assert_eq!(buffers.next_number(), 0);
        let made = buffers.content(&io);
        buffers.complete(&io);
        assert_eq!((buffers.content(&io), buffers.write_count()), (made.clone(), 1));
        assert_eq!(buffers.next_number(), 1);
        buffers.complete(&io);
        assert_eq!((buffers.next_number(), buffers.write_count()), (2, 2));
        assert_ne!(buffers.content(&io), made);
    }
}
