//! Whether the host has processors to spare for threads of the kernel.
//!
//! Where such a thread shares a processor with the stimulus, each waits for the other to be scheduled: rates fall to a
//! tenth and tell of the scheduler alone.

use std::fmt;
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

/// Fewer processors are never enough.
const PROCESSORS_MIN: usize = 4;
/// Every worker has a thread, and the kernel one beside it.
const THREADS_PER_LANE: usize = 2;
/// What runs for a moment only does not count: the least of so many looks, and the time between them.
const LOOKS: u32 = 3;
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// There are too few idle processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded {
    /// Idle processors that it takes.
    pub needed: usize,
    /// Those that there are.
    pub idle: usize,
    /// Processors that this process may use.
    pub processors: usize,
}

impl fmt::Display for Crowded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, idle, processors } = self;
        write!(
            formatter,
            "takes {needed} idle processors on a host of at least {PROCESSORS_MIN}; {idle} of {processors} are idle"
        )
    }
}

/// Ask the host whether so many workers and as many threads of the kernel fit into idle processors now.
///
/// # Errors
/// Where they do not.
pub fn admit_kernel_threads(worker_count: usize) -> Result<(), Crowded> {
    let processors = available_parallelism().map_or(1, usize::from);
    admit(worker_count, processors, busy().unwrap_or(processors))
}

fn admit(worker_count: usize, processors: usize, busy: usize) -> Result<(), Crowded> {
    let (needed, idle) = (worker_count * THREADS_PER_LANE, processors.saturating_sub(busy));
    if processors >= PROCESSORS_MIN && needed <= idle { Ok(()) } else { Err(Crowded { needed, idle, processors }) }
}

/// Threads that run or wait for a processor, this one left out; `None` where the kernel does not tell.
fn busy() -> Option<usize> {
    let looks = (0..LOOKS).map(|look| {
        if look > 0 {
            sleep(LOOK_EVERY);
        }
        running(&std::fs::read_to_string("/proc/loadavg").ok()?)
    });
    looks.collect::<Option<Vec<_>>>()?.into_iter().min().map(|running| running.saturating_sub(1))
}

/// The numerator of the fourth field.
fn running(load: &str) -> Option<usize> {
    load.split_whitespace().nth(3)?.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_and_its_kernel_thread_need_a_processor_each_of_four_at_least() {
        let admitted = |workers, processors, busy| admit(workers, processors, busy).is_ok();
        assert!(!admitted(1, 2, 0) && !admitted(1, 3, 0));
        assert!(admitted(1, 4, 2) && !admitted(1, 4, 3));
        assert!(admitted(2, 4, 0) && !admitted(2, 4, 1) && !admitted(3, 4, 0));
        assert!(!admitted(1, 4, 9));
    }

    #[test]
    fn a_refusal_says_what_there_is() {
        let refused = admit(2, 4, 1).expect_err("one is busy");
        assert_eq!(refused, Crowded { needed: 4, idle: 3, processors: 4 });
        assert_eq!(refused.to_string(), "takes 4 idle processors on a host of at least 4; 3 of 4 are idle");
    }

    #[test]
    fn running_threads_are_read_from_the_load() {
        assert_eq!(running("12.87 11.74 8.10 11/226 2541\n"), Some(11));
        assert_eq!(running("12.87"), None);
        assert!(busy().is_some());
    }
}
