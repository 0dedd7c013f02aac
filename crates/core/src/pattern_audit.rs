//! Address audit: achieved shares, sizes and coverage of the generator against what was asked.

use std::sync::atomic::AtomicU64;

use rand_core::Rng;

use super::*;
use crate::active_range::ActiveRange;
use crate::contract::{Bytes, Direction};
use crate::stream::worker_stream;

const DRAWS: usize = 5_000_000;

fn pattern(sizes: Vec<(u64, f64)>, read_share: f64, random_share: f64) -> AccessPattern {
    AccessPattern {
        sizes,
        read_share,
        random_share,
        alignment: 0,
        origin: GridOrigin::Range,
        lba_groups: Vec::new(),
        cursor: Cursor::Shared,
        writes_tail: false,
        data: DataPattern::Random,
        operation: Operation::Transfer,
        lines: Vec::new(),
    }
}

fn whole(bytes: u64) -> ActiveRange {
    ActiveRange::new(vec![0], bytes).expect("valid")
}

fn compile(pattern: &AccessPattern, range: &ActiveRange) -> CompiledPattern {
    CompiledPattern::new(pattern, range, 512).expect("valid")
}

fn draws(pattern: &AccessPattern, range: &ActiveRange, count: usize) -> Vec<Access> {
    let (compiled, cursor) = (compile(pattern, range), AtomicU64::new(0));
    let mut rng = worker_stream(1, 0);
    (0..count).map(|_| compiled.draw(&mut rng, [&cursor, &cursor])).collect()
}

/// Upper 1e-4 point of chi-square with `freedom` degrees (Wilson-Hilferty), good to 1 % from 5 degrees on.
fn chi_square_limit(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + 3.719 * spread.sqrt()).powi(3)
}

fn check_chi_square(name: &str, observed: &[u64], shares: &[f64]) {
    let count: u64 = observed.iter().sum();
    let chi_square: f64 = observed
        .iter()
        .zip(shares)
        .map(|(seen, share)| (*seen as f64 - share * count as f64).powi(2) / (share * count as f64))
        .sum();
    let limit = chi_square_limit((shares.len() - 1) as f64);
    assert!(
        chi_square < limit,
        "{name}: chi-square {chi_square:.1} over the 1e-4 limit {limit:.1}, n = {count}, seed 1"
    );
}

#[test]
fn random_accesses_cover_the_range_uniformly() {
    let range = whole(1 << 30);
    let mut cells = vec![0_u64; 1024];
    for access in draws(&pattern(vec![(4096, 1.0)], 0.0, 1.0), &range, DRAWS) {
        assert_eq!(access.offset.0 % 4096, 0);
        cells[(access.offset.0 >> 20) as usize] += 1;
    }
    check_chi_square("coverage", &cells, &vec![1.0 / 1024.0; 1024]);
}

#[test]
fn random_draws_are_with_replacement() {
    // As many draws as blocks reach 1 - 1/e of them.
    let seen: std::collections::HashSet<u64> =
        draws(&pattern(vec![(4096, 1.0)], 0.0, 1.0), &whole(4096 << 18), 1 << 18)
            .iter()
            .map(|access| access.offset.0)
            .collect();
    let share = seen.len() as f64 / f64::from(1 << 18);
    assert!((share - (1.0 - (-1.0_f64).exp())).abs() < 0.005, "distinct share {share}");
}

#[test]
fn read_share_and_sizes_are_met_within_a_tenth_of_a_percentage_point() {
    let sizes = vec![
        (512, 0.04),
        (1024, 0.01),
        (1536, 0.01),
        (2048, 0.01),
        (2560, 0.01),
        (3072, 0.01),
        (3584, 0.01),
        (4096, 0.67),
        (8192, 0.10),
        (16384, 0.07),
        (32768, 0.03),
        (65536, 0.03),
    ];
    let mut composite = pattern(sizes.clone(), 0.4, 1.0);
    composite.alignment = 4096;
    let (mut reads, mut counts) = (0_u64, vec![0_u64; sizes.len()]);
    for access in draws(&composite, &whole(1 << 34), DRAWS) {
        reads += u64::from(access.direction == Direction::Read);
        counts[sizes.iter().position(|size| size.0 == access.length.0).expect("an asked size")] += 1;
    }
    assert!((reads as f64 / DRAWS as f64 - 0.4).abs() < 0.001, "read share {reads} of {DRAWS}");
    for (size, count) in sizes.iter().zip(&counts) {
        assert!((*count as f64 / DRAWS as f64 - size.1).abs() < 0.001, "{} bytes: {count} of {DRAWS}", size.0);
    }
    check_chi_square("sizes", &counts, &sizes.iter().map(|size| size.1).collect::<Vec<_>>());
}

#[test]
fn lba_groups_are_met_and_not_crossed() {
    let range = whole(1 << 34);
    let mut grouped = pattern(vec![(65536, 1.0)], 0.4, 1.0);
    grouped.alignment = 4096;
    grouped.lba_groups = vec![(0.5, 0.05), (0.3, 0.15), (0.2, 0.80)];
    let edges = [(1_u64 << 34) as f64 * 0.05, (1_u64 << 34) as f64 * 0.20, (1_u64 << 34) as f64];
    let mut counts = vec![0_u64; 3];
    for access in draws(&grouped, &range, 1_000_000) {
        let (from, to) = (access.offset.0 as f64, (access.offset.0 + access.length.0) as f64);
        let group = edges.iter().position(|edge| from < *edge - 4096.0).expect("inside");
        assert!(to <= edges[group], "an access from {from} to {to} crosses a group's edge");
        counts[group] += 1;
    }
    check_chi_square("groups", &counts, &[0.5, 0.3, 0.2]);
}

/// A border of 5 % of 1 GB is no multiple of 4 KiB: accesses of a size keep to its grid all the same.
#[test]
fn accesses_to_groups_keep_to_the_grid_of_their_size() {
    let range = whole(1_000_000_000 / 512 * 512);
    let mut grouped = pattern(vec![(4096, 0.5), (65536, 0.5)], 0.0, 1.0);
    grouped.lba_groups = vec![(0.5, 0.05), (0.3, 0.15), (0.2, 0.80)];
    for access in draws(&grouped, &range, 100_000) {
        assert_eq!(access.offset.0 % access.length.0, 0);
    }
}

#[test]
fn a_grid_is_counted_from_byte_0_where_the_step_says_so() {
    let range = ActiveRange::new(vec![63 * 512], 1 << 20).expect("valid");
    let mut aligned = pattern(vec![(8192, 1.0)], 0.0, 1.0);
    aligned.alignment = 4096;
    let rests = |pattern: &AccessPattern| {
        let offsets = draws(pattern, &range, 1000).into_iter().map(|access| access.offset.0 % 4096);
        offsets.collect::<std::collections::BTreeSet<u64>>()
    };
    assert_eq!(rests(&aligned), [63 * 512 % 4096].into());
    aligned.origin = GridOrigin::Drive;
    assert_eq!(rests(&aligned), [0].into());
}

#[test]
fn no_access_crosses_a_segment_and_all_segments_are_used_alike() {
    let range = ActiveRange::place(Bytes(32_000_000_000), 2048, Bytes(8 << 20), 3).expect("fits");
    assert_eq!(range.total(), Bytes(16 << 30));
    let mut counts = vec![0_u64; 2048];
    for access in draws(&pattern(vec![(1 << 20, 1.0)], 0.0, 1.0), &range, 1_000_000) {
        let segment = range.starts().partition_point(|start| *start <= access.offset.0) - 1;
        assert!(access.offset.0 + access.length.0 <= range.starts()[segment] + (8 << 20));
        counts[segment] += 1;
    }
    check_chi_square("segments", &counts, &vec![1.0 / 2048.0; 2048]);
}

#[test]
fn sequential_access_walks_the_segments_in_lba_order() {
    let range = ActiveRange::place(Bytes(1 << 30), 8, Bytes(8 << 20), 5).expect("fits");
    let walk = draws(&pattern(vec![(1 << 20, 1.0)], 1.0, 0.0), &range, 8 * 8);
    let expected: Vec<u64> =
        range.starts().iter().flat_map(|start| (0..8).map(move |index| start + (index << 20))).collect();
    assert_eq!(walk.iter().map(|access| access.offset.0).collect::<Vec<_>>(), expected);
}

#[test]
fn preconditioning_covers_the_tail_and_other_passes_skip_it() {
    let range = whole(10 * 4096 + 512);
    let mut tail = pattern(vec![(8192, 1.0)], 0.0, 0.0);
    let lengths =
        |pattern: &AccessPattern| draws(pattern, &range, 6).iter().map(|access| access.length.0).collect::<Vec<_>>();
    assert_eq!(lengths(&tail), [8192; 6]);
    tail.writes_tail = true;
    assert_eq!(lengths(&tail), [8192, 8192, 8192, 8192, 8192, 512]);
}

#[test]
fn streams_of_workers_and_seeds_differ_and_repeat_from_the_same_seed() {
    let first = |seed, worker| (0..4).map(|_| worker_stream(seed, worker).next_u64()).collect::<Vec<_>>();
    assert_eq!(first(1, 0), first(1, 0));
    assert_ne!(first(1, 0), first(1, 1));
    assert_ne!(first(1, 0), first(2, 0));
}

#[test]
fn wrong_shares_and_sizes_are_named() {
    let range = whole(1 << 20);
    let error = |pattern: &AccessPattern| CompiledPattern::new(pattern, &range, 512).expect_err("wrong");
    assert_eq!(error(&pattern(vec![(4096, 0.6), (8192, 0.3)], 0.0, 1.0)), PatternError::Share("size shares"));
    assert_eq!(error(&pattern(vec![(4096, 1.0)], 1.5, 1.0)), PatternError::Share("read share"));
    assert_eq!(error(&pattern(vec![(4096, 1.0)], f64::NAN, 1.0)), PatternError::Share("read share"));
    let mut empty = pattern(vec![(4096, 1.0)], 0.0, 1.0);
    empty.data = DataPattern::Repeating { pool: Bytes(0) };
    assert_eq!(error(&empty), PatternError::Data);
    for stored_share in [0.04, 0.96, 1.0, -1.0] {
        empty.data = DataPattern::Compressible { stored_share };
        assert_eq!(error(&empty), PatternError::StoredShare(stored_share));
    }
    empty.data = DataPattern::Compressible { stored_share: f64::NAN };
    assert!(matches!(error(&empty), PatternError::StoredShare(_)));
    assert_eq!(error(&pattern(vec![(2 << 20, 1.0)], 0.0, 1.0)), PatternError::DoesNotFit(2 << 20));
    assert_eq!(error(&pattern(vec![(513, 1.0)], 0.0, 1.0)), PatternError::Size { size: 513, logical_block: 512 });
}
