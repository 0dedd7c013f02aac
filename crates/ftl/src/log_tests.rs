//! The log against the arithmetic of units that stay in it for one age.

use super::*;
use crate::collect::{Collection, NoTime};
use crate::flash_model::VictimPolicy;
use crate::geometry::Geometry;
use crate::victims::Victims;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGES: u32 = 1 << 18;
const MERGE: u32 = 8;

struct Hybrid {
    log: Log,
    flash: Collector,
    rng: Xoshiro256PlusPlus,
}

impl Hybrid {
    fn new(share: f64) -> Self {
        let geometry = Geometry::bare(PAGES, 64, PAGES / 64 * 2);
        let victims = Victims::new(geometry.unit_count, 64, VictimPolicy::Greedy, 0, 1);
        let mut flash = Collector::new(&geometry, victims, Collection { shared_frontier: false, batch: 1 });
        flash.write_run(0, PAGES, &mut NoTime);
        let log = Log::new((f64::from(PAGES) * share) as u32, MERGE, &geometry);
        Self { log, flash, rng: Xoshiro256PlusPlus::seed_from_u64(3) }
    }

    fn write_random(&mut self, count: u32) {
        for _ in 0..count {
            let page = ((u128::from(self.rng.next_u64()) * u128::from(PAGES)) >> 64) as u32;
            self.log.write(page..page + 1, &mut self.flash, &mut NoTime);
        }
    }
}

/// Pages of a unit that are in the log when its age is over, where it holds `share` of all pages: units are hit once per
/// unit of time, stay for the age, and hold 1 + (P - 1)(1 - e^(-t/P)) of P pages after t of it.
fn pages_at_merge(share: f64) -> f64 {
    let pages = f64::from(MERGE);
    let held = |t: f64| 1.0 + (pages - 1.0) * (1.0 - (-t / pages).exp());
    let mean = |age: f64| {
        let inside = age * pages - (pages - 1.0) * pages * (1.0 - (-age / pages).exp());
        inside / (age + 1.0)
    };
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if mean(middle) < share * pages { low = middle } else { high = middle }
    }
    held(low)
}

#[test]
fn nothing_is_merged_before_the_log_is_full() {
    let mut drive = Hybrid::new(0.24);
    // 24 % of the pages are hit after -ln(0.76) = 0.274 fills.
    drive.write_random((f64::from(PAGES) * 0.270) as u32);
    assert_eq!(drive.log.merges, 0);
    drive.write_random((f64::from(PAGES) * 0.008) as u32);
    assert!(drive.log.merges > 0);
}

#[test]
fn a_merge_takes_as_many_pages_as_came_while_its_unit_was_in_the_log() {
    for share in [0.05, 0.24, 0.5] {
        let mut drive = Hybrid::new(share);
        drive.write_random(2 * PAGES);
        let before = drive.log.merges;
        drive.write_random(PAGES);
        let per_merge = f64::from(PAGES) / (drive.log.merges - before) as f64;
        // Pages that are written again while they are in the log come on top of the distinct ones.
        let (distinct, theory) = (distinct_of(per_merge), pages_at_merge(share));
        assert!((distinct / theory - 1.0).abs() < 0.02, "{share}: {distinct} against {theory}");
    }
}

/// Distinct pages of so many writes to one unit, the first of which found it empty.
fn distinct_of(writes: f64) -> f64 {
    let pages = f64::from(MERGE);
    1.0 + (pages - 1.0) * (1.0 - (-(writes - 1.0) / pages).exp())
}

#[test]
fn whole_units_pass_the_log_by() {
    let mut drive = Hybrid::new(0.05);
    drive.write_random(PAGES / 100);
    drive.log.write(0..PAGES, &mut drive.flash, &mut NoTime);
    assert_eq!((drive.log.merges, drive.log.used), (0, 0));
    drive.flash.mapping.check(PAGES / 64 * 2 + crate::geometry::RESERVE_UNITS);
}

#[test]
fn pages_that_the_host_gave_back_leave_the_log_and_their_units_need_no_merge() {
    let mut drive = Hybrid::new(0.24);
    drive.write_random((f64::from(PAGES) * 0.270) as u32);
    let held = |log: &Log, from, to| (from..to).filter(|page| log.holds(*page)).count() as u32;
    let kept = held(&drive.log, PAGES / 2 + 3, PAGES);
    drive.log.forget(0..PAGES / 2 + 3);
    assert_eq!((held(&drive.log, 0, PAGES / 2 + 3), drive.log.used), (0, kept));
    assert_eq!(drive.log.counts.iter().sum::<u32>(), kept);
    // Half of the log is free again: 24 % of the pages on top of 12 % are 0.27 fills at first, 0.15 from there on.
    drive.write_random((f64::from(PAGES) * 0.12) as u32);
    assert_eq!(drive.log.merges, 0);
    drive.write_random((f64::from(PAGES) * 0.08) as u32);
    assert!(drive.log.merges > 0);
}
