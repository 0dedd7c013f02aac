//! What the next I/O is: size, direction and place, drawn from a seeded stream that goes on from step to step.

use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::lines::{Burst, Line, compile};
use super::sizes::{Share, Size, before, compile_sizes, pick, pick_group};
use super::{AccessPattern, Cursor, GridOrigin, Operation, PatternError};
use crate::active_range::ActiveRange;
use crate::contract::{Bytes, DataPattern, Direction, Nanos};
use crate::stream::uniform_below;

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
    lines: Vec<Line>,
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
            lines: compile(pattern, range)?,
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

    /// The burst that the next access belongs to: a new one where `burst` is over.
    pub(crate) fn burst(&self, rng: &mut Xoshiro256PlusPlus, burst: Burst, now: Nanos) -> Burst {
        if burst.left > 0 {
            return burst;
        }
        let draw = if self.lines.len() == 1 { 0 } else { rng.next_u64() };
        let line = self.lines.iter().position(|line| draw <= line.threshold).unwrap_or(self.lines.len() - 1);
        Burst { line, left: self.lines[line].burst, from: now + self.lines[line].delay }
    }

    /// Draw the next access of a burst that is not over.
    pub(crate) fn draw_of_burst(
        &self,
        rng: &mut Xoshiro256PlusPlus,
        cursors: [&AtomicU64; 2],
        burst: &mut Burst,
    ) -> Access {
        burst.left -= 1;
        let line = &self.lines[burst.line];
        let direction = match self.operation {
            Operation::Flush => return self.draw_command(rng, cursors),
            Operation::Trim => Direction::Trim,
            Operation::Transfer if line.reads.draw(rng) => Direction::Read,
            _ => Direction::Write,
        };
        self.place(rng, cursors, &line.size, line.randoms, direction)
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
    fn place(
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

fn check_segments(pattern: &AccessPattern, range: &ActiveRange) -> Result<(), PatternError> {
    let raises = pattern.cursor == Cursor::Iometer || pattern.origin == GridOrigin::Drive;
    let needs_one = raises || !pattern.lba_groups.is_empty();
    if needs_one && range.starts().len() > 1 { Err(PatternError::NeedsOneSegment) } else { Ok(()) }
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
