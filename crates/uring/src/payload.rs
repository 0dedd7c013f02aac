//! The bytes that are written: fresh in every 512 bytes, or an endless stream of given content.

use std::sync::Arc;

use assay_core::contract::DataPattern;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Smallest unit that is never written twice.
const STAMP_GRID: usize = 512;
const STAMP_BYTES: usize = 16;

/// Makes the content of every write of one data pattern.
pub(crate) struct Payload {
    /// Written again and again from where the last write left off; empty for fresh data.
    content: Arc<[u8]>,
    place: usize,
    stored_bytes: usize,
    origin: u64,
    count: u64,
}

impl Payload {
    /// `origin` differs between lanes and runs, so that their data do.
    pub(crate) fn new(pattern: &DataPattern, origin: u64) -> Self {
        let (content, stored_bytes) = match pattern {
            DataPattern::Random => (Arc::default(), STAMP_GRID),
            DataPattern::Compressible { stored_share } => {
                (Arc::default(), (STAMP_GRID as f64 * stored_share).round() as usize)
            }
            DataPattern::Repeating { pool } => (random_bytes(pool.0 as usize, 0).into(), STAMP_GRID),
            DataPattern::File(content) => (Arc::clone(content), STAMP_GRID),
        };
        let stored_bytes = stored_bytes.clamp(STAMP_BYTES, STAMP_GRID);
        Self { content, place: 0, stored_bytes, origin, count: 0 }
    }

    /// Fill a slot's buffer once, before its first write.
    pub(crate) fn fill(&self, buffer: &mut [u8], slot: u64) {
        if self.content.is_empty() {
            Xoshiro256PlusPlus::seed_from_u64(self.origin ^ slot).fill_bytes(buffer);
            for block in buffer.chunks_mut(STAMP_GRID) {
                let stored = self.stored_bytes.min(block.len());
                block[stored..].fill(0);
            }
        }
    }

    /// Make a buffer ready for its next write: stamp every 512 bytes anew, or go on with the given content.
    #[inline]
    pub(crate) fn refresh(&mut self, buffer: &mut [u8]) {
        if self.content.is_empty() {
            self.stamp(buffer);
        } else {
            self.go_on(buffer);
        }
    }

    fn stamp(&mut self, buffer: &mut [u8]) {
        for block in buffer.chunks_exact_mut(STAMP_GRID) {
            self.count += 1;
            // An odd multiplier is a bijection: distinct counts give distinct, well-mixed stamps.
            let mixed = self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            block[..8].copy_from_slice(&mixed.to_le_bytes());
            block[8..STAMP_BYTES].copy_from_slice(&(self.origin ^ mixed.rotate_left(32)).to_le_bytes());
        }
    }

    fn go_on(&mut self, mut buffer: &mut [u8]) {
        while !buffer.is_empty() {
            let length = buffer.len().min(self.content.len() - self.place);
            let (now, rest) = buffer.split_at_mut(length);
            now.copy_from_slice(&self.content[self.place..self.place + length]);
            self.place = (self.place + length) % self.content.len();
            buffer = rest;
        }
    }
}

fn random_bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut content = vec![0; count];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut content);
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::contract::Bytes;
    use std::collections::HashSet;

    fn written(payload: &mut Payload, writes: usize, bytes: usize) -> Vec<Vec<u8>> {
        let mut buffer = vec![0; bytes];
        payload.fill(&mut buffer, 0);
        let write = |_| {
            payload.refresh(&mut buffer);
            buffer.clone()
        };
        (0..writes).map(write).collect()
    }

    #[test]
    fn no_512_bytes_are_ever_written_twice() {
        let mut seen = HashSet::new();
        for origin in [1, 2] {
            for content in written(&mut Payload::new(&DataPattern::Random, origin), 100, 65_536) {
                assert!(content.chunks(512).all(|block| seen.insert(block.to_vec())));
            }
        }
    }

    #[test]
    fn compressible_data_keeps_its_share_of_every_block() {
        let mut payload = Payload::new(&DataPattern::Compressible { stored_share: 0.25 }, 1);
        for block in written(&mut payload, 1, 4096)[0].chunks(512) {
            assert!(block[128..].iter().all(|byte| *byte == 0) && block[..128].iter().any(|byte| *byte != 0));
        }
    }

    #[test]
    fn a_repeating_pool_is_written_whole_before_it_repeats() {
        let mut payload = Payload::new(&DataPattern::Repeating { pool: Bytes(65_536) }, 1);
        let writes = written(&mut payload, 32, 4096);
        assert_eq!(writes[..16].iter().collect::<HashSet<_>>().len(), 16);
        assert_eq!(writes[..16], writes[16..]);
    }

    #[test]
    fn a_file_is_written_in_its_order_again_and_again() {
        let content: Vec<u8> = (0_u8..100).collect();
        let mut payload = Payload::new(&DataPattern::File(content.clone().into()), 1);
        let stream = written(&mut payload, 4, 512).concat();
        assert!(stream.iter().eq(content.iter().cycle().take(2048)));
    }
}
