//! The sizes of a pattern: how each is drawn, and where its I/Os may begin.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{AccessPattern, Cursor, GridOrigin, PatternError};
use crate::active_range::ActiveRange;
use crate::stream::uniform_below;

/// Shares that should sum to one may be off by this much.
const SHARE_TOLERANCE: f64 = 1e-9;

/// A transfer size that takes the draws up to `threshold`.
#[derive(Debug)]
pub(super) struct Size {
    pub(super) threshold: u64,
    pub(super) bytes: u64,
    /// Grid of random starts, and that of sequential ones.
    pub(super) grid: u64,
    pub(super) follow: u64,
    /// Random starts of each segment.
    pub(super) starts: Starts,
    /// Those of each group, where there are groups.
    pub(super) groups: Vec<Group>,
}

/// Places `first + n x grid` for n below `count`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    first: u64,
    count: u64,
}

/// Starts in a group of LBAs that takes the draws up to `threshold`.
#[derive(Debug)]
pub(super) struct Group {
    threshold: u64,
    pub(super) starts: Starts,
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

impl Starts {
    /// Those between two linear addresses, of which the first is on the grid.
    fn new(first: u64, to: u64, bytes: u64, grid: u64) -> Result<Self, PatternError> {
        let last = to.checked_sub(bytes).filter(|last| *last >= first).ok_or(PatternError::DoesNotFit(bytes))?;
        Ok(Self { first, count: (last - first) / grid + 1 })
    }

    #[inline]
    pub(super) fn draw(self, grid: u64, rng: &mut Xoshiro256PlusPlus) -> u64 {
        self.first + uniform_below(rng.next_u64(), self.count) * grid
    }
}

pub(super) fn threshold(share: f64) -> u64 {
    // 2^64 as a float; the cast saturates.
    (share * 18_446_744_073_709_551_616.0) as u64
}

#[inline]
pub(super) fn pick<'a>(sizes: &'a [Size], rng: &mut Xoshiro256PlusPlus) -> &'a Size {
    if sizes.len() == 1 {
        return &sizes[0];
    }
    let draw = rng.next_u64();
    sizes.iter().find(|size| draw <= size.threshold).unwrap_or(&sizes[sizes.len() - 1])
}

pub(super) fn pick_group<'a>(groups: &'a [Group], rng: &mut Xoshiro256PlusPlus) -> &'a Group {
    let draw = rng.next_u64();
    groups.iter().find(|group| draw <= group.threshold).unwrap_or(&groups[groups.len() - 1])
}

pub(super) fn compile_sizes(pattern: &AccessPattern, range: &ActiveRange) -> Result<Vec<Size>, PatternError> {
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
pub(super) fn before(pattern: &AccessPattern, range: &ActiveRange) -> u64 {
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
