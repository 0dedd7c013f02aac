//! The memory that I/Os transfer from and to, and what is written.

use std::io;

use assay_core::contract::{Bytes, DataPattern, Direction, Io};

use crate::clock;
use crate::memory::Memory;
use crate::payload::Payload;

/// One buffer per slot to read into, and one per slot and data pattern to write from.
pub(crate) struct Buffers {
    memory: Memory,
    data: Vec<DataPattern>,
    payloads: Vec<Payload>,
    slot_count: u32,
    transfer: usize,
}

impl Buffers {
    pub(crate) fn new(origin: u64, data: &[DataPattern], slot_count: u32, transfer: usize) -> io::Result<Self> {
        let memory = Memory::new(transfer * slot_count as usize * (data.len() + 1))?;
        let origin = origin ^ clock::monotonic().0;
        let payloads = data.iter().map(|pattern| Payload::new(pattern, origin)).collect();
        let mut buffers = Self { memory, data: data.to_vec(), payloads, slot_count, transfer };
        buffers.fill();
        Ok(buffers)
    }

    pub(crate) fn serves(&self, data: &[DataPattern], slot_count: u32, transfer: Bytes) -> bool {
        self.data == data && self.slot_count >= slot_count && self.transfer >= transfer.0 as usize
    }

    /// Fresh data where the I/O is a write.
    pub(crate) fn refresh(&mut self, io: &Io) {
        if io.direction == Direction::Write {
            let place = self.place(part(io), io.slot);
            let buffer = self.memory.slice_mut(place, io.length.0 as usize);
            self.payloads[io.data_index as usize].refresh(buffer);
        }
    }

    pub(crate) fn pointer(&self, io: &Io) -> *mut u8 {
        self.memory.pointer(self.place(part(io), io.slot))
    }

    /// Which of [`Self::vectors`] the I/O's is.
    pub(crate) fn index(&self, io: &Io) -> u16 {
        (part(io) * self.slot_count + io.slot) as u16
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

    fn place(&self, part: u32, slot: u32) -> usize {
        (part as usize * self.slot_count as usize + slot as usize) * self.transfer
    }

    /// Called in the lane's thread: the first touch decides at which NUMA node a page lies, of those to read into as well.
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
fn part(io: &Io) -> u32 {
    match io.direction {
        Direction::Read => 0,
        Direction::Write => io.data_index + 1,
    }
}
