//! Silence of a drive as it is seen from beside the workers: by looks at stated instants, and in real time.

use std::cell::Cell;

use super::*;
use crate::contract::{Completion, Errno, Io, Probe};
use crate::pattern::{AccessPattern, Cursor, GridOrigin, Operation};
use crate::step::{Demand, StopRule};

/// Answers at once, but holds one I/O inside `submit` or keeps it from `reap` for a while.
struct Holding {
    began: Instant,
    inside: bool,
    hold: Duration,
    nth: usize,
    submitted: usize,
    due: Vec<(Instant, Io)>,
    walls: Cell<u64>,
}

impl Device for Holding {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: Bytes(1 << 30), logical_block: Bytes(512) }
    }
    fn now(&self) -> Nanos {
        Nanos(self.began.elapsed().as_nanos() as u64)
    }
    /// Set back by an hour at every look, or on by a day.
    fn wall(&self) -> Nanos {
        let looks = self.walls.get() + 1;
        self.walls.set(looks);
        let day = if looks.is_multiple_of(2) { 86_400 } else { 0 };
        Nanos((1_000_000 + day - 3_600 * looks) * 1_000_000_000)
    }
    fn blocks(&self) -> bool {
        self.inside
    }
    fn prepare(&mut self, _: &[DataPattern], _: u32, _: Bytes) -> Result<(), Errno> {
        Ok(())
    }
    fn submit(&mut self, io: Io) {
        self.submitted += 1;
        let held = if self.submitted == self.nth { self.hold } else { Duration::from_millis(1) };
        if self.inside {
            std::thread::sleep(held);
        }
        self.due.push((if self.inside { Instant::now() } else { Instant::now() + held }, io));
    }
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let deadline = self.began + Duration::from_nanos(deadline.0.min(self.now().0 + 50_000_000));
        let next = self.due.iter().map(|(at, _)| *at).min().map_or(deadline, |at| at.min(deadline));
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        let (now, at) = (Instant::now(), self.now());
        self.due.retain(|(due, io)| {
            if *due <= now {
                completions.push(Completion { slot: io.slot, at, result: Ok(io.length) });
            }
            *due > now
        });
        Ok(())
    }
    fn probe(&mut self, _: bool) -> Probe {
        Probe::default()
    }
}

fn holding(inside: bool, hold: Duration) -> Stimulus<Holding> {
    let began = Instant::now();
    let opener = move || {
        Ok::<_, Errno>(Holding { began, inside, hold, nth: 20, submitted: 0, due: Vec::new(), walls: Cell::new(0) })
    };
    Stimulus::open(7, vec![opener]).expect("opens")
}

fn step(milliseconds: u64) -> StepSpec {
    StepSpec {
        pattern: AccessPattern {
            sizes: vec![(4096, 1.0)],
            read_share: 1.0,
            random_share: 1.0,
            alignment: 0,
            origin: GridOrigin::Range,
            lba_groups: Vec::new(),
            cursor: Cursor::Shared,
            writes_tail: false,
            data: DataPattern::Random,
            operation: Operation::Transfer,
            lines: Vec::new(),
        },
        demand: Demand { thread_count: 1, queue_depth: 1, arrival: None },
        range: ActiveRange::new(vec![0], 1 << 20).expect("valid"),
        stop: StopRule::Time(Nanos(milliseconds * 1_000_000)),
        beside: false,
    }
}

fn stalls_ms(records: &[StepRecord]) -> Vec<u64> {
    records.iter().map(|record| record.stall_max.expect("real time").0 / 1_000_000).collect()
}

#[test]
fn a_silence_belongs_to_its_step_wherever_the_io_waits() {
    for inside in [false, true] {
        let mut stimulus = holding(inside, Duration::from_millis(700));
        let records = stimulus.run(&[step(1000), step(300)], Limits::default(), |_| Decision::Continue).expect("runs");
        let stalls = stalls_ms(&records);
        assert!((400..=800).contains(&stalls[0]), "{inside} {stalls:?}");
        assert!(stalls[1] < 250, "{inside} {stalls:?}");
        assert_eq!(records[0].ended, Ended::StopRule);
    }
}

#[test]
fn a_step_without_ios_is_no_silence() {
    let mut idle = step(600);
    idle.demand = Demand::IDLE;
    let mut stimulus = holding(false, Duration::ZERO);
    let records = stimulus.run(&[step(100), idle], Limits::default(), |_| Decision::Continue).expect("runs");
    assert!(stalls_ms(&records)[1] < 250);
}

#[test]
fn a_wall_clock_that_is_set_disturbs_no_duration() {
    let mut stimulus = holding(false, Duration::ZERO);
    let records = stimulus.run(&[step(100), step(100)], Limits::default(), |_| Decision::Continue).expect("runs");
    let walls: Vec<u64> = records.iter().map(|record| record.start_wall.0 / 1_000_000_000_000).collect();
    assert_eq!(walls, [996, 1079]);
    for record in &records {
        let read = &record.read;
        assert_eq!(record.span, Nanos(100_000_000));
        assert!(record.outstanding_ns <= record.span.0 && read.latency_max_ns < Some(1_000_000_000));
        assert!(record.first_submission >= Some(record.start) && record.first_submission <= record.last_submission);
    }
    assert_eq!(records[1].start, records[0].start + records[0].span);
}

/// The worker can neither be joined nor told to stop; whoever asked is told all the same, and lets go of it.
#[test]
fn a_drive_that_never_lets_a_thread_out_is_given_up() {
    let mut stimulus = holding(true, Duration::from_secs(60));
    let limits = Limits { io_time_limit: Nanos(300_000_000), ..Limits::default() };
    let begun = Instant::now();
    let outcome = stimulus.run(&[step(1000)], limits, |_| Decision::Continue);
    assert_eq!(outcome, Err(SequenceError::Stuck));
    drop(stimulus);
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
}

#[test]
fn a_stop_is_heard_while_the_drive_holds_the_thread() {
    let mut stimulus = holding(true, Duration::from_secs(60));
    let begun = Instant::now();
    let stop = |_| if begun.elapsed() > Duration::from_millis(200) { Decision::Stop } else { Decision::Continue };
    assert_eq!(stimulus.run(&[step(1000)], Limits::default(), stop), Err(SequenceError::Stuck));
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
}

/// Looks 50 ms apart at a worker that says what `tell` makes of the number of the look; the silence in ms.
fn looked(looks: u64, every: Duration, tell: impl Fn(u64, &WorkerTotal)) -> (u64, Sign) {
    let mut stimulus = holding(false, Duration::ZERO);
    let sequence = stimulus.share(&[step(1000)], Limits::default(), Attached::default()).expect("valid");
    let mut silence = SilenceWatch::new(&sequence, Duration::from_secs(2));
    let base = Instant::now();
    let mut sign = Sign::Alive;
    for number in 1..=looks {
        tell(number, &sequence.worker_totals[0]);
        sign = silence.look(&sequence, base + every * number as u32, &Returned::new());
    }
    let mut records = vec![StepRecord::default()];
    silence.note(&mut records);
    (stalls_ms(&records)[0], sign)
}

const EVERY: Duration = Duration::from_millis(50);

/// A worker with one I/O outstanding that looked at its device just now and found nothing.
fn waiting(number: u64, worker: &WorkerTotal) {
    worker.clock.store(number, Ordering::Relaxed);
    worker.outstanding.store(1, Ordering::Relaxed);
}

#[test]
fn every_look_without_a_completion_adds_to_the_silence() {
    assert_eq!(looked(21, EVERY, waiting), (1000, Sign::Alive));
}

#[test]
fn a_completion_ends_it() {
    let tell = |number, worker: &WorkerTotal| {
        waiting(number, worker);
        worker.io_count.store(number / 10, Ordering::Relaxed);
    };
    assert_eq!(looked(40, EVERY, tell), (450, Sign::Alive));
}

#[test]
fn a_host_that_did_not_run_is_not_laid_to_the_drive() {
    assert_eq!(looked(10, Duration::from_secs(60), waiting), (0, Sign::Alive));
}

#[test]
fn a_worker_that_was_not_run_is_not_laid_to_the_drive_unless_its_device_holds_it() {
    let starved = |_, worker: &WorkerTotal| waiting(1, worker);
    assert_eq!(looked(30, EVERY, starved), (200, Sign::Alive));
    let held = |_, worker: &WorkerTotal| {
        waiting(1, worker);
        worker.blocks.store(true, Ordering::Relaxed);
    };
    assert_eq!(looked(31, EVERY, held), (1500, Sign::Alive));
}

#[test]
fn a_worker_held_beyond_the_time_limit_and_the_farewell_is_stuck() {
    let held = |_, worker: &WorkerTotal| waiting(1, worker);
    assert_eq!(looked(40 + 95, EVERY, held).1, Sign::Alive);
    assert_eq!(looked(40 + 105, EVERY, held).1, Sign::Stuck);
}
