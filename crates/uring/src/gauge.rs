//! How late this host lets a thread run: a thread that asks to be woken once per millisecond and sees how late it was.
//!
//! It sleeps in between, so that it costs some microseconds of CPU time per millisecond; what it cost is part of the readings.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_core::contract::Nanos;
use assay_core::histogram::Histogram;

use crate::clock;

/// Time between two wakes.
pub const PERIOD: Nanos = Nanos(1_000_000);
/// Lateness from which on place and length of a stall are kept.
pub const STALL: Nanos = Nanos(10_000_000);
/// Stalls whose places are kept; all of them are in the sums.
const STALLS_KEPT: usize = 1_000;

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

/// What a gauge saw. Times are on the clock of the real drives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// From its start to its end.
    pub span: Nanos,
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
    thread: JoinHandle<Readings>,
}

impl Gauge {
    /// Begin.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start() -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        let began = clock::monotonic();
        let thread = std::thread::Builder::new().name("stall-gauge".to_owned()).spawn(move || watch(&seen, began))?;
        Ok(Self { ended, thread })
    }

    /// End, at the latest one period from now.
    ///
    /// # Panics
    /// Never: the gauge does not panic.
    #[must_use]
    pub fn finish(self) -> Readings {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().expect("the gauge does not panic")
    }
}

fn watch(ended: &AtomicBool, began: Nanos) -> Readings {
    let (mut sums, mut due) = (Sums::default(), began + PERIOD);
    while !ended.load(Ordering::Relaxed) {
        let now = clock::monotonic();
        if now < due {
            std::thread::sleep(Duration::from_nanos(due.0 - now.0));
            continue;
        }
        due = sums.wake(due, now);
    }
    let span = Nanos(clock::monotonic().0 - began.0);
    Readings { span, late_p999: sums.p999(), cpu: clock::thread_cpu(), ..sums.readings }
}

#[derive(Default)]
struct Sums {
    readings: Readings,
    histogram: Histogram,
    count: u64,
}

impl Sums {
    /// Count a wake that was due at `due` and happened at `now`, and those swallowed by it; the next that is due.
    fn wake(&mut self, due: Nanos, now: Nanos) -> Nanos {
        let late = Nanos(now.0.saturating_sub(due.0));
        self.readings.late_max = self.readings.late_max.max(late);
        if late >= STALL {
            self.readings.stalled += late;
            if self.readings.stalls.len() < STALLS_KEPT {
                self.readings.stalls.push((due, late));
            }
        }
        let swallowed = late.0 / PERIOD.0;
        for missed in 0..=swallowed {
            self.histogram.record(late.0 - missed * PERIOD.0);
        }
        self.count += swallowed + 1;
        Nanos(due.0 + (swallowed + 1) * PERIOD.0)
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
        assert_eq!(sums.readings.late_max, Nanos(100 * MS + 7));
        assert_eq!(sums.readings.stalls, [(due, Nanos(100 * MS + 7))]);
        let p999 = sums.p999().0;
        assert!((89 * MS..=91 * MS).contains(&p999), "{p999}");
    }

    #[test]
    fn small_lateness_is_no_stall() {
        let mut sums = Sums::default();
        assert_eq!(sums.wake(Nanos(MS), Nanos(MS + STALL.0 - 1)).0, 11 * MS);
        assert_eq!((sums.readings.stalled, sums.readings.stalls.len()), (Nanos(0), 0));
    }

    #[test]
    fn a_gauge_runs_and_tells_its_own_cost() {
        let gauge = Gauge::start().expect("a thread");
        std::thread::sleep(Duration::from_millis(50));
        let readings = gauge.finish();
        assert!(readings.span.0 >= 50 * MS, "{readings:?}");
        assert!(readings.cpu.0 > 0 && readings.cpu < readings.span, "{readings:?}");
        assert!(readings.late_max >= readings.late_p999, "{readings:?}");
    }
}
