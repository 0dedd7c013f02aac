//! A ring of one thread: how it is built, and how its completions are waited for.

use std::io;

use assay_core::contract::Nanos;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};

use crate::clock;

/// A ring for so many I/Os, and whether the kernel runs completions only when this thread asks (since Linux 6.1).
pub(crate) fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    slot_count: u32,
) -> io::Result<(IoUring<S, C>, bool)> {
    let entries = slot_count.next_power_of_two().max(8);
    let deferred = IoUring::<S, C>::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    match deferred {
        Ok(ring) => Ok((ring, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok((IoUring::builder().build(entries)?, false)),
        Err(error) => Err(error),
    }
}

/// Send what is queued and wait for one completion or the deadline.
pub(crate) fn enter<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    ring: &IoUring<S, C>,
    deadline: Nanos,
) -> io::Result<()> {
    let left = deadline.0.saturating_sub(clock::monotonic().0);
    let timeout = Timespec::new().sec(left / Nanos::SECOND.0).nsec((left % Nanos::SECOND.0) as u32);
    let arguments = SubmitArgs::new().timespec(&timeout);
    match ring.submitter().submit_with_args(1, &arguments) {
        Ok(_) => Ok(()),
        // Out of time, interrupted, or short of resources for a moment: what has completed is reaped, the rest retried.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}
