//! Keeps a thread on one CPU.

use std::io;

/// CPUs that one word of the kernel's mask holds.
const WORD_BITS: usize = u64::BITS as usize;

/// Keep the calling thread on one CPU from now on; memory that it touches first then lies at that CPU's NUMA node.
///
/// # Errors
/// When there is no such CPU, it is offline, or this process may not use it.
pub fn pin_this_thread(cpu: u32) -> io::Result<()> {
    let cpu = cpu as usize;
    let mut mask = vec![0_u64; cpu / WORD_BITS + 1];
    mask[cpu / WORD_BITS] = 1 << (cpu % WORD_BITS);
    // SAFETY: the mask lives through the call, and its length in bytes is given; the kernel takes masks of any length.
    let result = unsafe { libc::sched_setaffinity(0, mask.len() * size_of::<u64>(), mask.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPUs of this thread as the kernel lists them.
    fn allowed() -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("proc is mounted");
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.expect("the kernel lists them").trim().to_owned()
    }

    #[test]
    fn a_pinned_thread_may_use_one_cpu_and_a_cpu_that_is_not_there_is_an_error() {
        let before = allowed();
        let cpu: u32 = before.split(['-', ',']).next_back().and_then(|text| text.parse().ok()).expect("a number");
        let pinned = std::thread::spawn(move || pin_this_thread(cpu).map(|()| allowed())).join().expect("no panic");
        assert_eq!(pinned.expect("the CPU may be used"), cpu.to_string());
        assert_eq!(allowed(), before, "other threads go where they did");
        let error = pin_this_thread(8191).expect_err("no such CPU");
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
