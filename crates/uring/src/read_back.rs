//! Holds what a drive returns against what was written: sampled blocks are read, and their content is made again.

use std::collections::HashMap;

use assay_core::contract::{Bytes, Errno, Nanos};
use assay_core::sampled::{Blocks, Content, Known, Made, Right, resolve};

use crate::clock;
use crate::device::UringDevice;
use crate::parts::parts_of;
use crate::payload::Payload;
use crate::remembered::Remembered;

/// How far into a write it is looked for what a wrong block holds.
const WITHIN: u64 = 1 << 20;
/// Wrong blocks that are named.
const NAMED_MAX: usize = 64;

/// What a block holds that does not hold what was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing but zeros.
    Zeros,
    /// What was written before.
    Stale,
    /// What was written to another sampled block.
    Elsewhere,
    /// What another write of the run wrote, to this place or another.
    Another,
    /// None of these.
    Other,
}

impl Wrong {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Stale => "stale",
            Self::Elsewhere => "elsewhere",
            Self::Another => "another",
            Self::Other => "other",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Blocks that were read and compared.
    pub checked_count: u64,
    /// Blocks whose content is known.
    pub known_count: u64,
    /// Blocks that hold data which repeat or come from a file.
    pub given_count: u64,
    /// Blocks of which nobody can tell what they hold.
    pub unknown_count: u64,
    /// Blocks that hold something else than was written.
    pub wrong_count: u64,
    /// The first of them, by place.
    pub wrong: Vec<(Bytes, Wrong)>,
    /// A block that could not be read.
    pub failed: Option<(Bytes, Errno)>,
    /// How long it took.
    pub span: Nanos,
}

/// What all workers remember, ready to be compared.
pub struct Check {
    workers: Vec<Remembered>,
    block: Bytes,
    known: Vec<Known>,
    outcome: Outcome,
}

impl Check {
    /// `block` : size of a logical block.
    #[must_use]
    pub fn new(workers: Vec<Remembered>, block: Bytes) -> Self {
        let blocks: Vec<Blocks> = workers.iter().map(|worker| worker.blocks.clone()).collect();
        let all = resolve(&blocks);
        let count = |right: Right| all.iter().filter(|known| known.right == right).count() as u64;
        let (given_count, unknown_count) = (count(Right::Given), count(Right::Unknown));
        let known: Vec<_> = all.into_iter().filter(|known| matches!(known.right, Right::AnyOf(_))).collect();
        let outcome = Outcome { known_count: known.len() as u64, given_count, unknown_count, ..Outcome::default() };
        Self { workers, block, known, outcome }
    }

    /// Read `count` of the known blocks, or all, until `limit` has passed; `turn` chooses others each time.
    #[must_use]
    pub fn run(mut self, device: &mut UringDevice, count: usize, turn: usize, limit: Nanos) -> Outcome {
        let begun = clock::monotonic();
        let chosen = chosen(self.known.len(), count, turn);
        let places: Vec<Bytes> = chosen.iter().map(|index| self.known[*index].offset).collect();
        let mut wrong = Vec::new();
        let mut failed = None;
        let deadline = Nanos(begun.0.saturating_add(limit.0));
        let read = device.read_blocks(&places, deadline, |nth, content| match content {
            Ok(content) if self.is_right(chosen[nth], content) => {}
            Ok(content) => wrong.push((chosen[nth], content.to_vec())),
            Err(errno) => drop(failed.get_or_insert((places[nth], errno))),
        });
        let span = clock::monotonic() - begun;
        if let Err(errno) = read {
            failed = failed.or(Some((places.first().copied().unwrap_or_default(), errno)));
        }
        wrong.sort_unstable();
        self.outcome.wrong = self.kinds(&wrong[..wrong.len().min(NAMED_MAX)]);
        let (checked_count, wrong_count) = (read.unwrap_or(0) as u64, wrong.len() as u64);
        Outcome { checked_count, wrong_count, failed, span, ..self.outcome }
    }

    fn is_right(&self, index: usize, content: &[u8]) -> bool {
        let Known { offset, right: Right::AnyOf(writes), .. } = &self.known[index] else {
            return true;
        };
        writes.iter().any(|made| self.made(*offset, made).is_some_and(|made| made == content))
    }

    /// What a write put into its block at `offset`.
    fn made(&self, offset: Bytes, made: &Made) -> Option<Vec<u8>> {
        let (worker, Content::Made { data, number, slot, within }) = *made else {
            return None;
        };
        let Remembered { origin, data: patterns, .. } = &self.workers[worker];
        let mut payload = Payload::new(&patterns[data as usize], *origin);
        Some(part(&mut payload, number, u64::from(slot), (offset - within, within), self.block))
    }

    /// Whether a block is a part of any write of the run.
    fn is_of_run(&self, content: &[u8]) -> bool {
        self.workers.iter().any(|worker| {
            worker.data.iter().any(|pattern| {
                let mut payload = Payload::new(pattern, worker.origin);
                let mut parts = parts_of(&payload, content, WITHIN).into_iter();
                parts.any(|found| {
                    let made = |payload| part(payload, found.number, 0, (Bytes(0), Bytes(found.within)), self.block);
                    found.number < worker.write_count && (found.sure || made(&mut payload) == content)
                })
            })
        })
    }

    /// What blocks hold that are wrong.
    fn kinds(&self, wrong: &[(usize, Vec<u8>)]) -> Vec<(Bytes, Wrong)> {
        let mut elsewhere = HashMap::new();
        for (index, known) in self.known.iter().enumerate().filter(|_| !wrong.is_empty()) {
            let Right::AnyOf(writes) = &known.right else { continue };
            elsewhere.extend(
                writes.iter().chain(&known.stale).filter_map(|made| Some((self.made(known.offset, made)?, index))),
            );
        }
        let kind = |(index, content): &(usize, Vec<u8>)| {
            let stale = |made: &Made| self.made(self.known[*index].offset, made).is_some_and(|made| made == *content);
            let kind = if content.iter().all(|byte| *byte == 0) {
                Wrong::Zeros
            } else if self.known[*index].stale.iter().any(stale) {
                Wrong::Stale
            } else if elsewhere.contains_key(content) {
                Wrong::Elsewhere
            } else if self.is_of_run(content) {
                Wrong::Another
            } else {
                Wrong::Other
            };
            (self.known[*index].offset, kind)
        };
        wrong.iter().map(kind).collect()
    }
}

/// What write number `number` to `place` holds from `within` on.
#[cold]
fn part(payload: &mut Payload, number: u64, slot: u64, (place, within): (Bytes, Bytes), block: Bytes) -> Vec<u8> {
    let mut buffer = vec![0; (within + block).0 as usize];
    payload.fill(&mut buffer, slot);
    payload.refresh(number, place, &mut buffer);
    buffer.split_off(within.0 as usize)
}

/// So many of `all`, at equal distances; others at the next turn.
fn chosen(all: usize, count: usize, turn: usize) -> Vec<usize> {
    let step = all.div_ceil(count.max(1)).max(1);
    (turn % step..all).step_by(step).collect()
}

#[cfg(test)]
#[path = "read_back_tests.rs"]
mod tests;
