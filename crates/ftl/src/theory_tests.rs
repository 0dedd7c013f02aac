//! Garbage collection against closed forms for memoryless writes. The formulas are written down here a second time, so
//! that the simulation and its judge share no code.
//!
//! Sources: Desnoyers, SYSTOR 2012 (first in, first out; hot and cold); Bux and Iliadis, 2010 (greedy, mean field);
//! Van Houdt, SIGMETRICS 2013 (d choices).

use super::*;
use crate::flash_model::VictimPolicy;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

struct Flash {
    collector: Collector,
    user_pages: u32,
    rng: Xoshiro256PlusPlus,
}

impl Flash {
    fn new(user_units: u32, unit_pages: u32, spare: f64, policy: VictimPolicy, shared: bool) -> Self {
        let user_pages = user_units * unit_pages;
        let data_units = (f64::from(user_units) * (1.0 + spare)).round() as u32;
        let geometry = Geometry::bare(user_pages, unit_pages, data_units);
        let victims = Victims::new(geometry.unit_count, unit_pages, policy, 0, 5);
        let collector = Collector::new(&geometry, victims, Collection { shared_frontier: shared, batch: 1 });
        Self { collector, user_pages, rng: Xoshiro256PlusPlus::seed_from_u64(11) }
    }

    fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.rng.next_u64()) * u128::from(limit)) >> 64) as u32
    }

    fn fill(&mut self) {
        self.collector.write_run(0, self.user_pages, &mut NoTime);
    }

    /// Write amplification of so many fills of pages drawn by `draw`.
    fn amplification(&mut self, fills: f64, mut draw: impl FnMut(&mut Self) -> u32) -> f64 {
        let before = self.collector.statistics;
        for _ in 0..(f64::from(self.user_pages) * fills) as u64 {
            let page = draw(self);
            self.collector.write(page, &mut NoTime);
        }
        let after = self.collector.statistics;
        let host = (after.host_pages - before.host_pages) as f64;
        1.0 + (after.relocated_pages - before.relocated_pages) as f64 / host
    }

    fn uniform(&mut self, fills: f64) -> f64 {
        let pages = self.user_pages;
        self.amplification(fills, |flash| flash.below(pages))
    }
}

/// W0 of Lambert for arguments above -1/e.
fn lambert(argument: f64) -> f64 {
    let mut value = if argument < 0.0 { -0.5 } else { 0.5 };
    for _ in 0..200 {
        let exponential = f64::exp(value);
        let step = (value * exponential - argument) / (exponential * (value + 1.0));
        value = (value - step).max(-0.999_999_9);
    }
    value
}

fn first_in_first_out(spare: f64) -> f64 {
    let alpha = 1.0 + spare;
    alpha / (alpha + lambert(-alpha * (-alpha).exp()))
}

fn random_victim(spare: f64) -> f64 {
    (1.0 + spare) / spare
}

fn greedy(spare: f64, unit_pages: u32) -> f64 {
    let (rho, pages) = (1.0 / (1.0 + spare), f64::from(unit_pages));
    let mut harmonic = 0.0;
    for level in (1..unit_pages).rev() {
        let x = f64::from(level);
        harmonic += 1.0 / (x + 1.0);
        let rate = (rho * pages - x) / (pages - x - x * harmonic);
        let waiting = 1.0 - rate * harmonic;
        if rate > 0.0 && (0.0..=rate / x).contains(&waiting) {
            return rate / rho;
        }
    }
    panic!("no level fits");
}

fn choices(spare: f64, unit_pages: u32, count: i32) -> f64 {
    let (rho, pages) = (1.0 / (1.0 + spare), f64::from(unit_pages));
    let mean = |rate: f64| {
        let (mut above, mut total) = (0.0_f64, 0.0);
        for level in (1..=unit_pages).rev() {
            let step = rate / f64::from(level);
            let (mut low, mut high) = (above, 1.0_f64);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if middle - step * (1.0 - middle.powi(count)) < above { low = middle } else { high = middle }
            }
            above = low;
            total += above;
        }
        total
    };
    let (mut low, mut high) = (0.0, 200.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if mean(middle) < rho * pages { low = middle } else { high = middle }
    }
    low / rho
}

fn hot_and_cold(spare: f64, writes: f64, range: f64) -> f64 {
    let alpha = 1.0 + spare;
    let (mut low, mut high) = (1.0, 1000.0);
    for _ in 0..200 {
        let a = f64::midpoint(low, high);
        let term = |r: f64, f: f64| r / (((r / f) * alpha / a).exp() - 1.0);
        if 1.0 + term(writes, range) + term(1.0 - writes, 1.0 - range) > a { low = a } else { high = a }
    }
    low
}

#[allow(clippy::print_stdout, reason = "the distance, for --nocapture")]
fn assert_close(name: &str, simulated: f64, theory: f64, tolerance: f64) {
    let error = simulated / theory - 1.0;
    println!("{name}: {:+.2} %", error * 100.0);
    assert!(error.abs() <= tolerance, "{name}: {simulated:.4} against {theory:.4} ({:+.2} %)", error * 100.0);
}

#[test]
fn the_formulas_give_their_published_values() {
    // Xiang and Kurkoski, arXiv 1110.4245: 30 % spare gives 2.36.
    assert_close("fifo", first_in_first_out(0.3), 2.364, 0.001);
    assert_close("greedy 12 % 256", greedy(0.12, 256), 4.763, 0.001);
    assert_close("greedy 7 % 32", greedy(0.07, 32), 6.347, 0.001);
    assert_close("choices", choices(0.12, 64, 5), 5.014, 0.001);
    assert_close("hot and cold", hot_and_cold(0.12, 0.8, 0.2), 5.204, 0.001);
}

#[test]
fn greedy_is_that_of_theory_and_never_better() {
    for (spare, unit_pages) in [(0.07, 64), (0.12, 32), (0.12, 256), (0.28, 64), (0.5, 64)] {
        let mut flash = Flash::new(16_384, unit_pages, spare, VictimPolicy::Greedy, false);
        flash.fill();
        flash.uniform(3.0);
        let (simulated, theory) = (flash.uniform(2.0), greedy(spare, unit_pages));
        assert_close(&format!("greedy {spare} {unit_pages}"), simulated, theory, 0.005);
        assert!(simulated > theory * 0.997, "better than the optimum: {simulated} against {theory}");
    }
}

#[test]
fn first_in_first_out_random_and_choices_are_those_of_theory() {
    for spare in [0.07, 0.12, 0.28, 0.5] {
        for (unit_count, tolerance) in [(1024_u32, 0.02), (8192, 0.005)] {
            // In whole units.
            let whole = (f64::from(unit_count) * spare).round() / f64::from(unit_count);
            let cases = [
                ("fifo", VictimPolicy::Fifo, first_in_first_out(whole)),
                ("random", VictimPolicy::Random, random_victim(whole)),
                ("2 choices", VictimPolicy::Choices(2), choices(whole, 64, 2)),
                ("10 choices", VictimPolicy::Choices(10), choices(whole, 64, 10)),
            ];
            for (name, policy, theory) in cases {
                let mut flash = Flash::new(unit_count, 64, spare, policy, false);
                flash.fill();
                flash.uniform(5.0);
                assert_close(&format!("{name} {spare}, {unit_count} units"), flash.uniform(4.0), theory, tolerance);
            }
        }
    }
}

#[test]
fn hot_and_cold_data_in_one_log_are_those_of_theory() {
    for (writes, range) in [(0.8, 0.2), (0.9, 0.1)] {
        let mut flash = Flash::new(8192, 64, 0.12, VictimPolicy::Fifo, true);
        flash.fill();
        let hot = (f64::from(flash.user_pages) * range) as u32;
        let mut draw = |flash: &mut Flash| {
            let pages = flash.user_pages;
            if flash.below(1_000_000) < (writes * 1e6) as u32 {
                flash.below(hot)
            } else {
                hot + flash.below(pages - hot)
            }
        };
        flash.amplification(10.0, &mut draw);
        assert_close(
            &format!("hot {writes}"),
            flash.amplification(4.0, &mut draw),
            hot_and_cold(0.12, writes, range),
            0.005,
        );
    }
}

/// Write amplification of a fresh drive in windows of 0.1 fills that end at the given fills; greedy, 256 pages a unit.
#[test]
fn a_fresh_drive_falls_along_the_curve_of_theory() {
    let curve = [
        (1.0, 1.00),
        (1.2, 1.54),
        (1.5, 1.76),
        (2.0, 2.52),
        (2.5, 3.39),
        (3.0, 4.29),
        (4.0, 5.77),
        (5.0, 6.61),
        (6.0, 6.99),
        (8.0, 7.22),
    ];
    let mut flash = Flash::new(4096, 256, 0.0737, VictimPolicy::Greedy, false);
    let mut written = 0.0;
    for (end, expected) in curve {
        flash.uniform(end - 0.1 - written);
        assert_close(&format!("{end} fills"), flash.uniform(0.1), expected, 0.03);
        written = end;
    }
}

#[test]
fn sequential_writes_recover_with_a_frontier_of_their_own_and_hardly_without() {
    for (shared, least, most) in [(false, 1.0, 1.02), (true, 3.0, 9.0)] {
        let mut flash = Flash::new(2048, 64, 0.0737, VictimPolicy::Greedy, shared);
        flash.fill();
        flash.uniform(4.0);
        let mut next = 0;
        let pages = flash.user_pages;
        let mut draw = |_: &mut Flash| {
            next = (next + 1) % pages;
            next
        };
        let skipped = if shared { 1.95 } else { 1.0 };
        flash.amplification(skipped, &mut draw);
        let found = flash.amplification(0.05, &mut draw);
        assert!((least..=most).contains(&found), "shared {shared}: {found}");
    }
}

/// Units that sequential writes leave empty are taken first, so no policy has to relocate for them.
#[test]
fn sequential_writes_to_a_part_relocate_nothing_whatever_the_policy() {
    for policy in [VictimPolicy::Greedy, VictimPolicy::Fifo, VictimPolicy::Random, VictimPolicy::Choices(2)] {
        let mut flash = Flash::new(2048, 64, 0.0737, policy, false);
        flash.fill();
        let (part, mut next) = (flash.user_pages / 15, 0);
        let mut draw = |_: &mut Flash| {
            next = (next + 1) % part;
            next
        };
        flash.amplification(1.0, &mut draw);
        let found = flash.amplification(0.5, &mut draw);
        assert!((1.0..1.001).contains(&found), "{policy:?}: {found}");
    }
}

/// Random victims with so many writes to a fifteenth of a drive; the most relocations that one stripe of four pages owed, and the
/// write amplification.
fn writes_to_a_part_with_random_victims(spares: bool) -> (f64, f64) {
    let mut flash = Flash::new(2048, 64, 0.0737, VictimPolicy::Random, false);
    let geometry = Geometry::bare(flash.user_pages, 64, (2048.0_f64 * 1.0737).round() as u32);
    let victims = Victims::new(geometry.unit_count, 64, VictimPolicy::Random, 0, 5).spare_full(spares);
    flash.collector = Collector::new(&geometry, victims, Collection { shared_frontier: false, batch: 1 });
    flash.fill();
    let part = flash.user_pages / 15;
    flash.amplification(0.5, |flash| flash.below(part));
    let (mut most, mut total, count) = (0.0_f64, 0.0, 300_000);
    for _ in 0..count {
        let relocated = flash.amplification(1.0 / f64::from(flash.user_pages), |flash| flash.below(part)) - 1.0;
        (most, total) = (most.max(relocated), total + relocated);
    }
    (most, 1.0 + total / f64::from(count))
}

/// Fourteen units in fifteen are full and free nothing. One after the other they would be moved in runs of more than a hundred, while
/// a write waits for 64 relocations of each.
#[test]
fn units_that_free_nothing_are_paid_for_together_with_those_that_do() {
    let (most, amplification) = writes_to_a_part_with_random_victims(false);
    assert_close("random victims, whatever the range", amplification, random_victim(0.0737), 0.05);
    assert!(most < 10.0 * 64.0, "{most} relocations at once");
}

#[test]
fn full_units_are_not_moved_for_nothing_where_they_are_spared() {
    let (most, amplification) = writes_to_a_part_with_random_victims(true);
    assert!(most <= 64.0, "{most} relocations at once");
    assert!(amplification < 2.0, "{amplification}: the spare area serves the part alone");
}
