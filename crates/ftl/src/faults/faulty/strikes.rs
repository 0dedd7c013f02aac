//! When faults strike, and what they do to the drive as a whole.

use assay_core::contract::{Bytes, Device, Direction, Errno, Io, Nanos};

use super::{Faulty, Place, named};
use crate::faults::rule::NEVER;
use crate::faults::{ErrnoName, Kind, Outcome};

impl<D: Device> Faulty<D> {
    pub(super) fn settle_next_strike(&mut self) {
        self.next_strike = self.rules.iter().map(|rule| rule.next).min().unwrap_or(NEVER);
    }

    /// Let every fault strike whose time has come, in the order of their times.
    pub(super) fn strike_due(&mut self) {
        while self.next_strike <= self.clock {
            let due = self.rules.iter().position(|rule| rule.next == self.next_strike);
            let index = due.expect("the next strike is one of a rule");
            self.rules[index].pass_time();
            self.strike(index, self.next_strike);
            self.settle_next_strike();
        }
    }

    fn strike(&mut self, index: usize, at: u64) {
        if self.rules[index].hits_commands() {
            self.rules[index].arm();
            return;
        }
        if self.gone || !self.rules[index].spend() {
            return;
        }
        let target = self.rules[index].target.clone();
        match target.kind {
            Kind::Stall => self.freeze(at, target.duration),
            Kind::Reset => self.reset(at, target.duration, target.outcome, target.errno),
            Kind::Shrink => self.shrink(at, target.capacity),
            Kind::Gone => self.vanish(at),
            Kind::MediaError | Kind::Timeout => {}
        }
    }

    fn freeze(&mut self, at: u64, duration: u64) {
        self.frozen_until = self.frozen_until.max(at + duration);
    }

    fn reset(&mut self, at: u64, duration: u64, outcome: Outcome, errno: Option<Errno>) {
        let count = self.inside + self.held.len() as u32;
        let fate = if outcome == Outcome::Error { "failed" } else { "sent again" };
        self.events.note(at, 4, || format!("controller reset, {count} outstanding commands {fate}"));
        if outcome == Outcome::Error {
            self.empty_drive();
            self.fail_all(errno.unwrap_or(named(ErrnoName::EIO)));
        }
        self.freeze(at, duration);
    }

    /// What was inside is carried out before the reset ends, unseen by the host.
    fn empty_drive(&mut self) {
        while self.inside > 0 {
            self.reaped.clear();
            // A simulated drive's queue never fails.
            let _ = self.drive.reap(&mut self.reaped, Nanos::NEVER);
            self.inside -= self.reaped.len() as u32;
        }
        self.reaped.clear();
        self.ahead = self.clock.cast_signed() - self.drive.now().0.cast_signed();
    }

    /// Every command that is not over ends now.
    fn fail_all(&mut self, errno: Errno) {
        self.held.clear();
        for slot in 0..self.slots.len() {
            if self.slots[slot].place != Place::Out {
                self.end(slot as u32, Err(errno));
            }
        }
    }

    fn shrink(&mut self, at: u64, capacity: Bytes) {
        if capacity < self.capacity {
            let (before, after) = (self.capacity.0, capacity.0);
            self.events.note(at, 6, || format!("detected capacity change from {before} to {after} bytes"));
            self.capacity = capacity;
        }
    }

    fn vanish(&mut self, at: u64) {
        let count = self.inside + self.held.len() as u32;
        self.events.note(at, 4, || format!("device removed, {count} outstanding commands failed"));
        self.gone = true;
        self.inside = 0;
        self.frozen_until = NEVER;
        self.fail_all(named(ErrnoName::ENODEV));
    }

    /// Faults that strike by what was submitted do so right after a command.
    pub(super) fn count(&mut self, io: &Io) {
        self.command_count += 1;
        let before = self.written;
        if io.direction == Direction::Write {
            self.written += io.length.0;
        }
        for index in 0..self.rules.len() {
            if self.rules[index].strikes_after(before, self.written, self.command_count) {
                self.strike(index, self.clock);
            }
        }
    }
}
