//! Random streams: one algorithm by name, so that a seed means the same addresses in every release.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The seeded stream of one worker; workers of one seed never overlap (each jumps 2^128 draws ahead).
pub(crate) fn worker_stream(seed: u64, worker: usize) -> Xoshiro256PlusPlus {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..worker).for_each(|_| rng.jump());
    rng
}

/// Map a 64-bit draw to [0, bound); the bias is below bound / 2^64.
#[inline]
pub(crate) fn uniform_below(draw: u64, bound: u64) -> u64 {
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}
