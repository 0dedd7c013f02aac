//! Places of a drive that cannot be read: disjoint ranges that grow together and are cut by writes.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of bytes, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct BadBlocks {
    ends: BTreeMap<u64, u64>,
}

impl BadBlocks {
    /// These bytes cannot be read any more.
    pub(crate) fn add(&mut self, range: Range<u64>) {
        let mut joined = range;
        // What touches it from either side becomes one with it.
        while let Some((from, end)) =
            self.last_before(joined.end.saturating_add(1)).filter(|(_, end)| *end >= joined.start)
        {
            self.ends.remove(&from);
            joined = joined.start.min(from)..joined.end.max(end);
        }
        self.ends.insert(joined.start, joined.end);
    }

    /// Whether any of these bytes cannot be read.
    pub(crate) fn touches(&self, range: &Range<u64>) -> bool {
        self.last_before(range.end).is_some_and(|(_, end)| end > range.start)
    }

    /// These bytes were written anew and can be read again.
    pub(crate) fn heal(&mut self, range: &Range<u64>) {
        while let Some((from, end)) = self.last_before(range.end).filter(|(_, end)| *end > range.start) {
            self.ends.remove(&from);
            if end > range.end {
                self.ends.insert(range.end, end);
            }
            if from < range.start {
                self.ends.insert(from, range.start);
            }
        }
    }

    /// The last range that begins before a place.
    fn last_before(&self, place: u64) -> Option<(u64, u64)> {
        self.ends.range(..place).next_back().map(|(from, end)| (*from, *end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_hold_what_a_list_of_bytes_holds(
            changes in prop::collection::vec((any::<bool>(), 0_u64..60, 1_u64..12), 0..60)
        ) {
            let (mut ranges, mut bytes) = (BadBlocks::default(), [false; 72]);
            for (adds, from, length) in changes {
                let range = from..from + length;
                if adds { ranges.add(range.clone()) } else { ranges.heal(&range) }
                bytes[from as usize..(from + length) as usize].fill(adds);
            }
            for from in 0..72 {
                for end in from + 1..=72 {
                    let expected = bytes[from as usize..end as usize].contains(&true);
                    prop_assert_eq!(ranges.touches(&(from..end)), expected, "{}..{}", from, end);
                }
            }
        }
    }
}
