//! A bus that several parts share: a transfer takes what is free of it, also before what is reserved for later.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The time of a bus that is taken, in stretches, the earliest first.
///
/// A transfer that meets a stretch goes on when it is over: the bus never idles while something waits for it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Bus {
    taken: VecDeque<(u64, u64)>,
}

impl Bus {
    /// Take `span` of the bus, at `from` or later; `now` is a time before which nothing can come any more. Returns the end.
    #[inline]
    pub(crate) fn serve(&mut self, from: u64, span: u64, now: u64) -> u64 {
        match self.taken.back_mut() {
            Some((begin, end)) if *begin <= from && from <= *end => {
                *end += span;
                *end
            }
            Some((begin, _)) if from < *begin => self.serve_before(from, span),
            _ => self.begin(from, span, now),
        }
    }

    /// All of the time from `from` to `until` is taken, whatever else takes it; returns how much of it was free.
    pub(crate) fn take(&mut self, from: u64, until: u64, now: u64) -> u64 {
        self.forget(now);
        let first = self.taken.partition_point(|(_, end)| *end < from);
        let behind = self.taken.partition_point(|(begin, _)| *begin <= until);
        let met = self.taken.range(first..behind);
        let taken: u64 = met.clone().map(|(begin, end)| until.min(*end).saturating_sub(from.max(*begin))).sum();
        let (begin, end) = met.fold((from, until), |(begin, end), one| (begin.min(one.0), end.max(one.1)));
        self.taken.drain(first..behind);
        self.taken.insert(first, (begin, end));
        until - from - taken
    }

    /// The first instant at `at` or later that is not taken.
    #[inline]
    pub(crate) fn free_from(&self, at: u64) -> u64 {
        match self.taken.back() {
            Some((begin, end)) if at < *end => {
                if *begin <= at {
                    *end
                } else {
                    self.free_between(at)
                }
            }
            _ => at,
        }
    }

    fn free_between(&self, at: u64) -> u64 {
        let (begin, end) = self.taken[self.taken.partition_point(|(_, end)| *end <= at)];
        if begin <= at { end } else { at }
    }

    /// Begin a stretch behind all others, and forget those that are over.
    #[inline]
    fn begin(&mut self, from: u64, span: u64, now: u64) -> u64 {
        self.forget(now);
        self.taken.push_back((from, from + span));
        from + span
    }

    /// Forget what is over.
    #[inline]
    fn forget(&mut self, now: u64) {
        while self.taken.front().is_some_and(|(_, end)| *end < now) {
            self.taken.pop_front();
        }
    }

    /// Take what is free before the last stretch first. The transfer and the stretches that it reaches become one.
    fn serve_before(&mut self, from: u64, span: u64) -> u64 {
        let first = self.taken.partition_point(|(_, end)| *end < from);
        let begin = from.min(self.taken[first].0);
        let (mut behind, mut at, mut left) = (first, from, span);
        while let Some((next, until)) = self.taken.get(behind).copied().filter(|(next, _)| at + left > *next) {
            left -= next.saturating_sub(at);
            at = at.max(until);
            behind += 1;
        }
        if behind == first {
            self.taken.insert(first, (begin, at + left));
        } else {
            self.taken.drain(first + 1..behind);
            self.taken[first] = (begin, at + left);
        }
        at + left
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
            let total: u64 = bus.taken.iter().map(|(begin, end)| end - begin).sum();
            prop_assert_eq!(total as usize, taken.iter().filter(|taken| **taken).count());
        }
    }
}
