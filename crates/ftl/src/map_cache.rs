//! Which map entries are in the controller's memory, for drives that cannot hold all of them.

use assay_core::contract::Bytes;
use serde::{Deserialize, Serialize};

/// Map entries that are read from flash together: 4 KiB of them.
const SEGMENT_ENTRIES_BITS: u32 = 10;
const SEGMENT_BYTES: u64 = 4096;

/// A direct-mapped cache of map segments; without places it holds everything.
#[derive(Serialize, Deserialize)]
pub(crate) struct MapCache {
    segments: Vec<u32>,
}

impl MapCache {
    pub(crate) fn new(memory: Bytes) -> Self {
        Self { segments: vec![u32::MAX; (memory.0 / SEGMENT_BYTES) as usize] }
    }

    /// Whether this, out of a kept state, is of the same size as a fresh one.
    pub(crate) fn fits(&self, fresh: &Self) -> bool {
        self.segments.len() == fresh.segments.len()
    }

    /// The segment that has to be read for a logical page; `None` where it is in memory. It is from then on.
    #[inline]
    pub(crate) fn miss(&mut self, logical: u32) -> Option<u32> {
        if self.segments.is_empty() {
            return None;
        }
        let segment = logical >> SEGMENT_ENTRIES_BITS;
        // Neighbours in the drive are neighbours in the cache, so that a range that fits never misses twice.
        let place = segment as usize % self.segments.len();
        (std::mem::replace(&mut self.segments[place], segment) != segment).then_some(segment)
    }
}
