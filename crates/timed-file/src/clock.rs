//! The monotonic clock, and a thread that is woken promptly.

use std::time::Duration;

/// Priority among real-time threads; any is above all ordinary ones.
const PRIORITY: i32 = 10;

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
    let priority = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the structure lives through the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    // SAFETY: takes no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
