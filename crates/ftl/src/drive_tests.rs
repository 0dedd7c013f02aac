//! What a drive shows from outside: fresh, transition and steady state, and exact bookkeeping.

use super::*;
use assay_core::active_range::ActiveRange;
use assay_core::pattern::{AccessPattern, Cursor};
use assay_core::record::StepRecord;
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_core::stimulus::{Decision, Limits, Stimulus};

const CAPACITY: u64 = 1_000_000_000;

fn card() -> Card {
    Card {
        capacity: Bytes(CAPACITY),
        over_provisioning: 0.07,
        channel_count: 4,
        dies_per_channel: 2,
        program: Nanos(900_000),
        erase_unit: Bytes(1 << 20),
        read_command: Nanos(20_000),
        write_command: Nanos(15_000),
        write_buffer: Bytes(1 << 20),
        ..Card::example()
    }
}

fn stimulus() -> Stimulus<SimulatedDrive> {
    Stimulus::open(1, vec![|| SimulatedDrive::new(card(), Nanos(0))]).expect("the card is valid")
}

fn step(size: u64, read_share: f64, random_share: f64, queue_depth: u32, stop: StopRule) -> StepSpec {
    StepSpec {
        pattern: AccessPattern {
            sizes: vec![(size, 1.0)],
            read_share,
            random_share,
            alignment: 0,
            lba_groups: Vec::new(),
            cursor: Cursor::Shared,
            writes_tail: random_share == 0.0,
            data: DataPattern::Random,
        },
        demand: Demand { thread_count: 1, queue_depth },
        range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
        stop,
    }
}

fn run(stimulus: &mut Stimulus<SimulatedDrive>, step: StepSpec) -> StepRecord {
    stimulus.run(&[step], Limits::default(), |_| Decision::Continue).expect("runs").remove(0)
}

fn write_iops(record: &StepRecord) -> f64 {
    record.write.window_io_count as f64 / (record.span.0 as f64 / 1e9)
}

#[test]
fn writes_fall_from_fresh_to_steady_because_of_collection_and_a_purge_brings_them_back() {
    let mut drive = stimulus();
    let fresh = write_iops(&run(&mut drive, step(4096, 0.0, 1.0, 8, StopRule::Count(50_000))));
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    run(&mut drive, step(4096, 0.0, 1.0, 8, StopRule::Amount(Bytes(2 * CAPACITY))));
    let before = drive.with_device(|drive| drive.statistics()).expect("alive");
    let steady = write_iops(&run(&mut drive, step(4096, 0.0, 1.0, 8, StopRule::Count(100_000))));
    let after = drive.with_device(|drive| drive.statistics()).expect("alive");
    let amplification =
        1.0 + (after.relocated_pages - before.relocated_pages) as f64 / (after.host_pages - before.host_pages) as f64;
    // Eight dies program 16 KiB in 0.9 ms: 35.5 k pages/s for host and relocated data together.
    assert!((fresh / 35_556.0 - 1.0).abs() < 0.05, "fresh {fresh}");
    assert!(amplification > 6.0, "write amplification {amplification}");
    let relocation_reads = 0.85;
    assert!(
        steady < fresh / amplification && steady > relocation_reads * fresh / amplification / 1.1,
        "steady {steady}"
    );
    drive.with_device(SimulatedDrive::purge).expect("alive");
    let purged = write_iops(&run(&mut drive, step(4096, 0.0, 1.0, 8, StopRule::Count(50_000))));
    assert!((purged / fresh - 1.0).abs() < 0.01, "purged {purged} against fresh {fresh}");
}

#[test]
fn reads_of_written_pages_need_flash_and_others_do_not() {
    let mut drive = stimulus();
    let read = |drive: &mut Stimulus<_>| run(drive, step(4096, 1.0, 1.0, 1, StopRule::Count(1000))).read;
    let empty = read(&mut drive);
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    run(&mut drive, step(4096, 1.0, 1.0, 8, StopRule::Time(Nanos::SECOND)));
    let written = read(&mut drive);
    // 20 us command + 7.4 us link; written pages add 50 us sensing and 20.5 us on the channel in between.
    assert_eq!(empty.latency_max_ns, Some(27_447));
    assert_eq!(written.latency_min_ns, Some(97_927));
    assert_eq!(written.latency_max_ns, Some(97_927));
}

#[test]
fn partial_pages_are_read_before_they_are_written() {
    let mut drive = stimulus();
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    run(&mut drive, step(4096, 1.0, 1.0, 8, StopRule::Time(Nanos::SECOND)));
    let whole = run(&mut drive, step(4096, 0.0, 1.0, 1, StopRule::Count(20))).write.latency_min_ns;
    let partial = run(&mut drive, step(512, 0.0, 1.0, 1, StopRule::Count(20))).write.latency_min_ns;
    assert!(partial.expect("ran") >= whole.expect("ran") + 50_000);
}

#[test]
fn the_same_seed_gives_the_same_completions() {
    let twice = [0, 1].map(|_| {
        let mut drive = stimulus();
        run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
        run(&mut drive, step(4096, 0.5, 1.0, 32, StopRule::Count(200_000)))
    });
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn littles_law_and_counters_hold_in_every_mix() {
    let mut drive = stimulus();
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    for (size, read_share) in [(512, 0.0), (4096, 0.5), (65_536, 0.65), (1 << 20, 0.05)] {
        let record = run(&mut drive, step(size, read_share, 1.0, 16, StopRule::Time(Nanos(20_000_000_000))));
        assert_eq!(record.outstanding_ns, 16 * record.span.0, "{size} bytes: the depth is held");
        let (before, after) = record.counters_before.zip(record.counters_after).expect("simulated drives count");
        let moved = record.write.window_bytes + record.write.tail_bytes;
        assert_eq!(after.write.bytes - before.write.bytes, moved);
        let moved = record.read.window_bytes + record.read.tail_bytes;
        assert_eq!(after.read.bytes - before.read.bytes, moved);
        let latencies = record.read.latency_sum_ns + record.write.latency_sum_ns;
        let little = latencies as f64 / record.span.0 as f64 / 16.0;
        assert!((0.98..1.05).contains(&little), "{size} bytes at {read_share}: {little}");
    }
}

#[test]
fn a_read_waits_for_the_operation_in_progress_and_no_longer() {
    use crate::collect::FlashWork;
    let card = Card { program: Nanos(1_000), erase: Nanos(9_000), read: Nanos(10), ..card() };
    let geometry = crate::geometry::Geometry::new(&card).expect("valid");
    let idle = crate::timing::Timing::new(&card, &geometry).read_stripe(0, 1, 100);
    let mut timing = crate::timing::Timing::new(&card, &geometry);
    timing.erase();
    let behind_an_erase = timing.read_stripe(0, 1, 100);
    assert_eq!(behind_an_erase - idle, geometry.erase_ns - 100);
    let mut timing = crate::timing::Timing::new(&card, &geometry);
    (0..4).for_each(|_| timing.erase());
    assert_eq!(timing.read_stripe(0, 1, 100), behind_an_erase, "three more erases wait for the read");
}

#[test]
fn a_drive_that_is_only_written_to_does_not_remember_what_is_over() {
    let mut drive = stimulus();
    run(&mut drive, step(4096, 0.0, 1.0, 32, StopRule::Amount(Bytes(3 * CAPACITY))));
    let queued = drive.with_device(|drive| drive.timing.longest_queue()).expect("alive");
    assert!(queued < 2_000, "{queued} operations still queued on one die");
}
