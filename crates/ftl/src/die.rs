//! A die: programs and erases one after the other, and reads, which go before those that have not begun.

#![allow(clippy::inline_always, reason = "on the path of every I/O; the callers are few")]

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::bus::Bus;

/// A time before which nothing can come any more, and the time in which no program or erase is begun on any die.
#[derive(Clone, Copy)]
pub(crate) struct Clock<'a> {
    pub(crate) now: u64,
    pub(crate) held: &'a Bus,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Die {
    /// End of everything that is queued, if no further read comes.
    busy_until: u64,
    /// Reads of the array; some are known before their time comes.
    reads: Bus,
    /// End of the operation that began last.
    current_until: u64,
    /// Operations that have not begun: when each may, and how long it takes.
    waiting: VecDeque<(u64, u64)>,
}

impl Die {
    /// Queue an operation.
    #[inline(always)]
    pub(crate) fn queue(&mut self, ready: u64, span: u64, clock: Clock) -> u64 {
        // Without this a drive that is only written to would remember every operation it ever did.
        self.advance(clock);
        self.busy_until = self.free_from(self.busy_until.max(ready), clock) + span;
        self.waiting.push_back((ready, span));
        self.busy_until
    }

    /// Let the operations begin that can until now.
    #[inline(always)]
    pub(crate) fn advance(&mut self, clock: Clock) {
        while let Some((ready, span)) = self.waiting.front().copied() {
            let begin = self.free_from(self.current_until.max(ready), clock);
            if begin > clock.now {
                return;
            }
            self.current_until = begin + span;
            self.waiting.pop_front();
        }
    }

    /// When an operation that could begin at `at` does.
    #[inline(always)]
    fn free_from(&self, at: u64, clock: Clock) -> u64 {
        let free = clock.held.free_from(self.reads.free_from(at));
        if free == at { at } else { self.free_later(free, clock) }
    }

    #[inline(never)]
    fn free_later(&self, at: u64, clock: Clock) -> u64 {
        self.free_from(at, clock)
    }

    /// All that waits is begun later by so much, from `from` on.
    #[inline]
    pub(crate) fn postpone(&mut self, from: u64, span: u64) {
        if self.busy_until > from {
            self.busy_until += span;
        }
    }

    /// Read the array at `at` or later: after the operation that is in progress then and earlier reads, before everything that
    /// waits.
    #[inline(always)]
    pub(crate) fn sense(&mut self, at: u64, span: u64, clock: Clock) -> u64 {
        let end = self.sense_held(at, span, clock);
        self.postpone(at, span);
        end
    }

    /// The same for a read that holds up all dies until it is over.
    #[inline(always)]
    pub(crate) fn sense_held(&mut self, at: u64, span: u64, clock: Clock) -> u64 {
        let engaged = self.engaged_until(at, clock);
        self.reads.serve(at.max(engaged), span, clock.now)
    }

    /// Until when the program or erase in progress at `at` keeps a read waiting; a time before it where there is none.
    #[inline(always)]
    pub(crate) fn engaged_until(&mut self, at: u64, clock: Clock) -> u64 {
        self.advance(clock);
        if at > clock.now { self.engaged_later(at, clock) } else { self.current_until }
    }

    #[inline(never)]
    fn engaged_later(&self, at: u64, clock: Clock) -> u64 {
        let mut until = self.current_until;
        for (ready, span) in &self.waiting {
            let begin = self.free_from(until.max(*ready), clock);
            if begin > at {
                break;
            }
            until = begin + span;
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
        let (mut die, held) = (Die::default(), Bus::default());
        let at = |now| Clock { now, held: &held };
        assert_eq!(die.sense(1_000, 50, at(0)), 1_050);
        assert_eq!(die.sense(0, 50, at(0)), 50);
        assert_eq!(die.queue(0, 300, at(0)), 350, "a program begins behind the first");
        assert_eq!(die.sense(100, 50, at(100)), 400);
        assert_eq!(die.queue(1_020, 300, at(400)), 1_350, "another behind the last");
    }

    #[test]
    fn a_read_in_the_future_waits_for_the_program_that_is_in_progress_then() {
        let (mut die, held) = (Die::default(), Bus::default());
        let at = |now| Clock { now, held: &held };
        die.queue(0, 300, at(0));
        die.queue(0, 300, at(0));
        assert_eq!(die.sense(400, 50, at(0)), 650);
        assert_eq!(die.sense(100, 50, at(0)), 350, "before the second program");
    }
}
