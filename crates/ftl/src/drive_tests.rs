//! What a drive shows from outside: fresh, transition and steady state, and exact bookkeeping.

use super::*;
use assay_core::active_range::ActiveRange;
use assay_core::histogram::Histogram;
use assay_core::pattern::AccessPattern;
use assay_core::record::StepRecord;
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_core::stimulus::{Decision, Limits, Stimulus};

const CAPACITY: u64 = 1_000_000_000;

fn model() -> FlashModel {
    FlashModel {
        capacity: Bytes(CAPACITY),
        over_provisioning: 0.07,
        channel_count: 4,
        dies_per_channel: 2,
        program: Nanos(900_000),
        erase_unit: Bytes(1 << 20),
        read_command: Nanos(20_000),
        write_command: Nanos(15_000),
        write_buffer: Bytes(1 << 20),
        ..FlashModel::plain()
    }
}

fn stimulus() -> Stimulus<SimulatedDrive> {
    Stimulus::open(1, vec![|| SimulatedDrive::new(model(), Nanos(0))]).expect("the model is valid")
}

fn step(size: u64, read_share: f64, random_share: f64, queue_depth: u32, stop: StopRule) -> StepSpec {
    StepSpec {
        pattern: AccessPattern::uniform(size, read_share, random_share),
        demand: Demand { thread_count: 1, queue_depth, arrival: None },
        range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
        stop,
        beside: false,
    }
}

pub(super) fn run(stimulus: &mut Stimulus<SimulatedDrive>, step: StepSpec) -> StepRecord {
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

/// 20 us command + 7.4 us link, as of pages that need no flash, until the programs of 0.9 ms are over.
#[test]
fn reads_of_pages_in_the_write_buffer_take_host_and_link_time_only() {
    let mut drive = stimulus();
    let mut part = |size, read_share, queue_depth, stop| {
        let mut step = step(size, read_share, 1.0, queue_depth, stop);
        step.range = ActiveRange::new(vec![0], 131_072).expect("valid");
        run(&mut drive, step).read
    };
    // Seven stripes of four pages, one on each of seven dies, and an open one.
    part(122_880, 0.0, 1, StopRule::Count(1));
    let buffered = part(4096, 1.0, 1, StopRule::Count(20));
    part(4096, 1.0, 1, StopRule::Time(Nanos(2_000_000)));
    let programmed = part(4096, 1.0, 1, StopRule::Count(200));
    assert_eq!(buffered.latency_max_ns, Some(27_447));
    assert_eq!(programmed.latency_max_ns, Some(97_927));
    assert_eq!(programmed.latency_min_ns, Some(27_447), "the open stripe is not programmed");
}

#[test]
fn a_flush_takes_a_program_however_long_ago_the_data_came() {
    let mut drive = SimulatedDrive::new(model(), Nanos(0)).expect("valid");
    drive.prepare(&[], 1, Bytes(0)).expect("ready");
    let mut time_of = |direction| {
        let begun = drive.now().0;
        drive.submit(Io { slot: 0, direction, offset: Bytes(0), length: Bytes(4096), data_index: 0 });
        drive.reap(&mut Vec::new(), Nanos(u64::MAX)).expect("reaps");
        let ended = drive.now().0;
        drive.reap(&mut Vec::new(), Nanos(ended + 1_000_000_000)).expect("waits");
        ended - begun
    };
    assert!(time_of(Direction::Write) < 100_000);
    let flush = time_of(Direction::Flush);
    assert!((900_000..1_200_000).contains(&flush), "{flush}");
    assert!(time_of(Direction::Flush) < 100_000, "nothing is left to program");
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
    let model = FlashModel { program: Nanos(1_000), erase: Nanos(9_000), read: Nanos(10), ..model() };
    let geometry = crate::geometry::Geometry::new(&model).expect("valid");
    let idle = crate::timing::Timing::new(&model, &geometry).read_stripe(0, 1, 100);
    let mut timing = crate::timing::Timing::new(&model, &geometry);
    timing.erase();
    let behind_an_erase = timing.read_stripe(0, 1, 100);
    assert_eq!(behind_an_erase - idle, geometry.erase_ns - 100);
    let mut timing = crate::timing::Timing::new(&model, &geometry);
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

pub(super) fn drive_of(model: FlashModel) -> Stimulus<SimulatedDrive> {
    Stimulus::open(1, vec![move || SimulatedDrive::new(model, Nanos(0))]).expect("the model is valid")
}

fn mean_ms(record: &StepRecord) -> f64 {
    let io_count =
        |direction: &assay_core::record::DirectionRecord| direction.window_io_count + direction.tail_io_count;
    let count = io_count(&record.read) + io_count(&record.write);
    (record.read.latency_sum_ns + record.write.latency_sum_ns) as f64 / count as f64 / 1e6
}

fn random_writes(drive: &mut Stimulus<SimulatedDrive>, queue_depth: u32, count: u64) -> StepRecord {
    run(drive, step(4096, 0.0, 1.0, queue_depth, StopRule::Count(count)))
}

#[test]
fn an_ideal_drive_is_flat_whatever_was_written() {
    let mut drive = drive_of(FlashModel { ideal: true, ..model() });
    let fresh = write_iops(&random_writes(&mut drive, 8, 50_000));
    run(&mut drive, step(4096, 0.0, 1.0, 8, StopRule::Amount(Bytes(3 * CAPACITY))));
    let later = write_iops(&random_writes(&mut drive, 8, 50_000));
    assert!((later / fresh - 1.0).abs() < 1e-3, "{fresh} then {later}");
}

#[test]
fn without_a_write_cache_a_write_is_done_when_it_is_in_the_flash() {
    let cached = random_writes(&mut drive_of(model()), 1, 200);
    let through = random_writes(&mut drive_of(FlashModel { write_cache: false, ..model() }), 1, 200);
    assert!(mean_ms(&cached) < 0.1, "{}", mean_ms(&cached));
    assert!(mean_ms(&through) >= 0.9, "{}", mean_ms(&through));
}

#[test]
fn a_coarse_map_reads_and_rewrites_what_a_small_write_leaves_of_a_unit() {
    let coarse = FlashModel { map_unit: Bytes(32768), program_unit: Bytes(32768), ..model() };
    let mut drive = drive_of(coarse);
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    let whole = run(&mut drive, step(32_768, 0.0, 1.0, 8, StopRule::Count(20_000)));
    let part = random_writes(&mut drive, 8, 20_000);
    // Eight times as many bytes reach the flash as were asked for, and each unit is read before.
    assert!(write_iops(&part) < 1.1 * write_iops(&whole), "{} {}", write_iops(&part), write_iops(&whole));
}

#[test]
fn commands_beyond_the_queue_limit_wait_at_the_host() {
    let limited = FlashModel { queue_limit: 8, ..model() };
    let mut drive = drive_of(limited);
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    let within = run(&mut drive, step(4096, 1.0, 1.0, 8, StopRule::Count(40_000)));
    let beyond = run(&mut drive, step(4096, 1.0, 1.0, 64, StopRule::Count(40_000)));
    let iops = |record: &StepRecord| record.read.window_io_count as f64 / record.span.0 as f64;
    assert!((iops(&beyond) / iops(&within) - 1.0).abs() < 0.02);
    assert!((mean_ms(&beyond) / mean_ms(&within) - 8.0).abs() < 0.3, "{}", mean_ms(&beyond) / mean_ms(&within));
}

#[test]
fn a_single_level_cache_is_fast_until_it_is_full() {
    let slc = FlashModel {
        slc_cache: Bytes(100 << 20),
        slc_program: Nanos(200_000),
        slc_fold_rate: 1_000_000,
        write_command: Nanos(1_000),
        ..model()
    };
    let mut drive = drive_of(slc);
    let fast = write_iops(&random_writes(&mut drive, 8, 20_000));
    random_writes(&mut drive, 8, 20_000);
    let slow = write_iops(&random_writes(&mut drive, 8, 20_000));
    assert!(fast > 3.0 * slow, "{fast} then {slow}");
}

#[test]
fn a_map_that_is_not_in_memory_costs_a_read() {
    let mut drive = drive_of(FlashModel { map_cache: Bytes(16 << 10), ..model() });
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    let part = run(&mut drive, step(4096, 1.0, 1.0, 1, StopRule::Count(5_000)));
    let mut whole = stimulus();
    run(&mut whole, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    let all = run(&mut whole, step(4096, 1.0, 1.0, 1, StopRule::Count(5_000)));
    // 16 KiB hold the entries of 16 MiB of 1 GB: nearly every read misses, for tR and the transfer of 4 KiB.
    assert!((mean_ms(&part) - mean_ms(&all) - 0.070).abs() < 0.005, "{} {}", mean_ms(&part), mean_ms(&all));
}

#[test]
fn a_write_limit_is_kept_after_its_burst() {
    let limited = FlashModel { write_limit_rate: 20_000_000, write_limit_burst: Bytes(40_000_000), ..model() };
    let mut drive = drive_of(limited);
    random_writes(&mut drive, 8, 30_000);
    let later = run(&mut drive, step(4096, 0.0, 1.0, 8, StopRule::Count(20_000)));
    assert!((write_iops(&later) * 4096.0 / 20e6 - 1.0).abs() < 0.02, "{}", write_iops(&later));
}

#[test]
fn a_stall_is_the_largest_response_time() {
    let stalling = FlashModel { stall_every: Bytes(20_000_000), stall: Nanos(100_000_000), ..model() };
    let mut drive = drive_of(stalling);
    let reads = run(&mut drive, step(4096, 1.0, 1.0, 1, StopRule::Count(10_000)));
    assert!(reads.read.latency_max_ns < Some(1_000_000), "reads alone need no housekeeping");
    let record = run(&mut drive, step(4096, 0.0, 1.0, 1, StopRule::Count(10_000)));
    let largest = record.write.latency_max_ns.expect("writes completed");
    assert!((100_000_000..110_000_000).contains(&largest), "{largest}");
}

#[test]
fn commands_in_order_make_reads_wait_behind_writes_that_wait_for_the_buffer() {
    let reads = |in_order| {
        let mut drive = drive_of(FlashModel { in_order, ..model() });
        run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
        let record = run(&mut drive, step(4096, 0.05, 1.0, 8, StopRule::Count(20_000)));
        record.read.latency_sum_ns as f64 / record.read.window_io_count as f64
    };
    let (ordered, free) = (reads(true), reads(false));
    assert!(ordered > 1.05 * free, "{ordered} {free}");
}

#[test]
fn reads_in_order_cost_a_mixture_much_and_reads_or_writes_alone_nothing() {
    let rate = |reads_in_order, read_share| {
        let mut drive = drive_of(FlashModel { reads_in_order, ..model() });
        run(&mut drive, step(131_072, 0.0, 0.0, 32, StopRule::Amount(Bytes(CAPACITY))));
        // Programs that the fill left behind are over before the rate is taken.
        run(&mut drive, step(4096, read_share, 1.0, 32, StopRule::Count(1_000)));
        let record = run(&mut drive, step(4096, read_share, 1.0, 32, StopRule::Count(20_000)));
        (record.read.window_io_count + record.write.window_io_count) as f64 / (record.span.0 as f64 / 1e9)
    };
    for alone in [0.0, 1.0] {
        assert!((rate(true, alone) / rate(false, alone) - 1.0).abs() < 1e-9, "{alone}");
    }
    let (ordered, free) = (rate(true, 0.95), rate(false, 0.95));
    assert!(ordered < 0.8 * free, "{ordered} {free}");
}

#[test]
fn a_purge_that_leaves_pages_mapped_leaves_collection_to_do() {
    let mut kept = drive_of(FlashModel { purge_mapped_share: 1.0, ..model() });
    let mut gone = stimulus();
    let relocated = |drive: &mut Stimulus<SimulatedDrive>| {
        run(drive, step(4096, 0.0, 1.0, 8, StopRule::Amount(Bytes(CAPACITY / 2))));
        drive.with_device(|drive| drive.statistics()).expect("alive").relocated_pages
    };
    assert_eq!(relocated(&mut gone), 0);
    assert!(relocated(&mut kept) > 0);
}

/// Writes in bursts with a pause before each, straight on the device; host pages written in the last burst's time.
fn burst_after(idle: u64, idle_delay: u64) -> f64 {
    let waiting = FlashModel { idle_delay: Nanos(idle_delay), idle_target: 0.05, ..model() };
    let mut drive = SimulatedDrive::new(waiting, Nanos(0)).expect("valid");
    drive.prepare(&[], 1, Bytes(0)).expect("ready");
    let mut page = 7_u64;
    let pages = CAPACITY / 4096;
    let mut write = |drive: &mut SimulatedDrive| {
        page = (page * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) >> 1;
        let offset = Bytes(page % pages * 4096);
        drive.submit(Io { slot: 0, direction: Direction::Write, offset, length: Bytes(4096), data_index: 0 });
        let mut completions = Vec::new();
        while completions.is_empty() {
            drive.reap(&mut completions, Nanos(u64::MAX)).expect("reaps");
        }
    };
    (0..3 * pages).for_each(|_| write(&mut drive));
    let now = drive.now().0;
    drive.reap(&mut Vec::new(), Nanos(now + idle)).expect("reaps");
    let (begun, count) = (drive.now().0, 5_000);
    (0..count).for_each(|_| write(&mut drive));
    f64::from(count) / (drive.now().0 - begun) as f64 * 1e9
}

#[test]
fn idle_collection_makes_the_next_burst_faster_and_its_absence_does_not() {
    let second = 1_000_000_000;
    let (none, without, with) =
        (burst_after(0, 10_000_000), burst_after(4 * second, 0), burst_after(4 * second, 10_000_000));
    assert!(with > 1.8 * none, "{none} then {with}");
    // The buffer drains in any pause.
    assert!(without < 1.4 * none, "{none} then {without}");
}

#[test]
fn what_the_host_gave_back_need_not_be_relocated() {
    let relocated = |trim| {
        let mut drive = drive_of(FlashModel { trim, ..model() });
        run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
        drive.with_device(|drive| drive.trim(Bytes(100), Bytes(CAPACITY / 2))).expect("alive");
        let mut part = step(4096, 0.0, 1.0, 8, StopRule::Amount(Bytes(CAPACITY)));
        part.range = ActiveRange::new(vec![CAPACITY / 4096 / 2 * 4096], CAPACITY / 4).expect("valid");
        run(&mut drive, part);
        drive.with_device(|drive| drive.statistics()).expect("alive").relocated_pages
    };
    let (with, without) = (relocated(true), relocated(false));
    assert!(with * 20 < without, "{with} with trim, {without} without");
}

/// A drive whose log still holds what was trimmed would read it, and merge it, all the same.
#[test]
fn what_was_trimmed_is_neither_in_the_map_nor_in_the_log() {
    let model = FlashModel { log: Bytes(CAPACITY / 5), merge_unit: Bytes(64 << 10), over_provisioning: 0.3, ..model() };
    let mut drive = drive_of(model);
    random_writes(&mut drive, 8, 30_000);
    drive.with_device(|drive| drive.trim(Bytes(0), Bytes(CAPACITY))).expect("alive");
    let fresh = run(&mut drive, step(4096, 1.0, 1.0, 1, StopRule::Count(1_000)));
    // Reads of what was never written need no flash: the command alone takes 20 us.
    assert!(fresh.read.latency_max_ns.expect("reads completed") < 50_000, "{:?}", fresh.read.latency_max_ns);
}

#[test]
fn a_drive_waits_for_its_flash_once_its_write_cache_is_switched_off() {
    let mut drive = stimulus();
    let mut latency = |enabled| {
        drive.with_device(move |drive| drive.switch_write_cache(enabled)).expect("alive");
        let record = run(&mut drive, step(4096, 0.0, 1.0, 1, StopRule::Count(500)));
        record.write.latency_sum_ns / 500
    };
    let (on, off, again) = (latency(true), latency(false), latency(true));
    assert!(off > 900_000 && on < 100_000 && again < 100_000, "{on}, {off}, {again}");
}

#[test]
fn wear_levelling_moves_data_at_rest() {
    let erased_of_rest = |wear_levelling_every| {
        let mut drive = drive_of(FlashModel { wear_levelling_every, ..model() });
        run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
        let mut hot = step(4096, 0.0, 1.0, 8, StopRule::Amount(Bytes(CAPACITY)));
        hot.range = ActiveRange::new(vec![0], CAPACITY / 16).expect("valid");
        run(&mut drive, hot);
        drive.with_device(|drive| drive.statistics()).expect("alive").relocated_pages
    };
    let (without, with) = (erased_of_rest(0), erased_of_rest(10));
    assert!(with > without + 10_000, "{without} pages relocated without, {with} with");
}

/// 200 MB/s of reads heat by 150 MB/s: 300 MB are reached after two seconds. At 20 MB/s it cools by 30 MB/s: two seconds
/// until it is fast again, for 0.4 s.
#[test]
fn a_hot_drive_slows_down_and_recovers() {
    let hot =
        FlashModel { heat_limit: Bytes(300_000_000), cooling_rate: 50_000_000, throttled_rate: 20_000_000, ..model() };
    let mut drive = drive_of(FlashModel { link_rate: 200_000_000, read_command: Nanos(1_000), ideal: true, ..hot });
    let record = run(&mut drive, step(131_072, 1.0, 0.0, 8, StopRule::Time(Nanos(20 * 1_000_000_000))));
    let rate = |second: usize| record.read.series[second].bytes as f64 / 1e6;
    assert!((rate(0) / 200.0 - 1.0).abs() < 0.02, "{}", rate(0));
    assert!((rate(3) / 20.0 - 1.0).abs() < 0.05, "{}", rate(3));
    let fast = (2..20).filter(|second| rate(*second) > 50.0).count();
    assert!((2..10).contains(&fast), "{fast} fast seconds after it was hot");
}

/// Steady random writes of such data: their rate, and their write amplification.
fn steady_with_data(compresses: bool, data: &DataPattern) -> (f64, f64) {
    let mut drive = drive_of(FlashModel {
        compresses,
        program_unit: Bytes(65_536),
        erase_unit: Bytes(4 << 20),
        write_command: Nanos(1_000),
        ..model()
    });
    let mut with_data = |mut step: StepSpec| {
        step.pattern.data = data.clone();
        let before = drive.with_device(|drive| drive.statistics()).expect("alive");
        let record = run(&mut drive, step);
        let after = drive.with_device(|drive| drive.statistics()).expect("alive");
        let host = (after.host_pages - before.host_pages) as f64;
        (write_iops(&record), 1.0 + (after.relocated_pages - before.relocated_pages) as f64 / host)
    };
    with_data(step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    with_data(step(4096, 0.0, 1.0, 32, StopRule::Amount(Bytes(3 * CAPACITY))));
    with_data(step(4096, 0.0, 1.0, 32, StopRule::Amount(Bytes(CAPACITY))))
}

/// Half the size doubles the flash: 7 % spare become 114 %, where the closed form gives 1.203.
#[test]
fn compressible_data_helps_only_a_drive_that_compresses() {
    let half = DataPattern::Compressible { stored_share: 0.5 };
    let (plain, plain_amplification) = steady_with_data(false, &half);
    assert_eq!((plain, plain_amplification), steady_with_data(false, &DataPattern::Random));
    assert_eq!((plain, plain_amplification), steady_with_data(true, &DataPattern::Random));
    assert_eq!((plain, plain_amplification), steady_with_data(true, &DataPattern::Stamped));
    let (dense, amplification) = steady_with_data(true, &half);
    assert!((amplification / 1.203 - 1.0).abs() < 0.02, "{amplification}");
    // The same flash takes twice the pages, and 7.8 / 1.2 times as many of the host.
    assert!(dense > 8.0 * plain, "{plain} then {dense}");
}

#[test]
fn a_drive_with_a_log_is_fast_until_the_log_is_full() {
    let log = FlashModel { log: Bytes(CAPACITY / 5), merge_unit: Bytes(64 << 10), over_provisioning: 0.3, ..model() };
    let mut drive = drive_of(log);
    run(&mut drive, step(131_072, 0.0, 0.0, 8, StopRule::Amount(Bytes(CAPACITY))));
    let sequential = drive.with_device(|drive| drive.statistics()).expect("alive").relocated_pages;
    let fresh = write_iops(&random_writes(&mut drive, 8, 30_000));
    let unmerged = drive.with_device(|drive| drive.statistics()).expect("alive").relocated_pages;
    random_writes(&mut drive, 8, 50_000);
    let full = write_iops(&random_writes(&mut drive, 8, 30_000));
    assert_eq!((sequential, unmerged), (0, 0), "whole units pass the log by, and it was not full");
    assert!(full < fresh / 3.0, "{fresh} then {full}");
    let read = run(&mut drive, step(4096, 1.0, 1.0, 8, StopRule::Count(10_000)));
    assert_eq!(read.read.window_io_count + read.read.tail_io_count, 10_000);
}

#[test]
fn a_pause_is_the_largest_response_time_of_reads() {
    let mut drive = drive_of(FlashModel { pause_every: Nanos(100_000_000), pause: Nanos(5_000_000), ..model() });
    let record = run(&mut drive, step(4096, 1.0, 1.0, 1, StopRule::Time(Nanos::SECOND)));
    let largest = record.read.latency_max_ns.expect("reads completed");
    assert!((5_000_000..5_100_000).contains(&largest), "{largest}");
    let long: u64 = record
        .read
        .histogram
        .iter()
        .filter(|(bucket, _)| *bucket > Histogram::bucket(4_000_000) as u32)
        .map(|it| it.1)
        .sum();
    assert_eq!(long, 9, "one in 100 ms");
}
