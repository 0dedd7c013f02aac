//! Which blocks are sampled.

use crate::contract::{Bytes, DeviceInfo};

/// Regions that the stated range has, to within a factor of two.
const REGIONS: u64 = 1024;
/// Regions of a whole drive, at most: what the memory of a worker has room for.
const REGIONS_MAX: u64 = 32_768;
/// Blocks of a region, at least: of a small file most writes are to stay on the short path.
const BLOCKS_MIN: u64 = 16;
/// The golden ratio in 64 bits, which spreads neighbours over the whole range.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// One logical block in each of the equal regions of a drive, at a position that a hash of the region gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    region_shift: u32,
    block_shift: u32,
    /// What leaves of a hash the index of a block in its region, less the one bit that is always dropped.
    hash_shift: u32,
    seed: u64,
}

impl Sampling {
    /// Choose about 1,024 blocks of a range and as many in each equal part of the drive, at most 65,536 in all.
    ///
    /// `range` : bytes that the run writes to, above 0; the capacity when unsure. `seed` : two runs choose different blocks.
    /// Worked: 1 TiB and a range of all of it -> regions of 1 GiB, 1,024 blocks; a range of 8 GiB -> regions of 32 MiB, 256
    /// in the range.
    #[must_use]
    pub fn new(info: DeviceInfo, range: Bytes, seed: u64) -> Self {
        let block = info.logical_block.0.max(1);
        let range = range.0.clamp(1, info.capacity.0.max(1));
        let least = (info.capacity.0 / REGIONS_MAX).max(block * BLOCKS_MIN);
        let region = (range / REGIONS).max(least);
        let (region_shift, block_shift) = (region.ilog2(), block.ilog2());
        Self { region_shift, block_shift, hash_shift: 63 - (region_shift - block_shift), seed }
    }

    /// Size of a sampled block.
    #[must_use]
    pub fn block(&self) -> Bytes {
        Bytes(1 << self.block_shift)
    }

    /// Size of a region.
    #[must_use]
    pub fn region(&self) -> Bytes {
        Bytes(1 << self.region_shift)
    }

    #[inline]
    fn place(&self, region: u64) -> u64 {
        let hash = (region ^ self.seed).wrapping_mul(MULTIPLIER);
        (region << self.region_shift) + ((hash >> 1 >> self.hash_shift) << self.block_shift)
    }

    /// Whether an access may cover a sampled block: it does, or it lies in several regions.
    #[inline]
    pub(super) fn may_cover(&self, offset: u64, length: u64) -> bool {
        let region = offset >> self.region_shift;
        self.place(region).wrapping_sub(offset) < length || offset + length > (region + 1) << self.region_shift
    }

    /// The sampled blocks that an access covers whole.
    pub(super) fn covered(self, offset: u64, length: u64) -> impl Iterator<Item = u64> {
        let regions = offset >> self.region_shift..=(offset + length.max(1) - 1) >> self.region_shift;
        let places = regions.map(move |region| self.place(region));
        places.filter(move |place| *place >= offset && place + self.block().0 <= offset + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(capacity: u64, range: u64, logical_block: u64) -> Sampling {
        let info = DeviceInfo { capacity: Bytes(capacity), logical_block: Bytes(logical_block) };
        Sampling::new(info, Bytes(range), 7)
    }

    #[test]
    fn a_drive_has_about_a_thousand_sampled_blocks_in_its_range() {
        let whole = sampling(1 << 40, 1 << 40, 512);
        assert_eq!(whole.region(), Bytes(1 << 30));
        assert_eq!(whole.covered(0, 1 << 40).count(), 1024);
        let part = sampling(1 << 40, 8 << 30, 512);
        assert_eq!(part.region(), Bytes(32 << 20));
        assert_eq!(part.covered(0, 8 << 30).count(), 256);
        assert_eq!(sampling(1_000_000_000_000, 1_000_000_000_000, 4096).covered(0, 1_000_000_000_000).count(), 1862);
        assert_eq!(sampling(1 << 20, 1 << 20, 4096).region(), Bytes(65_536));
    }

    #[test]
    fn every_access_that_covers_a_sampled_block_is_let_through() {
        for logical_block in [512, 4096] {
            let sampling = sampling(64 << 20, 64 << 20, logical_block);
            let sampled: Vec<_> = sampling.covered(0, 64 << 20).collect();
            assert!((512..=2048).contains(&sampled.len()), "{}", sampled.len());
            let mut passed = 0;
            for nth in 0..200_000_u64 {
                let length = logical_block << (nth % 7);
                let offset = nth.wrapping_mul(MULTIPLIER) % ((64 << 20) - length) / logical_block * logical_block;
                let expected: Vec<_> =
                    sampled.iter().copied().filter(|place| (offset..offset + length).contains(place)).collect();
                assert_eq!(sampling.covered(offset, length).collect::<Vec<_>>(), expected);
                assert!(expected.is_empty() || sampling.may_cover(offset, length));
                passed += u64::from(sampling.may_cover(offset, length));
            }
            assert!(passed < 130_000, "{passed}");
        }
        assert!(!sampling(64 << 20, 64 << 20, 512).may_cover(0, 0), "a flush has no place");
    }

    #[test]
    fn two_runs_sample_different_blocks() {
        let info = DeviceInfo { capacity: Bytes(1 << 30), logical_block: Bytes(512) };
        let of = |seed| Sampling::new(info, Bytes(1 << 30), seed).covered(0, 1 << 30).collect::<Vec<_>>();
        let same = of(1).into_iter().zip(of(2)).filter(|(first, second)| first == second).count();
        assert!(same < 20, "{same}");
    }
}
