//! The monotonic clock, and a thread that is woken promptly.

use std::time::Duration;

/// The strongest wish that an ordinary thread can state. A real-time thread that spins would starve the clients of a small
/// host instead.
const NICE: libc::c_int = -20;

/// Nanoseconds of the monotonic clock, which clients read as well.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives through the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(result, 0, "every Linux has the monotonic clock");
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32).as_nanos() as u64
}

/// Let this thread run before ordinary ones and be woken without slack. Where the host refuses, answers are later, which the
/// log shows; nothing becomes wrong by it.
pub(crate) fn be_prompt() {
    // SAFETY: takes no pointers; zero is the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    // SAFETY: takes no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
