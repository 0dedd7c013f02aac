//! The clocks of the host.
//!
//! Response times are stamped with the processor's time stamp counter where the kernel itself trusts it: reading it costs a
//! third of the kernel's clock. Elsewhere the kernel's monotonic clock is read. Both count from the same origin.

use std::sync::OnceLock;
use std::time::Duration;

use assay_core::contract::Nanos;

/// The counter is compared with the kernel's clock for so long; two readings are off by some 50 ns, so by below 2 ppm.
const CALIBRATION: Duration = Duration::from_millis(50);

/// The last part of a wait, which is not slept through.
const AWAKE: Nanos = Nanos(150_000);

static COUNTER: OnceLock<Option<Counter>> = OnceLock::new();

/// Nanoseconds since the host's start, as its monotonic clock counts them.
#[inline]
pub(crate) fn monotonic() -> Nanos {
    match COUNTER.get_or_init(Counter::calibrated) {
        Some(counter) => counter.now(),
        None => read(libc::CLOCK_MONOTONIC),
    }
}

pub(crate) fn wall() -> Nanos {
    read(libc::CLOCK_REALTIME)
}

pub(crate) fn thread_cpu() -> Nanos {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Whether response times are stamped with the time stamp counter.
pub(crate) fn is_counter() -> bool {
    COUNTER.get_or_init(Counter::calibrated).is_some()
}

/// The time stamp counter as a clock.
struct Counter {
    origin_ticks: u64,
    origin_ns: u64,
    /// Nanoseconds per tick times 2^32.
    scale: u64,
}

impl Counter {
    fn calibrated() -> Option<Self> {
        if !is_trusted() {
            return None;
        }
        let (first_ticks, first_ns) = pair();
        std::thread::sleep(CALIBRATION);
        let (ticks, ns) = pair();
        let scale =
            (u128::from(ns - first_ns) << 32) / u128::from(ticks.checked_sub(first_ticks).filter(|span| *span > 0)?);
        Some(Self { origin_ticks: ticks, origin_ns: ns, scale: scale as u64 })
    }

    #[inline]
    fn now(&self) -> Nanos {
        let ticks = ticks().saturating_sub(self.origin_ticks);
        Nanos(self.origin_ns + ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64)
    }
}

/// Counter and clock of one moment: of some readings the one that took least.
fn pair() -> (u64, u64) {
    let readings = (0..20).map(|_| {
        let before = ticks();
        let ns = read(libc::CLOCK_MONOTONIC).0;
        let after = ticks();
        (after.saturating_sub(before), before + after.saturating_sub(before) / 2, ns)
    });
    readings.min_by_key(|(taken, ..)| *taken).map_or((0, 0), |(_, ticks, ns)| (ticks, ns))
}

/// The kernel offers the counter as a clock only where all processors agree on it, and it never stops or changes its rate.
fn is_trusted() -> bool {
    let offered = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    cfg!(target_arch = "x86_64") && offered.is_ok_and(|names| names.split_whitespace().any(|name| name == "tsc"))
}

#[inline]
fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction; a kernel that forbids it would not offer it as a clock.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result, and the three clocks used exist on every Linux.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(result, 0, "the clocks of the host can be read");
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

/// Sleep wakes late by some tens of microseconds: the last of the wait is spent awake, so that steps begin on time.
pub(crate) fn sleep_until(deadline: Nanos) {
    let asleep = deadline.0.saturating_sub(monotonic().0 + AWAKE.0);
    if asleep > 0 {
        std::thread::sleep(Duration::from_nanos(asleep));
    }
    while monotonic() < deadline {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_with_the_clock_of_the_kernel() {
        let difference = || monotonic().0.cast_signed() - read(libc::CLOCK_MONOTONIC).0.cast_signed();
        let closest = || (0..50).map(|_| difference()).min_by_key(|ns| ns.abs()).expect("some");
        let before = closest();
        std::thread::sleep(Duration::from_millis(200));
        let drift = closest() - before;
        assert!(before.abs() < 20_000, "{before} ns apart");
        assert!(drift.abs() < 20_000, "{drift} ns in 200 ms");
    }

    #[test]
    fn time_never_runs_back() {
        let mut last = monotonic();
        for _ in 0..100_000 {
            let now = monotonic();
            assert!(now >= last);
            last = now;
        }
    }
}
