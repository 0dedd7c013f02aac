//! Garbage collection against the theory of uniform random writes, and the invariants of the map.

use super::*;
use crate::flash_model::{FlashModel, VictimPolicy};
use assay_core::contract::Bytes;
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn geometry(user_units: u32, unit_pages: u32, over_provisioning: f64) -> Geometry {
    let user_pages = user_units * unit_pages;
    let data_units = (f64::from(user_units) * (1.0 + over_provisioning)).ceil() as u32;
    Geometry::bare(user_pages, unit_pages, data_units)
}

fn collector(geometry: &Geometry, victim: VictimPolicy) -> Collector {
    let victims = Victims::new(geometry.unit_count, geometry.unit_pages, victim, 0, 1);
    Collector::new(geometry, victims, Collection { shared_frontier: false, batch: 1 })
}

fn below(rng: &mut Xoshiro256PlusPlus, bound: u32) -> u32 {
    (rng.next_u64() % u64::from(bound)) as u32
}

fn write_amplification(geometry: &Geometry, fills: u32) -> f64 {
    let mut collector = collector(geometry, VictimPolicy::Greedy);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..geometry.user_pages).for_each(|logical| collector.write(logical, &mut NoTime));
    let random_fills = |collector: &mut Collector, rng: &mut Xoshiro256PlusPlus| {
        for _ in 0..fills * geometry.user_pages {
            collector.write(below(rng, geometry.user_pages), &mut NoTime);
        }
    };
    random_fills(&mut collector, &mut rng);
    let before = collector.statistics;
    random_fills(&mut collector, &mut rng);
    let after = collector.statistics;
    let host = (after.host_pages - before.host_pages) as f64;
    (host + (after.relocated_pages - before.relocated_pages) as f64) / host
}

/// Greedy collection of units of 64 pages, mean field (Bux and Iliadis 2010): at 12 % 4.531, at 28 % 2.403.
#[test]
fn write_amplification_of_uniform_random_writes_is_that_of_theory() {
    for (over_provisioning, theory) in [(0.12, 4.531), (0.28, 2.403)] {
        let simulated = write_amplification(&geometry(4096, 64, over_provisioning), 4);
        let error = simulated / theory - 1.0;
        assert!(error.abs() < 0.01, "spare {over_provisioning}: {simulated:.4} against {theory}");
    }
}

#[test]
fn sequential_overwrites_relocate_nothing() {
    let geometry = geometry(256, 64, 0.1);
    let mut collector = collector(&geometry, VictimPolicy::Greedy);
    for _ in 0..4 {
        (0..geometry.user_pages).for_each(|logical| collector.write(logical, &mut NoTime));
    }
    assert_eq!(collector.statistics.host_pages, 4 * u64::from(geometry.user_pages));
    assert_eq!(collector.statistics.relocated_pages, 0);
    assert!(collector.statistics.erased_units > 0);
}

/// What the flash was told to do, counted.
#[derive(Default)]
struct Counted {
    stripes: u64,
    relocations: u64,
    erases: u64,
}

impl FlashWork for Counted {
    fn program(&mut self, _: u32, _: u32, _: bool) {
        self.stripes += 1;
    }
    fn relocate(&mut self, _: u32, _: u32) {
        self.relocations += 1;
    }
    fn erase(&mut self) {
        self.erases += 1;
    }
}

fn any_policy() -> impl Strategy<Value = VictimPolicy> {
    prop_oneof![
        Just(VictimPolicy::Greedy),
        Just(VictimPolicy::Fifo),
        Just(VictimPolicy::Random),
        (2_u32..20).prop_map(VictimPolicy::Choices),
    ]
}

/// Single pages, runs and idle time, in any order.
fn any_work(collector: &mut Collector, count: u32, seed: u64, work: &mut Counted) -> u64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pages = collector.geometry.user_pages;
    let mut written = 0;
    for _ in 0..count {
        let page = below(&mut rng, pages);
        let run = if below(&mut rng, 8) == 0 { 1 + below(&mut rng, 100).min(pages - page - 1) } else { 1 };
        match below(&mut rng, 50) {
            0 => collector.collect_idle(u64::from(run), u64::from(pages / 20), work),
            _ if run == 1 => collector.write(page, work),
            _ => collector.write_run(page, run, work),
        }
        written = collector.statistics.host_pages;
    }
    written
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn the_map_stays_exact_and_every_page_is_accounted_for(
        seed: u64, count in 1_u32..1_500, spare in 0.02_f64..0.5, victim in any_policy(), shared: bool, batch in 1_u32..32
    ) {
        let geometry = geometry(32, 32, spare);
        let victims = Victims::new(geometry.unit_count, geometry.unit_pages, victim, (seed % 3) as u32 * 7, seed);
        let mut collector = Collector::new(&geometry, victims, Collection { shared_frontier: shared, batch });
        let mut work = Counted::default();
        let host_pages = any_work(&mut collector, count, seed, &mut work);
        // Map and reverse map are inverse and the counts exact: a unit that was erased held nothing that is mapped.
        collector.mapping.check(geometry.unit_count);
        prop_assert!(!collector.free.is_empty());
        let FlashStatistics { relocated_pages, erased_units, .. } = collector.statistics;
        prop_assert_eq!((relocated_pages, erased_units), (work.relocations, work.erases));
        // All that the flash programs was written by the host or relocated; two stripes may be open.
        let programmed = work.stripes * u64::from(geometry.stripe_pages);
        prop_assert!((programmed..programmed + 2 * u64::from(geometry.stripe_pages)).contains(&(host_pages + relocated_pages)));
    }
}

#[test]
fn small_capacities_get_smaller_units() {
    let model =
        FlashModel { capacity: Bytes(1_000_000_000), channel_count: 8, dies_per_channel: 2, ..FlashModel::plain() };
    let geometry = Geometry::new(&model).expect("valid");
    assert_eq!(geometry.unit_pages, 4 * 16 * 2);
    assert!(geometry.unit_count > 1024);
    assert!(Geometry::new(&FlashModel { over_provisioning: 0.0, ..model.clone() }).is_err());
    assert!(Geometry::new(&FlashModel { capacity: Bytes(1 << 20), ..model }).is_err());
}

#[test]
fn every_policy_keeps_units_free_whatever_is_written() {
    let geometry = geometry(256, 64, 0.05);
    for policy in [VictimPolicy::Greedy, VictimPolicy::Fifo, VictimPolicy::Random, VictimPolicy::Choices(3)] {
        let mut collector = collector(&geometry, policy);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for _ in 0..3 {
            (0..geometry.user_pages / 16).for_each(|run| collector.write_run(run * 16, 16, &mut NoTime));
            (0..geometry.user_pages).for_each(|_| collector.write(below(&mut rng, geometry.user_pages), &mut NoTime));
        }
        collector.mapping.check(geometry.unit_count);
        assert!(!collector.free.is_empty(), "{policy:?}");
    }
}
