//! Which write a block is a part of, by its first bytes.

use crate::generator::{GATHER, STEP_BYTES};
use crate::payload::{GRID, Payload};

/// The write and the offset in it that a block may be a part of.
pub(crate) struct Part {
    pub(crate) number: u64,
    pub(crate) within: u64,
    /// The block tells by itself that it is; else it is to be made again.
    pub(crate) sure: bool,
}

/// What a block that was read may be a part of, where it lies in the first `within` bytes of its write.
#[cold]
pub(crate) fn parts_of(payload: &Payload, block: &[u8], within: u64) -> Vec<Part> {
    let Some((head, rest)) = block.split_first_chunk::<8>() else { return Vec::new() };
    let word = u64::from_le_bytes(*head);
    match payload {
        Payload::Fresh(generator) | Payload::Compressible { generator, .. } => {
            let parts = generator.numbers_of(word, within as usize / STEP_BYTES);
            let part = |(step, number)| Part { number, within: (step * STEP_BYTES) as u64, sure: false };
            parts.map(part).collect()
        }
        Payload::Stamped { origin } => {
            let count = word.wrapping_mul(GATHER);
            let sure = rest.starts_with(&(origin ^ word.rotate_left(32)).to_le_bytes());
            let part = Part { number: count >> 20, within: (count & 0xf_ffff) * GRID as u64, sure };
            if sure { vec![part] } else { Vec::new() }
        }
        Payload::Addressed(writes) => {
            let tag = block.get(..GRID).and_then(|sector| writes.sectors.read(sector));
            let own = tag.filter(|tag| writes.origin.worker(tag) == Some(0));
            own.map(|tag| Part { number: tag.number, within: 0, sure: true }).into_iter().collect()
        }
        Payload::Given { .. } => Vec::new(),
    }
}
