//! How long a thread was ready to run and waited for a processor, as the scheduler counts it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use assay_core::contract::Nanos;

use crate::clock;

/// The meters of this process; those of threads that have ended are dead.
static METERS: Mutex<Vec<Weak<Meter>>> = Mutex::new(Vec::new());

/// The scheduler's own line of the thread that opened it; it takes one read of some bytes.
///
/// Source: Linux `Documentation/scheduler/sched-stats.rst`: time run, time waited, time slices.
pub(crate) struct WaitMeter(Option<Arc<Meter>>);

impl WaitMeter {
    /// Of the calling thread, from whichever thread it is read later. A kernel without the line is no error.
    pub(crate) fn of_this_thread() -> Self {
        let meter = File::open("/proc/thread-self/schedstat").ok().map(|file| Arc::new(Meter::of(file)));
        if let Some(meter) = &meter {
            METERS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(meter));
        }
        Self(meter)
    }

    /// Since the thread began; `None` where the kernel does not count it.
    pub(crate) fn read(&self) -> Option<Nanos> {
        self.0.as_ref()?.read()
    }
}

/// The meters of all threads that have one, oldest first.
pub(crate) fn meters() -> Vec<Arc<Meter>> {
    let mut meters = METERS.lock().unwrap_or_else(PoisonError::into_inner);
    meters.retain(|meter| meter.strong_count() > 0);
    meters.iter().filter_map(Weak::upgrade).collect()
}

/// The line of a thread, and when a gauge read it last.
pub(crate) struct Meter {
    file: File,
    last: Mutex<(Nanos, Option<Nanos>)>,
}

impl Meter {
    fn of(file: File) -> Self {
        Self { file, last: Mutex::new((clock::monotonic(), None)) }
    }

    fn read(&self) -> Option<Nanos> {
        let mut text = [0_u8; 80];
        let length = self.file.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..length]).ok()?)
    }

    /// Since it was called before: (when that was, time waited in between). `None` where nothing can be told of it.
    pub(crate) fn waited_since(&self) -> Option<(Nanos, Nanos)> {
        let (now, waited) = (clock::monotonic(), self.read());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, before) = std::mem::replace(&mut *last, (now, waited));
        Some((at, Nanos(waited?.0.saturating_sub(before?.0))))
    }
}

/// The second number of the line.
fn parse(line: &str) -> Option<Nanos> {
    line.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_time_waited() {
        assert_eq!(parse("9000 70034 12\n"), Some(Nanos(70_034)));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn it_never_falls() {
        let meter = WaitMeter::of_this_thread();
        let first = meter.read();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(meter.read() >= first);
    }

    #[test]
    fn a_gauge_reads_what_was_waited_since_it_read_before() {
        let own = Meter::of(File::open("/proc/thread-self/schedstat").expect("this kernel counts it"));
        assert_eq!(own.waited_since(), None);
        let (at, waited) = own.waited_since().expect("a second time");
        assert!(at <= clock::monotonic() && waited.0 < 1_000_000_000, "{at:?} {waited:?}");
    }

    #[test]
    fn the_meter_of_a_thread_is_known_as_long_as_it_lives() {
        let meter = WaitMeter::of_this_thread();
        let own = Arc::downgrade(meter.0.as_ref().expect("this kernel counts it"));
        assert!(meters().iter().any(|one| Arc::downgrade(one).ptr_eq(&own)));
        drop(meter);
        assert!(!meters().iter().any(|one| Arc::downgrade(one).ptr_eq(&own)));
    }
}
