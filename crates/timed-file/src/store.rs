//! What the file holds, and how it lies about that.

use std::collections::HashMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGE_BYTES: u64 = 4096;
/// Places of misdirected writes and flipped bits are multiples of it.
const SECTOR_BYTES: u64 = 512;

/// What becomes of a write that is lied about; it is answered as any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Kept as it is.
    #[default]
    None,
    /// Zeros are kept in its stead.
    Drop,
    /// It lands modulo a smaller capacity. Where all writes do, reads come from there, too.
    Wrap,
    /// It lands at another place.
    Misdirect,
    /// What was there before stays.
    Age,
    /// One of its bits is kept flipped.
    Flip,
}

impl Lie {
    /// By its name on the command line.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let lies = [
            ("none", Self::None),
            ("drop", Self::Drop),
            ("wrap", Self::Wrap),
            ("misdirect", Self::Misdirect),
            ("age", Self::Age),
            ("flip", Self::Flip),
        ];
        lies.into_iter().find(|(known, _)| *known == name).map(|(_, lie)| lie)
    }
}

/// How the file keeps data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keeping {
    /// 1: what is written is read again. 0: reads give zeros.
    pub(crate) keep: u8,
    pub(crate) lie: Lie,
    /// Share of the writes that are lied about, in [0, 1], drawn independently.
    pub(crate) lie_share: f64,
    /// True capacity of a file that wraps.
    pub(crate) wrap_bytes: u64,
    pub(crate) seed: u64,
}

/// The content of the file, as far as it is not zeros.
pub(crate) struct Store {
    keeping: Keeping,
    size_bytes: u64,
    pages: HashMap<u64, Box<[u8; PAGE_BYTES as usize]>>,
    draws: Xoshiro256PlusPlus,
}

impl Store {
    pub(crate) fn new(keeping: Keeping, size_bytes: u64) -> Self {
        let draws = Xoshiro256PlusPlus::seed_from_u64(keeping.seed);
        Self { keeping, size_bytes, pages: HashMap::new(), draws }
    }

    /// Take a write. Data that nobody keeps take no memory.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        if self.keeping.keep == 0 {
            return;
        }
        let lie = if self.lies() { self.keeping.lie } else { Lie::None };
        match lie {
            Lie::None => self.put(offset, data),
            Lie::Drop => self.put(offset, &vec![0; data.len()]),
            Lie::Wrap => self.put(offset % self.keeping.wrap_bytes, data),
            Lie::Misdirect => {
                let sectors = (self.size_bytes - data.len() as u64) / SECTOR_BYTES;
                let place = self.draws.next_u64() % (sectors + 1) * SECTOR_BYTES;
                self.put(place, data);
            }
            Lie::Age => {}
            Lie::Flip => self.put(offset, &self.flipped(data)),
        }
    }

    /// What a read gives.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) {
        let wraps = self.keeping.lie == Lie::Wrap && self.keeping.lie_share >= 1.0;
        let from = if wraps { offset % self.keeping.wrap_bytes } else { offset };
        for (page, within, part) in parts(from, data.len()) {
            let rest = &mut data[part.clone()];
            match self.pages.get(&page) {
                Some(content) => rest.copy_from_slice(&content[within..within + part.len()]),
                None => rest.fill(0),
            }
        }
    }

    fn put(&mut self, offset: u64, data: &[u8]) {
        for (page, within, part) in parts(offset, data.len()) {
            let content = self.pages.entry(page).or_insert_with(|| Box::new([0; PAGE_BYTES as usize]));
            content[within..within + part.len()].copy_from_slice(&data[part]);
        }
    }

    fn lies(&mut self) -> bool {
        let share = self.keeping.lie_share;
        self.keeping.lie != Lie::None && ((self.draws.next_u64() >> 11) as f64 / (1_u64 << 53) as f64) < share
    }

    /// One bit in every 512 bytes, so that it is found wherever a block is looked at.
    fn flipped(&self, data: &[u8]) -> Vec<u8> {
        let mut data = data.to_vec();
        for sector in data.chunks_mut(SECTOR_BYTES as usize) {
            let place = self.keeping.seed as usize % sector.len();
            sector[place] ^= 1;
        }
        data
    }
}

/// The page, the offset in it, and the bytes of each part of an access.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let (place, begin) = (offset + done as u64, done);
        let within = (place % PAGE_BYTES) as usize;
        done = (done + PAGE_BYTES as usize - within).min(length);
        (begin < length).then_some((place / PAGE_BYTES, within, begin..done))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 20;

    fn store(lie: Lie, lie_share: f64) -> Store {
        Store::new(Keeping { keep: 1, lie, lie_share, wrap_bytes: SIZE / 4, seed: 3 }, SIZE)
    }

    fn read(store: &Store, offset: u64, length: usize) -> Vec<u8> {
        let mut data = vec![9; length];
        store.read(offset, &mut data);
        data
    }

    #[test]
    fn an_honest_file_returns_what_was_written_last_at_any_alignment() {
        let mut store = store(Lie::None, 1.0);
        let mut expected = vec![0; SIZE as usize];
        for nth in 0..500_u64 {
            let (offset, length) = (nth * 7_919 % (SIZE / 512 - 24) * 512, 512 * (1 + nth as usize % 24));
            let data = vec![nth as u8; length];
            store.write(offset, &data);
            expected[offset as usize..][..length].copy_from_slice(&data);
        }
        assert_eq!(read(&store, 0, SIZE as usize), expected);
        assert_eq!(read(&store, 1000, 5000), expected[1000..6000]);
    }

    #[test]
    fn a_file_that_keeps_nothing_gives_zeros() {
        let mut store = Store::new(Keeping::default(), SIZE);
        store.write(0, &[1; 4096]);
        assert_eq!((read(&store, 0, 4096), store.pages.len()), (vec![0; 4096], 0));
    }

    #[test]
    fn each_lie_is_what_it_is_called() {
        for (lie, expected) in [(Lie::None, 2), (Lie::Drop, 0), (Lie::Age, 1), (Lie::Misdirect, 1)] {
            let mut store = store(Lie::None, 1.0);
            store.write(0, &[1; 4096]);
            store.keeping.lie = lie;
            store.write(0, &[2; 4096]);
            assert_eq!(read(&store, 0, 4096), vec![expected; 4096], "{lie:?}");
        }
        let mut flipping = store(Lie::Flip, 1.0);
        flipping.write(0, &[2; 4096]);
        assert_eq!(read(&flipping, 0, 4096).iter().filter(|byte| **byte != 2).count(), 8);
    }

    #[test]
    fn a_file_that_wraps_shows_the_last_write_at_every_alias() {
        let mut wrapping = store(Lie::Wrap, 1.0);
        wrapping.write(SIZE / 4 + 4096, &[1; 4096]);
        for alias in 0..4 {
            assert_eq!(read(&wrapping, alias * SIZE / 4 + 4096, 4096), vec![1; 4096]);
        }
    }

    #[test]
    fn a_share_of_the_writes_is_lied_about_and_repeats_with_its_seed() {
        let lost = |share| {
            let mut store = store(Lie::Drop, share);
            (0..1 << 20 >> 9).for_each(|nth| store.write(nth * 512, &[1; 512]));
            read(&store, 0, SIZE as usize).chunks(512).filter(|sector| sector[0] == 0).count()
        };
        // 205 of 2,048 expected, standard deviation 13.6.
        assert!((150..=260).contains(&lost(0.1)), "{}", lost(0.1));
        assert_eq!((lost(0.1), lost(0.0), lost(1.0)), (lost(0.1), 0, 2048));
    }
}
