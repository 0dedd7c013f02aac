//! A die: programs and erases one after the other, and reads, which go before those that have not begun.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Die {
    /// End of everything that is queued, if no further read comes.
    busy_until: u64,
    read_until: u64,
    /// End of the operation that began last.
    current_until: u64,
    /// Operations that have not begun: when each may, and how long it takes.
    waiting: VecDeque<(u64, u64)>,
}

impl Die {
    /// Queue an operation; `now` is a time before which no read can come any more.
    #[inline]
    pub(crate) fn queue(&mut self, ready: u64, span: u64, now: u64) -> u64 {
        // Without this a drive that is only written to would remember every operation it ever did.
        self.advance(now);
        self.busy_until = self.busy_until.max(ready).max(self.read_until) + span;
        self.waiting.push_back((ready, span));
        self.busy_until
    }

    /// Let the operations begin that can until `at`.
    #[inline]
    fn advance(&mut self, at: u64) {
        while let Some((ready, span)) = self.waiting.front() {
            let begin = self.current_until.max(self.read_until).max(*ready);
            if begin > at {
                return;
            }
            self.current_until = begin + span;
            self.waiting.pop_front();
        }
    }

    /// Read the array: after the operation in progress and earlier reads, before everything that waits.
    #[inline]
    pub(crate) fn sense(&mut self, at: u64, span: u64) -> u64 {
        self.advance(at);
        self.read_until = at.max(self.current_until).max(self.read_until) + span;
        if self.busy_until > at {
            self.busy_until += span;
        }
        self.read_until
    }

    /// Until when the program or erase in progress at `at` keeps a read waiting; a time before it where there is none.
    #[inline]
    pub(crate) fn engaged_until(&mut self, at: u64) -> u64 {
        self.advance(at);
        self.current_until
    }

    #[cfg(test)]
    pub(crate) fn queue_length(&self) -> usize {
        self.waiting.len()
    }
}
