//! What a worker wrote last to the sampled blocks, and what data they hold.

use assay_core::contract::{DataPattern, Io};
use assay_core::sampled::Blocks;

/// Index of data that are not compared.
const GIVEN: u32 = u32::MAX;

/// The data patterns that a worker wrote, and which of them each of the present sequence is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) data: Vec<DataPattern>,
    now: Vec<u32>,
}

impl Written {
    /// A sequence begins, with these patterns.
    pub(crate) fn name(&mut self, data: &[DataPattern]) {
        self.now = data.iter().map(|pattern| self.index_of(pattern)).collect();
    }

    /// What the I/O writes; `None` where it is not compared.
    pub(crate) fn index(&self, io: &Io) -> Option<u32> {
        self.now.get(io.data_index as usize).copied().filter(|index| *index != GIVEN)
    }

    fn index_of(&mut self, pattern: &DataPattern) -> u32 {
        if matches!(pattern, DataPattern::Repeating { .. } | DataPattern::File(_)) {
            return GIVEN;
        }
        let known = self.data.iter().position(|known| known == pattern);
        known.unwrap_or_else(|| {
            self.data.push(pattern.clone());
            self.data.len() - 1
        }) as u32
    }
}

/// What a worker wrote last to the sampled blocks.
#[derive(Clone, Debug)]
pub struct Remembered {
    pub(crate) origin: u64,
    pub(crate) write_count: u64,
    pub(crate) data: Vec<DataPattern>,
    pub(crate) blocks: Blocks,
}
