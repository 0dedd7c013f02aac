//! The drive's own random numbers: few, cheap, and the same for the same seed.

use serde::{Deserialize, Serialize};

/// A 64-bit generator (splitmix, 64 bits), for victim draws and jitter; the stimulus has its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stream {
    state: u64,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed ^ 0x5851_f42d_4c95_7f2d }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which must not be zero.
    #[inline]
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in [-1, 1), triangular around zero.
    #[inline]
    pub(crate) fn around_zero(&mut self) -> f64 {
        let word = self.next();
        let (left, right) = (word >> 32, word & 0xffff_ffff);
        (left as f64 - right as f64) / 4_294_967_296.0
    }
}
