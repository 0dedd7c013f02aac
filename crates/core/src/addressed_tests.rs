//! Patterns of every kind, drawn at random, against a model of their own: grid and range exactly, shares by chi-square.

use proptest::prelude::*;

use super::tests::{Seen, run, step, stimulus};
use crate::active_range::ActiveRange;
use crate::contract::{Direction, Io};
use crate::pattern::{AccessPattern, Cursor, GridOrigin};
use crate::record::StepRecord;
use crate::step::{StepSpec, StopRule};

const IOS: u64 = 6_000;
/// As many standard deviations come by chance once in 1.7 million.
const SIGMAS: f64 = 5.0;

/// What the file says, and where the I/Os went.
struct Case {
    spec: StepSpec,
    ios: Vec<Io>,
    record: StepRecord,
}

fn issued(spec: &StepSpec) -> Case {
    let (mut stimulus, seen): (_, Seen) = stimulus(100_000, None, false);
    let record = run(&mut stimulus, std::slice::from_ref(spec)).remove(0);
    let ios = seen.lock().expect("not poisoned").clone();
    Case { spec: spec.clone(), ios, record }
}

fn sizes() -> impl Strategy<Value = Vec<(u64, f64)>> {
    prop_oneof![
        Just(vec![(4096, 1.0)]),
        Just(vec![(131_072, 1.0)]),
        Just(vec![(512, 0.25), (4096, 0.5), (65_536, 0.25)]),
        Just(vec![(1536, 0.3), (8192, 0.7)]),
    ]
}

fn ranges() -> impl Strategy<Value = ActiveRange> {
    prop_oneof![
        Just((vec![0], 1 << 29)),
        Just((vec![63 * 512], 100_000 * 512)),
        Just((vec![37_748_736], (1 << 28) + 512)),
        Just((vec![0, 100 << 20, 300 << 20], 8 << 20)),
    ]
    .prop_map(|(starts, segment)| ActiveRange::new(starts, segment).expect("valid"))
}

fn cursors() -> impl Strategy<Value = Cursor> {
    prop_oneof![Just(Cursor::Shared), Just(Cursor::PerThread), Just(Cursor::Fio), Just(Cursor::Iometer)]
}

fn specs() -> impl Strategy<Value = StepSpec> {
    let shares =
        (prop_oneof![Just(0.0), Just(0.3), Just(0.8), Just(1.0)], prop_oneof![Just(0.0), Just(0.5), Just(1.0)]);
    let grid = (prop_oneof![Just(0), Just(512), Just(4096), Just(16_384)], any::<bool>());
    (sizes(), ranges(), cursors(), shares, grid, 1_u32..4, 1_u32..5, any::<bool>()).prop_map(
        |(sizes, range, cursor, (random_share, read_share), (alignment, from_drive), threads, depth, grouped)| {
            let mut spec = step(random_share, depth, StopRule::Count(IOS));
            let one = range.starts().len() == 1;
            spec.pattern = AccessPattern {
                sizes,
                read_share,
                random_share,
                alignment,
                origin: if from_drive && one { GridOrigin::Drive } else { GridOrigin::Range },
                lba_groups: if grouped && one { vec![(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)] } else { Vec::new() },
                cursor: if one || cursor != Cursor::Iometer { cursor } else { Cursor::Fio },
                ..spec.pattern
            };
            spec.demand.thread_count = threads;
            spec.range = range;
            spec
        },
    )
}

impl Case {
    fn pattern(&self) -> &AccessPattern {
        &self.spec.pattern
    }

    /// The segment that holds an I/O whole.
    fn segment(&self, io: &Io) -> Option<u64> {
        let inside =
            |start: &u64| io.offset.0 >= *start && io.offset.0 + io.length.0 <= *start + self.spec.range.segment().0;
        self.spec.range.starts().iter().copied().find(inside)
    }

    fn in_order(&self) -> bool {
        self.pattern().random_share < 1.0
    }

    /// Every I/O that may stand beside a sequential one keeps to what all sizes have in common; Iometer raises each.
    fn grid(&self, io: &Io) -> u64 {
        let (alignment, sizes) = (self.pattern().alignment, self.pattern().sizes.iter().map(|size| size.0));
        let common = (1..=24)
            .rev()
            .map(|bits| 1_u64 << bits)
            .find(|grid| sizes.clone().chain([alignment]).all(|size| size % grid == 0));
        match (self.in_order(), alignment) {
            (false, 0) => io.length.0,
            (false, stated) => stated,
            (true, stated) if stated > 0 && self.pattern().cursor == Cursor::Iometer => stated,
            (true, 0) if self.pattern().sizes.len() == 1 => io.length.0,
            (true, _) => common.expect("even sizes"),
        }
    }

    fn origin(&self, segment: u64) -> u64 {
        if self.pattern().origin == GridOrigin::Drive { 0 } else { segment }
    }

    /// Places of random I/Os: as many as the largest has where most of them go.
    fn places(&self) -> f64 {
        let pattern = self.pattern();
        let largest = pattern.sizes.iter().map(|size| size.0).max().expect("a size");
        let crowd = if pattern.lba_groups.is_empty() { 1.0 } else { 10.0 };
        self.spec.range.total().0 as f64 / largest.max(pattern.alignment) as f64 / crowd
    }

    /// Whether successors are counted: of a stream only among 1,000 places per random I/O between two of its own.
    fn is_told_apart(&self) -> bool {
        let random = self.pattern().random_share;
        let moved_by_all = matches!(self.pattern().cursor, Cursor::Fio | Cursor::Iometer);
        self.in_order() && (moved_by_all || random * 1000.0 <= (1.0 - random) * self.places() * (1.0 + 1e-9))
    }

    /// Of one list of I/Os in their order, those that begin where the one before ended.
    fn successors(&self, ios: &[Io]) -> u64 {
        let pairs = ios.windows(2).filter(|pair| self.follows(pair[0].offset.0 + pair[0].length.0, &pair[1]));
        pairs.count() as u64
    }

    fn follows(&self, end: u64, io: &Io) -> bool {
        let (starts, length) = (self.spec.range.starts(), self.spec.range.segment().0);
        let nth = starts.iter().rposition(|start| *start < end).expect("a segment");
        let largest = self.pattern().sizes.iter().map(|size| size.0).max().expect("a size");
        let raised = |place: u64, segment: u64| {
            let origin = self.origin(segment);
            origin + (place - origin).next_multiple_of(self.grid(io))
        };
        let (expected, next) = (raised(end, starts[nth]), starts[(nth + 1) % starts.len()]);
        let left = (starts[nth] + length).saturating_sub(expected);
        (left > 0 && io.offset.0 == expected) || (left < largest && io.offset.0 == raised(next, next))
    }

    /// The I/Os that have one place together.
    fn lists(&self) -> Vec<Vec<Io>> {
        let demand = self.spec.demand;
        let key = |io: &Io| match self.pattern().cursor {
            Cursor::Shared => (0, false),
            Cursor::Fio => (io.slot / demand.queue_depth, io.direction == Direction::Read),
            Cursor::PerThread | Cursor::Iometer => (io.slot / demand.queue_depth, false),
        };
        let mut lists = std::collections::BTreeMap::<_, Vec<Io>>::new();
        for io in &self.ios {
            lists.entry(key(io)).or_default().push(*io);
        }
        lists.into_values().collect()
    }
}

fn is_near(name: &str, hits: u64, count: u64, share: f64) {
    let (mean, spread) = (count as f64 * share, (count as f64 * share * (1.0 - share)).sqrt());
    let off = (hits as f64 - mean).abs();
    // What chance makes of one more or less is left out.
    assert!(off <= SIGMAS * spread + 1.5, "{name}: {hits} of {count}, expected {mean:.1}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn ios_go_where_the_step_says(spec in specs()) {
        let case = issued(&spec);
        let pattern = case.pattern();
        prop_assert_eq!(case.ios.len() as u64, IOS);
        for io in &case.ios {
            let segment = case.segment(io);
            prop_assert!(segment.is_some(), "{:?} is outside", io);
            let origin = case.origin(segment.unwrap_or_default());
            prop_assert_eq!((io.offset.0 - origin) % case.grid(io), 0, "{:?} is off its grid", io);
        }
        prop_assert_eq!(case.record.misaligned_io_count, Some(0));
        let reads = case.ios.iter().filter(|io| io.direction == Direction::Read).count() as u64;
        is_near("reads", reads, IOS, pattern.read_share);
        for (size, share) in &pattern.sizes {
            let found = case.ios.iter().filter(|io| io.length.0 == *size).count() as u64;
            is_near("size", found, IOS, *share);
        }
        let lists = case.lists();
        prop_assert_eq!(case.record.successor_io_count.is_some(), case.is_told_apart());
        let Some(counted) = case.record.successor_io_count else { return Ok(()) };
        // Where every I/O moves the place, a random one begins there by chance, too.
        let by_chance = (IOS as f64 * pattern.random_share / case.places()).ceil() as u64;
        let above = counted.saturating_sub((IOS as f64 * (1.0 - pattern.random_share)) as u64);
        is_near("successors", counted - above.min(by_chance), IOS, 1.0 - pattern.random_share);
        if matches!(pattern.cursor, Cursor::Fio | Cursor::Iometer) {
            // The first of each list has none before it that this model knows of.
            let found: u64 = lists.iter().map(|list| case.successors(list)).sum();
            prop_assert!(found.abs_diff(counted) <= lists.len() as u64, "{} successors, {} counted", found, counted);
        }
    }
}
