//! A bus that several parts share: a transfer takes what is free of it, also before what is reserved for later.

#![allow(clippy::inline_always, reason = "on the path of every I/O; the callers are few")]

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The time of a bus that is taken, in stretches that do not overlap.
///
/// A transfer that meets a stretch goes on when it is over: the bus never idles while something waits for it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Bus {
    /// Begin and end of the stretch that ends last.
    last: (u64, u64),
    /// Those before it that may not be over, the earliest first.
    earlier: VecDeque<(u64, u64)>,
}

impl Bus {
    /// Take `span` of the bus, at `from` or later; `now` is a time before which nothing can come any more. Returns the end.
    #[inline(always)]
    pub(crate) fn serve(&mut self, from: u64, span: u64, now: u64) -> u64 {
        if from < self.last.0 {
            return self.serve_before(from, span);
        }
        if from > self.last.1 {
            self.begin(from, now);
        }
        self.last.1 += span;
        self.last.1
    }

    /// All of the time from `from` to `until` is taken, whatever else takes it; returns how much of it was free.
    pub(crate) fn take(&mut self, from: u64, until: u64, now: u64) -> u64 {
        if from > self.last.1 {
            self.begin(from, now);
        }
        if from < self.last.0 {
            return self.take_before(from, until);
        }
        let added = until.saturating_sub(self.last.1);
        self.last.1 += added;
        added
    }

    /// The first instant at `at` or later that is not taken.
    #[inline(always)]
    pub(crate) fn free_from(&self, at: u64) -> u64 {
        if at >= self.last.1 {
            at
        } else if at >= self.last.0 {
            self.last.1
        } else {
            self.free_before(at)
        }
    }

    /// The end of something that takes `span` of what is free from `from` on and leaves it to be taken.
    #[inline(always)]
    pub(crate) fn passed(&self, from: u64, span: u64) -> u64 {
        if from >= self.last.1 { from + span } else { self.passed_before(from, span) }
    }

    /// Begin a stretch behind all others, and forget those that are over.
    #[inline(always)]
    fn begin(&mut self, from: u64, now: u64) {
        if self.last.1 > now || !self.earlier.is_empty() {
            self.keep(now);
        }
        self.last = (from, from);
    }

    /// The last stretch is to be one of the earlier ones, unless it is over.
    #[inline(never)]
    fn keep(&mut self, now: u64) {
        if self.last.1 <= now {
            self.earlier.clear();
            return;
        }
        while self.earlier.front().is_some_and(|(_, end)| *end < now) {
            self.earlier.pop_front();
        }
        self.earlier.push_back(self.last);
    }

    #[inline(never)]
    fn free_before(&self, at: u64) -> u64 {
        let next = self.earlier.get(self.earlier.partition_point(|(_, end)| *end <= at));
        next.filter(|(begin, _)| *begin <= at).map_or(at, |(_, end)| *end)
    }

    #[inline(never)]
    fn passed_before(&self, from: u64, span: u64) -> u64 {
        let first = self.earlier.partition_point(|(_, end)| *end <= from);
        let mut end = from + span;
        for (begin, until) in self.earlier.range(first..).chain([&self.last]) {
            if *begin >= end {
                break;
            }
            end += until - from.max(*begin);
        }
        end
    }

    /// Take what is free before the last stretch first. The transfer and the stretches that it reaches become one.
    #[inline(never)]
    fn serve_before(&mut self, from: u64, span: u64) -> u64 {
        let end = self.passed_before(from, span);
        self.join(from, end);
        end
    }

    fn take_before(&mut self, from: u64, until: u64) -> u64 {
        let taken: u64 = self
            .earlier
            .iter()
            .chain([&self.last])
            .map(|(begin, end)| until.min(*end).saturating_sub(from.max(*begin)))
            .sum();
        self.join(from, until);
        until - from - taken
    }

    /// All from `from`, before the last stretch, to `end` is one stretch, with those that it meets.
    fn join(&mut self, from: u64, end: u64) {
        let first = self.earlier.partition_point(|(_, end)| *end < from);
        let behind = self.earlier.partition_point(|(begin, _)| *begin < end);
        let begin = self.earlier.get(first).map_or(from, |(begin, _)| from.min(*begin));
        let met = if behind > first { self.earlier[behind - 1].1 } else { end };
        self.earlier.drain(first..behind);
        if end > self.last.0 {
            self.last = (begin, end.max(self.last.1));
        } else {
            self.earlier.insert(first, (begin, end.max(met)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_transfer_takes_the_time_before_what_is_reserved_for_later() {
        let mut bus = Bus::default();
        assert_eq!(bus.serve(1_000, 100, 0), 1_100);
        assert_eq!(bus.serve(0, 10, 0), 10, "idle until 1000");
        assert_eq!(bus.serve(5, 10, 0), 20, "one after the other");
        assert_eq!(bus.serve(950, 80, 0), 1_130, "50 before the stretch and 30 behind it");
        assert_eq!([0, 20, 949, 951, 1_130].map(|at| bus.free_from(at)), [20, 20, 949, 1_130, 1_130]);
        assert_eq!(bus.serve(0, 930, 0), 950);
        assert_eq!(bus.serve(0, 1, 0), 1_131, "all of it is taken");
    }

    #[test]
    fn what_is_taken_whatever_else_takes_it_is_taken_once() {
        let mut bus = Bus::default();
        assert_eq!(bus.take(100, 200, 0), 100);
        assert_eq!(bus.take(150, 260, 0), 60);
        assert_eq!(bus.take(10, 50, 0), 40);
        assert_eq!(bus.take(0, 300, 0), 300 - 160 - 40);
        assert_eq!(bus.free_from(5), 300);
        assert_eq!(bus.serve(0, 10, 0), 310);
    }

    proptest! {
        /// Instants of a bus that serves whatever waits, told one by one.
        #[test]
        fn the_bus_is_never_idle_while_something_waits(
            transfers in prop::collection::vec((0_u64..300, 1_u64..20), 1..40)
        ) {
            let (mut bus, mut taken) = (Bus::default(), vec![false; 1_200]);
            for (from, span) in transfers {
                let mut left = span;
                let mut end = from;
                while left > 0 {
                    let instant = &mut taken[end as usize];
                    left -= u64::from(!std::mem::replace(instant, true));
                    end += 1;
                }
                prop_assert_eq!(bus.serve(from, span, 0), end);
            }
            let total: u64 = bus.earlier.iter().chain([&bus.last]).map(|(begin, end)| end - begin).sum();
            prop_assert_eq!(total as usize, taken.iter().filter(|taken| **taken).count());
        }
    }
}
