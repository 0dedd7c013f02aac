//! What is told of a sequence while it runs is what its records hold afterwards, second by second.

use std::time::Duration;

use super::tests::{ConstantTime, step, stimulus};
use super::*;
use crate::contract::{Completion, Errno, Io, Probe};
use crate::live::Second;
use crate::record::SeriesPoint;
use crate::step::StopRule;

/// The records of a sequence, and its seconds as they were told.
fn told<D: Device + 'static>(stimulus: &mut Stimulus<D>, steps: &[StepSpec]) -> (Vec<StepRecord>, Vec<Second>) {
    let (sender, receiver) = channel();
    let attached = Attached { seconds: Some(sender), ..Attached::default() };
    let records = stimulus.run_attached(steps, Limits::default(), attached, |_| Decision::Continue).expect("runs");
    (records, receiver.try_iter().collect())
}

/// Every second of every step was told once, in order, with the values of the record's series.
fn is_the_series(records: &[StepRecord], seconds: &[Second]) {
    let mut rest = seconds;
    let mut first = 0;
    while first < records.len() {
        let span = records[first].span.0;
        let count = span.div_ceil(Nanos::SECOND.0) as usize;
        let (own, later) = rest.split_at(count.min(rest.len()));
        assert_eq!(own.iter().map(|second| second.covered.0).sum::<u64>(), span, "step {first}");
        let beside = own.first().map_or(1, |second| second.sides.len());
        for (index, second) in own.iter().enumerate() {
            assert_eq!((second.step, second.index), (first, index));
            for (sides, record) in second.sides.iter().zip(&records[first..]) {
                let point = |side: &[SeriesPoint]| side.get(index).copied().unwrap_or_default();
                let expected = [&record.read, &record.write, &record.other].map(|side| point(&side.series));
                assert_eq!(*sides, expected, "second {index} of step {first}");
            }
        }
        (rest, first) = (later, first + beside);
    }
    assert!(rest.is_empty(), "{rest:?}");
}

#[test]
fn seconds_are_those_of_the_series_also_of_a_step_that_ends_inside_one() {
    // 1.5 ms each: completions at 2 x 1.5 s fall on a second's end.
    let (mut stimulus, _) = stimulus(1_500_000, None, false);
    let whole = step(1.0, 4, StopRule::Time(Nanos(3 * Nanos::SECOND.0)));
    let ended_inside = step(0.0, 2, StopRule::Time(Nanos(2_300_000_000)));
    let counted = step(1.0, 3, StopRule::Count(2_500));
    let mut read = whole.clone();
    read.pattern.read_share = 0.5;
    let steps = [whole.clone(), whole, ended_inside.clone(), ended_inside, counted, read];
    let (records, seconds) = told(&mut stimulus, &steps);
    assert!(seconds.len() > 14);
    is_the_series(&records, &seconds);
}

#[test]
fn seconds_of_steps_side_by_side_are_those_of_each() {
    let (mut stimulus, _) = stimulus(700_000, None, false);
    let first = step(1.0, 2, StopRule::Time(Nanos(2_500_000_000)));
    let mut second = step(1.0, 5, StopRule::Time(Nanos(2_500_000_000)));
    (second.pattern.read_share, second.beside) = (1.0, true);
    let (records, seconds) = told(&mut stimulus, &[first.clone(), second.clone(), first, second]);
    assert_eq!(seconds.iter().map(|second| second.sides.len()).collect::<Vec<_>>(), [2; 6]);
    is_the_series(&records, &seconds);
}

#[test]
fn failed_ios_are_in_no_second() {
    let (mut stimulus, _) = stimulus(1_000_000, Some(Bytes(8192)), true);
    let mut spec = step(0.0, 1, StopRule::Time(Nanos(2 * Nanos::SECOND.0)));
    spec.range = ActiveRange::new(vec![0], 1 << 20).expect("valid");
    let (records, seconds) = told(&mut stimulus, &[spec]);
    assert!(records[0].write.error_count() > 5);
    assert_eq!(seconds.iter().map(|second| second.sides[0][1].io_count).sum::<u64>(), records[0].write.window_io_count);
    is_the_series(&records, &seconds);
}

#[test]
fn idle_seconds_and_those_of_slow_ios_are_told_too() {
    // An I/O takes 2.6 s: seconds without any completion are told as they pass.
    let (mut stimulus, _) = stimulus(2_600_000_000, None, false);
    let slow = step(1.0, 1, StopRule::Time(Nanos(6 * Nanos::SECOND.0)));
    let mut idle = slow.clone();
    idle.demand = Demand::IDLE;
    let (records, seconds) = told(&mut stimulus, &[slow.clone(), idle, slow]);
    assert_eq!(seconds.len(), 18);
    assert_eq!(seconds[2].sides[0][1].io_count + seconds[5].sides[0][1].io_count, 2);
    is_the_series(&records, &seconds);
}

/// Takes about 40 us per I/O on the clock of the wall; failures are none.
struct Wall {
    epoch: Instant,
    pending: Vec<Io>,
}

impl Device for Wall {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: Bytes(1 << 30), logical_block: Bytes(512) }
    }
    fn now(&self) -> Nanos {
        Nanos(self.epoch.elapsed().as_nanos() as u64)
    }
    fn wall(&self) -> Nanos {
        self.now()
    }
    fn prepare(&mut self, _: &[DataPattern], _: u32, _: Bytes) -> Result<(), Errno> {
        Ok(())
    }
    fn submit(&mut self, io: Io) {
        self.pending.push(io);
    }
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let wait = if self.pending.is_empty() { deadline.0.saturating_sub(self.now().0) } else { 40_000 };
        std::thread::sleep(Duration::from_nanos(wait));
        let at = self.now();
        completions.extend(self.pending.drain(..).map(|io| Completion { slot: io.slot, at, result: Ok(io.length) }));
        Ok(())
    }
    fn probe(&mut self, _: bool) -> Probe {
        Probe::default()
    }
}

#[test]
fn seconds_of_several_workers_are_added_up() {
    let epoch = Instant::now();
    let opener = || move || Ok::<_, Errno>(Wall { epoch, pending: Vec::new() });
    let mut stimulus = Stimulus::open(3, vec![opener(), opener(), opener()]).expect("opens");
    let mut both = step(1.0, 2, StopRule::Time(Nanos(1_250_000_000)));
    both.demand.thread_count = 2;
    let mut alone = both.clone();
    (alone.demand.thread_count, alone.pattern.read_share) = (1, 1.0);
    let (records, seconds) = told(&mut stimulus, &[both.clone(), both, alone]);
    assert_eq!(seconds.len(), 6);
    assert!(seconds.iter().all(|second| second.sides.iter().any(|sides| sides.iter().any(|side| side.io_count > 0))));
    is_the_series(&records, &seconds);
}

#[test]
fn records_are_the_same_with_a_receiver_and_without() {
    let (mut watched, _) = stimulus(1_000_000, None, false);
    let (mut without, _): (Stimulus<ConstantTime>, _) = stimulus(1_000_000, None, false);
    let spec = step(1.0, 4, StopRule::Time(Nanos(2 * Nanos::SECOND.0)));
    let (with, _) = told(&mut watched, std::slice::from_ref(&spec));
    let record = without.run(&[spec], Limits::default(), |_| Decision::Continue).expect("runs");
    assert_eq!(with, record);
}
