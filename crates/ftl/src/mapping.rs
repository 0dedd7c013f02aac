//! Where each logical page lies, and which physical pages are valid.

use serde::{Deserialize, Serialize};

use crate::geometry::{Divisor, Geometry};
use crate::memory::{prefetch, table};
use crate::victims::Victims;

const UNMAPPED: u32 = u32::MAX;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Mapping {
    map: Vec<u32>,
    #[serde(skip)]
    reverse: Vec<u32>,
    #[serde(skip)]
    valid: Vec<u64>,
    pub(crate) victims: Victims,
    units: Divisor,
}

impl Mapping {
    pub(crate) fn new(geometry: &Geometry, victims: Victims) -> Self {
        let pages = geometry.unit_count as usize * geometry.unit_slots as usize;
        Self {
            map: table(geometry.user_pages as usize, UNMAPPED),
            reverse: table(pages, UNMAPPED),
            valid: table(pages.div_ceil(64), 0),
            victims,
            units: Divisor::new(geometry.unit_slots),
        }
    }

    /// Make reverse map and valid pages out of the map of a kept state. False where it is none of this geometry, two
    /// logical pages lie in one place, or a unit does not hold what is counted in it.
    pub(crate) fn complete(&mut self, geometry: &Geometry) -> bool {
        let pages = geometry.unit_count as usize * geometry.unit_slots as usize;
        if self.map.len() != geometry.user_pages as usize || self.units != Divisor::new(geometry.unit_slots) {
            return false;
        }
        let mut map = table(self.map.len(), UNMAPPED);
        map.copy_from_slice(&self.map);
        (self.map, self.reverse, self.valid) = (map, table(pages, UNMAPPED), table(pages.div_ceil(64), 0));
        let mut counts = vec![0; geometry.unit_count as usize];
        for (logical, page) in (0..).zip(&self.map).filter(|(_, page)| **page != UNMAPPED) {
            if *page as usize >= pages || self.reverse[*page as usize] != UNMAPPED {
                return false;
            }
            self.reverse[*page as usize] = logical;
            self.valid[*page as usize / 64] |= 1 << (page % 64);
            counts[self.units.quotient(*page) as usize] += 1;
        }
        self.victims.fits(&counts, geometry.unit_pages)
    }

    #[inline]
    pub(crate) fn lookup(&self, logical: u32) -> Option<u32> {
        Some(self.map[logical as usize]).filter(|page| *page != UNMAPPED)
    }

    /// Fetch the entry of a logical page that is wanted soon.
    #[inline]
    pub(crate) fn fetch(&self, logical: u32) {
        prefetch(&self.map, logical as usize);
    }

    /// Fetch what tells whether the place of a logical page is valid; its entry was fetched before.
    #[inline]
    pub(crate) fn fetch_place(&self, logical: u32) {
        if let Some(page) = self.map.get(logical as usize).filter(|page| **page != UNMAPPED) {
            prefetch(&self.valid, *page as usize / 64);
        }
    }

    #[inline]
    pub(crate) fn unit_of(&self, page: u32) -> u32 {
        self.units.quotient(page)
    }

    /// Point a logical page at a newly appended physical one; the old place becomes invalid.
    #[inline]
    pub(crate) fn place(&mut self, logical: u32, page: u32, unit: u32) {
        let old = std::mem::replace(&mut self.map[logical as usize], page);
        self.forget(old);
        self.occupy(logical, page, unit);
    }

    /// Point `count` logical pages that follow each other at newly appended physical ones of one unit.
    pub(crate) fn place_run(&mut self, logical: u32, count: u32, page: u32, unit: u32) {
        let (from, to) = (logical as usize, (logical + count) as usize);
        let old = self.map[from];
        if self.lies_in_one_run(from, to, old) {
            if old != UNMAPPED {
                flip(&mut self.valid, old, count);
                self.victims.remove(self.unit_of(old), count);
            }
        } else {
            for place in from..to {
                self.forget(self.map[place]);
            }
        }
        self.map[from..to].iter_mut().zip(page..).for_each(|(entry, page)| *entry = page);
        let places = &mut self.reverse[page as usize..(page + count) as usize];
        places.iter_mut().zip(logical..).for_each(|(entry, logical)| *entry = logical);
        flip(&mut self.valid, page, count);
        self.victims.add(unit, count);
    }

    /// Forget where pages lie that follow each other: they are fresh again.
    pub(crate) fn unmap(&mut self, logical: std::ops::Range<u32>) {
        for place in logical.start as usize..logical.end as usize {
            let old = std::mem::replace(&mut self.map[place], UNMAPPED);
            self.forget(old);
        }
    }

    /// Whether the entries are all unmapped, or follow each other inside one unit.
    fn lies_in_one_run(&self, from: usize, to: usize, old: u32) -> bool {
        let step = u32::from(old != UNMAPPED);
        // All are looked at, since a loop without an early end runs several at a time.
        let entries = self.map[from..to].iter().zip(0_u32..);
        let differing = entries.fold(0, |found, (entry, offset)| found | (entry ^ old.wrapping_add(offset * step)));
        differing == 0 && (old == UNMAPPED || self.unit_of(old) == self.unit_of(old + (to - from) as u32 - 1))
    }

    #[inline]
    fn forget(&mut self, old: u32) {
        if old != UNMAPPED {
            self.valid[old as usize / 64] &= !(1 << (old % 64));
            self.victims.remove(self.unit_of(old), 1);
        }
    }

    /// Move a valid page of `from_unit` to a newly appended place.
    #[inline]
    pub(crate) fn relocate(&mut self, logical: u32, from: u32, from_unit: u32, to: u32, to_unit: u32) {
        self.map[logical as usize] = to;
        self.valid[from as usize / 64] &= !(1 << (from % 64));
        self.victims.remove(from_unit, 1);
        self.occupy(logical, to, to_unit);
    }

    /// Whether a logical page still lies at a physical one.
    #[inline]
    pub(crate) fn lies_at(&self, logical: u32, page: u32) -> bool {
        self.map[logical as usize] == page
    }

    /// Fetch what [`Self::logical_of`] tells of the 64 physical pages from `64 * word` on.
    #[inline]
    pub(crate) fn fetch_word(&self, word: u32) {
        (0..4).for_each(|line| prefetch(&self.reverse, word as usize * 64 + line * 16));
    }

    /// Which of the 64 physical pages from `64 * word` on are valid.
    #[inline]
    pub(crate) fn valid_word(&self, word: u32) -> u64 {
        self.valid[word as usize]
    }

    #[inline]
    fn occupy(&mut self, logical: u32, page: u32, unit: u32) {
        self.reverse[page as usize] = logical;
        self.valid[page as usize / 64] |= 1 << (page % 64);
        self.victims.add(unit, 1);
    }

    /// The logical page that a valid physical page holds.
    #[inline]
    pub(crate) fn logical_of(&self, page: u32) -> u32 {
        self.reverse[page as usize]
    }

    #[cfg(test)]
    pub(crate) fn check(&self, unit_count: u32) {
        let mapped = self.map.iter().filter(|page| **page != UNMAPPED).count();
        let bits: u32 = self.valid.iter().map(|word| word.count_ones()).sum();
        let counted: u64 = (0..unit_count).map(|unit| u64::from(self.victims.valid_in(unit))).sum();
        assert_eq!((mapped as u64, u64::from(bits)), (counted, counted));
        for (logical, page) in self.map.iter().enumerate().filter(|(_, page)| **page != UNMAPPED) {
            assert_eq!(self.reverse[*page as usize] as usize, logical);
        }
    }
}

/// Flip `count` bits from `first` on.
fn flip(bits: &mut [u64], first: u32, count: u32) {
    let (mut at, end) = (first, first + count);
    while at < end {
        let taken = (64 - at % 64).min(end - at);
        let mask = if taken == 64 { u64::MAX } else { ((1 << taken) - 1) << (at % 64) };
        bits[at as usize / 64] ^= mask;
        at += taken;
    }
}
