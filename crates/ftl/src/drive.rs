//! The simulated drive as a [`Device`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_core::contract::{
    Bytes, Completion, Counters, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos, Probe,
};

use crate::card::{Card, CardError, PAGE_BYTES};
use crate::collect::Collector;
pub use crate::collect::FlashStatistics;
use crate::geometry::Geometry;
use crate::timing::Timing;

/// A simulated drive, fresh until it is written to.
///
/// Its clock starts at zero and moves only when completions are reaped. Reads of pages that were never written
/// need no flash.
pub struct SimulatedDrive {
    card: Card,
    geometry: Geometry,
    flash: Collector,
    timing: Timing,
    clock: Nanos,
    epoch: Nanos,
    pending: BinaryHeap<Reverse<(u64, u32)>>,
    flights: Vec<Io>,
    counters: Counters,
}

impl SimulatedDrive {
    /// Build a fresh drive. `epoch` is the wall-clock time, since the Unix epoch, at which its clock is zero.
    ///
    /// # Errors
    /// [`CardError`] when a parameter is outside its range or the capacity too small for the dies.
    pub fn new(card: Card, epoch: Nanos) -> Result<Self, CardError> {
        let geometry = Geometry::new(&card)?;
        Ok(Self {
            flash: Collector::new(&geometry),
            timing: Timing::new(&card, &geometry),
            card,
            geometry,
            clock: Nanos(0),
            epoch,
            pending: BinaryHeap::new(),
            flights: Vec::new(),
            counters: Counters::default(),
        })
    }

    /// Return the drive to fresh: every page unmapped, every unit erased. Returns the time this takes.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    pub fn purge(&mut self) -> Nanos {
        assert!(self.pending.is_empty(), "a drive is purged between programs");
        let span = Nanos(u64::from(self.geometry.unit_count) * self.geometry.erase_ns);
        self.flash = Collector::new(&self.geometry);
        self.timing = Timing::new(&self.card, &self.geometry);
        self.clock += span;
        span
    }

    /// Pages written by the host and by garbage collection since the last purge.
    #[must_use]
    pub fn statistics(&self) -> FlashStatistics {
        self.flash.statistics
    }

    fn serve(&mut self, io: &Io) -> u64 {
        match io.direction {
            Direction::Read => self.serve_read(io),
            Direction::Write => self.serve_write(io),
        }
    }

    fn serve_read(&mut self, io: &Io) -> u64 {
        let begun = self.timing.command(self.clock.0, self.card.read_command.0);
        let mut sensed = begun;
        let mut stripe = None;
        for logical in pages(io) {
            let Some(page) = self.flash.mapping.lookup(logical) else { continue };
            let next = self.geometry.stripe_of(page);
            stripe = match stripe {
                Some((same, count)) if same == next => Some((next, count + 1)),
                other => {
                    sensed = sensed.max(self.read_counted(other, begun));
                    Some((next, 1))
                }
            };
        }
        sensed = sensed.max(self.read_counted(stripe, begun));
        // The link's share is reserved at once; the last page still has to cross it once it is sensed.
        let linked = self.timing.link(begun, io.length.0);
        if sensed == begun { linked } else { linked.max(sensed + self.timing.page_on_link(io.length.0)) }
    }

    fn read_counted(&mut self, stripe: Option<(u32, u32)>, at: u64) -> u64 {
        stripe.map_or(at, |(stripe, count)| self.timing.read_stripe(stripe, count, at))
    }

    fn serve_write(&mut self, io: &Io) -> u64 {
        let begun = self.timing.command(self.clock.0, self.card.write_command.0);
        let linked = self.timing.link(begun, io.length.0);
        let end = io.offset.0 + io.length.0;
        let mut done = linked;
        for logical in pages(io) {
            let from = u64::from(logical) * PAGE_BYTES;
            let partial = from < io.offset.0 || from + PAGE_BYTES > end;
            let ready = if partial { self.read_before_modify(logical, linked) } else { linked };
            done = done.max(self.timing.accept(ready));
            self.flash.write(logical, &mut self.timing);
        }
        done
    }

    /// A write of part of a page first reads the rest of it.
    fn read_before_modify(&mut self, logical: u32, at: u64) -> u64 {
        match self.flash.mapping.lookup(logical) {
            Some(page) => self.timing.read_stripe(self.geometry.stripe_of(page), 1, at),
            None => at,
        }
    }

    fn count(&mut self, io: &Io) {
        let counters = match io.direction {
            Direction::Read => &mut self.counters.read,
            Direction::Write => &mut self.counters.write,
        };
        counters.io_count += 1;
        counters.bytes += io.length;
    }
}

impl Device for SimulatedDrive {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: self.card.capacity, logical_block: self.card.logical_block }
    }

    fn now(&self) -> Nanos {
        self.clock
    }

    fn wall(&self) -> Nanos {
        self.epoch + self.clock
    }

    fn prepare(&mut self, _: &[DataPattern], slot_count: u32, _: Bytes) -> Result<(), Errno> {
        let idle = Io { slot: 0, direction: Direction::Read, offset: Bytes(0), length: Bytes(0), data_index: 0 };
        self.flights = vec![idle; slot_count as usize];
        Ok(())
    }

    fn submit(&mut self, io: Io) {
        let done = self.serve(&io);
        self.flights[io.slot as usize] = io;
        self.pending.push(Reverse((done, io.slot)));
    }

    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        match self.pending.peek() {
            Some(Reverse((done, _))) if *done <= deadline.0 => {}
            _ => {
                self.clock = self.clock.max(deadline);
                return Ok(());
            }
        }
        let Some(Reverse((done, slot))) = self.pending.pop() else { return Ok(()) };
        self.clock = self.clock.max(Nanos(done));
        let io = self.flights[slot as usize];
        self.count(&io);
        completions.push(Completion { slot, at: self.clock, result: Ok(io.length) });
        Ok(())
    }

    fn probe(&mut self, with_counters: bool) -> Probe {
        Probe { counters: with_counters.then_some(self.counters), cpu: None }
    }
}

/// The mapped pages that an I/O touches.
fn pages(io: &Io) -> std::ops::Range<u32> {
    let end = io.offset.0 + io.length.0;
    (io.offset.0 / PAGE_BYTES) as u32..end.div_ceil(PAGE_BYTES) as u32
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
