//! What the next I/O is: size, direction and place, drawn from a seeded stream that goes on from step to step.

use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{AccessPattern, Cursor, GridOrigin, Operation, PatternError, lines};
use crate::active_range::ActiveRange;
use crate::contract::{Bytes, DataPattern, Direction};
use crate::stream::uniform_below;

/// Shares that should sum to one may be off by this much.
const SHARE_TOLERANCE: f64 = 1e-9;

/// A pattern on a range, checked and made ready to draw from.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    sizes: Vec<Size>,
    reads: Share,
    randoms: Share,
    cursor: Cursor,
    /// Every access moves the cursor, not only sequential ones.
    moved_by_all: bool,
    /// Bytes of the drive before the range, where the grid is counted from byte 0.
    before: u64,
    writes_tail: bool,
    range: ActiveRange,
    operation: Operation,
    lines: Vec<lines::Line>,
}

/// A transfer size that takes the draws up to `threshold`.
#[derive(Debug)]
pub(super) struct Size {
    threshold: u64,
    bytes: u64,
    /// Grid of random starts, and that of sequential ones.
    grid: u64,
    follow: u64,
    /// Random starts of each segment.
    starts: Starts,
    /// Those of each group, where there are groups.
    groups: Vec<Group>,
}

/// Places `first + n x grid` for n below `count`.
#[derive(Clone, Copy, Debug)]
struct Starts {
    first: u64,
    count: u64,
}

/// Starts in a group of LBAs that takes the draws up to `threshold`.
#[derive(Debug)]
struct Group {
    threshold: u64,
    starts: Starts,
}

/// A probability as a threshold on a 64-bit draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    None,
    Below(u64),
    All,
}

impl Share {
    pub(super) fn new(share: f64, name: &'static str) -> Result<Self, PatternError> {
        match share {
            0.0 => Ok(Self::None),
            1.0 => Ok(Self::All),
            share if share > 0.0 && share < 1.0 => Ok(Self::Below(threshold(share))),
            _ => Err(PatternError::Share(name)),
        }
    }

    pub(super) fn draw(self, rng: &mut Xoshiro256PlusPlus) -> bool {
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
        check_segments(pattern, range)?;
        Ok(Self {
            sizes: compile_sizes(pattern, range)?,
            reads: Share::new(pattern.read_share, "read share")?,
            randoms: Share::new(pattern.random_share, "random share")?,
            cursor: pattern.cursor,
            moved_by_all: matches!(pattern.cursor, Cursor::Fio | Cursor::Iometer),
            before: before(pattern, range),
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

    /// Where the I/Os of each of `count` threads go on, where they have places of their own.
    pub(crate) fn thread_starts(&self, count: u64) -> Vec<AtomicU64> {
        let step = self.sizes[0].bytes;
        let apart = |thread| AtomicU64::new(self.range.total().0 / count / step * step * thread);
        match self.cursor {
            Cursor::Shared => Vec::new(),
            Cursor::PerThread => (0..count).map(apart).collect(),
            Cursor::Fio => (0..2 * count).map(|_| AtomicU64::new(0)).collect(),
            Cursor::Iometer => (0..count).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Draw the next access. `cursors`: linear addresses of reads and of writes, which accesses take and advance.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Xoshiro256PlusPlus, cursors: [&AtomicU64; 2]) -> Access {
        let size = pick(&self.sizes, rng);
        let direction = if self.reads.draw(rng) { Direction::Read } else { Direction::Write };
        self.place(rng, cursors, size, self.randoms, direction)
    }

    /// Draw the next access of a pattern that is all random and moves data.
    #[inline]
    pub(crate) fn draw_plain(&self, rng: &mut Xoshiro256PlusPlus) -> Access {
        let size = pick(&self.sizes, rng);
        let direction = if self.reads.draw(rng) { Direction::Read } else { Direction::Write };
        Access { direction, offset: self.draw_random(rng, size).1, length: Bytes(size.bytes) }
    }

    /// Whether accesses are reads and writes.
    pub(crate) fn moves_data(&self) -> bool {
        self.operation == Operation::Transfer
    }

    pub(super) fn operation(&self) -> Operation {
        self.operation
    }

    pub(super) fn lines(&self) -> &[lines::Line] {
        &self.lines
    }

    /// Draw the next access of a pattern that moves no data.
    pub(crate) fn draw_command(&self, rng: &mut Xoshiro256PlusPlus, cursors: [&AtomicU64; 2]) -> Access {
        if self.operation == Operation::Flush {
            return Access { direction: Direction::Flush, offset: Bytes(0), length: Bytes(0) };
        }
        let size = pick(&self.sizes, rng);
        self.place(rng, cursors, size, self.randoms, Direction::Trim)
    }

    /// The place of the next access, whose size and direction are drawn.
    #[inline]
    pub(super) fn place(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        cursors: [&AtomicU64; 2],
        size: &Size,
        randoms: Share,
        direction: Direction,
    ) -> Access {
        let cursor = cursors[usize::from(direction != Direction::Read)];
        let (linear, offset, length) = if randoms.draw(rng) {
            let (linear, offset) = self.draw_random(rng, size);
            (linear, offset, size.bytes)
        } else {
            let (linear, length) = self.take_next(cursor, size);
            (linear, self.range.place_of(linear), length)
        };
        if self.moved_by_all {
            cursor.store(linear + length, Ordering::Relaxed);
        }
        Access { direction, offset, length: Bytes(length) }
    }

    /// A random start, as a linear address and on the drive.
    #[inline]
    fn draw_random(&self, rng: &mut Xoshiro256PlusPlus, size: &Size) -> (u64, Bytes) {
        if !size.groups.is_empty() {
            let linear = pick_group(&size.groups, rng).starts.draw(size.grid, rng);
            return (linear, self.range.place_of(linear));
        }
        let segments = self.range.starts();
        let index = uniform_below(rng.next_u64(), segments.len() as u64);
        let within = size.starts.draw(size.grid, rng);
        (index * self.range.segment().0 + within, Bytes(segments[index as usize] + within))
    }

    fn take_next(&self, cursor: &AtomicU64, size: &Size) -> (u64, u64) {
        let mut position = cursor.load(Ordering::Relaxed);
        loop {
            let (start, length) = self.fit(position, size);
            match cursor.compare_exchange_weak(position, start + length, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return (start, length),
                Err(moved) => position = moved,
            }
        }
    }

    /// The first place on the grid from `position` on where a sequential transfer lies inside one segment.
    fn fit(&self, position: u64, size: &Size) -> (u64, u64) {
        let (segment, total) = (self.range.segment().0, self.range.total().0);
        let position = if position < total { position } else { position % total };
        let within = if total == segment { position } else { position % segment };
        let (base, raised) = (position - within, self.raised(within, size.follow));
        let room = segment.saturating_sub(raised);
        if room >= size.bytes {
            (base + raised, size.bytes)
        } else if self.writes_tail && room > 0 {
            (base + raised, room)
        } else {
            ((base + segment) % total + self.raised(0, size.follow), size.bytes)
        }
    }

    /// The next place of a grid inside a segment.
    fn raised(&self, within: u64, grid: u64) -> u64 {
        (self.before + within).next_multiple_of(grid) - self.before
    }
}

impl Starts {
    /// Those between two linear addresses, of which the first is on the grid.
    fn new(first: u64, to: u64, bytes: u64, grid: u64) -> Result<Self, PatternError> {
        let last = to.checked_sub(bytes).filter(|last| *last >= first).ok_or(PatternError::DoesNotFit(bytes))?;
        Ok(Self { first, count: (last - first) / grid + 1 })
    }

    #[inline]
    fn draw(self, grid: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
        self.first + uniform_below(rng.next_u64(), self.count) * grid
    }
}

pub(super) fn threshold(share: f64) -> u64 {
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
        compile_size(pattern, range, (bytes, pattern.alignment), sum)
    });
    sizes.collect()
}

/// A size with its alignment. `sum`: of the shares up to its own.
pub(super) fn compile_size(
    pattern: &AccessPattern,
    range: &ActiveRange,
    (bytes, alignment): (u64, u64),
    sum: f64,
) -> Result<Size, PatternError> {
    let grid = if alignment == 0 { bytes } else { alignment };
    let before = before(pattern, range);
    let first = before.next_multiple_of(grid) - before;
    Ok(Size {
        threshold: threshold(sum),
        bytes,
        grid,
        follow: follow(pattern, alignment),
        starts: Starts::new(first, range.segment().0, bytes, grid)?,
        groups: compile_groups(pattern, range, bytes, grid)?,
    })
}

/// Bytes of the drive before the range, where the grid is counted from byte 0.
fn before(pattern: &AccessPattern, range: &ActiveRange) -> u64 {
    if pattern.origin == GridOrigin::Drive { range.starts()[0] } else { 0 }
}

/// The grid of sequential starts: that of all sizes, or a stated one, which Iometer raises each start to.
fn follow(pattern: &AccessPattern, alignment: u64) -> u64 {
    if pattern.cursor == Cursor::Iometer && alignment > 0 {
        return alignment;
    }
    let alignments = pattern.lines.iter().map(|line| line.alignment).chain([pattern.alignment]);
    pattern.transfers().chain(alignments).reduce(greatest_common).unwrap_or(1)
}

/// The greatest common divisor, where 0 counts as a multiple of all.
fn greatest_common(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { greatest_common(right, left % right) }
}

fn check_segments(pattern: &AccessPattern, range: &ActiveRange) -> Result<(), PatternError> {
    let raises = pattern.cursor == Cursor::Iometer || pattern.origin == GridOrigin::Drive;
    let needs_one = raises || !pattern.lba_groups.is_empty();
    if needs_one && range.starts().len() > 1 { Err(PatternError::NeedsOneSegment) } else { Ok(()) }
}

pub(super) fn check_shares(shares: impl Iterator<Item = f64>, name: &'static str) -> Result<(), PatternError> {
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

/// The groups of LBAs for accesses of one size: borders are rounded down to its grid, so that no access is off it.
fn compile_groups(
    pattern: &AccessPattern,
    range: &ActiveRange,
    bytes: u64,
    grid: u64,
) -> Result<Vec<Group>, PatternError> {
    if pattern.lba_groups.is_empty() {
        return Ok(Vec::new());
    }
    check_shares(pattern.lba_groups.iter().map(|group| group.0), "LBA group access shares")?;
    check_shares(pattern.lba_groups.iter().map(|group| group.1), "LBA group range shares")?;
    let (total, before) = (range.total().0, before(pattern, range));
    let (mut accesses, mut covered, mut from) = (0.0, 0.0, before.next_multiple_of(grid) - before);
    let groups = pattern.lba_groups.iter().map(|&(access_share, range_share)| {
        accesses += access_share;
        covered += range_share;
        let border = before + (total as f64 * covered).round().min(total as f64) as u64;
        let to = (border / grid * grid).saturating_sub(before);
        let starts = Starts::new(from, to, bytes, grid)?;
        from = to;
        Ok(Group { threshold: threshold(accesses), starts })
    });
    groups.collect()
}
