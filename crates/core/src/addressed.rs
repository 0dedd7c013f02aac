//! Where the I/Os of a step went: counted from the offsets that the device is handed, and held against the step as it was
//! asked for. Nothing here knows how an I/O was drawn.
//!
//! ```text
//! grid 4096:       0    4096    8192        a read of 4 KiB at 4608 is off it
//! continuation:    [A   ][B   ]             B succeeds A: it begins where A ended
//! ```

use crate::active_range::ActiveRange;
use crate::contract::Direction;
use crate::pattern::{AccessPattern, Cursor, GridOrigin};
use crate::step::StepSpec;

/// Ends that are remembered of a stream: three random I/Os in a row may lie where sequential ones will.
const ENDS: usize = 4;
/// Fewest places for each random I/O between two of a stream on which its I/Os are counted. Four that lie at ends by
/// chance lose the stream: at most (4/1000)^4, or 3 of 10^10 sequential I/Os.
const PLACES_MIN: f64 = 1000.0;

/// What a step says of the places of its I/Os.
#[derive(Debug)]
pub(crate) struct AskedPlaces {
    /// Grid of every start; 0: the length of the I/O itself.
    grid: u64,
    /// The grid is counted from byte 0 of the drive, else from the first byte of a segment.
    from_drive: bool,
    /// Up to this power of two, grids counted from every segment are one, which begins at `phase`.
    common: u64,
    phase: u64,
    succession: Option<Succession>,
    /// The length of every I/O where there is one only, else 0.
    only_length: u64,
    /// The grids that a successor may be raised to: one, or with lines the alignment of each.
    raises: Vec<u64>,
    /// The coarsest of them: what begins so far behind an end or more does not go on there.
    reach: u64,
    /// The largest transfer: where less is left of a segment, an I/O may go on in the next.
    largest: u64,
    range: ActiveRange,
}

/// Lets I/Os pass that are to be counted: all, or of a step that is all random on one grid of a power of two only those
/// off it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridMask {
    phase: u64,
    mask: u64,
    kept: u64,
}

/// Which I/O is the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Succession {
    /// The last that was itself a successor.
    Sequential,
    /// The last of the direction.
    SameDirection,
    /// The last.
    Every,
}

/// Where a stream of sequential I/Os may go on.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    place: u64,
    /// Sequential I/Os up to here.
    stream: u64,
}

/// Where the I/Os of one step in one worker went.
#[derive(Debug, Default)]
pub(crate) struct PlaceCounts {
    pub(crate) misaligned: u64,
    pub(crate) successors: u64,
    /// Ends of the I/Os before, by thread: of reads and of writes, or those of a stream, the longest first.
    ends: Vec<[End; ENDS]>,
}

impl AskedPlaces {
    /// `None` for what has no places of its own: flushes and replays.
    /// `divided`: several workers take places from one cursor, so that none of them sees which I/O came before.
    pub(crate) fn new(spec: &StepSpec, divided: bool) -> Option<Self> {
        let pattern = &spec.pattern;
        if !pattern.has_places() {
            return None;
        }
        let starts = spec.range.starts();
        let from_drive = pattern.origin == GridOrigin::Drive;
        let apart = starts.iter().fold(0, |bits, start| bits | (start - starts[0]));
        Some(Self {
            grid: asked_grid(pattern),
            from_drive,
            common: if apart == 0 { 1 << 63 } else { apart & apart.wrapping_neg() },
            phase: if from_drive { 0 } else { starts[0] },
            succession: if divided { None } else { succession(pattern, spec.range.total().0) },
            only_length: only_length(pattern),
            reach: raises(pattern).into_iter().max().unwrap_or(1),
            raises: raises(pattern),
            largest: pattern.transfers().max().unwrap_or(0),
            range: spec.range.clone(),
        })
    }

    /// Whether successors are counted.
    pub(crate) fn knows_successors(&self) -> bool {
        self.succession.is_some()
    }

    /// Which of its I/Os are to be counted.
    pub(crate) fn mask(&self) -> GridMask {
        let grid = if self.grid == 0 { self.only_length } else { self.grid };
        let fits = self.succession.is_none() && grid.is_power_of_two() && grid <= self.common;
        if fits { GridMask { phase: self.phase, mask: grid - 1, kept: 0 } } else { GridMask::ALL }
    }

    fn is_off(&self, offset: u64, length: u64) -> bool {
        let grid = if self.grid == 0 { length } else { self.grid };
        if grid.is_power_of_two() && grid <= self.common {
            return offset.wrapping_sub(self.phase) & (grid - 1) != 0;
        }
        let origin = if self.from_drive { 0 } else { self.segment_start(offset) };
        !(offset - origin).is_multiple_of(grid)
    }

    /// The first byte of the segment that holds an offset.
    fn segment_start(&self, offset: u64) -> u64 {
        let starts = self.range.starts();
        starts[starts.partition_point(|start| *start <= offset).saturating_sub(1)]
    }

    /// Whether an I/O may go on behind one that ended in a segment before.
    fn begins_segment(&self, offset: u64) -> bool {
        offset.wrapping_sub(self.segment_start(offset)) < self.reach
    }

    /// The first of `ends` where an I/O at `offset` goes on.
    fn predecessor(&self, ends: &[End; ENDS], offset: u64) -> Option<usize> {
        let begins = self.begins_segment(offset);
        let is_near = |end: &End| begins || offset.wrapping_sub(end.place) < self.reach;
        ends.iter().position(|end| is_near(end) && self.succeeds(end.place, offset))
    }

    /// Whether an I/O at `offset` goes on where one ended: at `end`, or where nothing fits there, in the next segment.
    fn succeeds(&self, end: u64, offset: u64) -> bool {
        let segment = self.segment_start(end.saturating_sub(1));
        self.raises.iter().any(|grid| {
            let expected = self.raised(end, segment, *grid);
            let left = (segment + self.range.segment().0).saturating_sub(expected);
            (offset == expected && left > 0) || (left < self.largest && offset == self.next_segment(segment, *grid))
        })
    }

    fn next_segment(&self, segment: u64, grid: u64) -> u64 {
        let starts = self.range.starts();
        let next = starts[starts.partition_point(|start| *start <= segment) % starts.len()];
        self.raised(next, next, grid)
    }

    fn raised(&self, place: u64, segment: u64, grid: u64) -> u64 {
        let origin = if self.from_drive { 0 } else { segment };
        origin + (place - origin).next_multiple_of(grid)
    }
}

impl GridMask {
    pub(crate) const ALL: Self = Self { phase: 0, mask: 0, kept: 1 };

    #[inline]
    pub(crate) fn passes(self, offset: u64) -> bool {
        offset.wrapping_sub(self.phase) & self.mask != self.kept
    }
}

impl PlaceCounts {
    /// `places`: linear addresses where the I/Os of each thread go on, of reads and of writes.
    pub(crate) fn new(asked: &AskedPlaces, places: impl Iterator<Item = [u64; 2]>) -> Self {
        let end_of = |linear: u64| match linear.min(asked.range.total().0) {
            0 => asked.range.starts()[0],
            // That a segment ends here and not that the next one begins.
            linear => asked.range.place_of(linear - 1).0 + 1,
        };
        let remembered = |pair: [u64; 2]| {
            let [first, second] = pair.map(|linear| End { place: end_of(linear), stream: 0 });
            [first, second, second, second]
        };
        let ends = if asked.knows_successors() { places.map(remembered).collect() } else { Vec::new() };
        Self { ends, ..Self::default() }
    }

    /// Count an I/O of a thread that is about to be handed to the device.
    pub(crate) fn note(&mut self, asked: &AskedPlaces, thread: usize, direction: Direction, offset: u64, length: u64) {
        let is_off = asked.is_off(offset, length);
        self.misaligned += u64::from(is_off);
        let Some(succession) = asked.succession else { return };
        let ends = &mut self.ends[thread];
        let side = usize::from(succession == Succession::SameDirection && direction != Direction::Read);
        // What begins on the grid where the one before ended needs no look at the range.
        let follows = offset == ends[side].place && !is_off;
        if succession == Succession::Sequential {
            let index = if follows { Some(0) } else { asked.predecessor(ends, offset) };
            self.successors += u64::from(index.is_some_and(|index| lengthen(ends, index, offset + length)));
        } else {
            self.successors += u64::from(follows || asked.succeeds(ends[side].place, offset));
            ends[side].place = offset + length;
        }
    }
}

/// Note that a sequential I/O went on at one of the ends; returns whether no stream was as long before.
///
/// A random I/O may lie by chance where the next sequential one will. Both ends are kept then, that where it began and
/// its own, and the end of the shortest stream is forgotten: the stream that most I/Os agree with stays. What goes on
/// where another did does not lengthen the longest.
fn lengthen(ends: &mut [End; ENDS], index: usize, place: u64) -> bool {
    let stream = ends[index].stream + 1;
    if index == 0 {
        *ends = [End { place, stream }, ends[0], ends[1], ends[2]];
        return true;
    }
    let rank = ends[..index].iter().position(|end| end.stream < stream).unwrap_or(index);
    ends[rank..].rotate_right(1);
    ends[rank] = End { place, stream };
    rank == 0
}

/// Patterns that are all random have no order; that of a stream is not known among random I/Os on few places.
fn succession(pattern: &AccessPattern, range: u64) -> Option<Succession> {
    if shares(pattern).all(|share| share >= 1.0) {
        return None;
    }
    match pattern.cursor {
        Cursor::Shared | Cursor::PerThread if random_run(pattern) * PLACES_MIN > places(pattern, range) => None,
        Cursor::Shared | Cursor::PerThread => Some(Succession::Sequential),
        Cursor::Fio => Some(Succession::SameDirection),
        Cursor::Iometer => Some(Succession::Every),
    }
}

/// Places of random I/Os of the coarsest grid, as many as the range has where most of them go.
///
/// Worked: 64 KiB on 1 GiB, half of them on 5 % of it -> 16,384 / 10 = 1,638.4.
fn places(pattern: &AccessPattern, range: u64) -> f64 {
    let own = pattern.sizes.iter().map(|size| size.0).max().unwrap_or(0).max(pattern.alignment);
    let lines = pattern.lines.iter().map(|line| line.transfer.max(line.alignment));
    let crowd = pattern.lba_groups.iter().map(|(share, part)| share / part).fold(1.0, f64::max);
    range as f64 / lines.max().unwrap_or(own) as f64 / crowd
}

/// Random I/Os per sequential one; among bursts as many more as the longest has I/Os.
fn random_run(pattern: &AccessPattern) -> f64 {
    let weights = pattern.lines.iter().map(|line| (line.share * f64::from(line.burst), line.random_share));
    let longest = pattern.lines.iter().map(|line| line.burst).max().unwrap_or(1);
    let own = pattern.lines.is_empty().then_some((1.0, pattern.random_share));
    let (random, all) =
        weights.chain(own).fold((0.0, 0.0), |sum, (weight, share)| (sum.0 + weight * share, sum.1 + weight));
    f64::from(longest) * random / (all - random)
}

/// The grid that every I/O lies on: of random ones that of the step, beside sequential ones what all sizes have in common.
fn asked_grid(pattern: &AccessPattern) -> u64 {
    let alignments = pattern.lines.iter().map(|line| line.alignment).chain([pattern.alignment]);
    let stated = alignments.clone().filter(|alignment| *alignment > 0).reduce(common_divisor);
    let some_own = if pattern.lines.is_empty() {
        pattern.alignment == 0
    } else {
        pattern.lines.iter().any(|line| line.alignment == 0)
    };
    let is_random = shares(pattern).all(|share| share >= 1.0);
    match stated {
        None if is_random => 0,
        Some(stated) if !some_own && (is_random || pattern.cursor == Cursor::Iometer) => stated,
        stated => pattern.transfers().chain(stated).reduce(common_divisor).unwrap_or(1),
    }
}

fn only_length(pattern: &AccessPattern) -> u64 {
    let mut lengths = pattern.transfers();
    let first = lengths.next().unwrap_or(0);
    if lengths.all(|length| length == first) { first } else { 0 }
}

fn raises(pattern: &AccessPattern) -> Vec<u64> {
    let common = asked_grid(pattern).max(1);
    if pattern.cursor != Cursor::Iometer {
        return vec![common];
    }
    let lines = pattern.lines.iter().map(|line| if line.alignment == 0 { common } else { line.alignment });
    let mut grids: Vec<u64> = lines.collect();
    grids.dedup();
    if grids.is_empty() { vec![common] } else { grids }
}

fn shares(pattern: &AccessPattern) -> impl Iterator<Item = f64> + '_ {
    let own = pattern.lines.is_empty().then_some(pattern.random_share);
    pattern.lines.iter().map(|line| line.random_share).chain(own)
}

fn common_divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { common_divisor(right, left % right) }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
