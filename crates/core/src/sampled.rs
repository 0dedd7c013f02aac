//! The last writes of some blocks, to hold against what the drive returns.
//!
//! A drive is cut into equal regions, and each has a single sampled block at a hashed position. A worker remembers its writes
//! that cover one, with the times between which they were outstanding. A write that was complete when a later one was
//! submitted is overwritten. Of those left, any may be what the block holds: they were outstanding together.
//!
//! ```text
//! write 1  |------|                      overwritten by 2 and 3
//! write 2            |---------|         may be the content
//! write 3                 |---------|    may be the content
//! ```
//!
//! Times enclose what the drive saw: an I/O is stamped before it is submitted and after its completion is seen. So the rule
//! never accuses a drive that completes an I/O only when a later read would return it.

mod resolve;
mod sampling;

use std::collections::HashMap;

use crate::contract::{Bytes, Completion, Direction, Io, Nanos};

pub use resolve::{Known, Made, Right, resolve};
pub use sampling::Sampling;

/// What a write put into a sampled block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Made by the worker; it can be made again.
    Made {
        /// The worker's index of the data pattern.
        data: u32,
        /// The worker's number of the write.
        number: u64,
        /// The slot of the I/O, which some data depend on.
        slot: u32,
        /// Offset of the block in the I/O.
        within: Bytes,
    },
    /// Data that repeat or come from a file: not compared.
    Given,
    /// What a trim, a failed or a short write leaves.
    Unknown,
}

/// A write of a sampled block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Before it was submitted.
    pub submitted: Nanos,
    /// After it was complete; [`Nanos::NEVER`] while it is outstanding.
    pub completed: Nanos,
    /// What it wrote.
    pub content: Content,
    /// The slot of its I/O while that may still complete, else `None`.
    slot: Option<u32>,
}

/// The writes of a worker to a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Those that no later write of the worker has overwritten, at most its queue depth.
    pub last: Vec<Write>,
    /// The latest that is overwritten.
    pub before: Option<Write>,
}

/// What a worker remembers, by the offset of the block.
pub type Blocks = HashMap<u64, Block>;

/// A write that is outstanding and covers sampled blocks.
#[derive(Clone, Copy, Debug)]
struct Open {
    slot: u32,
    offset: u64,
    length: u64,
}

/// The memory of a worker.
#[derive(Clone, Debug)]
pub struct Memory {
    sampling: Sampling,
    open: Vec<Open>,
    blocks: Blocks,
}

impl Memory {
    /// Nothing is remembered yet.
    #[must_use]
    pub fn new(sampling: Sampling) -> Self {
        Self { sampling, open: Vec::new(), blocks: HashMap::new() }
    }

    /// Whether an I/O may change a sampled block.
    #[inline]
    #[must_use]
    pub fn concerns(&self, io: &Io) -> bool {
        io.direction != Direction::Read && self.sampling.may_cover(io.offset.0, io.length.0)
    }

    /// Whether a completion may be that of an I/O which was remembered.
    #[inline]
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.open.is_empty()
    }

    /// Remember an I/O that [`Self::concerns`] this memory and is about to be submitted.
    ///
    /// `made` : index of its data pattern and number of the write, `None` for data that are not compared.
    #[cold]
    pub fn submitted(&mut self, io: &Io, made: Option<(u32, u64)>, now: Nanos) {
        let (offset, length) = (io.offset.0, io.length.0);
        let mut covers = false;
        for place in self.sampling.covered(offset, length) {
            covers = true;
            let content = match (io.direction, made) {
                (Direction::Write, Some((data, number))) => {
                    Content::Made { data, number, slot: io.slot, within: Bytes(place - offset) }
                }
                (Direction::Write, None) => Content::Given,
                _ => Content::Unknown,
            };
            let write = Write { submitted: now, completed: Nanos::NEVER, content, slot: Some(io.slot) };
            self.blocks.entry(place).or_default().begin(write);
        }
        if covers {
            self.open.push(Open { slot: io.slot, offset, length });
        }
    }

    /// Note the end of an I/O; one that was not remembered is left aside.
    #[cold]
    pub fn completed(&mut self, completion: &Completion) {
        let Some(index) = self.open.iter().position(|open| open.slot == completion.slot) else {
            return;
        };
        let open = self.open.swap_remove(index);
        // What failed may still come to pass at any time.
        let at = if completion.result == Ok(Bytes(open.length)) { completion.at } else { Nanos::NEVER };
        for place in self.sampling.covered(open.offset, open.length) {
            if let Some(block) = self.blocks.get_mut(&place) {
                block.end(open.slot, at);
            }
        }
    }

    /// Forget what lies between two offsets: something else than an I/O of the worker changed it.
    pub fn forget(&mut self, from: Bytes, to: Bytes) {
        let block = self.sampling.block();
        self.blocks.retain(|place, _| place + block.0 <= from.0 || *place >= to.0);
    }

    /// What is remembered now.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }
}

impl Block {
    fn begin(&mut self, write: Write) {
        let Self { last, before } = self;
        last.retain(|earlier| {
            let overwritten = earlier.completed < write.submitted;
            if overwritten && before.is_none_or(|known| known.completed < earlier.completed) {
                *before = Some(*earlier);
            }
            !overwritten
        });
        last.push(write);
    }

    fn end(&mut self, slot: u32, at: Nanos) {
        if let Some(write) = self.last.iter_mut().find(|write| write.slot == Some(slot)) {
            (write.slot, write.completed) = (None, at);
        }
    }
}

#[cfg(test)]
mod tests;
