//! Appending pages, and garbage collection paced by the host's writes.
//!
//! A victim with v of N pages valid frees N - v pages; v relocations are spread evenly, or in batches, over the host
//! pages that use those up, so the free pool stays level and no write waits for more than a batch.

use crate::geometry::{Geometry, RESERVE_UNITS};
use crate::mapping::Mapping;
use crate::victims::Victims;

/// Collection runs while no more units than this are free.
const FREE_LOW: usize = RESERVE_UNITS as usize - 4;
/// Host pages appended at a time, so that collection keeps up with long writes.
const RUN_PAGES: u32 = 32;
/// Relocations that the map is fetched ahead for.
const FETCH_AHEAD: u32 = 12;

/// What the flash has to do, in order; the timing layer charges it to dies and channels.
pub(crate) trait FlashWork {
    /// A stripe is full: program it. `host` is false for relocated data.
    fn program(&mut self, stripe: u32, host: bool);
    /// Read a page in order to relocate it.
    fn relocate(&mut self, page: u32);
    /// Erase one unit on all dies.
    fn erase(&mut self);
}

/// Work that takes no time: of idle collection, whose time is over, and of what a purge leaves behind.
pub(crate) struct NoTime;

impl FlashWork for NoTime {
    fn program(&mut self, _: u32, _: bool) {}
    fn relocate(&mut self, _: u32) {}
    fn erase(&mut self) {}
}

/// How units are chosen and relocations are done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collection {
    pub(crate) shared_frontier: bool,
    /// Pages relocated at a time, at least 1.
    pub(crate) batch: u32,
}

/// Pages written so far; their ratio is the write amplification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashStatistics {
    /// Mapped pages written by the host.
    pub host_pages: u64,
    /// Mapped pages relocated by garbage collection.
    pub relocated_pages: u64,
    /// Units erased.
    pub erased_units: u64,
}

#[derive(Default)]
struct Frontier {
    unit: u32,
    next: u32,
    end: u32,
}

struct Victim {
    unit: u32,
    scan: u32,
    end: u32,
    /// Up to where the map was fetched ahead.
    fetched: u32,
    valid_at_start: u32,
    relocated: u32,
    host_pages: u32,
}

pub(crate) struct Collector {
    geometry: Geometry,
    collection: Collection,
    pub(crate) mapping: Mapping,
    pub(crate) statistics: FlashStatistics,
    free: Vec<u32>,
    host: Frontier,
    relocation: Frontier,
    victim: Option<Victim>,
}

impl Collector {
    pub(crate) fn new(geometry: &Geometry, victims: Victims, collection: Collection) -> Self {
        Self {
            geometry: geometry.clone(),
            collection,
            mapping: Mapping::new(geometry, victims),
            statistics: FlashStatistics::default(),
            free: (0..geometry.unit_count).rev().collect(),
            host: Frontier::default(),
            relocation: Frontier::default(),
            victim: None,
        }
    }

    /// Write one host page: append it, then do the collection that it owes.
    #[inline]
    pub(crate) fn write(&mut self, logical: u32, work: &mut impl FlashWork) {
        let page = self.append_host();
        self.mapping.place(logical, page, self.host.unit);
        self.statistics.host_pages += 1;
        self.finish_stripe(page, true, work);
        self.collect(1, work);
    }

    /// Write pages that follow each other.
    pub(crate) fn write_run(&mut self, logical: u32, count: u32, work: &mut impl FlashWork) {
        let (mut from, end) = (logical, logical + count);
        while from < end {
            let page = self.append_host();
            let taken = (end - from).min(self.host.end - page).min(RUN_PAGES);
            self.host.next = page + taken;
            self.mapping.place_run(from, taken, page, self.host.unit);
            self.statistics.host_pages += u64::from(taken);
            self.finish_stripes(page, taken, work);
            self.collect(taken, work);
            from += taken;
        }
    }

    /// Relocate while the drive has nothing else to do, until `target` pages are free.
    pub(crate) fn collect_idle(&mut self, mut budget: u64, target: u64, work: &mut impl FlashWork) {
        while budget > 0 && self.free_pages() < target {
            let Some(mut victim) = self.victim.take() else {
                if !self.choose_victim() {
                    break;
                }
                continue;
            };
            let moved = self.relocate_next(&mut victim, work);
            budget -= u64::from(moved);
            self.put_back(victim, work);
        }
    }

    fn free_pages(&self) -> u64 {
        (self.free.len() as u64).saturating_sub(FREE_LOW as u64) * u64::from(self.geometry.unit_pages)
    }

    #[inline]
    fn append_host(&mut self) -> u32 {
        Self::append(&mut self.host, &mut self.free, &mut self.mapping, &self.geometry)
    }

    #[inline]
    fn append(frontier: &mut Frontier, free: &mut Vec<u32>, mapping: &mut Mapping, geometry: &Geometry) -> u32 {
        if frontier.next == frontier.end {
            if frontier.end > 0 {
                mapping.victims.close(frontier.unit);
            }
            let unit = free.pop().expect("paced collection keeps units free");
            *frontier = Frontier { unit, next: unit * geometry.unit_pages, end: (unit + 1) * geometry.unit_pages };
        }
        frontier.next += 1;
        frontier.next - 1
    }

    #[inline]
    fn finish_stripe(&self, page: u32, host: bool, work: &mut impl FlashWork) {
        if (page + 1).is_multiple_of(self.geometry.stripe_pages) {
            work.program(self.geometry.stripe_of(page), host);
        }
    }

    fn finish_stripes(&self, page: u32, count: u32, work: &mut impl FlashWork) {
        let first = self.geometry.stripe_of(page);
        let behind = (page + count) / self.geometry.stripe_pages;
        (first..behind).for_each(|stripe| work.program(stripe, true));
    }

    /// Do the relocations that so many host pages owe.
    #[inline]
    fn collect(&mut self, host_pages: u32, work: &mut impl FlashWork) {
        let mut left = host_pages;
        while left > 0 {
            if self.victim.is_none() && (self.free.len() > FREE_LOW || !self.choose_victim()) {
                return;
            }
            left -= self.collect_some(left, work);
        }
    }

    /// Go on with the victim for up to `host_pages`; returns how many of them it stands for.
    ///
    /// A victim whose pages are all valid frees nothing and stands for none. There is always another: while so few units
    /// are free, the closed ones hold more pages than the user has.
    #[inline]
    fn collect_some(&mut self, host_pages: u32, work: &mut impl FlashWork) -> u32 {
        let Some(mut victim) = self.victim.take() else { return host_pages };
        let freed = self.geometry.unit_pages - victim.valid_at_start;
        let taken = host_pages.min(freed.saturating_sub(victim.host_pages));
        victim.host_pages += taken;
        let owed = u64::from(victim.host_pages.max(1)) * u64::from(victim.valid_at_start);
        let due = u64::from(victim.relocated + self.collection.batch) * u64::from(freed) <= owed
            || victim.host_pages >= freed
            || self.free.len() < 2;
        while due && u64::from(victim.relocated) * u64::from(freed) < owed {
            if !self.relocate_next(&mut victim, work) {
                break;
            }
        }
        self.put_back(victim, work);
        taken
    }

    /// Keep the victim, or free it where nothing valid is left in it.
    #[inline]
    fn put_back(&mut self, victim: Victim, work: &mut impl FlashWork) {
        if self.mapping.victims.valid_in(victim.unit) > 0 {
            self.victim = Some(victim);
            return;
        }
        self.free.push(victim.unit);
        self.statistics.erased_units += 1;
        work.erase();
    }

    /// False where no unit is closed yet.
    fn choose_victim(&mut self) -> bool {
        let Some((unit, valid)) = self.mapping.victims.choose() else { return false };
        let scan = unit * self.geometry.unit_pages;
        let end = scan + self.geometry.unit_pages;
        let mut victim = Victim { unit, scan, end, fetched: scan, valid_at_start: valid, relocated: 0, host_pages: 0 };
        for _ in 0..FETCH_AHEAD {
            self.fetch_next(&mut victim);
        }
        self.victim = Some(victim);
        true
    }

    #[inline]
    fn fetch_next(&self, victim: &mut Victim) {
        if let Some(page) = self.mapping.next_valid(victim.fetched, victim.end) {
            self.mapping.fetch(self.mapping.logical_of(page));
            victim.fetched = page + 1;
        }
    }

    /// Move the victim's next valid page; false where it has none left.
    #[inline]
    fn relocate_next(&mut self, victim: &mut Victim, work: &mut impl FlashWork) -> bool {
        let Some(from) = self.mapping.next_valid(victim.scan, victim.end) else { return false };
        self.fetch_next(victim);
        let logical = self.mapping.logical_of(from);
        work.relocate(from);
        let shared = self.collection.shared_frontier;
        let frontier = if shared { &mut self.host } else { &mut self.relocation };
        let to = Self::append(frontier, &mut self.free, &mut self.mapping, &self.geometry);
        let to_unit = frontier.unit;
        self.mapping.relocate(logical, from, victim.unit, to, to_unit);
        victim.scan = from + 1;
        victim.relocated += 1;
        self.statistics.relocated_pages += 1;
        self.finish_stripe(to, shared, work);
        true
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "theory_tests.rs"]
mod theory;
