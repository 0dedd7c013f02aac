//! What a block may hold, by what all workers remember of it.

use std::collections::BTreeMap;

use super::{Block, Blocks, Content, Write};
use crate::contract::{Bytes, Nanos};

/// Two clocks of one host differ by less.
const CLOCK_SLACK: Nanos = Nanos(1_000);
/// Writes that may have been outstanding together where a block is still compared.
const TOGETHER_MAX: usize = 2;

/// A write with the worker that did it.
pub type Made = (usize, Content);

/// What a read of a block has to return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Right {
    /// The content of any of these writes.
    AnyOf(Vec<Made>),
    /// Data that repeat or come from a file are not compared.
    Given,
    /// Nobody can tell: a trim, a failed write, or more than two writes outstanding together.
    Unknown,
}

/// A sampled block as all workers know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its place.
    pub offset: Bytes,
    /// What a read has to return.
    pub right: Right,
    /// Writes that are overwritten: a drive that returns one of these is stale.
    pub stale: Vec<Made>,
}

/// Put together what the workers remember, in the order of places. No write may be outstanding.
#[must_use]
pub fn resolve(workers: &[Blocks]) -> Vec<Known> {
    let mut places: BTreeMap<u64, Vec<(usize, &Block)>> = BTreeMap::new();
    for (worker, blocks) in workers.iter().enumerate() {
        for (place, block) in blocks {
            places.entry(*place).or_default().push((worker, block));
        }
    }
    places.into_iter().map(|(place, blocks)| known(Bytes(place), &blocks)).collect()
}

fn known(offset: Bytes, blocks: &[(usize, &Block)]) -> Known {
    let of_all = |(worker, block): &(usize, &Block)| {
        let worker = *worker;
        block.last.iter().map(move |write| (worker, *write)).collect::<Vec<_>>()
    };
    let writes: Vec<(usize, Write)> = blocks.iter().flat_map(of_all).collect();
    let submitted_last = writes.iter().map(|(_, write)| write.submitted).max().unwrap_or_default();
    let may_be = |(_, write): &(usize, Write)| write.completed.0.saturating_add(CLOCK_SLACK.0) >= submitted_last.0;
    let (candidates, overwritten): (Vec<_>, Vec<_>) = writes.into_iter().partition(may_be);
    let before = blocks.iter().filter_map(|(worker, block)| Some((*worker, block.before?)));
    let stale = overwritten.into_iter().chain(before).map(|(worker, write)| (worker, write.content));
    Known { offset, right: right(&candidates), stale: stale.collect() }
}

fn right(candidates: &[(usize, Write)]) -> Right {
    let any = |content| candidates.iter().any(|(_, write)| write.content == content);
    let open = candidates.iter().any(|(_, write)| write.completed == Nanos::NEVER);
    if candidates.is_empty() || candidates.len() > TOGETHER_MAX || open || any(Content::Unknown) {
        return Right::Unknown;
    }
    if any(Content::Given) {
        return Right::Given;
    }
    Right::AnyOf(candidates.iter().map(|(worker, write)| (*worker, write.content)).collect())
}
