//! The generator's code compiled for AVX2, and the only way to it.

use super::{Fill, Seeds, fill_in_steps};

/// The code, where this CPU can run it.
pub(super) fn fill_where_possible() -> Option<Fill> {
    std::is_x86_feature_detected!("avx2").then_some(fill_on_avx2 as Fill)
}

fn fill_on_avx2(seeds: &Seeds, key: u64, buffer: &mut [u8]) {
    // SAFETY: only `fill_where_possible` gives this function out, and only where the CPU has AVX2.
    unsafe { fill(seeds, key, buffer) }
}

#[target_feature(enable = "avx2")]
fn fill(seeds: &Seeds, key: u64, buffer: &mut [u8]) {
    fill_in_steps(seeds, key, buffer);
}
