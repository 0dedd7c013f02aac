//! The loop on a device of constant service time, where every count is known beforehand.

use super::*;
use crate::arrival::{Arrival, ArrivalProcess};
use crate::capture::tap;
use crate::contract::{Completion, Direction, Errno, Io, Probe};
use crate::pattern::{AccessPattern, Cursor, GridOrigin, Operation};
use crate::step::{Demand, StopRule};
use std::collections::VecDeque;

/// Completes every I/O `service` after its submission; fails those at `bad_offset`.
pub(super) struct ConstantTime {
    clock: Nanos,
    service: Nanos,
    queue: VecDeque<(Nanos, Io)>,
    bad_offset: Option<Bytes>,
    short: bool,
    /// The n-th I/O is swallowed and completes only after this many others.
    lost: Option<(usize, usize)>,
    held: Option<Io>,
    submitted: usize,
    seen: Arc<std::sync::Mutex<Vec<Io>>>,
}

const CAPACITY: u64 = 1 << 30;

impl Device for ConstantTime {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) }
    }
    fn now(&self) -> Nanos {
        self.clock
    }
    fn wall(&self) -> Nanos {
        self.clock + Nanos(1_000)
    }
    fn prepare(&mut self, _: &[DataPattern], _: u32, _: Bytes) -> Result<(), Errno> {
        Ok(())
    }
    fn submit(&mut self, io: Io) {
        self.seen.lock().expect("not poisoned").push(io);
        self.submitted += 1;
        if let Some((nth, later)) = self.lost {
            if self.submitted == nth {
                self.held = Some(io);
                return;
            }
            if self.submitted == nth + later {
                self.queue.extend(self.held.take().map(|held| (self.clock + self.service, held)));
            }
        }
        self.queue.push_back((self.clock + self.service, io));
    }
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let Some((at, io)) = self.queue.front().copied().filter(|(at, _)| *at <= deadline) else {
            self.clock = self.clock.max(deadline);
            return Ok(());
        };
        self.queue.pop_front();
        self.clock = at;
        let result = match self.bad_offset {
            Some(bad) if bad == io.offset && self.short => Ok(Bytes(io.length.0 / 2)),
            Some(bad) if bad == io.offset => Err(Errno(61)),
            _ => Ok(io.length),
        };
        completions.push(Completion { slot: io.slot, at, result });
        Ok(())
    }
    fn probe(&mut self, _: bool) -> Probe {
        Probe::default()
    }
}

pub(super) type Seen = Arc<std::sync::Mutex<Vec<Io>>>;

pub(super) fn stimulus(service_ns: u64, bad_offset: Option<Bytes>, short: bool) -> (Stimulus<ConstantTime>, Seen) {
    let seen = Seen::default();
    let device = ConstantTime {
        clock: Nanos(0),
        service: Nanos(service_ns),
        queue: VecDeque::new(),
        bad_offset,
        short,
        lost: None,
        held: None,
        submitted: 0,
        seen: Arc::clone(&seen),
    };
    (Stimulus::open(7, vec![move || Ok::<_, Errno>(device)]).expect("opens"), seen)
}

pub(super) fn step(random_share: f64, queue_depth: u32, stop: StopRule) -> StepSpec {
    StepSpec {
        pattern: AccessPattern {
            sizes: vec![(4096, 1.0)],
            read_share: 0.0,
            random_share,
            alignment: 0,
            origin: GridOrigin::Range,
            lba_groups: Vec::new(),
            cursor: Cursor::Shared,
            writes_tail: false,
            data: DataPattern::Random,
            operation: Operation::Transfer,
            lines: Vec::new(),
        },
        demand: Demand { thread_count: 1, queue_depth, arrival: None },
        range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
        stop,
        beside: false,
    }
}

pub(super) fn run(stimulus: &mut Stimulus<ConstantTime>, steps: &[StepSpec]) -> Vec<StepRecord> {
    stimulus.run(steps, Limits::default(), |_| Decision::Continue).expect("runs")
}

#[test]
fn a_timed_step_counts_window_and_tail_apart() {
    // 4 outstanding, 1 ms each, 10 ms: 40 completions in [0, T]; the 4 submitted before T's end are at T + 1 ms - none,
    // since nothing is submitted at T itself.
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let records = run(&mut stimulus, &[step(1.0, 4, StopRule::Time(Nanos(10_500_000)))]);
    let write = &records[0].write;
    assert_eq!((write.window_io_count, write.tail_io_count), (40, 4));
    assert_eq!((write.window_bytes, write.tail_bytes), (Bytes(40 * 4096), Bytes(4 * 4096)));
    assert_eq!((write.latency_min_ns, write.latency_max_ns), (Some(1_000_000), Some(1_000_000)));
    assert_eq!(write.latency_sum_ns, 44 * 1_000_000);
    assert_eq!(records[0].span, Nanos(10_500_000));
    assert_eq!(records[0].outstanding_ns, 4 * 10_500_000);
    assert_eq!(records[0].start_wall, Nanos(1_000));
    assert_eq!(write.series.iter().map(|point| point.io_count).sum::<u64>(), 40);
}

#[test]
fn the_next_step_begins_while_the_tail_comes_in() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let timed = step(1.0, 4, StopRule::Time(Nanos(10_500_000)));
    let records = run(&mut stimulus, &[timed.clone(), timed]);
    assert_eq!(records[1].start, Nanos(10_500_000));
    assert_eq!(records[0].last_submission, Some(Nanos(10_000_000)));
    // The four I/Os of step 0 complete at 11 ms; their slots go to step 1 at that instant.
    assert_eq!(records[1].first_submission, Some(Nanos(11_000_000)));
    assert_eq!((records[0].write.tail_io_count, records[1].write.window_io_count), (4, 40));
    assert_eq!(records[1].outstanding_ns, 4 * 10_500_000);
    assert_eq!(records[1].submission_gap_max, Nanos(1_000_000));
}

#[test]
fn a_smaller_demand_lets_the_old_ios_run_off_first() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let steps = [step(1.0, 8, StopRule::Time(Nanos(2_500_000))), step(1.0, 1, StopRule::Time(Nanos(2_500_000)))];
    let records = run(&mut stimulus, &steps);
    // 8 outstanding until 3 ms, then the window opens, with one.
    assert_eq!((records[1].start, records[1].lead_in), (Nanos(3_000_000), Nanos(500_000)));
    assert_eq!((records[1].span, records[1].outstanding_ns), (Nanos(2_500_000), 2_500_000));
    assert_eq!((records[0].write.window_io_count, records[0].write.tail_io_count), (16, 8));
    assert_eq!((records[1].write.window_io_count, records[1].write.tail_io_count), (2, 1));
}

#[test]
fn amount_and_count_are_met_exactly() {
    let (mut stimulus, _) = stimulus(1_000, None, false);
    let amount = StopRule::Amount(Bytes(1 << 20));
    let records = run(&mut stimulus, &[step(0.0, 8, amount), step(1.0, 8, StopRule::Count(1000))]);
    let total = |record: &StepRecord| record.write.window_bytes + record.write.tail_bytes;
    assert_eq!(total(&records[0]), Bytes(1 << 20));
    assert_eq!(records[1].write.window_io_count + records[1].write.tail_io_count, 1000);
}

#[test]
fn the_sequential_cursor_goes_on_from_step_to_step_and_sequence_to_sequence() {
    let (mut stimulus, seen) = stimulus(1_000, None, false);
    let part = step(0.0, 4, StopRule::Count(100));
    run(&mut stimulus, &[part.clone(), part.clone()]);
    run(&mut stimulus, &[part]);
    let offsets: Vec<u64> = seen.lock().expect("not poisoned").iter().map(|io| io.offset.0).collect();
    assert_eq!(offsets, (0..300).map(|index| index * 4096).collect::<Vec<_>>());
}

#[test]
fn two_sequences_share_no_random_sequence() {
    let (mut stimulus, seen) = stimulus(1_000, None, false);
    let part = step(1.0, 4, StopRule::Count(5000));
    run(&mut stimulus, std::slice::from_ref(&part));
    run(&mut stimulus, &[part]);
    let ios = seen.lock().expect("not poisoned");
    let (first, second) = ios.split_at(5000);
    let pairs: std::collections::HashSet<_> = first.windows(2).map(|pair| (pair[0].offset, pair[1].offset)).collect();
    let repeats = second.windows(2).filter(|pair| pairs.contains(&(pair[0].offset, pair[1].offset))).count();
    assert_eq!(repeats, 0);
}

#[test]
fn failed_and_short_ios_enter_nothing_but_the_error_count() {
    for (short, errno) in [(false, 61), (true, Errno::SHORT_TRANSFER.0)] {
        let (mut stimulus, _) = stimulus(1_000, Some(Bytes(8192)), short);
        let records = run(&mut stimulus, &[step(0.0, 1, StopRule::Count(10))]);
        let write = &records[0].write;
        assert_eq!(write.errors, BTreeMap::from([(errno, 1)]));
        assert_eq!(write.window_io_count + write.tail_io_count, 9);
        assert_eq!(write.latency_sum_ns, 9_000);
        assert_eq!(write.histogram.iter().map(|bucket| bucket.1).sum::<u64>(), 9);
    }
}

#[test]
fn too_many_errors_end_the_sequence_and_say_so() {
    let (mut stimulus, _) = stimulus(1_000, Some(Bytes(0)), false);
    let mut failing = step(0.0, 1, StopRule::Time(Nanos::SECOND));
    failing.range = ActiveRange::new(vec![0], 4096).expect("valid");
    let records = run(&mut stimulus, &[failing.clone(), failing]);
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].ended, records[0].write.error_count()), (Ended::Errors, 100));
    assert!(records[0].span < Nanos::SECOND);
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let (mut stimulus, _) = stimulus(1_000, None, false);
    let long = step(1.0, 1, StopRule::Time(Nanos(u64::MAX / 4)));
    let records = stimulus.run(&[long], Limits::default(), |_| Decision::Stop).expect("runs");
    assert_eq!(records[0].ended, Ended::Interrupted);
    assert!(records[0].write.window_io_count > 0);
}

#[test]
fn a_device_that_stops_answering_is_found_hung() {
    let (mut stimulus, _) = stimulus(u64::MAX / 2, None, false);
    let limits = Limits { io_time_limit: Nanos(1_000_000_000), ..Limits::default() };
    let records = stimulus
        .run(&[step(1.0, 1, StopRule::Time(Nanos(u64::MAX / 4)))], limits, |_| Decision::Continue)
        .expect("runs");
    assert_eq!(records[0].ended, Ended::Hung);
    assert_eq!(records[0].write.window_io_count, 0);
}

#[test]
fn impossible_steps_are_refused_before_any_io() {
    let (mut stimulus, seen) = stimulus(1_000, None, false);
    let mut too_deep = step(1.0, 1, StopRule::Count(1));
    too_deep.demand.queue_depth = 0;
    let mut off_block = step(1.0, 1, StopRule::Count(1));
    off_block.pattern.sizes = vec![(1000, 1.0)];
    let mut beyond = step(1.0, 1, StopRule::Count(1));
    beyond.range = ActiveRange::new(vec![CAPACITY], 4096).expect("valid in itself");
    for bad in [too_deep, off_block, beyond, step(1.0, 1, StopRule::Count(0))] {
        assert!(stimulus.run(&[bad], Limits::default(), |_| Decision::Continue).is_err());
    }
    assert!(seen.lock().expect("not poisoned").is_empty());
}

#[test]
fn directions_are_submitted_as_asked() {
    let (mut stimulus, seen) = stimulus(1_000, None, false);
    let mut reads = step(1.0, 4, StopRule::Count(100));
    reads.pattern.read_share = 1.0;
    let records = run(&mut stimulus, &[reads]);
    assert!(seen.lock().expect("not poisoned").iter().all(|io| io.direction == Direction::Read));
    assert_eq!(records[0].write, crate::record::DirectionRecord::default());
}

#[test]
fn an_io_that_never_comes_back_is_told_and_ends_the_use_of_its_worker() {
    let seen = Seen::default();
    let device = ConstantTime {
        clock: Nanos(0),
        service: Nanos(1_000_000),
        queue: VecDeque::new(),
        bad_offset: None,
        short: false,
        lost: Some((10, usize::MAX / 2)),
        held: None,
        submitted: 0,
        seen,
    };
    let mut stimulus = Stimulus::open(7, vec![move || Ok::<_, Errno>(device)]).expect("opens");
    let limits = Limits { io_time_limit: Nanos(2_000_000_000), ..Limits::default() };
    let timed = step(1.0, 4, StopRule::Time(Nanos::SECOND));
    let records = stimulus.run(std::slice::from_ref(&timed), limits, |_| Decision::Continue).expect("runs");
    assert_eq!(records[0].ended, Ended::Hung);
    assert_eq!(records[0].write.errors, BTreeMap::from([(Errno::TIMED_OUT.0, 1)]));
    let again = stimulus.run(&[timed], limits, |_| Decision::Continue);
    assert_eq!(again, Err(SequenceError::Prepare(Errno::TIMED_OUT)));
}

#[test]
fn a_lost_io_is_found_while_others_go_on() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    stimulus.with_device(|device| device.lost = Some((10, usize::MAX / 2))).expect("alive");
    let limits = Limits { io_time_limit: Nanos(2_000_000_000), ..Limits::default() };
    let long = step(1.0, 4, StopRule::Time(Nanos(60_000_000_000)));
    let records = stimulus.run(&[long], limits, |_| Decision::Continue).expect("runs");
    assert_eq!(records[0].ended, Ended::Hung);
    assert!(records[0].span < Nanos(5_000_000_000));
}

fn workers(count: usize) -> Stimulus<ConstantTime> {
    let device = |_| {
        move || {
            Ok::<_, Errno>(ConstantTime {
                clock: Nanos(0),
                service: Nanos(1_000_000),
                queue: VecDeque::new(),
                bad_offset: None,
                short: false,
                lost: None,
                held: None,
                submitted: 0,
                seen: Seen::default(),
            })
        }
    };
    Stimulus::open(7, (0..count).map(device).collect()).expect("opens")
}

#[test]
fn threads_share_a_step_and_those_without_a_part_leave_no_trace() {
    let mut stimulus = workers(4);
    let mut wide = step(1.0, 2, StopRule::Time(Nanos(10_500_000)));
    wide.demand.thread_count = 3;
    let narrow = step(1.0, 2, StopRule::Time(Nanos(10_500_000)));
    let record = run(&mut stimulus, &[wide]).remove(0);
    assert_eq!((record.write.window_io_count, record.span), (60, Nanos(10_500_000)));
    assert_eq!(record.outstanding_ns, 6 * 10_500_000);
    assert_eq!((record.thread_io_count_min, record.thread_io_count_max), (Some(20), Some(20)));
    let alone = run(&mut stimulus, &[narrow]);
    assert_eq!((alone[0].write.window_io_count, alone[0].span), (20, Nanos(10_500_000)));
    assert_eq!((alone[0].thread_io_count_min, alone[0].thread_io_count_max), (Some(20), Some(20)));
}

#[test]
fn threads_that_share_a_worker_cannot_be_told_apart() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let mut wide = step(1.0, 2, StopRule::Time(Nanos(10_500_000)));
    wide.demand.thread_count = 3;
    let records = run(&mut stimulus, &[wide]);
    assert_eq!((records[0].thread_io_count_min, records[0].thread_io_count_max), (None, None));
}

fn open_loop(per_second: f64, process: ArrivalProcess, queue_depth: u32) -> StepRecord {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let mut step = step(1.0, queue_depth, StopRule::Time(Nanos::SECOND));
    step.demand.arrival = Some(Arrival { per_second, process, end_factor: 1.0 });
    run(&mut stimulus, &[step]).remove(0)
}

/// One at a time of 1 ms each serves 1,000 of 1,200 a second: the n-th is late by n (1 - 1 / 1.2) ms.
#[test]
fn an_overloaded_open_loop_tells_how_late_it_is() {
    let record = open_loop(1200.0, ArrivalProcess::Fixed, 1);
    let write = &record.write;
    let intended = write.intended.as_ref().expect("an open loop");
    assert_eq!((write.window_io_count, record.offered_io_count), (1000, Some(1200)));
    assert_eq!((write.latency_min_ns, write.latency_max_ns), (Some(1_000_000), Some(1_000_000)));
    let late_ms = intended.max_ns as f64 / 1e6;
    assert!((late_ms - (1.0 + 999.0 / 6.0)).abs() < 0.5, "{late_ms}");
    let mean_ms = intended.sum_ns as f64 / 1e6 / 1000.0;
    assert!((mean_ms - (1.0 + 499.5 / 6.0)).abs() < 0.5, "{mean_ms}");
}

#[test]
fn an_open_loop_that_keeps_up_is_not_late() {
    let record = open_loop(500.0, ArrivalProcess::Fixed, 4);
    let intended = record.write.intended.as_ref().expect("an open loop");
    assert_eq!((record.offered_io_count, record.write.window_io_count), (Some(500), 500));
    assert_eq!((intended.min_ns, intended.max_ns), (1_000_000, 1_000_000));
    assert_eq!(record.outstanding_ns, 500 * 1_000_000);
}

/// M/D/1 at half load waits for half a service time in the mean (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_queue_as_theory_says() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let closed = step(1.0, 1, StopRule::Count(1));
    let mut step = step(1.0, 1, StopRule::Time(Nanos(100 * Nanos::SECOND.0)));
    step.demand.arrival = Some(Arrival { per_second: 500.0, process: ArrivalProcess::Poisson, end_factor: 1.0 });
    let record = run(&mut stimulus, &[step]).remove(0);
    let intended = record.write.intended.as_ref().expect("an open loop");
    let mean_ms = intended.sum_ns as f64 / (record.write.window_io_count + record.write.tail_io_count) as f64 / 1e6;
    assert!((mean_ms - 1.5).abs() < 0.03, "{mean_ms}");
    assert!(run(&mut stimulus, &[closed])[0].write.intended.is_none());
}

#[test]
fn an_arrival_rate_of_nothing_is_refused() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let mut step = step(1.0, 1, StopRule::Count(1));
    step.demand.arrival = Some(Arrival { per_second: 0.0, process: ArrivalProcess::Fixed, end_factor: 1.0 });
    let refused = stimulus.run(&[step], Limits::default(), |_| Decision::Continue);
    assert_eq!(refused, Err(SequenceError::Arrival { step: 0 }));
}

#[test]
fn every_completion_is_captured_and_changes_nothing() {
    let mixed = || [step(1.0, 4, StopRule::Count(100_000)), step(0.0, 2, StopRule::Count(50_000))];
    let (mut plain, _) = stimulus(1_000_000, None, false);
    let expected = run(&mut plain, &mixed());
    let (mut stimulus, seen) = stimulus(1_000_000, None, false);
    let (tap, chunks) = tap(true);
    let writer = std::thread::spawn(move || {
        let mut rows = Vec::new();
        let lost = chunks.drain(|chunk| {
            rows.extend_from_slice(chunk);
            Ok::<(), ()>(())
        });
        (rows, lost)
    });
    let records =
        stimulus.run_attached(&mixed(), Limits::default(), Attached { tap: Some(tap), ..Attached::default() }, |_| {
            Decision::Continue
        });
    let (rows, lost) = writer.join().expect("drains");
    assert_eq!((records.expect("runs"), lost), (expected, Ok(0)));
    let issued: Vec<Bytes> = seen.lock().expect("not poisoned").iter().map(|io| io.offset).collect();
    assert_eq!(rows.iter().map(|row| row.offset).collect::<Vec<_>>(), issued);
    assert!(rows.iter().all(|row| row.latency == Nanos(1_000_000) && row.length == 4096));
    assert_eq!(rows.iter().filter(|row| row.step == 1).count(), 50_000);
}

fn idle(span: Nanos) -> StepSpec {
    let mut step = step(1.0, 1, StopRule::Time(span));
    step.demand = Demand::IDLE;
    step
}

#[test]
fn bursts_with_idle_between_them_begin_and_end_on_time() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let burst = || step(1.0, 4, StopRule::Time(Nanos(50_000_000)));
    let sequence: Vec<StepSpec> = (0..20).flat_map(|_| [burst(), idle(Nanos(50_000_000))]).collect();
    let records = run(&mut stimulus, &sequence);
    for pair in records.chunks(2) {
        assert_eq!(pair[0].first_submission, Some(pair[0].start));
        assert_eq!(pair[0].write.window_io_count, 4 * 50);
        assert_eq!((pair[1].write.window_io_count, pair[1].first_submission), (0, None));
        assert_eq!((pair[1].span, pair[1].outstanding_ns), (Nanos(50_000_000), 0));
    }
}

#[test]
fn a_sequence_of_nothing_but_idle_time_lasts_that_time() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let records = run(&mut stimulus, &[idle(Nanos(50_000_000)), idle(Nanos(30_000_000))]);
    let spans: Vec<u64> = records.iter().map(|record| record.span.0).collect();
    assert_eq!(spans, [50_000_000, 30_000_000]);
    assert!(records.iter().all(|record| record.first_submission.is_none() && record.write.window_io_count == 0));
}

#[test]
fn only_a_step_of_stated_time_may_be_idle() {
    let (mut stimulus, _) = stimulus(1_000_000, None, false);
    let mut endless = idle(Nanos(1));
    endless.stop = StopRule::Count(1);
    let refused = stimulus.run(&[endless], Limits::default(), |_| Decision::Continue);
    assert_eq!(refused, Err(SequenceError::Demand { step: 0, outstanding: 0 }));
}
