//! How late this host lets a thread run: threads that ask to be woken once per millisecond and see how late they were.
//!
//! There is one on every processor that the stimulus is kept on, and one that the scheduler places where the stimulus is left
//! free. They sleep in between, so that each costs some microseconds of CPU time per millisecond; what they cost is part of the
//! readings. The first of them reads how long the threads of the stimulus waited: the scheduler favours a thread that mostly
//! sleeps, so that one that works waits longer.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_core::contract::Nanos;
use assay_core::histogram::Histogram;

use crate::affinity::pin_this_thread;
use crate::clock;
use crate::waited::meters;

/// Time between two wakes.
pub const PERIOD: Nanos = Nanos(1_000_000);
/// Lateness from which on place and length of a stall are kept.
pub const STALL: Nanos = Nanos(10_000_000);
/// Stalls whose places are kept; all of them are in the sums.
const STALLS_KEPT: usize = 1_000;
/// Processors that are watched, at most.
const THREADS_MAX: usize = 16;
/// Buckets per octave of the lateness that is kept: a bucket is at most an eighth of its values wide.
const KEPT_PER_OCTAVE: u64 = 8;
/// Threads of the stimulus that are asked per wake.
const ASKED: usize = 2;
/// Lateness from which on the largest of a second is kept.
const SECOND_KEPT: Nanos = Nanos(250_000);

/// Read the clock of response times again and again: (nanoseconds per reading, readings that ran back).
#[must_use]
pub fn clock_reads(count: u32) -> (f64, u64) {
    let (began, mut last, mut backward) = (clock::monotonic(), Nanos(0), 0);
    for _ in 0..count {
        let now = clock::monotonic();
        backward += u64::from(now < last);
        last = now;
    }
    ((clock::monotonic().0 - began.0) as f64 / f64::from(count.max(1)), backward)
}

/// What a gauge saw, over all its threads. Times are on the clock of the real drives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// When it began.
    pub began: Nanos,
    /// From its start to its end.
    pub span: Nanos,
    /// Wakes that were due, by the lower border of their lateness in ns, ascending.
    pub wakes: Vec<(u64, u64)>,
    /// Waits of the threads of the stimulus between two readings, by their lower border in ns, ascending; none of 0.
    pub waits: Vec<(u64, u64)>,
    /// Time between those readings, over all threads.
    pub watched: Nanos,
    /// Largest lateness or wait of each second from its start on, where it is 0.25 ms or more.
    pub seconds: Vec<(u64, u64)>,
    /// Lateness that 99.9 % of the wakes did not exceed; wakes that a stall swallowed count as late, too.
    pub late_p999: Nanos,
    /// Largest lateness.
    pub late_max: Nanos,
    /// Sum of the stalls of at least [`STALL`].
    pub stalled: Nanos,
    /// When each of the first thousand began (the wake that was due) and how long it took.
    pub stalls: Vec<(Nanos, Nanos)>,
    /// CPU time of the gauge itself.
    pub cpu: Nanos,
}

/// A running gauge.
pub struct Gauge {
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Sums>>,
    began: Nanos,
}

impl Gauge {
    /// Begin, on each of these processors (the first 16), or where the scheduler likes.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(cpus: &[u32]) -> io::Result<Self> {
        let distinct: BTreeSet<u32> = cpus.iter().copied().collect();
        let mut cpus: Vec<Option<u32>> = distinct.into_iter().take(THREADS_MAX).map(Some).collect();
        if cpus.is_empty() {
            cpus.push(None);
        }
        let ended = Arc::new(AtomicBool::new(false));
        let began = clock::monotonic();
        for meter in meters() {
            meter.waited_since();
        }
        let start = |(index, cpu)| {
            let seen = Arc::clone(&ended);
            let work = move || watch(cpu, &seen, began, index == 0);
            std::thread::Builder::new().name("stall-gauge".to_owned()).spawn(work)
        };
        let threads = cpus.into_iter().enumerate().map(start).collect::<io::Result<_>>()?;
        Ok(Self { ended, threads, began })
    }

    /// End, at the latest one period from now.
    ///
    /// # Panics
    /// Never: the gauge does not panic.
    #[must_use]
    pub fn finish(self) -> Readings {
        self.ended.store(true, Ordering::Relaxed);
        let ended: Vec<Sums> =
            self.threads.into_iter().map(|thread| thread.join().expect("the gauge does not panic")).collect();
        let sums = ended.into_iter().reduce(Sums::merged).unwrap_or_default();
        sums.finished(self.began, Nanos(clock::monotonic().0 - self.began.0))
    }
}

fn watch(cpu: Option<u32>, ended: &AtomicBool, began: Nanos, asks: bool) -> Sums {
    // A processor that went offline since is watched from another.
    let _ = cpu.map(pin_this_thread);
    wake_on_time();
    let (mut sums, mut due) = (Sums { began, ..Sums::default() }, began + PERIOD);
    while !ended.load(Ordering::Relaxed) {
        let now = clock::monotonic();
        if now < due {
            std::thread::sleep(Duration::from_nanos(due.0 - now.0));
            continue;
        }
        due = sums.wake(due, now);
        if asks {
            sums.ask();
        }
    }
    sums.cpu = clock::thread_cpu();
    sums
}

/// By default the kernel delays the sleeps of a thread by up to 50 us to join wakes.
fn wake_on_time() {
    // SAFETY: the call takes a number and changes the calling thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

#[derive(Default)]
struct Sums {
    began: Nanos,
    histogram: Histogram,
    count: u64,
    late_max: Nanos,
    stalled: Nanos,
    stalls: Vec<(Nanos, Nanos)>,
    seconds: BTreeMap<u64, u64>,
    waits: Histogram,
    watched: Nanos,
    turn: usize,
    cpu: Nanos,
}

impl Sums {
    /// Count a wake that was due at `due` and happened at `now`, and those swallowed by it; the next that is due.
    fn wake(&mut self, due: Nanos, now: Nanos) -> Nanos {
        let late = Nanos(now.0.saturating_sub(due.0));
        self.late_max = self.late_max.max(late);
        if late >= STALL {
            self.stalled += late;
            if self.stalls.len() < STALLS_KEPT {
                self.stalls.push((due, late));
            }
        }
        let swallowed = late.0 / PERIOD.0;
        for missed in 0..=swallowed {
            self.histogram.record(late.0 - missed * PERIOD.0);
        }
        if late >= SECOND_KEPT {
            self.note_second(due, now, late);
        }
        self.count += swallowed + 1;
        Nanos(due.0 + (swallowed + 1) * PERIOD.0)
    }

    /// Ask some threads of the stimulus, in turn, how long they waited.
    fn ask(&mut self) {
        let meters = meters();
        for _ in 0..ASKED.min(meters.len()) {
            self.turn += 1;
            if let Some((since, waited)) = meters[self.turn % meters.len()].waited_since() {
                self.note_wait(since, clock::monotonic(), waited);
            }
        }
    }

    fn note_wait(&mut self, since: Nanos, now: Nanos, waited: Nanos) {
        self.watched += Nanos(now.0.saturating_sub(since.0));
        if waited.0 > 0 {
            self.waits.record(waited.0);
        }
        if waited >= SECOND_KEPT {
            self.note_second(since, now, waited);
        }
    }

    /// A lateness belongs to every second that it lasted in.
    fn note_second(&mut self, due: Nanos, now: Nanos, late: Nanos) {
        let second = |at: Nanos| at.0.saturating_sub(self.began.0) / Nanos::SECOND.0;
        for index in second(due)..=second(now) {
            let largest = self.seconds.entry(index).or_default();
            *largest = late.0.max(*largest);
        }
    }

    /// Of two threads: every wake of both counts, and of stalls those of the one that was held up longer.
    fn merged(mut self, other: Self) -> Self {
        if other.stalled > self.stalled {
            (self.stalled, self.stalls) = (other.stalled, other.stalls);
        }
        self.histogram.merge(&other.histogram);
        self.waits.merge(&other.waits);
        self.watched += other.watched;
        for (second, late) in other.seconds {
            let largest = self.seconds.entry(second).or_default();
            *largest = late.max(*largest);
        }
        self.count += other.count;
        self.cpu += other.cpu;
        self.late_max = self.late_max.max(other.late_max);
        self
    }

    fn finished(self, began: Nanos, span: Nanos) -> Readings {
        Readings {
            began,
            span,
            late_p999: self.p999(),
            late_max: self.late_max,
            wakes: kept(&self.histogram),
            waits: kept(&self.waits),
            watched: self.watched,
            seconds: self.seconds.into_iter().collect(),
            stalled: self.stalled,
            stalls: self.stalls,
            cpu: self.cpu,
        }
    }

    /// The lower border of the bucket that holds the wake in place: too small by 0.2 % at most.
    fn p999(&self) -> Nanos {
        let beyond = self.count / 1_000;
        let mut left = self.count - beyond;
        for (bucket, count) in self.histogram.sparse() {
            if count >= left {
                return Nanos(Histogram::bucket_lower(bucket as usize));
            }
            left -= count;
        }
        Nanos(0)
    }
}

/// A histogram in coarser buckets.
fn kept(histogram: &Histogram) -> Vec<(u64, u64)> {
    let mut kept: BTreeMap<u64, u64> = BTreeMap::new();
    for (bucket, count) in histogram.sparse() {
        *kept.entry(kept_border(Histogram::bucket_lower(bucket as usize))).or_default() += count;
    }
    kept.into_iter().collect()
}

/// The lower border of the coarse bucket of a value.
fn kept_border(value: u64) -> u64 {
    let step = (1 << (value | 1).ilog2()) / KEPT_PER_OCTAVE;
    value - value % step.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_stall_counts_for_every_wake_that_it_swallowed() {
        let mut sums = Sums::default();
        let mut due = Nanos(MS);
        for _ in 0..9_900 {
            due = sums.wake(due, Nanos(due.0 + 50_000));
        }
        let next = sums.wake(due, Nanos(due.0 + 100 * MS + 7));
        assert_eq!(next, Nanos(due.0 + 101 * MS));
        assert_eq!(sums.count, 9_900 + 101);
        assert_eq!(sums.late_max, Nanos(100 * MS + 7));
        assert_eq!(sums.stalls, [(due, Nanos(100 * MS + 7))]);
        let p999 = sums.p999().0;
        assert!((89 * MS..=91 * MS).contains(&p999), "{p999}");
    }

    #[test]
    fn small_lateness_is_no_stall() {
        let mut sums = Sums::default();
        assert_eq!(sums.wake(Nanos(MS), Nanos(MS + STALL.0 - 1)).0, 11 * MS);
        assert_eq!((sums.stalled, sums.stalls.len()), (Nanos(0), 0));
    }

    #[test]
    fn a_lateness_stands_in_every_second_that_it_lasted_in() {
        let mut sums = Sums::default();
        sums.wake(Nanos(1_990 * MS), Nanos(2_010 * MS));
        sums.wake(Nanos(2_500 * MS), Nanos(2_501 * MS));
        assert_eq!(sums.seconds.into_iter().collect::<Vec<_>>(), [(1, 20 * MS), (2, 20 * MS)]);
    }

    #[test]
    fn a_wait_of_the_stimulus_counts_with_the_time_that_was_watched() {
        let mut sums = Sums::default();
        sums.note_wait(Nanos(0), Nanos(MS), Nanos(0));
        sums.note_wait(Nanos(MS), Nanos(21 * MS), Nanos(16 * MS));
        let readings = sums.finished(Nanos(0), Nanos(21 * MS));
        assert_eq!(readings.watched, Nanos(21 * MS));
        assert_eq!(readings.waits.len(), 1);
        assert_eq!(readings.seconds, [(0, 16 * MS)]);
    }

    #[test]
    fn coarse_buckets_are_an_eighth_of_an_octave() {
        assert_eq!([0, 7, 8, 1_000, 1_100, 1_153].map(kept_border), [0, 7, 8, 960, 1_024, 1_152]);
    }

    #[test]
    fn two_threads_count_every_wake_and_the_longer_stalls() {
        let sums = |late: u64| {
            let mut sums = Sums::default();
            sums.wake(Nanos(MS), Nanos(MS + late));
            sums
        };
        let both = sums(20 * MS).merged(sums(12 * MS)).finished(Nanos(0), Nanos(40 * MS));
        assert_eq!((both.stalled, both.late_max), (Nanos(20 * MS), Nanos(20 * MS)));
        assert_eq!(both.wakes.iter().map(|(_, count)| count).sum::<u64>(), 21 + 13);
    }

    #[test]
    fn a_gauge_runs_and_tells_its_own_cost() {
        let gauge = Gauge::start(&[]).expect("a thread");
        std::thread::sleep(Duration::from_millis(50));
        let readings = gauge.finish();
        assert!(readings.span.0 >= 50 * MS, "{readings:?}");
        assert!(readings.cpu.0 > 0 && readings.cpu < readings.span, "{readings:?}");
        assert!(readings.late_max >= readings.late_p999, "{readings:?}");
    }
}
