//! Locked memory: what rings and registered buffers take of it, and what a worker may take.
//!
//! The kernel counts registered buffers, and since Linux 6.14 rings as well, against `RLIMIT_MEMLOCK` of the user. A worker
//! that registered as much as it can would leave nothing for the rings of the others, without which there is no I/O.

use std::fs;
use std::mem::MaybeUninit;

use assay_core::contract::Bytes;

use crate::path::Path;
use crate::ring::entries;

/// `CAP_IPC_LOCK` of `linux/capability.h`.
const CAP_IPC_LOCK: u32 = 14;
/// The user namespace of the host (`PROC_USER_INIT_INO`); rights in another count for nothing here.
const HOST_USERS: &str = "user:[4026531837]";
const PAGE: u64 = 4096;
/// `struct io_rings` of the kernel, rounded up.
const RING_HEAD_BYTES: u64 = 512;

/// What one of so many workers may lock; `None`: as much as it likes.
#[must_use]
pub fn worker_share(worker_count: usize) -> Option<Bytes> {
    let limit = limit()?;
    (!may_lock()).then(|| Bytes(limit / worker_count.max(1) as u64))
}

/// What a ring for so many I/Os at a time locks, at most. Worked: 32 by interrupt -> two pages.
#[must_use]
pub fn ring_bytes(slot_count: u32, path: Path) -> Bytes {
    let (submissions, wide) = (u64::from(entries(slot_count, path)), u64::from(path == Path::Passthrough));
    let rings = RING_HEAD_BYTES + 2 * submissions * (16 << wide) + submissions * 4;
    Bytes(rings.next_multiple_of(PAGE) + (submissions * (64 << wide)).next_multiple_of(PAGE))
}

/// The soft limit of the process, `None` where there is none.
fn limit() -> Option<u64> {
    let mut found = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the kernel fills in the record that it is given.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, found.as_mut_ptr()) };
    // SAFETY: filled in where the call succeeded.
    let limit = (asked == 0).then(|| unsafe { found.assume_init() }.rlim_cur)?;
    (limit != libc::RLIM_INFINITY).then_some(limit)
}

/// Whether the limit does not hold for this process. Where the kernel does not tell, it does.
fn may_lock() -> bool {
    let users = fs::read_link("/proc/self/ns/user").is_ok_and(|users| users.as_os_str() == HOST_USERS);
    users && fs::read_to_string("/proc/thread-self/status").is_ok_and(|status| has_capability(&status))
}

fn has_capability(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).is_some_and(|mask| mask >> CAP_IPC_LOCK & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_locks_whole_pages_for_both_of_its_sides() {
        assert_eq!(ring_bytes(1, Path::Interrupt), Bytes(2 * PAGE));
        assert_eq!(ring_bytes(32, Path::Interrupt), Bytes(2 * PAGE));
        assert_eq!(ring_bytes(4096, Path::Interrupt), Bytes((37 + 64) * PAGE));
        assert_eq!(ring_bytes(32, Path::Passthrough), Bytes(2 * PAGE));
    }

    #[test]
    fn the_right_to_lock_is_one_bit_of_a_mask() {
        assert!(has_capability("Name:\tx\nCapEff:\t0000000000004000\n"));
        assert!(!has_capability("CapEff:\t0000000000003fff\n"));
        assert!(!has_capability(""));
    }
}
