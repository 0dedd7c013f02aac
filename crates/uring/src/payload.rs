//! The bytes that are written: made anew for every write, stamped anew, addressed, or an endless stream of given content.

use std::sync::Arc;

use assay_core::contract::{Bytes, DataPattern};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::addressed::Writes;
use crate::generator::Generator;

/// Smallest unit that is never written twice.
pub(crate) const GRID: usize = 512;
const STAMP_BYTES: usize = 16;
/// What common compressors add to the fresh bytes of each unit of compressible data, in the middle between `gzip -1` and
/// `zstd -3`, 4 KiB at a time and over a run: with so many fewer all of them come to the stated share within 0.013.
const COMPRESSOR_BYTES: f64 = 8.0;

/// Makes the content of every write of one data pattern.
pub(crate) enum Payload {
    /// Fresh bytes.
    Fresh(Generator),
    /// Fresh bytes where the mask of every unit is all ones, zeros elsewhere.
    Compressible { generator: Generator, mask: Box<[u8; GRID]> },
    /// The same bytes in a slot again and again, with a fresh stamp in every unit.
    Stamped { origin: u64 },
    /// Every unit says where it belongs.
    Addressed(Box<Writes>),
    /// Written again and again from where the last write left off.
    Given { content: Arc<[u8]>, place: usize },
}

impl Payload {
    /// `origin` differs between workers and runs, so that their data do.
    pub(crate) fn new(pattern: &DataPattern, origin: u64) -> Self {
        match pattern {
            DataPattern::Random => Self::Fresh(Generator::new(origin)),
            DataPattern::Compressible { stored_share } => {
                Self::Compressible { generator: Generator::new(origin), mask: Box::new(mask(*stored_share)) }
            }
            DataPattern::Stamped => Self::Stamped { origin },
            DataPattern::Repeating { pool } => {
                Self::Given { content: random_bytes(pool.0 as usize, 0).into(), place: 0 }
            }
            DataPattern::Addressed => Self::Addressed(Box::new(Writes::new(origin))),
            DataPattern::File(content) => Self::Given { content: Arc::clone(content), place: 0 },
        }
    }

    /// Fill a slot's buffer once, before its first write.
    pub(crate) fn fill(&self, buffer: &mut [u8], slot: u64) {
        if let Self::Stamped { origin } = self {
            Xoshiro256PlusPlus::seed_from_u64(origin ^ slot).fill_bytes(buffer);
        }
    }

    /// Make a buffer ready for write number `number` of its worker, to the byte `place` of the drive.
    #[inline]
    pub(crate) fn refresh(&mut self, number: u64, place: Bytes, buffer: &mut [u8]) {
        match self {
            Self::Fresh(generator) => generator.fill(number, buffer),
            Self::Compressible { generator, mask } => {
                generator.fill(number, buffer);
                keep(buffer, mask);
            }
            Self::Stamped { origin } => stamp(buffer, *origin, number),
            Self::Addressed(writes) => writes.fill(number, place.0, buffer),
            Self::Given { content, place } => *place = go_on(buffer, content, *place),
        }
    }
}

/// Which bytes of every unit are fresh in data that compress to this share.
fn mask(stored_share: f64) -> [u8; GRID] {
    let stored = (GRID as f64 * stored_share - COMPRESSOR_BYTES).round().max(0.0) as usize;
    let stored = stored.clamp(STAMP_BYTES, GRID);
    std::array::from_fn(|place| if place < stored { u8::MAX } else { 0 })
}

/// With a mask this takes less than setting the ends of units to zero one by one.
#[inline(never)]
fn keep(buffer: &mut [u8], mask: &[u8; GRID]) {
    for block in buffer.chunks_mut(GRID) {
        for (byte, kept) in block.iter_mut().zip(mask) {
            *byte &= kept;
        }
    }
}

fn stamp(buffer: &mut [u8], origin: u64, number: u64) {
    for (block, count) in buffer.chunks_exact_mut(GRID).zip(number << 20..) {
        // An odd multiplier is a bijection: distinct counts give distinct, well-mixed stamps.
        let mixed = count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        block[..8].copy_from_slice(&mixed.to_le_bytes());
        block[8..STAMP_BYTES].copy_from_slice(&(origin ^ mixed.rotate_left(32)).to_le_bytes());
    }
}

/// The place in the content behind what was written.
#[inline(never)]
fn go_on(mut buffer: &mut [u8], content: &[u8], mut place: usize) -> usize {
    while !buffer.is_empty() {
        let length = buffer.len().min(content.len() - place);
        let (now, rest) = buffer.split_at_mut(length);
        now.copy_from_slice(&content[place..place + length]);
        place = (place + length) % content.len();
        buffer = rest;
    }
    place
}

fn random_bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut content = vec![0; count];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut content);
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn written(payload: &mut Payload, writes: u64, bytes: usize) -> Vec<Vec<u8>> {
        let mut buffer = vec![0; bytes];
        payload.fill(&mut buffer, 0);
        let write = |number| {
            payload.refresh(number, Bytes(0), &mut buffer);
            buffer.clone()
        };
        (0..writes).map(write).collect()
    }

    fn compressible(stored_share: f64) -> DataPattern {
        DataPattern::Compressible { stored_share }
    }

    #[test]
    fn no_512_bytes_are_ever_written_twice() {
        for pattern in [DataPattern::Random, compressible(0.05), DataPattern::Stamped, DataPattern::Addressed] {
            let mut seen = HashSet::new();
            for origin in [1, 2] {
                for content in written(&mut Payload::new(&pattern, origin), 100, 65_536) {
                    assert!(content.chunks(512).all(|block| seen.insert(block.to_vec())), "{pattern:?}");
                }
            }
        }
    }

    #[test]
    fn two_random_writes_have_nothing_in_common_and_two_stamped_ones_almost_everything() {
        let alike = |pattern| {
            let writes = written(&mut Payload::new(&pattern, 1), 2, 65_536);
            writes[0].iter().zip(&writes[1]).filter(|(one, other)| one == other).count()
        };
        assert!(alike(DataPattern::Random) < 65_536 / 200);
        assert!(alike(DataPattern::Stamped) >= 65_536 / 512 * 496);
    }

    #[test]
    fn what_a_write_holds_depends_on_origin_and_number_only() {
        for pattern in [DataPattern::Random, compressible(0.5), DataPattern::Stamped, DataPattern::Addressed] {
            let all = written(&mut Payload::new(&pattern, 1), 4, 4096);
            let (mut later, mut buffer) = (Payload::new(&pattern, 1), vec![0; 4096]);
            later.fill(&mut buffer, 0);
            later.refresh(3, Bytes(0), &mut buffer);
            assert_eq!(buffer, all[3]);
            assert_ne!(written(&mut Payload::new(&pattern, 2), 4, 4096)[3], all[3]);
        }
    }

    #[test]
    fn compressible_data_keep_their_share_of_every_block() {
        for (share, stored) in [(0.05, 18), (0.25, 120), (0.5, 248), (0.95, 478)] {
            let mut payload = Payload::new(&compressible(share), 1);
            for block in written(&mut payload, 2, 4096).concat().chunks(512) {
                assert!(block[stored..].iter().all(|byte| *byte == 0));
                assert!(block[..stored].iter().any(|byte| *byte != 0));
            }
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
