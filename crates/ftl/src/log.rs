//! A log that takes small writes page by page in front of a coarser map.
//!
//! The log holds single pages. Once it is full, the merge unit that has been in it longest is written anew as a whole, from
//! its pages in the log and the others where they were; writes of whole merge units pass the log by. So a drive is fast
//! until its log is full and pays for whole units from then on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::collect::{Collector, FlashWork};
use crate::geometry::Geometry;
use crate::memory::table;

#[derive(Serialize, Deserialize)]
pub(crate) struct Log {
    /// Pages that fit into it, and those that are.
    room: u32,
    used: u32,
    merge_pages: u32,
    /// Which logical pages are in it: a bit each.
    holds: Vec<u64>,
    /// Pages of each merge unit that are in it, and the units that have some, the longest first.
    counts: Vec<u32>,
    order: VecDeque<u32>,
    stripe_pages: u32,
    unit_pages: u32,
    /// Pages appended to it since the last purge.
    appended: u64,
    /// Merges since the last purge.
    pub(crate) merges: u64,
}

/// Work of the drive itself, on no buffer slots of the host.
struct Internal<'a, W>(&'a mut W);

impl<W: FlashWork> FlashWork for Internal<'_, W> {
    fn program(&mut self, stripe: u32, pages: u32, _: bool) {
        self.0.program(stripe, pages, false);
    }
    fn relocate(&mut self, stripe: u32, pages: u32) {
        self.0.relocate(stripe, pages);
    }
    fn erase(&mut self) {
        self.0.erase();
    }
}

impl Log {
    /// A log of `room` pages, at least one merge unit.
    pub(crate) fn new(room: u32, merge_pages: u32, geometry: &Geometry) -> Self {
        let user_pages = geometry.user_pages;
        Self {
            room,
            used: 0,
            merge_pages,
            holds: table(user_pages.div_ceil(64) as usize, 0),
            counts: table(user_pages.div_ceil(merge_pages) as usize, 0),
            order: VecDeque::new(),
            stripe_pages: geometry.stripe_pages,
            unit_pages: geometry.unit_pages,
            appended: 0,
            merges: 0,
        }
    }

    /// Whether this, out of a kept state, is one of the same drive as a fresh one.
    pub(crate) fn fits(&self, fresh: &Self) -> bool {
        let sizes = |log: &Self| (log.room, log.merge_pages, log.stripe_pages, log.unit_pages);
        let held: u32 = self.holds.iter().map(|word| word.count_ones()).sum();
        let mut counts = vec![0; fresh.counts.len()];
        let places =
            (0..self.holds.len() as u32 * 64).filter(|page| self.holds[*page as usize / 64] >> (page % 64) & 1 == 1);
        let known = places.fold(true, |known, page| {
            let count = counts.get_mut((page / fresh.merge_pages) as usize);
            let inside = count.is_some();
            if let Some(count) = count {
                *count += 1;
            }
            known && inside
        });
        sizes(self) == sizes(fresh)
            && self.holds.len() == fresh.holds.len()
            && known
            && self.used == held
            && self.counts == counts
            && self.order.iter().all(|unit| (*unit as usize) < counts.len())
            && counts.iter().zip(0..).all(|(count, unit)| *count == 0 || self.order.contains(&unit))
    }

    /// Whether the newest copy of a logical page is in the log.
    pub(crate) fn holds(&self, logical: u32) -> bool {
        self.holds[logical as usize / 64] >> (logical % 64) & 1 == 1
    }

    /// Write host pages that follow each other.
    pub(crate) fn write(&mut self, pages: std::ops::Range<u32>, flash: &mut Collector, work: &mut impl FlashWork) {
        let mut from = pages.start;
        while from < pages.end {
            let unit = from / self.merge_pages;
            let end = ((unit + 1) * self.merge_pages).min(pages.end);
            if end - from == self.merge_pages {
                self.take_out(unit);
                flash.write_run(from, self.merge_pages, work);
            } else {
                (from..end).for_each(|page| self.append(page, unit, work));
                flash.statistics.host_pages += u64::from(end - from);
            }
            from = end;
        }
        while self.used > self.room {
            self.merge(flash, &mut Internal(work));
        }
    }

    fn append(&mut self, page: u32, unit: u32, work: &mut impl FlashWork) {
        if !self.holds(page) {
            self.holds[page as usize / 64] |= 1 << (page % 64);
            self.used += 1;
            self.counts[unit as usize] += 1;
            if self.counts[unit as usize] == 1 {
                self.order.push_back(unit);
            }
        }
        self.appended += 1;
        if self.appended.is_multiple_of(u64::from(self.stripe_pages)) {
            let stripe = self.appended / u64::from(self.stripe_pages);
            work.program(stripe as u32, self.stripe_pages, true);
        }
        if self.appended.is_multiple_of(u64::from(self.unit_pages)) {
            work.erase();
        }
    }

    /// Write the unit that has been in the log longest anew.
    fn merge(&mut self, flash: &mut Collector, work: &mut impl FlashWork) {
        let unit = self.order.pop_front().expect("a log that holds pages has a unit");
        if self.counts[unit as usize] == 0 {
            return;
        }
        self.take_out(unit);
        self.merges += 1;
        let from = unit * self.merge_pages;
        let count = self.merge_pages.min(flash.user_pages() - from);
        // Its pages are read from where they lie: in the log, which is on all dies, or where the map says.
        for page in from..from + count {
            let stripe = flash.mapping.lookup(page).map_or(page, |place| flash.stripe_of(place));
            work.relocate(stripe, self.stripe_pages);
        }
        flash.write_run(from, count, work);
        flash.statistics.host_pages -= u64::from(count);
        flash.statistics.relocated_pages += u64::from(count);
    }

    /// The host no longer needs these pages: none of them is in the log any more.
    pub(crate) fn forget(&mut self, pages: std::ops::Range<u32>) {
        for page in pages {
            if self.holds(page) {
                self.holds[page as usize / 64] &= !(1 << (page % 64));
                self.counts[(page / self.merge_pages) as usize] -= 1;
                self.used -= 1;
            }
        }
    }

    /// None of a unit's pages is in the log any more.
    fn take_out(&mut self, unit: u32) {
        let count = std::mem::take(&mut self.counts[unit as usize]);
        if count == 0 {
            return;
        }
        self.used -= count;
        let end = ((unit + 1) * self.merge_pages).min(self.holds.len() as u32 * 64);
        for page in unit * self.merge_pages..end {
            self.holds[page as usize / 64] &= !(1 << (page % 64));
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
