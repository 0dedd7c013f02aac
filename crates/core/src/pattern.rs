//! What the next I/O is: size, direction and place, drawn from a seeded stream that goes on from step to step.

mod lines;

use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

pub use lines::AccessLine;
pub(crate) use lines::Burst;

use crate::active_range::ActiveRange;
use crate::contract::{Bytes, DataPattern, Direction};
use crate::stream::uniform_below;

/// Shares that should sum to one may be off by this much.
const SHARE_TOLERANCE: f64 = 1e-9;

/// Where sequential I/Os take their place from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cursor {
    /// One cursor for all outstanding I/Os, kept across steps on the same range.
    Shared,
    /// One cursor per thread, started apart by an equal share of the range at each step.
    PerThread,
    /// One cursor for reads and one for writes, both kept as a shared one is.
    PerDirection,
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
    /// Grid of random starts in bytes; 0 means the transfer size.
    #[serde(rename = "alignment_bytes")]
    pub alignment: u64,
    /// (share of accesses, share of the range) in LBA order; empty means uniform over the range.
    pub lba_groups: Vec<(f64, f64)>,
    /// Where sequential I/Os take their place from.
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
        let Self { sizes, read_share, random_share, alignment, lba_groups, cursor, writes_tail, .. } = self;
        let (operation, lines) = (self.operation, self.lines);
        AccessPattern {
            sizes,
            read_share,
            random_share,
            alignment,
            lba_groups,
            cursor,
            writes_tail,
            data,
            operation,
            lines,
        }
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
    /// LBA groups need a range of one segment.
    GroupsNeedOneSegment,
    /// Lines are drawn over the whole range, in bursts of at least one I/O, and share a cursor.
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
            Self::GroupsNeedOneSegment => formatter.write_str("LBA groups need a range of one segment"),
            Self::Lines => formatter.write_str(
                "lines need bursts of at least one I/O, no LBA groups beside them, and no cursor per direction",
            ),
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

/// A pattern on a range, checked and made ready to draw from.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    sizes: Vec<Size>,
    reads: Share,
    randoms: Share,
    groups: Vec<Group>,
    cursor: Cursor,
    writes_tail: bool,
    range: ActiveRange,
    operation: Operation,
    lines: Vec<lines::Line>,
}

/// A transfer size that takes the draws up to `threshold`.
#[derive(Debug)]
struct Size {
    threshold: u64,
    bytes: u64,
    /// Grid of random starts, and how many of them a segment has.
    grid: u64,
    starts: u64,
}

/// Linear bytes [from, to) that take the draws up to `threshold`.
#[derive(Debug)]
struct Group {
    threshold: u64,
    from: u64,
    to: u64,
}

/// A probability as a threshold on a 64-bit draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    None,
    Below(u64),
    All,
}

impl Share {
    fn new(share: f64, name: &'static str) -> Result<Self, PatternError> {
        match share {
            0.0 => Ok(Self::None),
            1.0 => Ok(Self::All),
            share if share > 0.0 && share < 1.0 => Ok(Self::Below(threshold(share))),
            _ => Err(PatternError::Share(name)),
        }
    }

    fn draw(self, rng: &mut Xoshiro256PlusPlus) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Below(limit) => rng.next_u64() < limit,
        }
    }
}

/// One drawn access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) direction: Direction,
    pub(crate) offset: Bytes,
    pub(crate) length: Bytes,
}

impl CompiledPattern {
    pub(crate) fn new(pattern: &AccessPattern, range: &ActiveRange, logical_block: u64) -> Result<Self, PatternError> {
        check_sizes(pattern, range, logical_block)?;
        check_data(&pattern.data)?;
        Ok(Self {
            sizes: compile_sizes(pattern, range)?,
            reads: Share::new(pattern.read_share, "read share")?,
            randoms: Share::new(pattern.random_share, "random share")?,
            groups: compile_groups(pattern, range, logical_block)?,
            cursor: pattern.cursor,
            writes_tail: pattern.writes_tail,
            range: range.clone(),
            operation: pattern.operation,
            lines: lines::compile(pattern, range)?,
        })
    }

    /// Whether no access takes its place from a cursor.
    pub(crate) fn is_random(&self) -> bool {
        matches!(self.randoms, Share::All) && self.lines.is_empty()
    }

    /// Whether the accesses are those of a recording.
    pub(crate) fn is_replay(&self) -> bool {
        self.operation == Operation::Replay
    }

    /// Whether accesses come in bursts.
    pub(crate) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    pub(crate) fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Where thread `index` of `count` starts when each has a cursor of its own.
    pub(crate) fn thread_start(&self, index: u64, count: u64) -> u64 {
        let step = self.sizes[0].bytes;
        self.range.total().0 / count / step * step * index
    }

    /// Draw the next access. `cursor` is a linear address that sequential accesses take and advance.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Xoshiro256PlusPlus, cursor: &AtomicU64) -> Access {
        let size = pick(&self.sizes, rng);
        let direction = if self.reads.draw(rng) { Direction::Read } else { Direction::Write };
        self.place(rng, cursor, size, self.randoms, direction)
    }

    /// Draw the next access, whose cursor is that of its direction.
    pub(crate) fn draw_by_direction(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        reads: &AtomicU64,
        writes: &AtomicU64,
    ) -> Access {
        let size = pick(&self.sizes, rng);
        let (direction, cursor) =
            if self.reads.draw(rng) { (Direction::Read, reads) } else { (Direction::Write, writes) };
        self.place(rng, cursor, size, self.randoms, direction)
    }

    /// Whether accesses are reads and writes.
    pub(crate) fn moves_data(&self) -> bool {
        self.operation == Operation::Transfer
    }

    /// Draw the next access of a pattern that moves no data.
    pub(crate) fn draw_command(&self, rng: &mut Xoshiro256PlusPlus, cursor: &AtomicU64) -> Access {
        if self.operation == Operation::Flush {
            return Access { direction: Direction::Flush, offset: Bytes(0), length: Bytes(0) };
        }
        let size = pick(&self.sizes, rng);
        self.place(rng, cursor, size, self.randoms, Direction::Trim)
    }

    /// The place of the next access, whose size and direction are drawn.
    #[inline]
    fn place(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        cursor: &AtomicU64,
        size: &Size,
        randoms: Share,
        direction: Direction,
    ) -> Access {
        if randoms.draw(rng) {
            return Access { direction, offset: self.draw_random(rng, size), length: Bytes(size.bytes) };
        }
        let (linear, length) = self.take_next(cursor, size.bytes);
        Access { direction, offset: self.range.place_of(linear), length: Bytes(length) }
    }

    #[inline]
    fn draw_random(&self, rng: &mut Xoshiro256PlusPlus, size: &Size) -> Bytes {
        if !self.groups.is_empty() {
            let group = pick_group(&self.groups, rng);
            let starts = (group.to - group.from - size.bytes) / size.grid + 1;
            return self.range.place_of(group.from + uniform_below(rng.next_u64(), starts) * size.grid);
        }
        let segments = self.range.starts();
        let segment = segments[uniform_below(rng.next_u64(), segments.len() as u64) as usize];
        Bytes(segment + uniform_below(rng.next_u64(), size.starts) * size.grid)
    }

    fn take_next(&self, cursor: &AtomicU64, size: u64) -> (u64, u64) {
        let mut position = cursor.load(Ordering::Relaxed);
        loop {
            let (start, length) = self.fit(position, size);
            match cursor.compare_exchange_weak(position, start + length, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return (start, length),
                Err(moved) => position = moved,
            }
        }
    }

    /// The first place from `position` on where a sequential transfer lies inside one segment.
    fn fit(&self, position: u64, size: u64) -> (u64, u64) {
        let (segment, total) = (self.range.segment().0, self.range.total().0);
        let start = if position < total { position } else { position % total };
        let room = segment - if total == segment { start } else { start % segment };
        if room >= size {
            (start, size)
        } else if self.writes_tail {
            (start, room)
        } else {
            ((start + room) % self.range.total().0, size)
        }
    }
}

fn threshold(share: f64) -> u64 {
    // 2^64 as a float; the cast saturates.
    (share * 18_446_744_073_709_551_616.0) as u64
}

#[inline]
fn pick<'a>(sizes: &'a [Size], rng: &mut Xoshiro256PlusPlus) -> &'a Size {
    if sizes.len() == 1 {
        return &sizes[0];
    }
    let draw = rng.next_u64();
    sizes.iter().find(|size| draw <= size.threshold).unwrap_or(&sizes[sizes.len() - 1])
}

fn pick_group<'a>(groups: &'a [Group], rng: &mut Xoshiro256PlusPlus) -> &'a Group {
    let draw = rng.next_u64();
    groups.iter().find(|group| draw <= group.threshold).unwrap_or(&groups[groups.len() - 1])
}

fn compile_sizes(pattern: &AccessPattern, range: &ActiveRange) -> Result<Vec<Size>, PatternError> {
    check_shares(pattern.sizes.iter().map(|entry| entry.1), "size shares")?;
    let mut sum = 0.0;
    let used = pattern.sizes.iter().filter(|entry| entry.1 > 0.0);
    let sizes = used.map(|&(bytes, share)| {
        sum += share;
        compile_size(range, bytes, pattern.alignment, sum)
    });
    Ok(sizes.collect())
}

fn compile_size(range: &ActiveRange, bytes: u64, alignment: u64, sum: f64) -> Size {
    let grid = if alignment == 0 { bytes } else { alignment };
    Size { threshold: threshold(sum), bytes, grid, starts: (range.segment().0 - bytes) / grid + 1 }
}

fn check_shares(shares: impl Iterator<Item = f64>, name: &'static str) -> Result<(), PatternError> {
    let mut sum = 0.0;
    for share in shares {
        if !(0.0..=1.0).contains(&share) {
            return Err(PatternError::Share(name));
        }
        sum += share;
    }
    if (sum - 1.0_f64).abs() > SHARE_TOLERANCE { Err(PatternError::Share(name)) } else { Ok(()) }
}

fn check_sizes(pattern: &AccessPattern, range: &ActiveRange, logical_block: u64) -> Result<(), PatternError> {
    for size in pattern.transfers() {
        if size == 0 || size % logical_block != 0 {
            return Err(PatternError::Size { size, logical_block });
        }
        if size > range.segment().0 {
            return Err(PatternError::DoesNotFit(size));
        }
    }
    let grids = pattern.lines.iter().map(|line| line.alignment).chain([pattern.alignment]);
    match grids.into_iter().find(|grid| !grid.is_multiple_of(logical_block)) {
        Some(grid) => Err(PatternError::Alignment(grid)),
        None => Ok(()),
    }
}

fn check_data(data: &DataPattern) -> Result<(), PatternError> {
    let shares = DataPattern::STORED_SHARE_MIN..=DataPattern::STORED_SHARE_MAX;
    match data {
        DataPattern::Compressible { stored_share } if !shares.contains(stored_share) => {
            Err(PatternError::StoredShare(*stored_share))
        }
        DataPattern::Repeating { pool } if pool.0 < 512 => Err(PatternError::Data),
        DataPattern::File(content) if content.is_empty() => Err(PatternError::Data),
        _ => Ok(()),
    }
}

fn compile_groups(
    pattern: &AccessPattern,
    range: &ActiveRange,
    logical_block: u64,
) -> Result<Vec<Group>, PatternError> {
    if pattern.lba_groups.is_empty() {
        return Ok(Vec::new());
    }
    if range.starts().len() > 1 {
        return Err(PatternError::GroupsNeedOneSegment);
    }
    check_shares(pattern.lba_groups.iter().map(|group| group.0), "LBA group access shares")?;
    check_shares(pattern.lba_groups.iter().map(|group| group.1), "LBA group range shares")?;
    let grid = pattern.alignment.max(logical_block);
    let largest = pattern.sizes.iter().map(|entry| entry.0).max().unwrap_or(0);
    let (mut accesses, mut covered, mut from) = (0.0, 0.0, 0);
    let mut groups = Vec::with_capacity(pattern.lba_groups.len());
    for &(access_share, range_share) in &pattern.lba_groups {
        accesses += access_share;
        covered += range_share;
        let to = (range.total().0 as f64 * covered).round().min(range.total().0 as f64) as u64 / grid * grid;
        if to < from + largest {
            return Err(PatternError::DoesNotFit(largest));
        }
        groups.push(Group { threshold: threshold(accesses), from, to });
        from = to;
    }
    Ok(groups)
}

#[cfg(test)]
#[path = "pattern_audit.rs"]
mod audit;
