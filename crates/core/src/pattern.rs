//! What I/Os look like, as it is asked for.

mod compiled;
mod lines;
mod sizes;

use serde::Deserialize;

pub(crate) use compiled::{Access, CompiledPattern};
pub use lines::AccessLine;
pub(crate) use lines::Burst;

use crate::contract::DataPattern;

/// The rule of continuation: where an I/O that follows another begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cursor {
    /// One place for all outstanding I/Os, which sequential ones move; kept across steps on the same range.
    Shared,
    /// One place per thread, which sequential ones move; they start apart by an equal share of the range.
    PerThread,
    /// One place per thread and direction, which every I/O of that direction moves. As fio.
    Fio,
    /// One place per thread, which every I/O moves. As Iometer.
    Iometer,
}

/// What the grid of an alignment is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GridOrigin {
    /// The first byte of each segment of the range.
    #[default]
    Range,
    /// Byte 0 of the drive; the range has one segment.
    Drive,
}

/// What the I/Os of a pattern do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Reads and writes, by the read share.
    #[default]
    Transfer,
    /// Trims.
    Trim,
    /// Flushes of the write cache.
    Flush,
    /// What was recorded elsewhere, I/O by I/O; the largest of the sizes is that of the recording.
    Replay,
}

impl Operation {
    /// Whether some of the I/Os may be reads and writes.
    pub(crate) fn moves_data(self) -> bool {
        matches!(self, Self::Transfer | Self::Replay)
    }
}

/// The access pattern of a step; its data `D` are those that it writes, or where they are to be found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessPattern<D = DataPattern> {
    /// Transfer sizes in bytes with their shares of the accesses; the shares sum to one.
    pub sizes: Vec<(u64, f64)>,
    /// Share of reads, in [0, 1].
    pub read_share: f64,
    /// Share of random accesses, in [0, 1]; the others are sequential.
    pub random_share: f64,
    /// Grid of starts in bytes; 0 means the transfer size.
    #[serde(rename = "alignment_bytes")]
    pub alignment: u64,
    /// What the grid is counted from.
    #[serde(rename = "alignment_origin", default)]
    pub origin: GridOrigin,
    /// (share of accesses, share of the range) in LBA order; empty means uniform over the range.
    pub lba_groups: Vec<(f64, f64)>,
    /// Where an I/O that follows another begins.
    pub cursor: Cursor,
    /// A sequential pass also covers an end of the range that is shorter than one transfer.
    pub writes_tail: bool,
    /// Content of the data written.
    pub data: D,
    /// What the I/Os do.
    #[serde(default)]
    pub operation: Operation,
    /// Where there are any, they say what sizes, read, random share and alignment say of others.
    #[serde(default)]
    pub lines: Vec<AccessLine>,
}

impl AccessPattern {
    /// Accesses of one size on a grid of that size, uniform over the range, with fresh data; sequential ones cover the tail.
    #[must_use]
    pub fn uniform(size: u64, read_share: f64, random_share: f64) -> Self {
        Self {
            sizes: vec![(size, 1.0)],
            read_share,
            random_share,
            alignment: 0,
            origin: GridOrigin::Range,
            lba_groups: Vec::new(),
            cursor: Cursor::Shared,
            writes_tail: random_share == 0.0,
            data: DataPattern::Random,
            operation: Operation::Transfer,
            lines: Vec::new(),
        }
    }
}

impl<D> AccessPattern<D> {
    /// The same with other data.
    pub fn with_data<E>(self, data: E) -> AccessPattern<E> {
        AccessPattern {
            sizes: self.sizes,
            read_share: self.read_share,
            random_share: self.random_share,
            alignment: self.alignment,
            origin: self.origin,
            lba_groups: self.lba_groups,
            cursor: self.cursor,
            writes_tail: self.writes_tail,
            data,
            operation: self.operation,
            lines: self.lines,
        }
    }

    /// Whether its I/Os have places that it says.
    pub(crate) fn has_places(&self) -> bool {
        matches!(self.operation, Operation::Transfer | Operation::Trim)
    }

    /// Every transfer size that may be drawn.
    pub(crate) fn transfers(&self) -> impl Iterator<Item = u64> + '_ {
        self.sizes.iter().map(|size| size.0).chain(self.lines.iter().map(|line| line.transfer))
    }
}

/// Why a pattern cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternError {
    /// A share outside [0, 1], or shares that do not sum to one: correct the shares.
    Share(&'static str),
    /// A size of zero, or not a multiple of the logical block: choose a multiple.
    Size {
        /// Transfer size in bytes.
        size: u64,
        /// Logical block in bytes.
        logical_block: u64,
    },
    /// The alignment is not a multiple of the logical block: choose a multiple.
    Alignment(u64),
    /// A transfer does not fit into a segment or LBA group: choose a smaller size or a larger range.
    DoesNotFit(u64),
    /// LBA groups, a grid that is counted from byte 0, and the continuation of Iometer need a range of one segment.
    NeedsOneSegment,
    /// Lines are drawn over the whole range, in bursts of at least one I/O.
    Lines,
    /// A data pattern without data: give a pool of at least 512 bytes, or a file that is not empty.
    Data,
    /// Data cannot be made that compress to this share: choose one of 0.05 to 0.95.
    StoredShare(f64),
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Share(which) => write!(formatter, "the {which} must lie in [0, 1] and sum to one"),
            Self::Size { size, logical_block } => {
                write!(formatter, "a transfer of {size} bytes is not a multiple of the {logical_block}-byte block")
            }
            Self::Alignment(bytes) => write!(formatter, "an alignment of {bytes} bytes is not a multiple of the block"),
            Self::DoesNotFit(size) => write!(formatter, "a transfer of {size} bytes does not fit into the range"),
            Self::NeedsOneSegment => formatter.write_str(
                "LBA groups, a grid from byte 0, and the continuation of Iometer need a range of one segment",
            ),
            Self::Lines => formatter.write_str("lines need bursts of at least one I/O, and no LBA groups"),
            Self::Data => formatter.write_str("the data pattern has no data"),
            Self::StoredShare(share) => {
                let (least, most) = (DataPattern::STORED_SHARE_MIN, DataPattern::STORED_SHARE_MAX);
                write!(
                    formatter,
                    "compressible data cannot be stored in {share} of their size, only in {least} to {most}"
                )
            }
        }
    }
}

#[cfg(test)]
#[path = "pattern_audit.rs"]
mod audit;
