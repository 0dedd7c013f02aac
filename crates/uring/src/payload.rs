//! The bytes that are written: filled once, stamped anew in every 512 bytes of every write.

use assay_core::contract::DataPattern;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Smallest unit that is never written twice.
const STAMP_GRID: usize = 512;
const STAMP_BYTES: usize = 16;

/// Source of unique stamps: `origin` differs between lanes and runs, the count never repeats.
pub(crate) struct Stamper {
    origin: u64,
    count: u64,
}

impl Stamper {
    pub(crate) fn new(origin: u64) -> Self {
        Self { origin, count: 0 }
    }

    /// Make every 512 bytes of a buffer unique, where the pattern asks for fresh data.
    #[inline]
    pub(crate) fn refresh(&mut self, pattern: &DataPattern, buffer: &mut [u8]) {
        if matches!(pattern, DataPattern::Repeating { .. } | DataPattern::File(_)) {
            return;
        }
        for block in buffer.chunks_exact_mut(STAMP_GRID) {
            self.count += 1;
            // An odd multiplier is a bijection: distinct counts give distinct, well-mixed stamps.
            let mixed = self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            block[..8].copy_from_slice(&mixed.to_le_bytes());
            block[8..STAMP_BYTES].copy_from_slice(&(self.origin ^ mixed.rotate_left(32)).to_le_bytes());
        }
    }
}

/// Fill a buffer with a pattern's content; `place` is the buffer's offset in an endless stream of it.
pub(crate) fn fill(pattern: &DataPattern, buffer: &mut [u8], place: u64, seed: u64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ place);
    match pattern {
        DataPattern::Random => rng.fill_bytes(buffer),
        DataPattern::Compressible { stored_share } => {
            let stored = ((STAMP_GRID as f64 * stored_share).round() as usize).clamp(STAMP_BYTES, STAMP_GRID);
            for block in buffer.chunks_mut(STAMP_GRID) {
                let stored = stored.min(block.len());
                rng.fill_bytes(&mut block[..stored]);
                block[stored..].fill(0);
            }
        }
        DataPattern::Repeating { pool } => {
            let mut content = vec![0; pool.0 as usize];
            Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut content);
            repeat(&content, buffer, place);
        }
        DataPattern::File(content) => repeat(content, buffer, place),
    }
}

fn repeat(content: &[u8], buffer: &mut [u8], place: u64) {
    let start = (place % content.len() as u64) as usize;
    for (byte, source) in buffer.iter_mut().zip(content.iter().cycle().skip(start)) {
        *byte = *source;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::contract::Bytes;
    use std::collections::HashSet;

    #[test]
    fn no_512_bytes_are_ever_written_twice() {
        let mut stamper = Stamper::new(1);
        let mut buffer = vec![0; 65_536];
        fill(&DataPattern::Random, &mut buffer, 0, 1);
        let mut seen = HashSet::new();
        for _ in 0..100 {
            stamper.refresh(&DataPattern::Random, &mut buffer);
            assert!(buffer.chunks(512).all(|block| seen.insert(block.to_vec())));
        }
        let mut other = Stamper::new(2);
        other.refresh(&DataPattern::Random, &mut buffer);
        assert!(buffer.chunks(512).all(|block| seen.insert(block.to_vec())));
    }

    #[test]
    fn compressible_data_keeps_its_share_of_every_block() {
        let mut buffer = vec![1; 4096];
        let pattern = DataPattern::Compressible { stored_share: 0.25 };
        fill(&pattern, &mut buffer, 0, 1);
        Stamper::new(1).refresh(&pattern, &mut buffer);
        assert!(buffer.chunks(512).all(|block| block[128..].iter().all(|byte| *byte == 0)));
        assert!(buffer.chunks(512).all(|block| block[..128].iter().any(|byte| *byte != 0)));
    }

    #[test]
    fn repeating_and_file_data_are_left_as_they_are() {
        let mut buffer = vec![0; 1024];
        let content: DataPattern = DataPattern::File((0_u8..100).collect::<Vec<_>>().into());
        fill(&content, &mut buffer, 150, 1);
        assert_eq!(buffer[..4], [50, 51, 52, 53]);
        let before = buffer.clone();
        Stamper::new(1).refresh(&content, &mut buffer);
        assert_eq!(buffer, before);
        let pool = DataPattern::Repeating { pool: Bytes(512) };
        fill(&pool, &mut buffer, 512, 1);
        assert_eq!(buffer[..512], buffer[512..]);
    }
}
