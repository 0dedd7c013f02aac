//! How long a thread was ready to run and waited for a processor, as the scheduler counts it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use assay_core::contract::Nanos;

/// The scheduler's own line of the thread that opened it; it takes one read of some bytes.
///
/// Source: Linux `Documentation/scheduler/sched-stats.rst`: time run, time waited, time slices.
pub(crate) struct WaitMeter(Option<File>);

impl WaitMeter {
    /// Of the calling thread, from whichever thread it is read later. A kernel without the line is no error.
    pub(crate) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Since the thread began; `None` where the kernel does not count it.
    pub(crate) fn read(&self) -> Option<Nanos> {
        let mut text = [0_u8; 80];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..length]).ok()?)
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
}
