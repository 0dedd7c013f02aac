//! Lines: the kinds of access of a pattern that has several, drawn once per burst.

use std::sync::atomic::AtomicU64;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::compiled::{Share, Size, check_shares, compile_size, threshold};
use super::{Access, AccessPattern, CompiledPattern, Operation, PatternError};
use crate::active_range::ActiveRange;
use crate::contract::{Direction, Nanos};

/// One kind of access of a pattern that has several: drawn by its share, once per burst of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessLine {
    /// Share of the bursts; those of all lines sum to one.
    pub share: f64,
    /// Transfer size.
    #[serde(rename = "transfer_bytes")]
    pub transfer: u64,
    /// Share of reads, in [0, 1].
    pub read_share: f64,
    /// Share of random accesses, in [0, 1].
    pub random_share: f64,
    /// Grid of random starts in bytes; 0 means the transfer size.
    #[serde(rename = "alignment_bytes")]
    pub alignment: u64,
    /// I/Os of a burst, at least 1.
    #[serde(rename = "burst_io_count")]
    pub burst: u32,
    /// Pause before each burst.
    #[serde(rename = "delay_ns")]
    pub delay: Nanos,
}

/// A line that takes the draws up to `threshold`.
#[derive(Debug)]
pub(super) struct Line {
    threshold: u64,
    size: Size,
    reads: Share,
    randoms: Share,
    burst: u32,
    delay: Nanos,
}

/// A burst of one line: how many of its I/Os are left, and when the first may begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    line: usize,
    left: u32,
    from: Nanos,
}

impl Burst {
    /// When its next I/O may begin.
    pub(crate) fn from(&self) -> Nanos {
        self.from
    }
}

impl CompiledPattern {
    /// The burst that the next access belongs to: a new one where `burst` is over.
    pub(crate) fn burst(&self, rng: &mut Xoshiro256PlusPlus, burst: Burst, now: Nanos) -> Burst {
        if burst.left > 0 {
            return burst;
        }
        let draw = if self.lines().len() == 1 { 0 } else { rng.next_u64() };
        let line = self.lines().iter().position(|line| draw <= line.threshold).unwrap_or(self.lines().len() - 1);
        Burst { line, left: self.lines()[line].burst, from: now + self.lines()[line].delay }
    }

    /// Draw the next access of a burst that is not over.
    pub(crate) fn draw_of_burst(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        cursors: [&AtomicU64; 2],
        burst: &mut Burst,
    ) -> Access {
        burst.left -= 1;
        let line = &self.lines()[burst.line];
        let direction = match self.operation() {
            Operation::Flush => return self.draw_command(rng, cursors),
            Operation::Trim => Direction::Trim,
            Operation::Transfer if line.reads.draw(rng) => Direction::Read,
            _ => Direction::Write,
        };
        self.place(rng, cursors, &line.size, line.randoms, direction)
    }
}

/// The lines of a pattern on a range.
pub(super) fn compile(pattern: &AccessPattern, range: &ActiveRange) -> Result<Vec<Line>, PatternError> {
    if pattern.lines.is_empty() {
        return Ok(Vec::new());
    }
    if !pattern.lba_groups.is_empty() || pattern.lines.iter().any(|line| line.burst == 0) {
        return Err(PatternError::Lines);
    }
    check_shares(pattern.lines.iter().map(|line| line.share), "line shares")?;
    let mut sum = 0.0;
    let lines = pattern.lines.iter().map(|line| {
        sum += line.share;
        Ok(Line {
            threshold: threshold(sum),
            size: compile_size(pattern, range, (line.transfer, line.alignment), sum)?,
            reads: Share::new(line.read_share, "read share")?,
            randoms: Share::new(line.random_share, "random share")?,
            burst: line.burst,
            delay: line.delay,
        })
    });
    lines.collect()
}
