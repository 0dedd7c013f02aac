//! The LBAs that a step may touch.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::contract::Bytes;
use crate::stream::uniform_below;

const GRID: u64 = 1 << 20;

/// Equal, disjoint segments in ascending order; no I/O crosses a segment's edge.
///
/// Addresses inside it are linear: byte 0 is the first byte of the first segment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenRange")]
pub struct ActiveRange {
    starts: Vec<u64>,
    segment_bytes: u64,
}

/// A range as it is written, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRange {
    segment_starts: Vec<u64>,
    segment_bytes: u64,
}

impl TryFrom<WrittenRange> for ActiveRange {
    type Error = RangeError;

    fn try_from(written: WrittenRange) -> Result<Self, RangeError> {
        Self::new(written.segment_starts, written.segment_bytes)
    }
}

/// Why a range cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// No segment, or segments of zero bytes.
    Empty,
    /// Segments overlap or are not in ascending order.
    Overlap,
    /// The segments and the 1 MiB gaps between them need more than the capacity: give fewer or smaller segments.
    TooLarge {
        /// Bytes needed.
        needed: u64,
        /// Bytes there are.
        capacity: u64,
    },
}

impl std::fmt::Display for RangeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the active range is empty"),
            Self::Overlap => formatter.write_str("the segments overlap or are not in ascending order"),
            Self::TooLarge { needed, capacity } => {
                write!(formatter, "the active range needs {needed} bytes of {capacity}")
            }
        }
    }
}

impl ActiveRange {
    /// A range of given segments.
    ///
    /// # Errors
    /// [`RangeError::Empty`], [`RangeError::Overlap`].
    pub fn new(starts: Vec<u64>, segment_bytes: u64) -> Result<Self, RangeError> {
        if starts.is_empty() || segment_bytes == 0 {
            return Err(RangeError::Empty);
        }
        if starts.windows(2).any(|pair| pair[1] < pair[0] + segment_bytes) {
            return Err(RangeError::Overlap);
        }
        Ok(Self { starts, segment_bytes })
    }

    /// Place `count` segments of `segment` bytes at random over the first `capacity` bytes.
    ///
    /// Starts lie on a 1 MiB grid, gaps are at least 1 MiB, and every composition of the slack before,
    /// between and after the segments is equally likely. The same seed gives the same places.
    ///
    /// # Errors
    /// [`RangeError::Empty`]; [`RangeError::TooLarge`] when segments and gaps do not fit.
    ///
    /// ```
    /// use assay_core::{active_range::ActiveRange, contract::Bytes};
    /// let range = ActiveRange::place(Bytes(32_000_000_000), 2048, Bytes(8 << 20), 1).unwrap();
    /// assert_eq!(range.total(), Bytes(16 << 30));
    /// ```
    pub fn place(capacity: Bytes, count: u64, segment: Bytes, seed: u64) -> Result<Self, RangeError> {
        let segment_cells = segment.0.div_ceil(GRID);
        let needed_cells = (count * (segment_cells + 1)).saturating_sub(1);
        let cells = capacity.0 / GRID;
        if count == 0 || segment.0 == 0 {
            return Err(RangeError::Empty);
        }
        if needed_cells > cells {
            return Err(RangeError::TooLarge { needed: needed_cells * GRID, capacity: capacity.0 });
        }
        let gaps_before = random_composition(cells - needed_cells, count, seed);
        let starts = (0..count).zip(gaps_before).map(|(index, slack)| (slack + index * (segment_cells + 1)) * GRID);
        Self::new(starts.collect(), segment.0)
    }

    /// First byte of each segment.
    #[must_use]
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// Size of every segment.
    #[must_use]
    pub fn segment(&self) -> Bytes {
        Bytes(self.segment_bytes)
    }

    /// All segments together.
    #[must_use]
    pub fn total(&self) -> Bytes {
        Bytes(self.segment_bytes * self.starts.len() as u64)
    }

    /// One past the last byte on the drive.
    #[must_use]
    pub fn end(&self) -> Bytes {
        Bytes(self.starts[self.starts.len() - 1] + self.segment_bytes)
    }

    /// The place on the drive of a linear address below [`Self::total`].
    #[inline]
    #[must_use]
    pub fn place_of(&self, linear: u64) -> Bytes {
        if self.starts.len() == 1 {
            return Bytes(self.starts[0] + linear);
        }
        let segment = (linear / self.segment_bytes) as usize;
        Bytes(self.starts[segment] + linear % self.segment_bytes)
    }
}

/// Slack that lies before each of `count` segments: ascending, at most `slack`, uniform over all compositions.
fn random_composition(slack: u64, count: u64, seed: u64) -> Vec<u64> {
    // Choosing `count` of `slack + count` positions without order is a composition (stars and bars).
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut chosen = std::collections::BTreeSet::new();
    for candidate in slack..slack + count {
        let draw = uniform_below(rng.next_u64(), candidate + 1);
        if !chosen.insert(draw) {
            chosen.insert(candidate);
        }
    }
    chosen.into_iter().enumerate().map(|(index, position)| position - index as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_are_disjoint_on_the_grid_and_apart(capacity_mib in 1000_u64..40_000, count in 1_u64..100, seed: u64) {
            let range = ActiveRange::place(Bytes(capacity_mib << 20), count, Bytes(8 << 20), seed).expect("fits");
            prop_assert_eq!(range.total(), Bytes(count * (8 << 20)));
            prop_assert!(range.starts().iter().all(|start| start % GRID == 0));
            prop_assert!(range.starts().windows(2).all(|pair| pair[1] - pair[0] >= 9 << 20));
            prop_assert!(range.end().0 <= capacity_mib << 20);
        }
    }

    #[test]
    fn a_range_that_just_fits_is_placed_and_one_more_is_refused() {
        let fits = ActiveRange::place(Bytes(26 << 20), 3, Bytes(8 << 20), 1).expect("3 x 8 MiB and two gaps fit");
        assert_eq!(fits.starts(), [0, 9 << 20, 18 << 20]);
        let refused = ActiveRange::place(Bytes(25 << 20), 3, Bytes(8 << 20), 1);
        assert_eq!(refused, Err(RangeError::TooLarge { needed: 26 << 20, capacity: 25 << 20 }));
    }

    #[test]
    fn every_composition_is_equally_likely() {
        // Slack 2 over 2 segments: the (before, before) pairs 00 01 02 11 12 22, each 1/6.
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *counts.entry(random_composition(2, 2, seed)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        let chi_square: f64 = counts.values().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 25.7, "chi-square {chi_square} with 5 degrees of freedom (p = 1e-4)");
    }
}
