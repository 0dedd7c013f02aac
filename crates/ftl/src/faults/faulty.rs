//! A simulated drive with faults, as a [`Device`] around the drive itself.
//!
//! The drive inside has its own clock. While it stands still (a stall, a reset) only the clock out here goes on, so that
//! everything it does later is later by exactly that time.

mod strikes;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos, Probe};

use super::check::{FaultError, rules};
use super::events::{Event, Events, command};
use super::rule::{NEVER, Rule, extent};
use super::{ErrnoName, Fault, Kind, Outcome};
use crate::drive::SimulatedDrive;

/// A simulated drive that fails where and when its faults say.
pub struct Faulty<D> {
    drive: D,
    rules: Vec<Rule>,
    /// Of the drive as it was named.
    info: DeviceInfo,
    /// What is left of it.
    capacity: Bytes,
    gone: bool,
    clock: u64,
    /// By how much the clock is ahead of that of the drive inside; below zero after a reset that failed its commands.
    ahead: i64,
    /// The drive stands still until then.
    frozen_until: u64,
    /// When the next fault strikes by time.
    next_strike: u64,
    slots: Vec<Slot>,
    /// Commands inside the drive.
    inside: u32,
    /// Commands that were not reaped yet.
    outstanding: u32,
    /// Ends of commands and losses that are due later, the earliest first; those of one instant in the order they came.
    held: BinaryHeap<Reverse<(u64, u64, u32)>>,
    held_count: u64,
    ready: VecDeque<Completion>,
    reaped: Vec<Completion>,
    command_count: u64,
    written: u64,
    events: Events,
    silence: Silence,
}

/// A command and where it is.
#[derive(Clone, Copy)]
struct Slot {
    io: Io,
    place: Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It is over, or was never there.
    Out,
    /// Inside the drive; where it fails, with what and how much later.
    Inside(Option<(Errno, u64)>),
    /// It ended inside the drive and is known to have failed a while later.
    Late(Errno),
    /// The drive has lost it; at the time limit it fails or is sent again.
    Lost(Option<Errno>, u64),
}

/// Times in which nothing completed that was outstanding.
#[derive(Default)]
struct Silence {
    since: u64,
    longest: u64,
}

impl<D: Device> Faulty<D> {
    /// Put faults around a fresh drive. `seed`: of their draws.
    ///
    /// # Errors
    /// [`FaultError`] for the first fault that this drive cannot have.
    pub fn new(drive: D, faults: &[Fault], seed: u64) -> Result<Self, FaultError> {
        let (info, clock) = (drive.info(), drive.now().0);
        let mut wrapped = Self {
            rules: rules(faults, info, seed)?,
            drive,
            info,
            capacity: info.capacity,
            gone: false,
            clock,
            ahead: 0,
            frozen_until: 0,
            next_strike: 0,
            slots: Vec::new(),
            inside: 0,
            outstanding: 0,
            held: BinaryHeap::new(),
            held_count: 0,
            ready: VecDeque::new(),
            reaped: Vec::new(),
            command_count: 0,
            written: 0,
            events: Events::default(),
            silence: Silence::default(),
        };
        wrapped.settle_next_strike();
        Ok(wrapped)
    }

    /// What is left of the drive's capacity; `None` where the drive is gone.
    pub fn present(&mut self) -> Option<Bytes> {
        self.strike_due();
        (!self.gone).then_some(self.capacity)
    }

    /// What happened since this was last asked, in order, and how many more events there were than could be kept.
    pub fn take_events(&mut self) -> (Vec<Event>, u64) {
        self.events.take()
    }

    /// Return the drive to fresh by `purge`, once it does not stand still any more; the time this takes. No block is bad
    /// any more. Nothing is done to a drive that is gone.
    pub fn purge(&mut self, purge: impl FnOnce(&mut D) -> Nanos) -> Nanos {
        let begun = self.clock;
        self.between(|drive| _ = purge(drive));
        self.heal(&(0..self.info.capacity.0));
        Nanos(self.clock - begun)
    }

    /// Do something to the drive between programs, unless it is gone or was given up with commands outstanding.
    fn between(&mut self, work: impl FnOnce(&mut D)) {
        self.strike_due();
        if self.gone || self.outstanding > 0 {
            return;
        }
        self.stand_still_until(self.frozen_until.max(self.clock));
        work(&mut self.drive);
        self.clock = self.outer(self.drive.now());
        self.strike_due();
    }

    fn heal(&mut self, range: &Range<u64>) {
        self.rules.iter_mut().for_each(|rule| rule.heal(range));
    }

    fn outer(&self, inner: Nanos) -> u64 {
        inner.0.wrapping_add_signed(self.ahead)
    }

    /// The same instant on the clock of the drive inside.
    fn inner(&self, at: u64) -> Nanos {
        if at == NEVER { Nanos::NEVER } else { Nanos(at.wrapping_sub(self.ahead as u64)) }
    }

    fn stand_still_until(&mut self, at: u64) {
        self.ahead += (at - self.clock).cast_signed();
        self.clock = at;
    }

    /// What becomes of a command that is submitted now.
    fn judge(&mut self, io: &Io) -> Place {
        let mut hit = None;
        for (index, rule) in self.rules.iter_mut().enumerate().filter(|(_, rule)| rule.hits_commands()) {
            if rule.hits(io, hit.is_none()) {
                hit = hit.or(Some(index));
            }
        }
        let Some(index) = hit else { return Place::Inside(None) };
        let target = &self.rules[index].target;
        match (target.kind, target.outcome) {
            (Kind::Timeout, Outcome::Retry) => Place::Lost(None, target.duration),
            (Kind::Timeout, Outcome::Error) => {
                Place::Lost(Some(target.errno.unwrap_or(named(ErrnoName::ETIMEDOUT))), target.duration)
            }
            _ => Place::Inside(Some((target.errno.unwrap_or(named(ErrnoName::ENODATA)), target.duration))),
        }
    }

    /// Why a command is turned away at once.
    fn refusal(&self, io: &Io) -> Option<Errno> {
        if self.gone {
            return Some(named(ErrnoName::ENODEV));
        }
        let beyond = self.capacity < self.info.capacity && extent(io).end > self.capacity.0;
        let error = if io.direction == Direction::Read { ErrnoName::EIO } else { ErrnoName::ENOSPC };
        let stated = self.rules.iter().find(|rule| rule.target.kind == Kind::Shrink && rule.target.strikes == 0);
        beyond.then(|| stated.and_then(|rule| rule.target.errno).unwrap_or(named(error)))
    }

    fn place(&mut self, io: Io, place: Place) {
        self.slots[io.slot as usize].place = place;
        match place {
            Place::Inside(fails) => {
                if fails.is_none() && io.direction == Direction::Write {
                    self.heal(&extent(&io));
                }
                self.inside += 1;
                self.drive.submit(io);
            }
            Place::Lost(_, limit) => self.hold(io.slot, self.clock + limit),
            Place::Late(_) | Place::Out => {}
        }
    }

    fn hold(&mut self, slot: u32, until: u64) {
        self.held_count += 1;
        self.held.push(Reverse((until, self.held_count, slot)));
    }

    /// A command is over now.
    fn end(&mut self, slot: u32, result: Result<Bytes, Errno>) {
        self.slots[slot as usize].place = Place::Out;
        self.ready.push_back(Completion { slot, at: Nanos(self.clock), result });
    }

    /// What the drive inside has completed by now.
    fn take_reaped(&mut self) {
        for completion in std::mem::take(&mut self.reaped) {
            self.inside -= 1;
            let slot = self.slots[completion.slot as usize];
            match slot.place {
                Place::Inside(Some((errno, 0))) => self.fail(&slot.io, errno),
                Place::Inside(Some((errno, late))) => {
                    self.slots[completion.slot as usize].place = Place::Late(errno);
                    self.hold(completion.slot, self.clock + late);
                }
                _ => self.end(completion.slot, completion.result),
            }
        }
    }

    fn fail(&mut self, io: &Io, errno: Errno) {
        let block = self.info.logical_block.0;
        self.events.note(self.clock, 3, || format!("critical medium error, {}", command(io, block)));
        self.end(io.slot, Err(errno));
    }

    /// Whatever is due by now of what was held.
    fn release_held(&mut self) {
        while let Some(Reverse((_, _, slot))) = self.held.peek().copied().filter(|Reverse(held)| held.0 <= self.clock) {
            self.held.pop();
            let Slot { io, place } = self.slots[slot as usize];
            match place {
                Place::Late(errno) => self.fail(&io, errno),
                Place::Lost(outcome, limit) => self.give_up(io, outcome, limit),
                Place::Inside(_) | Place::Out => {}
            }
        }
    }

    fn give_up(&mut self, io: Io, outcome: Option<Errno>, limit: u64) {
        let (block, fate) = (self.info.logical_block.0, if outcome.is_some() { "aborted" } else { "sent again" });
        self.events.note(self.clock, 4, || {
            format!("command timed out after {} s, {}, {fate}", limit as f64 / 1e9, command(&io, block))
        });
        match outcome {
            Some(errno) => self.end(io.slot, Err(errno)),
            None => self.place(io, Place::Inside(None)),
        }
    }

    /// Let time pass up to the next thing that happens, at the longest to the deadline.
    fn advance(&mut self, deadline: u64) -> Result<(), Errno> {
        let held = self.held.peek().map_or(NEVER, |Reverse((at, ..))| *at);
        let until = deadline.min(self.next_strike).min(held).max(self.clock);
        if self.clock < self.frozen_until {
            self.stand_still_until(until.min(self.frozen_until));
            return Ok(());
        }
        let until = self.inner(until);
        let mut reaped = std::mem::take(&mut self.reaped);
        let outcome = self.drive.reap(&mut reaped, until);
        self.reaped = reaped;
        self.clock = self.outer(self.drive.now());
        self.take_reaped();
        outcome
    }
}

impl Faulty<SimulatedDrive> {
    /// The host no longer needs what lies between two places; nothing there is bad any more.
    ///
    /// # Panics
    /// See [`SimulatedDrive::trim`].
    pub fn trim(&mut self, from: Bytes, to: Bytes) {
        self.between(|drive| drive.trim(from, to));
        self.heal(&(from.0..to.0));
    }

    /// Switch the volatile write cache.
    ///
    /// # Panics
    /// See [`SimulatedDrive::switch_write_cache`].
    pub fn switch_write_cache(&mut self, enabled: bool) {
        self.between(|drive| drive.switch_write_cache(enabled));
    }
}

impl<D: Device> Device for Faulty<D> {
    const VIRTUAL_TIME: bool = true;
    const LOOKS_AHEAD: bool = D::LOOKS_AHEAD;

    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: self.capacity, ..self.info }
    }

    #[inline]
    fn now(&self) -> Nanos {
        Nanos(self.clock)
    }

    fn wall(&self) -> Nanos {
        Nanos(self.outer(self.drive.wall()))
    }

    fn prepare(&mut self, data: &[DataPattern], slot_count: u32, transfer: Bytes) -> Result<(), Errno> {
        let io = Io { slot: 0, direction: Direction::Read, offset: Bytes(0), length: Bytes(0), data_index: 0 };
        self.slots = vec![Slot { io, place: Place::Out }; slot_count as usize];
        // A drive that is gone may have commands inside for ever.
        if self.gone { Ok(()) } else { self.drive.prepare(data, slot_count, transfer) }
    }

    fn look_ahead(&mut self, offset: Bytes) {
        self.drive.look_ahead(offset);
    }

    fn submit(&mut self, io: Io) {
        self.strike_due();
        if self.outstanding == 0 {
            self.silence.since = self.clock;
        }
        self.outstanding += 1;
        self.slots[io.slot as usize].io = io;
        if let Some(errno) = self.refusal(&io) {
            self.end(io.slot, Err(errno));
        } else {
            let place = self.judge(&io);
            self.place(io, place);
        }
        self.count(&io);
    }

    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        loop {
            self.strike_due();
            self.release_held();
            if !self.ready.is_empty() {
                self.silence.ended(self.clock);
                self.outstanding -= self.ready.len() as u32;
                completions.extend(self.ready.drain(..));
                return Ok(());
            }
            let looked = self.clock;
            self.advance(deadline.0)?;
            // What completes at the deadline itself, and what strikes there, comes first.
            if self.clock >= deadline.0 && self.ready.is_empty() && looked == self.clock {
                return Ok(());
            }
        }
    }

    fn probe(&mut self, with_counters: bool) -> Probe {
        self.drive.probe(with_counters)
    }

    fn stall_max(&mut self) -> Option<Nanos> {
        let running = if self.outstanding > 0 { self.clock - self.silence.since } else { 0 };
        Some(Nanos(std::mem::take(&mut self.silence.longest).max(running)))
    }
}

impl Silence {
    fn ended(&mut self, at: u64) {
        self.longest = self.longest.max(at - self.since);
        self.since = at;
    }
}

fn named(name: ErrnoName) -> Errno {
    Errno(name.number())
}
