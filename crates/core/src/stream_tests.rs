//! Streams of sequential I/Os among random ones, whose number is known here: counted from their places alone.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{AskedPlaces, PlaceCounts};
use crate::active_range::ActiveRange;
use crate::contract::{DataPattern, Direction};
use crate::pattern::{AccessPattern, Cursor};
use crate::step::{Demand, StepSpec, StopRule};

const BLOCK: u64 = 512;
const PLACES: u64 = 1 << 20;

/// A step of a single thread, and what is counted of it.
struct Counted {
    asked: AskedPlaces,
    counts: PlaceCounts,
}

fn spec(random_share: f64, places: u64) -> StepSpec {
    let pattern = AccessPattern {
        alignment: BLOCK,
        writes_tail: false,
        sizes: vec![(BLOCK, 0.5), (4 * BLOCK, 0.5)],
        data: DataPattern::Random,
        ..AccessPattern::uniform(BLOCK, 0.0, random_share)
    };
    StepSpec {
        pattern,
        demand: Demand { thread_count: 1, queue_depth: 1, arrival: None },
        range: ActiveRange::new(vec![0], places * BLOCK).expect("valid"),
        stop: StopRule::Count(1),
        beside: false,
    }
}

fn places_of(spec: &StepSpec) -> AskedPlaces {
    AskedPlaces::new(spec, false).expect("transfers have places")
}

impl Counted {
    fn new(random_share: f64, places: u64) -> Self {
        let asked = places_of(&spec(random_share, places));
        let counts = PlaceCounts::new(&asked, std::iter::once([0, 0]));
        Self { asked, counts }
    }

    /// Note an I/O by its first block and its blocks.
    fn note(&mut self, place: u64, blocks: u64) {
        self.counts.note(&self.asked, 0, Direction::Write, place * BLOCK, blocks * BLOCK);
    }

    fn note_all(&mut self, ios: &[(u64, u64)]) -> u64 {
        for (place, blocks) in ios {
            self.note(*place, *blocks);
        }
        self.counts.successors
    }

    /// Note a stream from a place on whose I/Os have 1 to 4 blocks; returns where it ends.
    fn note_stream(&mut self, place: u64, count: u64) -> u64 {
        (0..count).fold(place, |place, nth| {
            self.note(place, 1 + nth % 4);
            place + 1 + nth % 4
        })
    }

    /// Note random and sequential I/Os as a drive gets them; returns how many were sequential.
    fn note_mixed(&mut self, random_share: f64, places: u64, count: u64, seed: u64) -> u64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |bound: u64| ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64;
        let (mut cursor, mut sequential) = (0, 0);
        for _ in 0..count {
            let blocks = if below(2) == 0 { 1 } else { 4 };
            if below(1 << 32) < (random_share * (1_u64 << 32) as f64) as u64 {
                self.note(below(places - blocks + 1), blocks);
                continue;
            }
            cursor = if cursor + blocks > places { 0 } else { cursor };
            self.note(cursor, blocks);
            (cursor, sequential) = (cursor + blocks, sequential + 1);
        }
        sequential
    }
}

/// Whatever random I/Os lie where the stream will go on or went on, it goes on to the last and each I/O counts once.
#[test]
fn three_random_ios_at_ends_in_a_row_lose_no_stream() {
    for random in [
        &[(1, 9)][..],
        &[(0, 9)],
        &[(3, 9)],
        &[(3, 9), (12, 2)],
        &[(3, 9), (12, 2), (14, 7)],
        &[(1, 9), (1, 5), (1, 3)],
        &[(3, 9), (3, 5), (3, 3)],
        &[(1, 9), (10, 3), (13, 5)],
    ] {
        let mut counted = Counted::new(0.5, PLACES);
        counted.note_all(&[(0, 1), (1, 2)]);
        counted.note_all(random);
        counted.note_stream(3, 100);
        assert_eq!(counted.counts.successors, 102, "{random:?}");
    }
}

/// What no count of four ends can follow, so that a wrong count is not out of the question.
#[test]
fn four_random_ios_in_a_row_lose_it() {
    let mut counted = Counted::new(0.5, PLACES);
    counted.note_all(&[(0, 1), (1, 2), (3, 500), (503, 500), (1003, 7), (1010, 5)]);
    counted.note_stream(3, 100);
    assert_eq!(counted.counts.successors, 6);
}

#[test]
fn a_stream_that_leaves_a_gap_or_goes_back_is_no_longer_counted() {
    for step in [-1_i64, 1, 8] {
        let mut counted = Counted::new(0.5, PLACES);
        let end = counted.note_stream(1000, 50);
        assert_eq!(counted.counts.successors, 0, "it does not begin where the cursor is");
        let end = end.max(counted.note_stream(0, 50));
        assert_eq!(counted.counts.successors, 50);
        counted.note_stream(125_u64.saturating_add_signed(step), 50);
        assert!(counted.counts.successors <= 51 && end > 125, "{step}: {}", counted.counts.successors);
    }
}

/// On the fewest places on which it is counted, the number is that of the stream but for what is ahead at the end.
#[test]
fn a_count_on_the_fewest_places_is_that_of_the_stream() {
    for (random, places) in [(0.3, 1_715), (0.5, 4_000), (0.8, 16_001), (0.95, 76_001)] {
        for seed in 0..10 {
            let mut counted = Counted::new(random, places);
            assert!(counted.asked.knows_successors());
            let sequential = counted.note_mixed(random, places, 200_000, seed);
            let off = counted.counts.successors.abs_diff(sequential);
            assert!(off <= 2, "{random}, seed {seed}: {off} beside {sequential}");
        }
    }
}

/// Worked: 80 % random are 4 per sequential I/O, and need 4,000 places of the largest size, here of four blocks.
#[test]
fn streams_among_random_ios_on_few_places_are_not_counted() {
    let knows = |spec: &StepSpec| places_of(spec).knows_successors();
    assert!(knows(&spec(0.8, 16_001)) && !knows(&spec(0.8, 15_999)));
    assert!(knows(&spec(0.0, 8)) && knows(&spec(0.3, 1_715)) && !knows(&spec(0.3, 1_714)));
    let mut grouped = spec(0.3, 17_150);
    grouped.pattern.lba_groups = vec![(0.5, 0.05), (0.5, 0.95)];
    assert!(knows(&grouped));
    grouped.pattern.lba_groups[0] = (0.5, 0.04);
    assert!(!knows(&grouped));
    for cursor in [Cursor::Fio, Cursor::Iometer] {
        let mut few = spec(0.8, 8);
        few.pattern.cursor = cursor;
        assert!(knows(&few), "the I/O before is known");
    }
}
