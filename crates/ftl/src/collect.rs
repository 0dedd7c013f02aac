//! Appending pages, and greedy garbage collection paced by the host's writes.
//!
//! A victim with v of N pages valid frees N - v pages; v relocations are spread evenly over the host pages that
//! use those up, so the free pool stays level and no write waits for a whole unit.

use crate::geometry::{Geometry, RESERVE_UNITS};
use crate::mapping::Mapping;

/// Collection runs while no more units than this are free.
const FREE_LOW: usize = RESERVE_UNITS as usize - 4;

/// What the flash has to do, in order; the timing layer charges it to dies and channels.
pub(crate) trait FlashWork {
    /// A stripe is full: program it. `host` is false for relocated data.
    fn program(&mut self, stripe: u32, host: bool);
    /// Read a page in order to relocate it.
    fn relocate(&mut self, page: u32);
    /// Erase one unit on all dies.
    fn erase(&mut self);
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

struct Frontier {
    next: u32,
    end: u32,
}

struct Victim {
    unit: u32,
    scan: u32,
    valid_at_start: u32,
    relocated: u32,
    host_pages: u32,
}

pub(crate) struct Collector {
    geometry: Geometry,
    pub(crate) mapping: Mapping,
    pub(crate) statistics: FlashStatistics,
    free: Vec<u32>,
    host: Frontier,
    relocation: Frontier,
    victim: Option<Victim>,
}

impl Collector {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let none = || Frontier { next: 0, end: 0 };
        Self {
            geometry: geometry.clone(),
            mapping: Mapping::new(geometry),
            statistics: FlashStatistics::default(),
            free: (0..geometry.unit_count).rev().collect(),
            host: none(),
            relocation: none(),
            victim: None,
        }
    }

    /// Write one host page: append it, then do the collection that it owes.
    pub(crate) fn write(&mut self, logical: u32, work: &mut impl FlashWork) {
        let page = Self::append(&mut self.host, &mut self.free, &mut self.mapping, &self.geometry);
        self.mapping.place(logical, page);
        self.statistics.host_pages += 1;
        self.finish_stripe(page, true, work);
        self.collect(work);
    }

    fn append(frontier: &mut Frontier, free: &mut Vec<u32>, mapping: &mut Mapping, geometry: &Geometry) -> u32 {
        if frontier.next == frontier.end {
            if frontier.end > 0 {
                mapping.close(geometry.unit_of(frontier.end - 1));
            }
            let unit = free.pop().expect("paced collection keeps units free");
            *frontier = Frontier { next: unit * geometry.unit_pages, end: (unit + 1) * geometry.unit_pages };
        }
        frontier.next += 1;
        frontier.next - 1
    }

    fn finish_stripe(&self, page: u32, host: bool, work: &mut impl FlashWork) {
        if (page + 1).is_multiple_of(self.geometry.stripe_pages) {
            work.program(self.geometry.stripe_of(page), host);
        }
    }

    fn collect(&mut self, work: &mut impl FlashWork) {
        if self.victim.is_none() {
            if self.free.len() > FREE_LOW {
                return;
            }
            self.choose_victim();
        }
        let Some(mut victim) = self.victim.take() else { return };
        victim.host_pages += 1;
        let freed = u64::from(self.geometry.unit_pages - victim.valid_at_start);
        let owed = u64::from(victim.host_pages) * u64::from(victim.valid_at_start);
        while u64::from(victim.relocated) * freed < owed {
            if !self.relocate_next(&mut victim, work) {
                break;
            }
        }
        if self.mapping.valid_in(victim.unit) > 0 {
            self.victim = Some(victim);
            return;
        }
        self.free.push(victim.unit);
        self.statistics.erased_units += 1;
        work.erase();
    }

    fn choose_victim(&mut self) {
        let (unit, valid) = self.mapping.emptiest();
        self.mapping.shield(unit);
        let scan = unit * self.geometry.unit_pages;
        self.victim = Some(Victim { unit, scan, valid_at_start: valid, relocated: 0, host_pages: 0 });
    }

    /// Move the victim's next valid page; false where it has none left.
    fn relocate_next(&mut self, victim: &mut Victim, work: &mut impl FlashWork) -> bool {
        let Some((from, logical)) = self.mapping.next_valid(victim.scan, victim.unit) else { return false };
        work.relocate(from);
        let to = Self::append(&mut self.relocation, &mut self.free, &mut self.mapping, &self.geometry);
        self.mapping.place(logical, to);
        victim.scan = from + 1;
        victim.relocated += 1;
        self.statistics.relocated_pages += 1;
        self.finish_stripe(to, false, work);
        true
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
