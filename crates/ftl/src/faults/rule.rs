//! One fault at work: when it strikes next, and which commands it hits.

use std::ops::Range;

use assay_core::contract::{Bytes, Direction, Errno, Io};

use super::bad_blocks::BadBlocks;
use super::{Directions, Kind, Outcome};
use crate::stream::Stream;

/// No time at all.
pub(crate) const NEVER: u64 = u64::MAX;

/// When a fault strikes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trigger {
    /// At a time.
    At(u64),
    /// Every so often, each time later by up to the jitter.
    Every { period: u64, jitter: u64 },
    /// Once the host has written so much.
    Written(u64),
    /// Once so many commands were submitted.
    Commands(u64),
    /// With a command, by chance: the part of 2^64.
    Rate(u128),
}

/// What a fault does, checked; times in nanoseconds, places in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) trigger: Trigger,
    /// How often it may still strike.
    pub(crate) strikes: u64,
    pub(crate) directions: Directions,
    pub(crate) from: u64,
    pub(crate) end: u64,
    pub(crate) until_written: bool,
    pub(crate) duration: u64,
    pub(crate) outcome: Outcome,
    pub(crate) errno: Option<Errno>,
    pub(crate) capacity: Bytes,
}

/// A fault with its memory.
pub(crate) struct Rule {
    pub(crate) target: Target,
    /// When it strikes next by time.
    pub(crate) next: u64,
    /// Periods that have passed.
    period_count: u64,
    /// Commands that it hits as soon as they come.
    armed: u64,
    bad: BadBlocks,
    draws: Stream,
}

impl Rule {
    /// `seed` of the drive and `number` of the fault make its draws its own.
    pub(crate) fn new(target: Target, seed: u64, number: u64) -> Self {
        let draws = Stream::new(Stream::new(seed ^ number.rotate_right(8)).next());
        let mut rule = Self { target, next: NEVER, period_count: 0, armed: 0, bad: BadBlocks::default(), draws };
        if let Trigger::At(at) = rule.target.trigger {
            rule.next = at;
        }
        rule.next_period();
        rule
    }

    /// Its time has come: the next one is settled.
    pub(crate) fn pass_time(&mut self) {
        self.next = NEVER;
        if self.target.strikes > 0 {
            self.next_period();
        }
    }

    fn next_period(&mut self) {
        if let Trigger::Every { period, jitter } = self.target.trigger {
            self.period_count += 1;
            let late = if jitter == 0 { 0 } else { self.draws.below(jitter) };
            self.next = self.period_count.saturating_mul(period).saturating_add(late);
        }
    }

    /// Whether it strikes right after this command, by what was submitted up to it.
    pub(crate) fn strikes_after(&mut self, written_before: u64, written: u64, command_count: u64) -> bool {
        match self.target.trigger {
            Trigger::Written(amount) => (written_before..written).contains(&(amount - 1)),
            Trigger::Commands(count) => command_count == count,
            Trigger::Rate(share) if !self.hits_commands() => u128::from(self.draws.next()) < share,
            _ => false,
        }
    }

    /// It hits single commands, not the drive.
    pub(crate) fn hits_commands(&self) -> bool {
        matches!(self.target.kind, Kind::MediaError | Kind::Timeout)
    }

    /// Whether it may strike once more; it has then.
    pub(crate) fn spend(&mut self) -> bool {
        let left = self.target.strikes > 0;
        self.target.strikes = self.target.strikes.saturating_sub(1);
        if self.target.strikes == 0 {
            self.next = NEVER;
        }
        left
    }

    /// It struck by time or amount, and waits for commands.
    pub(crate) fn arm(&mut self) {
        if self.target.until_written {
            if self.spend() {
                self.bad.add(self.target.from..self.target.end);
            }
        } else {
            // What was due while no command came is not made up for.
            let again = matches!(self.target.trigger, Trigger::Every { .. });
            self.armed = if again { self.target.strikes.min(1) } else { self.target.strikes };
        }
    }

    /// Whether it hits this command; `free` where no other fault did before.
    pub(crate) fn hits(&mut self, io: &Io, free: bool) -> bool {
        if !self.matches(io) {
            return false;
        }
        let extent = extent(io);
        // A draw is made for every command, so that one fault does not move another's draws.
        let drawn = matches!(self.target.trigger, Trigger::Rate(share) if u128::from(self.draws.next()) < share);
        if self.target.until_written && self.bad.touches(&extent) {
            return true;
        }
        if !free || !(drawn || self.armed > 0) || !self.spend() {
            return false;
        }
        self.armed = self.armed.saturating_sub(1);
        if self.target.until_written {
            self.bad.add(extent);
        }
        true
    }

    /// What was written can be read again.
    pub(crate) fn heal(&mut self, range: &Range<u64>) {
        self.bad.heal(range);
    }

    fn matches(&self, io: &Io) -> bool {
        let extent = extent(io);
        let direction = match self.target.directions {
            Directions::Read => io.direction == Direction::Read,
            Directions::Write => io.direction == Direction::Write,
            Directions::Both => true,
        };
        direction && extent.start < self.target.end && extent.end > self.target.from
    }
}

/// The bytes that a command covers.
pub(crate) fn extent(io: &Io) -> Range<u64> {
    io.offset.0..io.offset.0 + io.length.0
}
