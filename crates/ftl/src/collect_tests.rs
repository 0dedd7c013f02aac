//! Garbage collection against the theory of uniform random writes, and the invariants of the map.

use super::*;
use crate::card::{Card, VictimPolicy};
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
    let victims = Victims::new(geometry.unit_count, geometry.unit_pages, victim, 1);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_map_stays_consistent_under_any_writes(seed: u64, count in 1_u32..40_000, spare in 0.02_f64..0.5) {
        let geometry = geometry(64, 32, spare);
        let mut collector = collector(&geometry, VictimPolicy::Greedy);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..count {
            collector.write(below(&mut rng, geometry.user_pages), &mut NoTime);
        }
        collector.mapping.check(geometry.unit_count);
        prop_assert_eq!(collector.statistics.host_pages, u64::from(count));
        prop_assert!(!collector.free.is_empty());
    }
}

#[test]
fn small_capacities_get_smaller_units() {
    let card = Card { capacity: Bytes(1_000_000_000), channel_count: 8, dies_per_channel: 2, ..Card::plain() };
    let geometry = Geometry::new(&card).expect("valid");
    assert_eq!(geometry.unit_pages, 4 * 16 * 2);
    assert!(geometry.unit_count > 1024);
    assert!(Geometry::new(&Card { over_provisioning: 0.0, ..card.clone() }).is_err());
    assert!(Geometry::new(&Card { capacity: Bytes(1 << 20), ..card }).is_err());
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
