//! How fast the simulated drive is, through the measuring path with full timing and histogram, on one core.
//!
//! Goal: I/Os per second at 256 GiB and 16 GiB, 12 % over-provisioning, steady state, beside the memory's own limit
//! measured in the same run: random read-modify-write of the map with prefetch, divided by the write amplification.
//! Dies program 64 KiB at once (four planes of 16 KiB pages), as current TLC does.
//! Non-goal: the drive's own figures. `--smoke` runs it at 1 GiB; capacities in GiB may be named instead, and after
//! `--writes` how many million random writes are measured at each.
//!
//! For comparison, on a machine of the same kind `MQSim` (CMU-SAFARI/MQSim@7ec40e3) served 0.06 to 0.09 M random 4 KiB writes,
//! 0.29 M random reads and 0.009 M sequential 128 KiB writes a second on 16 GiB.

#![allow(clippy::print_stdout, reason = "its output is the benchmark")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::time::Instant;

use assay_core::active_range::ActiveRange;
use assay_core::contract::{Bytes, Nanos};
use assay_core::pattern::AccessPattern;
use assay_core::record::StepRecord;
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_core::stimulus::{Decision, Limits, Stimulus};
use assay_ftl::drive::SimulatedDrive;
use assay_ftl::flash_model::FlashModel;

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--smoke");
    println!("MQSim 16 GiB, measured apart: RND 4KiB W 0.06 to 0.09, RND 4KiB R 0.29, SEQ 128KiB W 0.009 M/s");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (named, writes) = match arguments.iter().position(|argument| argument == "--writes") {
        Some(place) => (&arguments[..place], arguments.get(place + 1)),
        None => (&arguments[..], None),
    };
    let named: Vec<u64> = named.iter().filter_map(|argument| argument.parse().ok()).collect();
    let millions = writes.and_then(|argument| argument.parse::<u64>().ok()).unwrap_or(20);
    let capacities = match (smoke, named.is_empty()) {
        (true, _) => vec![1],
        (false, true) => vec![16, 256],
        (false, false) => named,
    };
    for gib in capacities {
        measure(gib << 30, if smoke { 200_000 } else { millions * 1_000_000 });
    }
}

fn measure(capacity: u64, count: u64) {
    let limit = memory_limit((capacity / 4096) as usize, count.min(20_000_000));
    let built = model(capacity);
    let mut drive = Stimulus::open(1, vec![move || SimulatedDrive::new(built, Nanos(0))]).expect("the model is valid");
    let gib = capacity >> 30;
    // The first pass also pays for memory that was never touched.
    timed(&mut drive, step(capacity, 131_072, 0.0, 0.0, StopRule::Amount(Bytes(capacity))));
    let fill = timed(&mut drive, step(capacity, 131_072, 0.0, 0.0, StopRule::Amount(Bytes(capacity))));
    println!("{gib:4} GiB  SEQ 128KiB W  {:6.2} M/s", fill / 1e6);
    // Half a fill after sequential writes settles the amplification.
    timed(&mut drive, step(capacity, 4096, 0.0, 1.0, StopRule::Amount(Bytes(capacity / 2))));
    let settled = peak_megabytes();
    let before = drive.with_device(|drive| drive.statistics()).expect("alive");
    let write = timed(&mut drive, step(capacity, 4096, 0.0, 1.0, StopRule::Count(count)));
    let after = drive.with_device(|drive| drive.statistics()).expect("alive");
    let host = (after.host_pages - before.host_pages) as f64;
    let amplification = 1.0 + (after.relocated_pages - before.relocated_pages) as f64 / host;
    let grown = peak_megabytes() - settled;
    println!(
        "{gib:4} GiB  RND 4KiB W    {:6.2} M/s  amplification {amplification:.3}, memory limit {:.1} M/s, {:.2} of it, memory grown by {grown} MB",
        write / 1e6,
        limit / amplification / 1e6,
        write * amplification / limit
    );
    let read = timed(&mut drive, step(capacity, 4096, 1.0, 1.0, StopRule::Count(count.min(20_000_000))));
    println!("{gib:4} GiB  RND 4KiB R    {:6.2} M/s  peak memory {} MB", read / 1e6, peak_megabytes());
}

fn model(capacity: u64) -> FlashModel {
    FlashModel {
        capacity: Bytes(capacity),
        over_provisioning: 0.12,
        channel_count: 8,
        program_unit: Bytes(65536),
        erase_unit: Bytes(4 << 20),
        program: Nanos(900_000),
        channel_rate: 400_000_000,
        read_command: Nanos(5_000),
        write_command: Nanos(5_000),
        ..FlashModel::plain()
    }
}

fn step(capacity: u64, size: u64, read_share: f64, random_share: f64, stop: StopRule) -> StepSpec {
    StepSpec {
        pattern: AccessPattern::uniform(size, read_share, random_share),
        demand: Demand { thread_count: 1, queue_depth: 32, arrival: None },
        range: ActiveRange::new(vec![0], capacity).expect("the whole drive"),
        stop,
        beside: false,
    }
}

/// I/Os per second of real time.
fn timed(drive: &mut Stimulus<SimulatedDrive>, step: StepSpec) -> f64 {
    let begun = Instant::now();
    let record = drive.run(&[step], Limits::default(), |_| Decision::Continue).expect("runs").remove(0);
    completed(&record) as f64 / begun.elapsed().as_secs_f64()
}

fn completed(record: &StepRecord) -> u64 {
    let (read, write) = (&record.read, &record.write);
    read.window_io_count + read.tail_io_count + write.window_io_count + write.tail_io_count
}

/// Random read-modify-writes per second of a table of u32 as large as the map, each fetched 32 places ahead.
fn memory_limit(entries: usize, count: u64) -> f64 {
    let mut map = vec![1_u32; entries];
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state ^ (state >> 29)) * entries as u128) >> 64) as usize
    };
    let mut ahead: Vec<usize> = (0..32).map(|_| next()).collect();
    let begun = Instant::now();
    for turn in 0..count as usize {
        let place = std::mem::replace(&mut ahead[turn % 32], next());
        fetch(&map, ahead[turn % 32]);
        map[place] = map[place].wrapping_add(turn as u32);
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    std::hint::black_box(&map);
    rate
}

fn fetch(map: &[u32], place: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and cannot fault.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(map.as_ptr().wrapping_add(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (map, place);
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}
