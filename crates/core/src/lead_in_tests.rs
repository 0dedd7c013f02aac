//! What belongs to the lead-in, the window and the tail of a step: held against a log of every I/O, and against devices
//! whose rate is known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::arrival::{Arrival, ArrivalProcess};
use crate::contract::{Completion, Direction, Errno, Io, Probe};
use crate::pattern::AccessPattern;
use crate::step::{Demand, StopRule};

const MS: u64 = 1_000_000;
const CAPACITY: u64 = 1 << 34;

/// One I/O as the device saw it.
#[derive(Clone, Copy, Debug)]
struct Logged {
    direction: Direction,
    length: u64,
    submitted: u64,
    at: u64,
    failed: bool,
}

/// Serves one I/O at a time, or all at once, each in a time drawn from a seed; fails some.
struct Server {
    clock: u64,
    one_at_a_time: bool,
    least_ns: u64,
    most_ns: u64,
    fails_every: u64,
    first_ns: Option<u64>,
    backwards: bool,
    busy_until: u64,
    state: u64,
    queue: BinaryHeap<Reverse<(u64, u64, u32)>>,
    ios: Vec<Logged>,
    log: Arc<Mutex<Vec<Logged>>>,
}

impl Server {
    fn new(one_at_a_time: bool, least_ns: u64, most_ns: u64, fails_every: u64) -> Self {
        let (queue, ios, log) = (BinaryHeap::new(), Vec::new(), Arc::default());
        Self {
            clock: 0,
            one_at_a_time,
            least_ns,
            most_ns,
            fails_every,
            first_ns: None,
            backwards: false,
            busy_until: 0,
            state: 1,
            queue,
            ios,
            log,
        }
    }

    fn service(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.least_ns + (self.state >> 33) % (self.most_ns - self.least_ns + 1)
    }

    fn open(self) -> (Stimulus<Self>, Arc<Mutex<Vec<Logged>>>) {
        let log = Arc::clone(&self.log);
        (Stimulus::open(7, vec![move || Ok::<_, Errno>(self)]).expect("opens"), log)
    }
}

impl Device for Server {
    const VIRTUAL_TIME: bool = true;
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) }
    }
    fn now(&self) -> Nanos {
        Nanos(self.clock)
    }
    fn wall(&self) -> Nanos {
        Nanos(self.clock + 5)
    }
    fn prepare(&mut self, _: &[DataPattern], _: u32, _: Bytes) -> Result<(), Errno> {
        Ok(())
    }
    fn submit(&mut self, io: Io) {
        let begin = if self.one_at_a_time { self.busy_until.max(self.clock) } else { self.clock };
        let at = begin + self.first_ns.take().unwrap_or_else(|| self.service());
        self.busy_until = at;
        let nth = self.ios.len() as u64;
        let failed = self.fails_every > 0 && nth % self.fails_every == self.fails_every - 1;
        let (direction, length) = (io.direction, io.length.0);
        self.ios.push(Logged { direction, length, submitted: self.clock, at, failed });
        self.queue.push(Reverse((at, nth, io.slot)));
    }
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        match self.queue.peek() {
            Some(Reverse((at, nth, slot))) if *at <= deadline.0 => {
                let logged = self.ios[*nth as usize];
                let result = if logged.failed { Err(Errno(5)) } else { Ok(Bytes(logged.length)) };
                self.clock = *at;
                let stamp = if self.backwards { 0 } else { *at };
                completions.push(Completion { slot: *slot, at: Nanos(stamp), result });
                self.queue.pop();
                self.log.lock().expect("not poisoned").push(logged);
            }
            _ => self.clock = self.clock.max(deadline.0),
        }
        Ok(())
    }
    fn probe(&mut self, _: bool) -> Probe {
        Probe::default()
    }
}

fn cell(queue_depth: u32, length: u64, read_share: f64, stop: StopRule) -> StepSpec {
    StepSpec {
        pattern: AccessPattern::uniform(length, read_share, 1.0),
        demand: Demand { thread_count: 1, queue_depth, arrival: None },
        range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
        stop,
        beside: false,
    }
}

fn timed(queue_depth: u32, time_ns: u64) -> StepSpec {
    cell(queue_depth, 4096, 1.0, StopRule::Time(Nanos(time_ns)))
}

fn run<D: Device + 'static>(stimulus: &mut Stimulus<D>, steps: &[StepSpec]) -> Vec<StepRecord> {
    let limits = Limits { error_limit: u64::MAX, io_time_limit: Nanos(u64::MAX / 4) };
    stimulus.run(steps, limits, |_| Decision::Continue).expect("runs")
}

/// Completions in the window, whoever submitted them.
fn rate_count(record: &StepRecord) -> u64 {
    [&record.read, &record.write].iter().map(|side| side.window_io_count + side.carried_in_io_count).sum()
}

/// A device that serves exactly 500 I/Os per second: every cell says so to one I/O, whatever came before it.
#[test]
fn the_rate_of_a_cell_is_that_of_the_cell_alone() {
    const SERVICE: u64 = 2 * MS;
    let mut steps = Vec::new();
    for time in [60 * MS, 600 * MS, 6_000 * MS, 60_000 * MS] {
        for queue_depth in [32, 1, 1024, 7, 256, 2] {
            for (length, read_share) in [(4096, 1.0), (1 << 20, 0.0), (65_536, 0.65)] {
                steps.push(cell(queue_depth, length, read_share, StopRule::Time(Nanos(time))));
            }
        }
    }
    let (mut stimulus, _) = Server::new(true, SERVICE, SERVICE, 0).open();
    for record in run(&mut stimulus, &steps) {
        assert_eq!(rate_count(&record), record.span.0 / SERVICE, "a window of {} ms", record.span.0 / MS);
    }
}

/// The same where every I/O is of one of three sizes, and the demand changes at every step.
#[test]
fn mixtures_of_sizes_are_counted_alike() {
    let steps: Vec<StepSpec> = (0..40_u32)
        .map(|nth| {
            let mut step = timed(1 + nth * 37 % 1024, (60 + u64::from(nth) * 13) * MS);
            step.pattern.sizes = vec![(512, 0.5), (8192, 0.3), (131_072, 0.2)];
            step.pattern.read_share = f64::from(nth % 5) / 4.0;
            step
        })
        .collect();
    let (mut stimulus, _) = Server::new(true, MS / 2, MS / 2, 0).open();
    for record in run(&mut stimulus, &steps) {
        assert!(rate_count(&record).abs_diff(record.span.0 / (MS / 2)) <= 1);
    }
}

#[test]
fn a_different_step_opens_with_the_last_io_of_the_one_before() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let records = run(&mut stimulus, &[timed(8, 20 * MS), timed(4, 20 * MS)]);
    // One of the eight is complete at 20 ms, its end; the other seven are in at 27 ms. Below four at 24 ms, new ones go in.
    assert_eq!((records[1].start, records[1].lead_in), (Nanos(27 * MS), Nanos(7 * MS)));
    assert_eq!((records[1].start_wall, records[1].span), (Nanos(27 * MS + 5), Nanos(20 * MS)));
    let read = &records[1].read;
    assert_eq!((read.lead_in_io_count, read.window_io_count, read.tail_io_count), (0, 20, 3));
    assert_eq!(records[1].first_submission, Some(Nanos(24 * MS)));
}

#[test]
fn equal_steps_have_no_lead_in_and_count_completions_where_they_happen() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let mut renamed = timed(8, 30 * MS);
    renamed.stop = StopRule::Time(Nanos(31 * MS));
    let records = run(&mut stimulus, &[timed(8, 30 * MS), timed(8, 30 * MS), renamed]);
    assert_eq!(records.iter().map(rate_count).collect::<Vec<_>>(), [30, 30, 31]);
    assert!(records.iter().all(|record| record.lead_in == Nanos(0)));
    let read = &records[1].read;
    assert_eq!((read.window_io_count, read.carried_in_io_count, read.tail_io_count), (23, 7, 7));
    assert_eq!((read.carried_in_bytes, read.latency_io_count), (Bytes(7 * 4096), 30));
}

#[test]
fn idle_time_lasts_its_whole_time_from_when_the_queue_is_empty() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let mut idle = timed(1, 50 * MS);
    idle.demand = Demand::IDLE;
    let records = run(&mut stimulus, &[timed(8, 20 * MS), idle, timed(2, 20 * MS)]);
    assert_eq!((records[1].start, records[1].span), (Nanos(27 * MS), Nanos(50 * MS)));
    assert_eq!((records[1].outstanding_ns, rate_count(&records[1])), (0, 0));
    assert_eq!((records[2].start, records[2].lead_in), (Nanos(77 * MS), Nanos(0)));
    assert_eq!(records[2].first_submission, Some(Nanos(77 * MS)));
}

#[test]
fn nothing_of_an_open_loop_is_due_before_its_window_opens() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let mut open = timed(64, 100 * MS);
    open.demand.arrival = Some(Arrival { per_second: 500.0, process: ArrivalProcess::Fixed, end_factor: 1.0 });
    let records = run(&mut stimulus, &[timed(8, 20 * MS), open]);
    assert_eq!((records[1].start, records[1].first_submission), (Nanos(27 * MS), Some(Nanos(27 * MS))));
    assert_eq!(records[1].offered_io_count, Some(50));
    let intended = records[1].read.intended.as_ref().expect("an open loop");
    assert_eq!((intended.min_ns, intended.max_ns, rate_count(&records[1])), (MS, MS, 50));
}

#[test]
fn a_step_that_ends_in_its_lead_in_has_no_window() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let short = cell(4, 4096, 0.0, StopRule::Count(2));
    let records = run(&mut stimulus, &[timed(32, 40 * MS), short.clone(), short, timed(1, 10 * MS)]);
    // Two go in at 68 and 69 ms, the last of the step before is in at 71 ms; the equal step behind opens then.
    assert_eq!((records[1].span, records[1].outstanding_ns, rate_count(&records[1])), (Nanos(0), 0, 0));
    assert_eq!((records[1].write.lead_in_io_count, records[1].write.latency_io_count), (2, 0));
    assert_eq!(records[1].write.lead_in_latency.as_ref().map(|latency| latency.sum_ns), Some(8 * MS));
    assert_eq!(records[2].start, Nanos(71 * MS));
    assert_eq!(rate_count(&records[3]), 10);
}

#[test]
fn an_amount_counts_from_the_first_submission() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let fill = cell(16, 131_072, 0.0, StopRule::Amount(Bytes(100 * 131_072)));
    let record = run(&mut stimulus, &[timed(32, 40 * MS), fill]).remove(1);
    let write = &record.write;
    assert_eq!(write.lead_in_io_count + write.window_io_count + write.tail_io_count, 100);
    assert!(record.span > Nanos(0) && write.window_io_count == record.span.0 / MS);
}

#[test]
fn an_interruption_before_the_opening_leaves_no_value() {
    let (mut stimulus, _) = Server::new(false, MS, MS, 0).open();
    stimulus.with_device(|device| device.first_ns = Some(u64::MAX / 8)).expect("alive");
    let limits = Limits { error_limit: u64::MAX, io_time_limit: Nanos(u64::MAX / 4) };
    let steps = [cell(2, 4096, 1.0, StopRule::Count(1)), timed(4, 50 * MS)];
    let watch = |progress: Progress| if progress.io_count > 0 { Decision::Stop } else { Decision::Continue };
    let records = stimulus.run(&steps, limits, watch).expect("runs");
    let read = &records[1].read;
    assert_eq!((records[1].ended, records[1].span, rate_count(&records[1])), (Ended::Interrupted, Nanos(0), 0));
    assert!(read.lead_in_io_count > 0 && read.latency_io_count == 0 && read.series.is_empty());
    assert_eq!(records[0].read.errors, BTreeMap::from([(Errno::TIMED_OUT.0, 1)]));
}

#[test]
fn a_clock_that_runs_backwards_ends_the_sequence_by_name() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    stimulus.with_device(|device| (device.clock, device.backwards) = (MS, true)).expect("alive");
    let records = run(&mut stimulus, &[timed(4, 50 * MS)]);
    let (record, read) = (&records[0], &records[0].read);
    assert_eq!((record.ended, read.latency_io_count, read.window_io_count), (Ended::Clock, 0, 0));
    // A difference below zero would be a time of 584 years.
    assert_eq!((read.latency_sum_ns, read.latency_max_ns, read.failed_ns), (0, None, 0));
    assert!(read.histogram.is_empty() && read.series.iter().all(|second| second.latency_sum_ns == 0));
    let times = [record.outstanding_ns, record.carried_in_ns, record.carried_out_ns, record.span.0];
    assert!(times.into_iter().max() <= Some(4 * 50 * MS), "{times:?}");
}

/// Workers with a clock in common: each completes what it is given a little later.
struct Timer {
    began: Instant,
    due: Vec<(u64, Io)>,
    log: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Device for Timer {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) }
    }
    fn now(&self) -> Nanos {
        Nanos(self.began.elapsed().as_nanos() as u64)
    }
    fn wall(&self) -> Nanos {
        self.now()
    }
    fn prepare(&mut self, _: &[DataPattern], _: u32, _: Bytes) -> Result<(), Errno> {
        Ok(())
    }
    fn submit(&mut self, io: Io) {
        // From 0.3 to 2.3 ms.
        let span = 300_000 + io.offset.0 / 4096 % 8 * 250_000;
        self.due.push((self.now().0 + span, io));
    }
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let next = self.due.iter().map(|(at, _)| *at).min().map_or(deadline.0, |at| at.min(deadline.0));
        std::thread::sleep(Duration::from_nanos(next.saturating_sub(self.now().0)));
        let at = self.now();
        let mut log = self.log.lock().expect("not poisoned");
        self.due.retain(|(due, io)| {
            if *due <= at.0 {
                log.push((at.0, io.length.0));
                completions.push(Completion { slot: io.slot, at, result: Ok(io.length) });
            }
            *due > at.0
        });
        Ok(())
    }
    fn probe(&mut self, _: bool) -> Probe {
        Probe::default()
    }
}

/// Cells are told apart by their size: in each window there are as many completions as the log has there.
#[test]
fn several_workers_open_a_window_at_one_instant() {
    let (began, log) = (Instant::now(), Arc::<Mutex<Vec<(u64, u64)>>>::default());
    let worker = |_| {
        let log = Arc::clone(&log);
        move || Ok::<_, Errno>(Timer { began, due: Vec::new(), log })
    };
    let mut stimulus = Stimulus::open(7, (0..4).map(worker).collect()).expect("opens");
    let steps: Vec<StepSpec> = (1..=12_u32)
        .map(|nth| {
            let mut step = cell(1 + nth % 5, 512 * u64::from(nth), 1.0, StopRule::Time(Nanos(60 * MS)));
            step.demand.thread_count = 1 + nth % 4;
            step
        })
        .collect();
    let records = run(&mut stimulus, &steps);
    let log = log.lock().expect("not poisoned");
    for (step, record) in steps.iter().zip(&records) {
        let (opened, end) = (record.start.0, record.start.0 + record.span.0);
        let size = step.pattern.sizes[0].0;
        let of_size: Vec<u64> = log.iter().filter(|io| io.1 == size).map(|io| io.0).collect();
        let inside = of_size.iter().filter(|at| opened < **at && **at <= end).count() as u64;
        assert_eq!((record.ended, record.span, rate_count(record)), (Ended::StopRule, Nanos(60 * MS), inside));
        assert!(log.iter().filter(|io| io.1 < size).all(|io| io.0 <= opened));
        assert_eq!(record.read.lead_in_io_count, of_size.iter().filter(|at| **at <= opened).count() as u64);
        balance(record);
    }
}

#[test]
fn a_whole_number_of_seconds_has_no_second_more() {
    let (mut stimulus, _) = Server::new(true, MS, MS, 0).open();
    let records = run(&mut stimulus, &[timed(32, 3_000 * MS), timed(8, 2_000 * MS), timed(8, 500 * MS)]);
    let points = |record: &StepRecord| record.read.series.iter().map(|point| point.io_count).collect::<Vec<_>>();
    assert_eq!(records.iter().map(points).collect::<Vec<_>>(), [vec![999, 1000, 1001], vec![999, 1001], vec![500]]);
}

/// Everything that a record says, worked out anew from the log.
fn recount(record: &StepRecord, log: &[Logged], earlier_equal_from: u64) {
    let (begin, opened, end) = (record.start.0 - record.lead_in.0, record.start.0, record.start.0 + record.span.0);
    let is_open = record.span.0 > 0;
    let own: Vec<&Logged> = log.iter().filter(|io| begin <= io.submitted && io.submitted < end).collect();
    for (direction, side) in [(Direction::Read, &record.read), (Direction::Write, &record.write)] {
        let done: Vec<&&Logged> = own.iter().filter(|io| !io.failed && io.direction == direction).collect();
        let count = |inside: &dyn Fn(&Logged) -> bool| done.iter().filter(|io| inside(io)).count() as u64;
        let in_window = |io: &Logged| is_open && opened < io.at && io.at <= end;
        let lead_in = |io: &Logged| if is_open { io.at <= opened } else { true };
        assert_eq!(side.lead_in_io_count, count(&lead_in));
        assert_eq!(side.window_io_count, count(&in_window));
        assert_eq!(side.tail_io_count, count(&|io| is_open && io.at > end));
        let moved: u64 = done.iter().map(|io| io.length).sum();
        assert_eq!((side.lead_in_bytes + side.window_bytes + side.tail_bytes).0, moved);
        let carried = log.iter().filter(|io| {
            let earlier = earlier_equal_from <= io.submitted && io.submitted < begin;
            earlier && !io.failed && io.direction == direction && in_window(io)
        });
        let carried: Vec<u64> = carried.map(|io| io.at - io.submitted).collect();
        assert_eq!(side.carried_in_io_count, carried.len() as u64);
        assert_eq!(side.carried_in_latency_sum_ns, carried.iter().sum::<u64>());
        let latencies = |from_window: bool| {
            let chosen = done.iter().filter(move |io| (is_open && io.submitted >= opened) == from_window);
            chosen.map(|io| io.at - io.submitted).collect::<Vec<u64>>()
        };
        let window = latencies(true);
        assert_eq!((side.latency_io_count, side.latency_sum_ns), (window.len() as u64, window.iter().sum()));
        assert_eq!(
            (side.latency_min_ns, side.latency_max_ns),
            (window.iter().min().copied(), window.iter().max().copied())
        );
        assert_eq!(side.histogram.iter().map(|bucket| bucket.1).sum::<u64>(), window.len() as u64);
        let before = latencies(false);
        let found = side.lead_in_latency.clone().unwrap_or_default();
        assert_eq!((found.sum_ns, found.max_ns), (before.iter().sum(), before.iter().max().copied().unwrap_or(0)));
        assert_eq!(found.histogram.iter().map(|bucket| bucket.1).sum::<u64>(), before.len() as u64);
        let series: u64 = side.series.iter().map(|point| point.io_count).sum();
        assert_eq!(series, side.window_io_count + side.carried_in_io_count);
    }
    let inside = |io: &Logged| io.at.min(end).saturating_sub(io.submitted.max(opened));
    let integral = if is_open { log.iter().map(inside).sum() } else { 0_u64 };
    assert_eq!(record.outstanding_ns, integral);
}

/// Integral of the outstanding I/Os = latencies of the window + what came in with it - what went out with it.
fn balance(record: &StepRecord) {
    let sides = [&record.read, &record.write];
    let spent: u64 = sides.iter().map(|side| side.latency_sum_ns + side.failed_ns).sum();
    assert_eq!(record.outstanding_ns + record.carried_out_ns, spent + record.carried_in_ns);
}

/// Sums over a call hold every I/O once by the step that submitted it, and, where all steps are equal, every completion
/// before its end by the step that it happened in.
fn balance_call(specs: &[StepSpec], records: &[StepRecord], log: &[Logged]) {
    let sides = || records.iter().flat_map(|record| [&record.read, &record.write]);
    let done = log.iter().filter(|io| !io.failed);
    let own: u64 = sides().map(|side| side.lead_in_io_count + side.window_io_count + side.tail_io_count).sum();
    assert_eq!(own, done.clone().count() as u64);
    let end = records.last().map_or(0, |record| record.start.0 + record.span.0);
    if specs.windows(2).all(|pair| pair[1].continues(&pair[0])) {
        let there: u64 = records.iter().map(rate_count).sum();
        assert_eq!(there, done.filter(|io| io.at <= end).count() as u64);
    }
}

fn any_step() -> impl Strategy<Value = StepSpec> {
    let rule = prop_oneof![
        4 => (1..60_u64).prop_map(|ms| StopRule::Time(Nanos(ms * MS))),
        1 => (1..400_u64).prop_map(StopRule::Count),
        1 => (1..400_u64).prop_map(|count| StopRule::Amount(Bytes(count * 4096))),
    ];
    let arrival = prop_oneof![3 => Just(None), 1 => (100.0..20_000.0_f64).prop_map(Some)];
    (1..40_u32, prop_oneof![Just(0.0), Just(0.5), Just(1.0)], rule, 0..8_u32, arrival).prop_map(
        |(queue_depth, read_share, rule, kind, per_second)| {
            let mut step = cell(queue_depth, 4096, read_share, rule);
            step.demand.arrival =
                per_second.map(|per_second| Arrival { per_second, process: ArrivalProcess::Poisson, end_factor: 1.0 });
            if kind == 0 && matches!(step.stop, StopRule::Time(_)) {
                step.demand = Demand::IDLE;
            }
            step
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn records_say_what_the_log_says(
        drawn in prop::collection::vec((any_step(), 1..4_usize), 1..6),
        one_at_a_time: bool,
        (least, spread) in (1_000..2 * MS, 0..3 * MS),
        fails_every in prop_oneof![Just(0_u64), 2..9_u64],
    ) {
        let specs: Vec<StepSpec> =
            drawn.iter().flat_map(|(step, times)| std::iter::repeat_n(step.clone(), *times)).collect();
        prop_assume!(specs.iter().any(|step| step.demand != Demand::IDLE));
        let (mut stimulus, log) = Server::new(one_at_a_time, least, least + spread, fails_every).open();
        let records = run(&mut stimulus, &specs);
        prop_assert_eq!(records.len(), specs.len());
        let log = log.lock().expect("not poisoned");
        let mut from = 0;
        for (index, record) in records.iter().enumerate() {
            let begin = record.start.0 - record.lead_in.0;
            if index == 0 || !specs[index].continues(&specs[index - 1]) {
                from = begin;
            }
            recount(record, &log, from);
            balance(record);
        }
        balance_call(&specs, &records, &log);
    }
}
