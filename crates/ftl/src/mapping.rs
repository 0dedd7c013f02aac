//! Where each logical page lies, and how many valid pages each unit holds.

use crate::geometry::Geometry;

const UNMAPPED: u32 = u32::MAX;
/// Added to the count of units that are no candidates for collection, so that no branch is needed.
const NOT_COLLECTABLE: u32 = 1 << 31;

pub(crate) struct Mapping {
    map: Vec<u32>,
    reverse: Vec<u32>,
    valid: Vec<u64>,
    valid_count: Vec<u32>,
    unit_pages: u32,
}

impl Mapping {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let pages = geometry.unit_count as usize * geometry.unit_pages as usize;
        Self {
            map: vec![UNMAPPED; geometry.user_pages as usize],
            reverse: vec![UNMAPPED; pages],
            valid: vec![0; pages.div_ceil(64)],
            valid_count: vec![NOT_COLLECTABLE; geometry.unit_count as usize],
            unit_pages: geometry.unit_pages,
        }
    }

    pub(crate) fn lookup(&self, logical: u32) -> Option<u32> {
        Some(self.map[logical as usize]).filter(|page| *page != UNMAPPED)
    }

    /// Point a logical page at a newly appended physical one; the old place becomes invalid.
    #[inline]
    pub(crate) fn place(&mut self, logical: u32, page: u32) {
        let old = std::mem::replace(&mut self.map[logical as usize], page);
        if old != UNMAPPED {
            self.valid[old as usize / 64] &= !(1 << (old % 64));
            self.valid_count[(old / self.unit_pages) as usize] -= 1;
        }
        self.reverse[page as usize] = logical;
        self.valid[page as usize / 64] |= 1 << (page % 64);
        self.valid_count[(page / self.unit_pages) as usize] += 1;
    }

    /// The first valid page at or after `page` in its unit, with its logical page.
    pub(crate) fn next_valid(&self, page: u32, unit: u32) -> Option<(u32, u32)> {
        let end = (unit + 1) * self.unit_pages;
        let mut at = page;
        while at < end {
            let word = self.valid[at as usize / 64] >> (at % 64);
            if word == 0 {
                at = (at / 64 + 1) * 64;
                continue;
            }
            at += word.trailing_zeros();
            return (at < end).then(|| (at, self.reverse[at as usize]));
        }
        None
    }

    pub(crate) fn close(&mut self, unit: u32) {
        self.valid_count[unit as usize] -= NOT_COLLECTABLE;
    }

    pub(crate) fn shield(&mut self, unit: u32) {
        self.valid_count[unit as usize] += NOT_COLLECTABLE;
    }

    /// Greedy: the closed unit with the fewest valid pages, and their number.
    pub(crate) fn emptiest(&self) -> (u32, u32) {
        let (unit, count) =
            self.valid_count.iter().enumerate().min_by_key(|(_, count)| **count).expect("a drive has units");
        (unit as u32, *count)
    }

    pub(crate) fn valid_in(&self, unit: u32) -> u32 {
        self.valid_count[unit as usize] & !NOT_COLLECTABLE
    }

    #[cfg(test)]
    pub(crate) fn check(&self) {
        let mapped = self.map.iter().filter(|page| **page != UNMAPPED).count();
        let bits: u32 = self.valid.iter().map(|word| word.count_ones()).sum();
        let counted: u64 = (0..self.valid_count.len()).map(|unit| u64::from(self.valid_in(unit as u32))).sum();
        assert_eq!((mapped as u64, u64::from(bits)), (counted, counted));
        for (logical, page) in self.map.iter().enumerate().filter(|(_, page)| **page != UNMAPPED) {
            assert_eq!(self.reverse[*page as usize] as usize, logical);
        }
    }
}
