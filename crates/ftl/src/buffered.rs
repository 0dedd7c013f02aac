//! Which stripes of host data are still in the write buffer, and until when.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Stripes in the order in which they were handed to their dies. Those of a unit follow each other, so runs tell which they are.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Buffered {
    /// When each is in the flash.
    ends: VecDeque<u64>,
    /// First stripe and count of each run.
    runs: VecDeque<(u32, u32)>,
}

impl Buffered {
    /// A stripe is in the buffer until `end`; what was over at `now` is forgotten.
    #[inline]
    pub(crate) fn push(&mut self, stripe: u32, end: u64, now: u64) {
        while self.ends.front().is_some_and(|end| *end <= now) {
            self.ends.pop_front();
            self.shorten();
        }
        self.ends.push_back(end);
        match self.runs.back_mut() {
            Some((first, count)) if *first + *count == stripe => *count += 1,
            _ => self.runs.push_back((stripe, 1)),
        }
    }

    fn shorten(&mut self) {
        let (first, count) = self.runs.front_mut().expect("every stripe is in a run");
        (*first, *count) = (*first + 1, *count - 1);
        if *count == 0 {
            self.runs.pop_front();
        }
    }

    /// Whether a stripe is in the buffer at a time.
    pub(crate) fn holds(&self, stripe: u32, at: u64) -> bool {
        let mut before = self.ends.len();
        self.runs.iter().rev().any(|(first, count)| {
            before -= *count as usize;
            let index = stripe.wrapping_sub(*first);
            index < *count && self.ends[before + index as usize] > at
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stripe_is_held_until_its_end(
            pushes in prop::collection::vec((0_u32..30, 1_u64..60, prop::bool::ANY), 1..60)
        ) {
            let (mut buffered, mut all, mut stripe) = (Buffered::default(), Vec::new(), 0);
            for ((jump, span, follows), now) in pushes.into_iter().zip(0_u64..) {
                stripe = if follows { stripe + 1 } else { jump };
                buffered.push(stripe, now + span, now);
                all.push((stripe, now + span));
                for asked in 0..100 {
                    let held = all.iter().any(|(one, end)| *one == asked && *end > now);
                    prop_assert_eq!(buffered.holds(asked, now), held, "{} at {}", asked, now);
                }
            }
        }
    }
}
