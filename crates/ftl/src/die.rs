//! A die: programs and erases one after the other, and reads, which go before those that have not begun.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::bus::Bus;

#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Die {
    /// End of everything that is queued, if no further read comes.
    busy_until: u64,
    /// Reads of the array; some are known before their time comes.
    reads: Bus,
    /// Time in which no program or erase is begun, since a host read of some die is in the drive.
    held: Bus,
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
        self.busy_until = self.free_from(self.busy_until.max(ready)) + span;
        self.waiting.push_back((ready, span));
        self.busy_until
    }

    /// Let the operations begin that can until `now`.
    #[inline]
    fn advance(&mut self, now: u64) {
        while let Some(begin) = self.waiting.front().map(|next| self.begin_of(*next, self.current_until))
            && begin <= now
        {
            let (_, span) = self.waiting.pop_front().expect("one waits");
            self.current_until = begin + span;
        }
    }

    #[inline]
    fn begin_of(&self, (ready, _): (u64, u64), earlier_until: u64) -> u64 {
        self.free_from(earlier_until.max(ready))
    }

    /// When an operation that could begin at `at` does.
    #[inline]
    fn free_from(&self, at: u64) -> u64 {
        let free = self.reads.free_from(at);
        let held = self.held.free_from(free);
        if held == free { free } else { self.free_from(held) }
    }

    /// Begin no program or erase from `from` to `until`.
    pub(crate) fn hold(&mut self, from: u64, until: u64, now: u64) {
        self.advance(now);
        let added = self.held.take(from, until, now);
        if self.busy_until > from {
            self.busy_until += added;
        }
    }

    /// Read the array at `at` or later: after the operation that is in progress then and earlier reads, before everything that
    /// waits.
    #[inline]
    pub(crate) fn sense(&mut self, at: u64, span: u64, now: u64) -> u64 {
        let end = self.sense_held(at, span, now);
        if self.busy_until > at {
            self.busy_until += span;
        }
        end
    }

    /// The same for a read that holds up all dies until it is over.
    pub(crate) fn sense_held(&mut self, at: u64, span: u64, now: u64) -> u64 {
        let engaged = self.engaged_until(at, now);
        self.reads.serve(at.max(engaged), span, now)
    }

    /// Until when the program or erase in progress at `at` keeps a read waiting; a time before it where there is none.
    #[inline]
    pub(crate) fn engaged_until(&mut self, at: u64, now: u64) -> u64 {
        self.advance(now);
        let mut until = self.current_until;
        for next in &self.waiting {
            let begin = self.begin_of(*next, until);
            if begin > at {
                break;
            }
            until = begin + next.1;
        }
        until
    }

    #[cfg(test)]
    pub(crate) fn queue_length(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_is_known_before_its_time_holds_up_none_that_comes_before() {
        let mut die = Die::default();
        assert_eq!(die.sense(1_000, 50, 0), 1_050);
        assert_eq!(die.sense(0, 50, 0), 50);
        assert_eq!(die.queue(0, 300, 0), 350, "a program begins behind the first");
        assert_eq!(die.sense(100, 50, 100), 400);
        assert_eq!(die.queue(1_020, 300, 400), 1_350, "another behind the last");
    }

    #[test]
    fn a_read_in_the_future_waits_for_the_program_that_is_in_progress_then() {
        let mut die = Die::default();
        die.queue(0, 300, 0);
        die.queue(0, 300, 0);
        assert_eq!(die.sense(400, 50, 0), 650);
        assert_eq!(die.sense(100, 50, 0), 350, "before the second program");
    }
}
