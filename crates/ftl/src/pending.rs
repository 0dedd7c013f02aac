//! Which outstanding I/O completes next: a tournament over the slots.

/// The completion time of every slot; the earliest wins, the lower slot where two are equal.
pub(crate) struct Pending {
    /// A heap-shaped tree: node n has the children 2n and 2n + 1; leaf s stands at `width + s`.
    winners: Vec<(u64, u32)>,
    width: usize,
    /// A slot whose I/O is over while its old time still stands in the tree: most are set anew at once.
    stale: Option<u32>,
}

const NEVER: u64 = u64::MAX;

impl Pending {
    pub(crate) fn new(slot_count: u32) -> Self {
        let width = (slot_count.max(1) as usize).next_power_of_two();
        let mut winners = vec![(NEVER, 0); 2 * width];
        for (slot, leaf) in winners[width..].iter_mut().enumerate() {
            leaf.1 = slot as u32;
        }
        Self { winners, width, stale: None }
    }

    /// The time and slot of the next completion; `None` where nothing is outstanding.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u64, u32)> {
        if let Some(slot) = self.stale.take() {
            self.climb(slot, NEVER);
        }
        Some(self.winners[1]).filter(|(at, _)| *at != NEVER)
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: u32, at: u64) {
        if let Some(other) = self.stale.take().filter(|stale| *stale != slot) {
            self.climb(other, NEVER);
        }
        self.climb(slot, at);
    }

    #[inline]
    pub(crate) fn clear(&mut self, slot: u32) {
        if let Some(other) = self.stale.replace(slot) {
            self.climb(other, NEVER);
        }
    }

    #[inline]
    fn climb(&mut self, slot: u32, at: u64) {
        let mut node = self.width + slot as usize;
        self.winners[node] = (at, slot);
        while node > 1 {
            let (left, right) = (self.winners[node & !1], self.winners[node | 1]);
            node /= 2;
            self.winners[node] = if right.0 < left.0 { right } else { left };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn completions_come_in_order_of_time_and_slot(times in prop::collection::vec(0_u64..50, 1..40)) {
            let mut pending = Pending::new(times.len() as u32);
            for (slot, at) in times.iter().enumerate() {
                pending.set(slot as u32, *at);
            }
            let mut expected: Vec<(u64, u32)> = times.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let mut seen = Vec::new();
            while let Some((at, slot)) = pending.next() {
                pending.clear(slot);
                seen.push((at, slot));
            }
            prop_assert_eq!(seen, expected);
        }
    }
}
