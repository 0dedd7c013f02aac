//! Steps that run side by side: each has its own I/Os, demand, rate and range; window and end are shared.

use super::tests::{ConstantTime, run, step, stimulus};
use super::*;
use crate::active_range::ActiveRange;
use crate::arrival::{Arrival, ArrivalProcess};
use crate::contract::{Direction, Io};
use crate::pattern::{AccessLine, Cursor, Operation};
use crate::record::DirectionRecord;
use crate::step::StopRule;

const SERVICE: u64 = 100_000;
const SECOND: StopRule = StopRule::Time(Nanos::SECOND);
const HALF: u64 = 1 << 29;

/// A stream on one half of the drive.
fn stream(half: u64, read_share: f64, queue_depth: u32, stop: StopRule) -> StepSpec {
    let mut spec = step(1.0, queue_depth, stop);
    spec.pattern.read_share = read_share;
    spec.range = ActiveRange::new(vec![half * HALF], HALF).expect("valid");
    spec
}

fn beside(mut specs: Vec<StepSpec>) -> Vec<StepSpec> {
    specs.iter_mut().skip(1).for_each(|spec| spec.beside = true);
    specs
}

fn at_rate(mut spec: StepSpec, per_second: f64, process: ArrivalProcess) -> StepSpec {
    spec.demand.arrival = Some(Arrival { per_second, process, end_factor: 1.0 });
    spec
}

fn drive() -> (Stimulus<ConstantTime>, super::tests::Seen) {
    stimulus(SERVICE, None, false)
}

/// The time integral of the outstanding I/Os is the sum of their response times, but for what crosses the ends.
fn keeps_little(record: &StepRecord) {
    let sides = [&record.read, &record.write, &record.other];
    let inside: u64 = sides.iter().map(|side| side.latency_sum_ns + side.failed_ns).sum();
    assert_eq!(record.outstanding_ns, inside + record.carried_in_ns - record.carried_out_ns);
}

fn counted(side: &DirectionRecord) -> u64 {
    side.window_io_count + side.carried_in_io_count
}

#[test]
fn each_stream_has_its_own_demand_range_and_direction() {
    let (mut stimulus, seen) = drive();
    let records = run(&mut stimulus, &beside(vec![stream(0, 1.0, 3, SECOND), stream(1, 0.0, 1, SECOND)]));
    // 10,000 I/Os a second of one slot.
    assert_eq!((counted(&records[0].read), counted(&records[0].write)), (30_000, 0));
    assert_eq!((counted(&records[1].read), counted(&records[1].write)), (0, 10_000));
    assert_eq!(records.iter().map(|record| record.outstanding_ns).sum::<u64>(), 4 * Nanos::SECOND.0);
    records.iter().for_each(keeps_little);
    assert_eq!(records[0].start, records[1].start);
    for io in seen.lock().expect("not poisoned").iter() {
        assert_eq!(io.direction == Direction::Write, io.offset.0 >= HALF);
    }
}

#[test]
fn reads_and_writes_in_order_have_a_place_each_as_in_fio() {
    let (mut stimulus, seen) = drive();
    let mut spec = stream(0, 0.5, 2, StopRule::Count(800));
    (spec.pattern.random_share, spec.pattern.cursor) = (0.0, Cursor::Fio);
    run(&mut stimulus, &[spec]);
    let seen = seen.lock().expect("not poisoned");
    for direction in [Direction::Read, Direction::Write] {
        let places: Vec<u64> = seen.iter().filter(|io| io.direction == direction).map(|io| io.offset.0).collect();
        assert!(places.len() > 300);
        assert!(places.iter().copied().eq((0..places.len() as u64).map(|nth| nth * 4096)), "{direction:?}");
    }
}

#[test]
fn streams_at_rates_offer_and_achieve_them_beside_a_closed_one() {
    let (mut stimulus, _) = drive();
    let slow = at_rate(stream(0, 1.0, 32, SECOND), 1_000.0, ArrivalProcess::Fixed);
    let fast = at_rate(stream(1, 0.0, 32, SECOND), 7_000.0, ArrivalProcess::Poisson);
    let records = run(&mut stimulus, &beside(vec![slow, fast, stream(0, 1.0, 2, SECOND)]));
    assert_eq!((records[0].offered_io_count, counted(&records[0].read)), (Some(1_000), 1_000));
    let offered = records[1].offered_io_count.expect("a rate");
    assert!(offered.abs_diff(7_000) < 300 && offered - counted(&records[1].write) <= 5, "{offered}");
    assert_eq!((records[2].offered_io_count, counted(&records[2].read)), (None, 20_000));
    let intended = records[0].read.intended.as_ref().expect("timed from when they were due");
    assert_eq!((intended.min_ns, intended.max_ns), (SERVICE, SERVICE));
    records.iter().for_each(keeps_little);
}

/// The slots that the slow stream leaves free are not the closed one's: at no boundary are more than its two outstanding.
#[test]
fn a_stream_keeps_to_its_own_depth_where_an_equal_group_begins() {
    let (mut stimulus, _) = drive();
    let group =
        || beside(vec![stream(0, 1.0, 2, SECOND), at_rate(stream(1, 0.0, 32, SECOND), 100.0, ArrivalProcess::Fixed)]);
    let records = run(&mut stimulus, &[group(), group()].concat());
    for record in [&records[0], &records[2]] {
        assert_eq!(record.outstanding_ns, 2 * Nanos::SECOND.0);
        assert_eq!(counted(&record.read), 20_000);
    }
    records.iter().for_each(keeps_little);
}

#[test]
fn equal_groups_in_a_row_have_no_lead_in_and_hand_their_ios_on_stream_by_stream() {
    let (mut stimulus, _) = drive();
    let stop = StopRule::Time(Nanos(1_050_000));
    let group = beside(vec![stream(0, 1.0, 3, stop), stream(1, 0.0, 1, stop)]);
    let records = run(&mut stimulus, &[group.clone(), group.clone(), group].concat());
    for (index, record) in records.iter().enumerate() {
        assert_eq!(record.lead_in, Nanos(0), "{index}");
        keeps_little(record);
    }
    assert_eq!(records[2].read.carried_in_io_count, 3);
    assert_eq!(records[3].write.carried_in_io_count, 1);
    assert_eq!(records[2].outstanding_ns, 3 * 1_050_000);
    assert_eq!(records[3].outstanding_ns, 1_050_000);
}

#[test]
fn a_group_that_differs_opens_all_its_windows_when_the_last_io_before_it_is_in() {
    let (mut stimulus, _) = drive();
    let before = step(1.0, 4, StopRule::Time(Nanos(250_000)));
    let group = beside(vec![stream(0, 1.0, 3, SECOND), stream(1, 0.0, 1, SECOND)]);
    let records = run(&mut stimulus, &[vec![before], group].concat());
    assert_eq!((records[1].lead_in, records[2].lead_in), (Nanos(50_000), Nanos(50_000)));
    assert_eq!(records[1].start, records[2].start);
    records.iter().for_each(keeps_little);
}

#[test]
fn an_amount_is_that_of_all_streams_together() {
    let (mut stimulus, seen) = drive();
    let stop = StopRule::Amount(Bytes(4096 * 1000));
    run(&mut stimulus, &beside(vec![stream(0, 1.0, 3, stop), stream(1, 0.0, 1, stop)]));
    assert_eq!(seen.lock().expect("not poisoned").len(), 1000);
}

#[test]
fn trims_and_flushes_are_counted_apart_from_reads_and_writes() {
    let (mut stimulus, seen) = drive();
    let mut trims = stream(1, 0.0, 2, SECOND);
    trims.pattern.operation = Operation::Trim;
    let mut flushes = at_rate(stream(0, 0.0, 1, SECOND), 10.0, ArrivalProcess::Fixed);
    flushes.pattern.operation = Operation::Flush;
    let records = run(&mut stimulus, &beside(vec![stream(0, 0.5, 1, SECOND), trims, flushes]));
    assert_eq!(counted(&records[0].read) + counted(&records[0].write), 10_000);
    assert_eq!((counted(&records[1].other), counted(&records[1].write)), (20_000, 0));
    assert_eq!(records[1].other.window_bytes, Bytes(records[1].other.window_io_count * 4096));
    assert_eq!((counted(&records[2].other), records[2].other.window_bytes), (10, Bytes(0)));
    records.iter().for_each(keeps_little);
    let trimmed = |io: &&Io| io.direction == Direction::Trim;
    assert!(seen.lock().expect("not poisoned").iter().filter(trimmed).all(|io| io.offset.0 >= HALF));
}

#[test]
fn lines_are_drawn_per_burst_and_pauses_come_before_each() {
    let (mut stimulus, seen) = drive();
    let line = |share, transfer, burst, delay| AccessLine {
        share,
        transfer,
        read_share: 1.0,
        random_share: 1.0,
        alignment: 4096,
        burst,
        delay: Nanos(delay),
    };
    let mut spec = step(1.0, 1, SECOND);
    // 10 I/Os of 100 us and a pause of 1 ms: 5,000 a second.
    spec.pattern.lines = vec![line(1.0, 4096, 10, 1_000_000)];
    let paused = run(&mut stimulus, &[spec.clone()]);
    assert!(counted(&paused[0].read).abs_diff(5_000) <= 10, "{}", counted(&paused[0].read));
    keeps_little(&paused[0]);
    // Half of the bursts are three times as long: a quarter and three quarters of the I/Os.
    spec.pattern.lines = vec![line(0.5, 4096, 1, 0), line(0.5, 8192, 3, 0)];
    seen.lock().expect("not poisoned").clear();
    run(&mut stimulus, &[spec]);
    let ios = seen.lock().expect("not poisoned");
    let large = ios.iter().filter(|io| io.length == Bytes(8192)).count() as f64 / ios.len() as f64;
    assert!((large - 0.75).abs() < 0.02, "{large}");
}

#[test]
fn threads_that_share_a_worker_have_bursts_of_their_own() {
    let (mut stimulus, seen) = drive();
    let mut spec = step(0.0, 2, SECOND);
    spec.demand.thread_count = 4;
    spec.pattern.cursor = Cursor::PerThread;
    spec.pattern.lines = vec![AccessLine {
        share: 1.0,
        transfer: 4096,
        read_share: 1.0,
        random_share: 0.0,
        alignment: 4096,
        burst: 10,
        delay: Nanos(1_000_000),
    }];
    let records = run(&mut stimulus, &[spec]);
    // Of each thread ten I/Os, two at a time, take 500 us, and 1 ms that begins when a slot is free.
    let expected = 4.0 * 10.0 / 1.5e-3;
    let found = counted(&records[0].read) as f64;
    assert!((found / expected - 1.0).abs() < 0.01, "{found} instead of {expected}");
    keeps_little(&records[0]);
    // Each goes on where it was: the first burst of all four are ten I/Os in a row from their own places.
    let ios = seen.lock().expect("not poisoned");
    let mut first: Vec<u64> = ios.iter().take(40).map(|io| io.offset.0).collect();
    first.sort_unstable();
    assert_eq!(first.chunks(10).filter(|run| run.windows(2).all(|two| two[1] == two[0] + 4096)).count(), 4);
}

#[test]
fn what_cannot_run_side_by_side_is_refused_with_its_place() {
    let (mut stimulus, _) = drive();
    let mut refused = |specs: Vec<StepSpec>| stimulus.run(&specs, Limits::default(), |_| Decision::Continue).err();
    let mut first = stream(0, 1.0, 1, SECOND);
    first.beside = true;
    assert!(matches!(refused(vec![first]), Some(SequenceError::Beside { step: 0, .. })));
    let other_end = vec![stream(0, 1.0, 1, SECOND), stream(0, 1.0, 1, StopRule::Count(5))];
    assert!(matches!(refused(beside(other_end)), Some(SequenceError::Beside { step: 1, .. })));
    assert!(matches!(
        refused(beside(vec![stream(0, 1.0, 1, SECOND); 65])),
        Some(SequenceError::Beside { step: 64, .. })
    ));
}

#[test]
fn sequential_streams_on_one_range_each_go_their_own_way() {
    let (mut stimulus, seen) = drive();
    let stop = StopRule::Count(20);
    let sequential = || step(0.0, 1, stop);
    run(&mut stimulus, &beside(vec![sequential(), sequential()]));
    let mut offsets: Vec<u64> = seen.lock().expect("not poisoned").iter().map(|io| io.offset.0 / 4096).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, (0..10).flat_map(|place| [place, place]).collect::<Vec<_>>());
}
