//! Lines: the kinds of access of a pattern that has several, drawn once per burst.

use serde::Deserialize;

use super::sizes::{Share, Size, check_shares, compile_size, threshold};
use super::{AccessPattern, PatternError};
use crate::active_range::ActiveRange;
use crate::contract::Nanos;

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
    pub(super) threshold: u64,
    pub(super) size: Size,
    pub(super) reads: Share,
    pub(super) randoms: Share,
    pub(super) burst: u32,
    pub(super) delay: Nanos,
}

/// A burst of one line: how many of its I/Os are left, and when the first may begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    pub(super) line: usize,
    pub(super) left: u32,
    pub(super) from: Nanos,
}

impl Burst {
    /// When its next I/O may begin.
    pub(crate) fn from(&self) -> Nanos {
        self.from
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
