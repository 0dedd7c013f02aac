//! Recordings issued again: the same I/Os in the same order, at their times or as fast as possible.

use super::tests::{ConstantTime, Seen, step, stimulus};
use super::*;
use crate::arrival::{Arrival, ArrivalProcess};
use crate::contract::{Direction, Io};
use crate::pattern::Operation;
use crate::recorded::{CHUNK, RecordedIo, recording};
use crate::step::StopRule;

const SERVICE: u64 = 100_000;

fn io(due: u64, direction: Direction, block: u64) -> RecordedIo {
    RecordedIo { due: Nanos(due), direction, offset: Bytes(block * 4096), length: Bytes(4096) }
}

/// A step that replays so many I/Os with this many slots.
fn replay(queue_depth: u32, count: u64, timed: bool) -> StepSpec {
    let mut spec = step(1.0, queue_depth, StopRule::Count(count));
    spec.pattern.operation = Operation::Replay;
    let arrival = Arrival { per_second: 1_000.0, process: ArrivalProcess::Recorded, end_factor: 1.0 };
    spec.demand.arrival = timed.then_some(arrival);
    spec
}

fn played(spec: StepSpec, ios: Vec<RecordedIo>) -> (StepRecord, Seen) {
    let (mut stimulus, seen) = stimulus(SERVICE, None, false);
    (run_with(&mut stimulus, &[spec], ios).expect("runs").remove(0), seen)
}

fn run_with(
    stimulus: &mut Stimulus<ConstantTime>,
    specs: &[StepSpec],
    ios: Vec<RecordedIo>,
) -> Result<Vec<StepRecord>, SequenceError> {
    let (feed, recording) = recording();
    let feeding = std::thread::spawn(move || ios.chunks(CHUNK).all(|chunk| feed.give(chunk.to_vec())));
    let attached = Attached { recording: Some(recording), ..Attached::default() };
    let records = stimulus.run_attached(specs, Limits::default(), attached, |_| Decision::Continue);
    drop(feeding.join());
    records
}

fn places(seen: &Seen) -> Vec<(Direction, u64)> {
    seen.lock().expect("not poisoned").iter().map(|io: &Io| (io.direction, io.offset.0 / 4096)).collect()
}

#[test]
fn ios_are_issued_in_their_order_when_they_are_due() {
    let ios = vec![
        io(0, Direction::Read, 7),
        io(250_000, Direction::Write, 3),
        io(250_000, Direction::Trim, 9),
        io(1_000_001, Direction::Read, 1),
    ];
    let (record, seen) = played(replay(8, 4, true), ios);
    let expected =
        [(Direction::Read, 7), (Direction::Write, 3), (Direction::Trim, 9), (Direction::Read, 1)].map(|one| one);
    assert_eq!(places(&seen), expected);
    assert_eq!(record.last_submission, Some(record.start + Nanos(1_000_001)));
    assert_eq!(record.offered_io_count, Some(4));
    let late = record.read.late.expect("timed");
    assert_eq!((late.sum_ns, late.max_ns), (0, 0));
    assert_eq!((record.write.latency_io_count, record.other.latency_io_count), (1, 1));
}

#[test]
fn an_io_that_finds_no_slot_is_late_and_counts_from_when_it_was_due() {
    let ios = (0..3).map(|nth| io(nth * 40_000, Direction::Read, nth)).collect();
    let (record, _) = played(replay(1, 3, true), ios);
    // Due at 0, 40 and 80 us, issued at 0, 100 and 200 us.
    let (late, intended) = (record.read.late.expect("timed"), record.read.intended.expect("timed"));
    assert_eq!((late.min_ns, late.max_ns, late.sum_ns), (0, 120_000, 180_000));
    assert_eq!((intended.max_ns, record.read.latency_max_ns), (220_000, Some(100_000)));
}

#[test]
fn without_times_the_next_io_follows_as_soon_as_there_is_a_slot() {
    let ios = (0..100).map(|nth| io(nth * 1_000_000_000, Direction::Write, 99 - nth)).collect();
    let (record, seen) = played(replay(4, 100, false), ios);
    assert_eq!(places(&seen), (0..100).map(|nth| (Direction::Write, 99 - nth)).collect::<Vec<_>>());
    // 25 times four at once.
    assert_eq!(record.last_submission, Some(record.start + Nanos(24 * SERVICE)));
    assert_eq!((record.offered_io_count, record.write.intended, record.write.late), (None, None, None));
}

#[test]
fn a_recording_of_many_chunks_is_issued_whole() {
    let count = 20 * CHUNK as u64 + 5;
    let ios = (0..count).map(|nth| io(nth * 10, Direction::Read, nth % 1000)).collect();
    let (record, seen) = played(replay(16, count, true), ios);
    assert_eq!(places(&seen).len() as u64, count);
    assert_eq!(record.read.latency_io_count, count);
}

#[test]
fn a_recording_ends_its_step_where_it_is_shorter_or_goes_elsewhere() {
    let two = || vec![io(0, Direction::Read, 1), io(10, Direction::Read, 2)];
    assert_eq!(played(replay(4, 9, true), two()).0.read.latency_io_count, 2);
    let beyond = RecordedIo { offset: Bytes(1 << 30), ..two()[0] };
    let large = RecordedIo { length: Bytes(1 << 20), ..two()[0] };
    let odd = RecordedIo { offset: Bytes(7), ..two()[0] };
    let empty = RecordedIo { length: Bytes(0), ..two()[0] };
    for wrong in [beyond, large, odd, empty] {
        let (record, seen) = played(replay(4, 9, true), [two(), vec![wrong, two()[0]]].concat());
        assert_eq!((places(&seen).len(), record.ended), (2, Ended::StopRule), "{wrong:?}");
    }
}

#[test]
fn one_step_with_one_thread_replays_one_recording() {
    let refused = |specs: Vec<StepSpec>| run_with(&mut stimulus(SERVICE, None, false).0, &specs, vec![]).err();
    let mut threads = replay(4, 1, true);
    threads.demand.thread_count = 2;
    let mut beside = step(1.0, 1, StopRule::Count(1));
    beside.beside = true;
    let mut drawn = step(1.0, 1, StopRule::Count(1));
    drawn.demand.arrival = replay(1, 1, true).demand.arrival;
    let mut fixed = replay(1, 1, true);
    fixed.demand.arrival = fixed.demand.arrival.map(|arrival| Arrival { process: ArrivalProcess::Fixed, ..arrival });
    for specs in [
        vec![drawn],
        vec![fixed],
        vec![step(1.0, 1, StopRule::Count(1))],
        vec![replay(1, 1, true), replay(1, 1, true)],
        vec![threads],
        vec![replay(1, 1, true), beside],
    ] {
        assert!(matches!(refused(specs), Some(SequenceError::Replay { .. })));
    }
    let without =
        stimulus(SERVICE, None, false).0.run(&[replay(1, 1, true)], Limits::default(), |_| Decision::Continue);
    assert!(matches!(without, Err(SequenceError::Replay { step: 0, .. })));
}
