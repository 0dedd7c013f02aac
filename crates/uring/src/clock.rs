//! The clocks of the host.

use assay_core::contract::Nanos;

pub(crate) fn monotonic() -> Nanos {
    read(libc::CLOCK_MONOTONIC)
}

pub(crate) fn wall() -> Nanos {
    read(libc::CLOCK_REALTIME)
}

pub(crate) fn thread_cpu() -> Nanos {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result, and the three clocks used exist on every Linux.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(result, 0, "the clocks of the host can be read");
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}
