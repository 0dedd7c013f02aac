//! What a disk shows from outside, against sums of its parameters made here.

use super::*;
use assay_core::active_range::ActiveRange;
use assay_core::pattern::AccessPattern;
use assay_core::record::StepRecord;
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_core::stimulus::{Decision, Limits, Stimulus};

const CAPACITY: u64 = 1_000_000_000;

fn disk(model: DiskModel) -> Stimulus<SimulatedDisk> {
    Stimulus::open(1, vec![move || SimulatedDisk::new(model, Nanos(0))]).expect("the model is valid")
}

fn step(size: u64, read_share: f64, random_share: f64, queue_depth: u32, count: u64) -> StepSpec {
    StepSpec {
        pattern: AccessPattern::uniform(size, read_share, random_share),
        demand: Demand { thread_count: 1, queue_depth, arrival: None },
        range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
        stop: StopRule::Count(count),
        beside: false,
    }
}

fn run(stimulus: &mut Stimulus<SimulatedDisk>, step: StepSpec) -> StepRecord {
    stimulus.run(&[step], Limits::default(), |_| Decision::Continue).expect("runs").remove(0)
}

fn iops(record: &StepRecord) -> f64 {
    (record.read.window_io_count + record.write.window_io_count) as f64 / (record.span.0 as f64 / 1e9)
}

fn random(model: DiskModel, read_share: f64, queue_depth: u32) -> f64 {
    iops(&run(&mut disk(model), step(4096, read_share, 1.0, queue_depth, 10_000)))
}

fn slowest_ms(record: &StepRecord) -> f64 {
    record.read.latency_max_ns.max(record.write.latency_max_ns).expect("not empty") as f64 / 1e6
}

#[test]
fn one_random_command_takes_seek_half_a_revolution_transfer_and_overhead() {
    for (read_share, seek) in [(1.0, 2.9), (0.0, 2.9 + 0.4)] {
        let transfer = 4096.0 / 600_000.0 * 4.0 + 4096.0 / 300_000.0;
        let expected = seek + 4.0 / 2.0 + transfer + 0.1;
        let measured = 1e3 / random(DiskModel::plain(), read_share, 1);
        assert!((measured / expected - 1.0).abs() < 0.02, "{measured} ms against {expected} ms");
    }
}

#[test]
fn streams_reach_the_rate_of_their_zone() {
    // Four tracks, three head switches and one seek to the next cylinder, each with the write's settling.
    let cylinder_s = (4.0 * 4.0 + 3.0 * (0.25 + 0.4) + (0.25 + 0.4)) / 1e3;
    for (first, track_bytes) in [(0, 700_000.0), (901_120_000, 500_000.0)] {
        for (read_share, queue_depth) in [(1.0, 1), (1.0, 2), (1.0, 32), (0.0, 2), (0.0, 32)] {
            let range = ActiveRange::new(vec![first], 98_304_000).expect("valid");
            let stream = StepSpec { range, ..step(131_072, read_share, 0.0, queue_depth, 750) };
            let rate = iops(&run(&mut disk(DiskModel::plain()), stream)) * 131_072.0;
            let expected = 4.0 * track_bytes / cylinder_s;
            assert!((rate / expected - 1.0).abs() < 0.03, "{rate} against {expected} at queue depth {queue_depth}");
        }
    }
}

#[test]
fn a_write_that_comes_after_its_predecessor_waits_a_revolution() {
    let writes = |model| iops(&run(&mut disk(model), step(4096, 0.0, 0.0, 1, 5000)));
    let missed = writes(DiskModel::plain());
    assert!((missed / 250.0 - 1.0).abs() < 0.02, "{missed}");
    let cached = writes(DiskModel { write_cache: true, ..DiskModel::plain() });
    assert!(cached > 20.0 * missed, "{cached}");
}

#[test]
fn without_read_ahead_so_does_a_read() {
    let reads = |model| iops(&run(&mut disk(model), step(4096, 1.0, 0.0, 1, 5000)));
    let missed = reads(DiskModel { read_ahead: Bytes(0), ..DiskModel::plain() });
    assert!((missed / 250.0 - 1.0).abs() < 0.02, "{missed}");
    // Controller and link are all that is left: 100 us and 13.7 us.
    let ahead = reads(DiskModel::plain());
    assert!((ahead / 8797.0 - 1.0).abs() < 0.02, "{ahead}");
}

#[test]
fn a_deeper_queue_means_shorter_ways() {
    let rates: Vec<f64> = [1, 4, 8, 16, 32].map(|depth| random(DiskModel::plain(), 1.0, depth)).to_vec();
    assert!(rates.windows(2).all(|pair| pair[1] > 1.15 * pair[0]), "{rates:?}");
    assert!(rates[4] > 2.5 * rates[0], "{rates:?}");
    let beyond = random(DiskModel::plain(), 1.0, 64);
    assert!((beyond / rates[4] - 1.0).abs() < 0.02, "the queue limit is 32: {beyond} against {rates:?}");
}

#[test]
fn nothing_starves_and_a_credit_for_age_shortens_the_longest_wait() {
    let slowest = |model| slowest_ms(&run(&mut disk(model), step(4096, 0.5, 1.0, 32, 20_000)));
    let endless = slowest(DiskModel { age_limit: Nanos(30_000_000_000), ..DiskModel::plain() });
    let bounded = slowest(DiskModel { age_limit: Nanos(300_000_000), ..DiskModel::plain() });
    let credited = slowest(DiskModel { age_credit: 0.03, ..DiskModel::plain() });
    // What is overdue together waits for one another, 10.4 ms each at most.
    assert!(bounded < 300.0 + 8.0 * 10.4 && endless > 1.5 * bounded, "{endless} and {bounded} ms");
    assert!(credited < bounded, "{credited} ms");
}

#[test]
fn a_spread_of_settling_costs_revolutions_and_a_margin_saves_them() {
    let rate = |spread, margin| {
        let model = DiskModel { settle_spread: Nanos(spread), settle_margin: Nanos(margin), ..DiskModel::plain() };
        random(model, 1.0, 32)
    };
    let (exact, spread, saved) = (rate(0, 0), rate(250_000, 0), rate(250_000, 100_000));
    assert!(spread < 0.92 * exact && saved > 1.02 * spread, "{exact}, {spread}, {saved}");
}

#[test]
fn cached_writes_are_done_in_the_buffer_until_it_is_full() {
    let model = DiskModel { write_cache: true, ..DiskModel::plain() };
    let mut cached = disk(model.clone());
    let burst = run(&mut cached, step(4096, 0.0, 1.0, 1, 64));
    assert!(slowest_ms(&burst) < 0.2, "{}", slowest_ms(&burst));
    let long = iops(&run(&mut cached, step(4096, 0.0, 1.0, 32, 20_000)));
    let uncached = random(DiskModel::plain(), 0.0, 32);
    assert!(long > 1.1 * uncached && long < 2.0 * uncached, "{long} against {uncached}");
    // Larger than the buffer: each passes alone.
    let small = DiskModel { write_buffer: Bytes(64 << 10), ..model };
    let large = run(&mut disk(small), step(131_072, 0.0, 0.0, 4, 500));
    assert_eq!(large.write.window_io_count + large.write.tail_io_count, 500);
}

#[test]
fn the_capacity_changes_no_random_rate() {
    let small = DiskModel { capacity: Bytes(CAPACITY), ..DiskModel::plain() };
    let large = DiskModel { capacity: Bytes(50 * CAPACITY), ..small.clone() };
    let whole =
        StepSpec { range: ActiveRange::new(vec![0], 50 * CAPACITY).expect("valid"), ..step(4096, 0.5, 1.0, 8, 10_000) };
    let (large, small) = (iops(&run(&mut disk(large), whole)), random(small, 0.5, 8));
    assert!((large / small - 1.0).abs() < 0.03, "{large} against {small}");
}

#[test]
fn a_purge_passes_all_tracks_and_makes_nothing_faster() {
    let mut drive = disk(DiskModel::plain());
    let before = iops(&run(&mut drive, step(4096, 0.0, 1.0, 32, 10_000)));
    let span = drive.with_device(SimulatedDisk::purge).expect("alive");
    let after = iops(&run(&mut drive, step(4096, 0.0, 1.0, 32, 10_000)));
    // 1 GB in tracks of 600 kB on average, each a revolution and a skew of 0.65 ms.
    let expected = 1e9 / 600e3 * 4.65e-3;
    assert!((span.0 as f64 / 1e9 / expected - 1.0).abs() < 0.02, "{} s against {expected} s", span.0 as f64 / 1e9);
    assert!((after / before - 1.0).abs() < 0.02, "{after} against {before}");
}

#[test]
fn littles_law_and_counters_hold_in_every_mix() {
    for write_cache in [false, true] {
        let mut drive = disk(DiskModel { write_cache, ..DiskModel::plain() });
        for (size, read_share, random_share) in
            [(4096, 0.0, 1.0), (4096, 1.0, 1.0), (65_536, 0.65, 1.0), (131_072, 0.5, 0.0), (512, 1.0, 0.0)]
        {
            let record = run(&mut drive, step(size, read_share, random_share, 16, 4000));
            let (before, after) = (record.counters_before.expect("counted"), record.counters_after.expect("counted"));
            let latencies = record.read.latency_sum_ns + record.write.latency_sum_ns;
            let little = latencies as f64 / record.span.0 as f64 / 16.0;
            assert!((0.97..1.08).contains(&little), "{size} bytes at {read_share}: {little}");
            let moved = after.read.io_count + after.write.io_count - before.read.io_count - before.write.io_count;
            assert_eq!(moved, 4000);
        }
    }
}

/// Completion times of a fixed sequence, the device driven by hand in waves of 40 with a deadline that often comes first.
fn completions(model: DiskModel) -> Vec<Completion> {
    let mut device = SimulatedDisk::new(model, Nanos(0)).expect("the model is valid");
    device.prepare(&[], 40, Bytes(65_536)).expect("ready");
    let mut draws = crate::stream::Stream::new(7);
    let mut done = Vec::new();
    for _ in 0..20 {
        for slot in 0..40 {
            let direction = if draws.below(2) == 0 { Direction::Read } else { Direction::Write };
            let length = Bytes(512 * (1 + draws.below(100)));
            let offset = Bytes(512 * draws.below((CAPACITY - length.0) / 512));
            device.submit(Io { slot, direction, offset, length, data_index: 0 });
        }
        let wanted = done.len() + 40;
        while done.len() < wanted {
            let (before, count) = (device.now(), done.len());
            device.reap(&mut done, before + Nanos(700_000)).expect("reaps");
            assert!(device.now() > before || done.len() > count, "neither time nor work goes on");
            assert!(device.now() <= before + Nanos(700_000));
        }
    }
    done
}

#[test]
fn time_is_monotone_and_the_same_seed_gives_the_same_completions() {
    for write_cache in [false, true] {
        let model = DiskModel { write_cache, settle_spread: Nanos(200_000), ..DiskModel::plain() };
        let first = completions(model.clone());
        assert!(first.windows(2).all(|pair| pair[0].at <= pair[1].at));
        assert_eq!(first, completions(model.clone()));
        assert_ne!(first, completions(DiskModel { seed: 2, ..model }));
    }
}

#[test]
fn a_parameter_outside_its_range_is_named() {
    for (name, model) in [
        ("capacity_bytes", DiskModel { capacity: Bytes(1_000_000_001), ..DiskModel::plain() }),
        ("rotation_rpm", DiskModel { rotation: 0, ..DiskModel::plain() }),
        ("inner_track_bytes", DiskModel { inner_track: Bytes(800_000), ..DiskModel::plain() }),
        ("average_seek_ns", DiskModel { average_seek: Nanos(1_000_000), ..DiskModel::plain() }),
        ("average_seek_ns", DiskModel { average_seek: Nanos(5_000_000), ..DiskModel::plain() }),
        ("settle_spread_ns", DiskModel { settle_spread: Nanos(300_000), ..DiskModel::plain() }),
        ("read_ahead_bytes", DiskModel { read_ahead: Bytes(1 << 31), ..DiskModel::plain() }),
        ("age_credit_share", DiskModel { age_credit: f64::NAN, ..DiskModel::plain() }),
        ("queue_limit", DiskModel { queue_limit: 0, ..DiskModel::plain() }),
    ] {
        assert_eq!(SimulatedDisk::new(model, Nanos(0)).err(), Some(DriveModelError::Parameter(name)));
    }
}
