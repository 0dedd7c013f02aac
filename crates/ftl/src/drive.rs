//! The simulated drive as a [`Device`].

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos, Probe};

pub use crate::collect::FlashStatistics;
use crate::collect::{Collection, Collector, NoTime};
use crate::flash_model::FlashModel;
use crate::footprint::check_memory;
use crate::front::Front;
use crate::geometry::Geometry;
use crate::limits::{Heat, WriteLimit};
use crate::log::Log;
use crate::map_cache::MapCache;
use crate::model_error::DriveModelError;
use crate::timing::{Timing, Way};
use crate::victims::Victims;

/// A hint is followed up when so many others have come: its map entry is there by then.
const HINTS: usize = 8;

/// Everything but what the drive model gives.
pub(crate) struct Parts {
    pub(crate) clock: u64,
    pub(crate) idle_since: u64,
    pub(crate) since_stall: u64,
    pub(crate) flash: Collector,
    pub(crate) log: Option<Log>,
    pub(crate) timing: Timing,
    pub(crate) map_cache: MapCache,
    pub(crate) write_limit: WriteLimit,
    pub(crate) heat: Heat,
}

/// A simulated drive, fresh until it is written to.
///
/// Its clock starts at zero and moves only when completions are reaped. Reads of pages that were never written
/// need no flash.
pub struct SimulatedDrive {
    pub(crate) model: FlashModel,
    geometry: Geometry,
    pub(crate) flash: Collector,
    pub(crate) log: Option<Log>,
    pub(crate) timing: Timing,
    pub(crate) map_cache: MapCache,
    pub(crate) clock: Nanos,
    epoch: Nanos,
    pub(crate) front: Front,
    pub(crate) idle_since: u64,
    pub(crate) write_limit: WriteLimit,
    pub(crate) heat: Heat,
    /// Host bytes since the controller last kept house.
    pub(crate) since_stall: u64,
    hints: [u32; HINTS],
    hint: usize,
    /// Pages per stripe of each data pattern, where the drive compresses.
    densities: Vec<u32>,
}

impl SimulatedDrive {
    /// Build a fresh drive. `epoch` is the wall-clock time, since the Unix epoch, at which its clock is zero.
    ///
    /// # Errors
    /// [`DriveModelError`] when a parameter is outside its range, the capacity too small for the dies, or too large for memory.
    pub fn new(model: FlashModel, epoch: Nanos) -> Result<Self, DriveModelError> {
        check_memory(&model)?;
        let geometry = Geometry::new(&model)?;
        let mut drive = Self {
            flash: fresh_flash(&model, &geometry),
            log: fresh_log(&model, &geometry),
            timing: Timing::new(&model, &geometry),
            map_cache: MapCache::new(model.map_cache),
            write_limit: WriteLimit::new(&model),
            heat: Heat::new(&model),
            front: Front::new(model.queue_limit),
            model,
            geometry,
            clock: Nanos(0),
            epoch,
            idle_since: 0,
            since_stall: 0,
            hints: [0; HINTS],
            hint: 0,
            densities: Vec::new(),
        };
        drive.map_what_a_purge_leaves();
        Ok(drive)
    }

    /// Return the drive to fresh: every page unmapped (or as many as its drive model says), every unit erased.
    /// Returns the time this takes.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    pub fn purge(&mut self) -> Nanos {
        assert!(self.front.is_idle(), "a drive is purged between programs");
        let span = Nanos(u64::from(self.geometry.unit_count) * self.geometry.erase_ns);
        // What is there is let go first: two maps at once may not fit into memory.
        self.flash = Collector::default();
        self.log = None;
        self.flash = fresh_flash(&self.model, &self.geometry);
        self.log = fresh_log(&self.model, &self.geometry);
        self.timing = Timing::new(&self.model, &self.geometry);
        self.map_cache = MapCache::new(self.model.map_cache);
        self.write_limit = WriteLimit::new(&self.model);
        self.since_stall = 0;
        self.map_what_a_purge_leaves();
        self.clock += span;
        self.idle_since = self.clock.0;
        span
    }

    /// The host no longer needs what lies between two places; whole map units there are free, if the drive does that.
    ///
    /// # Panics
    /// Beyond the capacity, or when I/Os are outstanding.
    pub fn trim(&mut self, from: Bytes, to: Bytes) {
        assert!(self.front.is_idle() && from <= to && to <= self.model.capacity, "a drive is trimmed between programs");
        self.forget(from, to);
    }

    /// Whole map units between two places hold nothing any more.
    fn forget(&mut self, from: Bytes, to: Bytes) {
        let page_bytes = self.geometry.page_bytes();
        let (first, end) = (from.0.div_ceil(page_bytes) as u32, (to.0 / page_bytes) as u32);
        if self.model.trim && first < end {
            self.flash.mapping.unmap(first..end);
            if let Some(log) = &mut self.log {
                log.forget(first..end);
            }
        }
    }

    /// Switch the volatile write cache: without one a write is done once it is in the flash. One that is fixed stays as it is.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    pub fn switch_write_cache(&mut self, enabled: bool) {
        assert!(self.front.is_idle(), "the write cache is switched between programs");
        if !self.model.write_cache_fixed {
            self.model.write_cache = enabled;
        }
    }

    /// Pages written by the host and by garbage collection since the last purge.
    #[must_use]
    pub fn statistics(&self) -> FlashStatistics {
        self.flash.statistics
    }

    /// Go on from a kept state of the same drive model. False where it is none that a drive of this drive model can be in.
    pub(crate) fn take_up(&mut self, parts: Parts) -> bool {
        let fits = parts.timing.fits(&self.timing)
            && parts.map_cache.fits(&self.map_cache)
            && parts.log.is_some() == self.log.is_some()
            && parts.log.as_ref().zip(self.log.as_ref()).is_none_or(|(kept, fresh)| kept.fits(fresh));
        self.epoch = Nanos(self.epoch.0.saturating_sub(parts.clock));
        self.clock = Nanos(parts.clock);
        self.idle_since = parts.idle_since;
        self.since_stall = parts.since_stall;
        self.flash = parts.flash;
        let complete = self.flash.complete(&self.geometry);
        self.log = parts.log;
        self.timing = parts.timing;
        self.map_cache = parts.map_cache;
        self.write_limit = parts.write_limit;
        self.heat = parts.heat;
        fits && complete
    }

    fn map_what_a_purge_leaves(&mut self) {
        let pages = (f64::from(self.geometry.user_pages) * self.model.purge_mapped_share) as u32;
        if pages > 0 {
            self.flash.write_run(0, pages, &mut NoTime);
        }
    }

    fn serve(&mut self, io: &Io) -> u64 {
        match io.direction {
            Direction::Read => self.serve_read(io),
            Direction::Write => self.serve_write(io),
            Direction::Trim => self.serve_trim(io),
            Direction::Flush => self.serve_flush(),
        }
    }

    /// A trim takes the controller as long as a write without data, and frees its units in the order of commands.
    fn serve_trim(&mut self, io: &Io) -> u64 {
        let begun = self.timing.command(self.clock.0, self.model.write_command.0);
        self.forget(io.offset, io.offset + io.length);
        begun
    }

    /// A flush ends when everything that was accepted before it is in the flash.
    fn serve_flush(&mut self) -> u64 {
        let begun = self.timing.command(self.clock.0, self.model.write_command.0);
        if self.model.ideal { begun } else { begun.max(self.timing.write_through()) }
    }

    #[inline]
    fn serve_read(&mut self, io: &Io) -> u64 {
        let span = self.model.read_command.0 + extra(io.length, self.model.read_extra);
        let begun = self.timing.command(self.clock.0, span);
        let begun = self.heat.obey(begun, io.length.0);
        let sensed = if self.model.ideal { begun } else { self.sense(io, begun) };
        // The link's share is reserved at once; the last page still has to cross it once it is sensed.
        let linked = self.timing.link(Way::ToHost, begun, io.length.0);
        if sensed == begun { linked } else { linked.max(sensed + self.timing.page_on_link(io.length.0)) }
    }

    /// Read what is mapped of an I/O from the flash; returns when the last of it is in the controller.
    #[inline]
    fn sense(&mut self, io: &Io, begun: u64) -> u64 {
        let pages = self.pages(io);
        let begun = self.look_up_map(pages.start, begun);
        let page_bytes = self.geometry.page_bytes().min(io.length.0);
        if pages.len() == 1 {
            let Some(stripe) = self.stripe_of(pages.start) else { return begun };
            return self.read_of_host(stripe, page_bytes, begun);
        }
        let mut sensed = begun;
        let mut stripe: Option<(u32, u64)> = None;
        for logical in pages {
            let Some(next) = self.stripe_of(logical) else { continue };
            stripe = match stripe {
                Some((same, bytes)) if same == next => Some((next, bytes + page_bytes)),
                other => {
                    sensed = sensed.max(self.read_counted(other, begun));
                    Some((next, page_bytes))
                }
            };
        }
        sensed.max(self.read_counted(stripe, begun))
    }

    fn read_counted(&mut self, stripe: Option<(u32, u64)>, at: u64) -> u64 {
        stripe.map_or(at, |(stripe, bytes)| self.read_of_host(stripe, bytes, at))
    }

    #[inline]
    fn read_of_host(&mut self, stripe: u32, bytes: u64, at: u64) -> u64 {
        if self.timing.is_buffered(stripe, self.flash.open_stripe(), at) {
            return at;
        }
        if self.model.reads_in_order {
            self.timing.hold_for_die(stripe, at);
        }
        self.timing.read_of_host(stripe, bytes, at)
    }

    #[inline]
    fn serve_write(&mut self, io: &Io) -> u64 {
        let pages = self.pages(io);
        let partial = self.partial_pages(io);
        let mut span = self.model.write_command.0 + extra(io.length, self.model.write_extra);
        if partial != [None, None] {
            span += self.model.partial_write.0;
        }
        span += self.housekeeping(io.length.0);
        let begun = self.timing.command(self.clock.0, span);
        let begun = self.heat.obey(self.write_limit.obey(begun, io.length.0), io.length.0);
        let linked = self.timing.link(Way::FromHost, begun, io.length.0);
        if self.model.ideal {
            return linked;
        }
        let linked = self.look_up_map(pages.start, linked);
        let ready =
            partial.into_iter().flatten().fold(linked, |ready, page| ready.max(self.read_before_modify(page, linked)));
        if self.model.compresses {
            self.flash.set_density(self.densities[io.data_index as usize]);
        }
        let done = self.append(pages, ready);
        if self.model.in_order {
            self.timing.hold_commands(done);
        }
        if self.model.write_cache { done } else { done.max(self.timing.write_through()) }
    }

    /// Take pages into the buffer and map them; returns when the last has a place in the buffer.
    #[inline]
    fn append(&mut self, pages: std::ops::Range<u32>, ready: u64) -> u64 {
        if pages.len() == 1 {
            let done = self.timing.accept(ready, 1);
            self.store(pages);
            return done;
        }
        let mut done = ready;
        let mut from = pages.start;
        while from < pages.end {
            let taken = self.taken_at_once(from).min(pages.end - from);
            done = done.max(self.timing.accept(ready, taken));
            self.store(from..from + taken);
            from += taken;
        }
        done
    }

    /// Pages from a place on that the buffer can take together: it holds at least four stripes, of which one may be open,
    /// and where there is a log two merge units more.
    fn taken_at_once(&self, from: u32) -> u32 {
        let merge_pages = (self.model.merge_unit.0 >> self.geometry.page_shift) as u32;
        if self.log.is_some() { merge_pages - from % merge_pages } else { 2 * self.geometry.stripe_pages }
    }

    #[inline]
    fn store(&mut self, pages: std::ops::Range<u32>) {
        match &mut self.log {
            Some(log) => log.write(pages, &mut self.flash, &mut self.timing),
            None if pages.len() == 1 => self.flash.write(pages.start, &mut self.timing),
            None => self.flash.write_run(pages.start, pages.len() as u32, &mut self.timing),
        }
    }

    /// The stripe that holds a logical page; `None` where it was never written. Pages of a log lie on all dies in turn.
    #[inline]
    fn stripe_of(&self, logical: u32) -> Option<u32> {
        if self.log.as_ref().is_some_and(|log| log.holds(logical)) {
            return Some(logical);
        }
        self.flash.mapping.lookup(logical).map(|page| self.flash.stripe_of(page))
    }

    /// The first and last page of a write where it covers them in part.
    #[inline]
    fn partial_pages(&self, io: &Io) -> [Option<u32>; 2] {
        let mask = self.geometry.page_bytes() - 1;
        let (from, end) = (io.offset.0, io.offset.0 + io.length.0);
        if (from | end) & mask == 0 {
            return [None, None];
        }
        let (first, last) = ((from >> self.geometry.page_shift) as u32, ((end - 1) >> self.geometry.page_shift) as u32);
        let head = (from & mask != 0 || (first == last && end & mask != 0)).then_some(first);
        let tail = (first != last && end & mask != 0).then_some(last);
        [head, tail]
    }

    /// A write of part of a page first reads the rest of it.
    fn read_before_modify(&mut self, logical: u32, at: u64) -> u64 {
        let bytes = self.geometry.page_bytes();
        match self.stripe_of(logical) {
            Some(stripe) if self.timing.is_buffered(stripe, self.flash.open_stripe(), at) => at,
            Some(stripe) if self.model.modify_reads_first => self.timing.read_stripe(stripe, bytes, at),
            Some(stripe) => self.timing.read_in_turn(stripe, bytes, at),
            None => at,
        }
    }

    /// Map entries that are not in memory are read first.
    #[inline]
    fn look_up_map(&mut self, logical: u32, at: u64) -> u64 {
        match self.map_cache.miss(logical) {
            Some(segment) => self.timing.read_map(segment, at),
            None => at,
        }
    }

    /// Time that the controller takes for itself once so much has been written.
    #[inline]
    fn housekeeping(&mut self, bytes: u64) -> u64 {
        self.since_stall += bytes;
        if self.model.stall_every.0 == 0 || self.since_stall < self.model.stall_every.0 {
            return 0;
        }
        self.since_stall = 0;
        self.model.stall.0
    }

    /// What the drive does by itself while nothing is outstanding.
    fn use_idle_time(&mut self) {
        let span = self.clock.0.saturating_sub(self.idle_since);
        if span == 0 {
            return;
        }
        self.timing.fold(span);
        let delay = self.model.idle_delay.0;
        if delay > 0 && span > delay {
            let used = (span - delay) as f64 * self.model.idle_share;
            let budget = used as u64 / self.timing.relocation_time().max(1);
            let target = (f64::from(self.geometry.user_pages) * self.model.idle_target) as u64;
            self.flash.collect_idle(budget, target, &mut NoTime);
        }
    }

    fn admit(&mut self, io: Io) {
        let done = self.serve(&io) + self.model.protocol.0;
        self.front.pending.set(io.slot, done);
    }

    /// The mapped pages that an I/O touches.
    #[inline]
    fn pages(&self, io: &Io) -> std::ops::Range<u32> {
        let (shift, last) = (self.geometry.page_shift, io.offset.0 + io.length.0 - 1);
        (io.offset.0 >> shift) as u32..(last >> shift) as u32 + 1
    }
}

impl Device for SimulatedDrive {
    const VIRTUAL_TIME: bool = true;
    const LOOKS_AHEAD: bool = true;

    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: self.model.capacity, logical_block: self.model.logical_block }
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.clock
    }

    fn wall(&self) -> Nanos {
        self.epoch + self.clock
    }

    fn prepare(&mut self, data: &[DataPattern], slot_count: u32, _: Bytes) -> Result<(), Errno> {
        self.densities = data.iter().map(|pattern| self.geometry.stripe_pages_at(stored_share(pattern))).collect();
        self.front.prepare(slot_count);
        Ok(())
    }

    #[inline]
    fn look_ahead(&mut self, offset: Bytes) {
        let logical = (offset.0 >> self.geometry.page_shift) as u32;
        self.flash.mapping.fetch(logical);
        let earlier = std::mem::replace(&mut self.hints[self.hint], logical);
        self.hint = (self.hint + 1) % HINTS;
        self.flash.mapping.fetch_place(earlier);
    }

    #[inline]
    fn submit(&mut self, io: Io) {
        if self.front.is_idle() {
            self.use_idle_time();
        }
        if let Some(io) = self.front.offer(io) {
            self.admit(io);
        }
    }

    #[inline]
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let Some((done, slot)) = self.front.pending.next().filter(|(done, _)| *done <= deadline.0) else {
            self.clock = self.clock.max(deadline);
            return Ok(());
        };
        self.clock = self.clock.max(Nanos(done));
        self.idle_since = self.clock.0;
        let (io, next) = self.front.complete(slot);
        completions.push(Completion { slot, at: self.clock, result: Ok(io.length) });
        if let Some(next) = next {
            self.admit(next);
        }
        Ok(())
    }

    fn probe(&mut self, with_counters: bool) -> Probe {
        Probe { counters: with_counters.then_some(self.front.counters), ..Probe::default() }
    }
}

fn fresh_flash(model: &FlashModel, geometry: &Geometry) -> Collector {
    let (units, pages) = (geometry.unit_count, geometry.unit_pages);
    let victims = Victims::new(units, pages, model.victim_policy(), model.wear_levelling_every, model.seed)
        .spare_full(model.spares_full_units);
    let batch = (model.collection_batch.0 >> geometry.page_shift) as u32;
    let collection = Collection { shared_frontier: model.shared_frontier, batch: batch.clamp(1, geometry.unit_pages) };
    Collector::new(geometry, victims, collection)
}

fn fresh_log(model: &FlashModel, geometry: &Geometry) -> Option<Log> {
    let pages = |bytes: Bytes| (bytes.0 >> geometry.page_shift) as u32;
    let new = || Log::new(pages(model.log), pages(model.merge_unit), geometry);
    (model.log.0 > 0).then(new)
}

/// The share of its size that a perfect compressor keeps of a data pattern.
fn stored_share(pattern: &DataPattern) -> f64 {
    match pattern {
        DataPattern::Compressible { stored_share } => *stored_share,
        DataPattern::Random
        | DataPattern::Stamped
        | DataPattern::Repeating { .. }
        | DataPattern::Addressed
        | DataPattern::File(_) => 1.0,
    }
}

/// Controller time of what an I/O has beyond its first 4 KiB.
#[inline]
fn extra(length: Bytes, span: Nanos) -> u64 {
    if span.0 == 0 { 0 } else { length.0.saturating_sub(4096).div_ceil(4096) * span.0 }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "property_tests.rs"]
mod properties;
