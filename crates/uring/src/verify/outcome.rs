//! Wrong sectors, counted by kind and merged into ranges.

use std::collections::BTreeMap;

/// Ranges that are kept, at most; what lies beyond is counted only.
const RANGES_MAX: usize = 4096;

/// What a sector holds that does not hold what was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing but zeros.
    Zeros,
    /// An earlier write of this run to this address.
    Stale,
    /// A write of another run to this address.
    OtherRun,
    /// What was written to another address.
    Misdirected,
    /// No data of ours, or damaged.
    Corrupt,
    /// Nothing: the read fails.
    Unread,
}

impl Kind {
    /// Each with its word.
    pub const NAMES: [(&str, Self); 6] = [
        ("zeros", Self::Zeros),
        ("stale", Self::Stale),
        ("other-run", Self::OtherRun),
        ("misdirected", Self::Misdirected),
        ("corrupt", Self::Corrupt),
        ("unread", Self::Unread),
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// A wrong sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// In units of 512 bytes.
    pub sector: u64,
    /// What it holds.
    pub kind: Kind,
    /// From here to the address that its data are of, in sectors.
    pub distance: i64,
}

impl Found {
    pub(crate) fn unread(sector: u64) -> Self {
        Self { sector, kind: Kind::Unread, distance: 0 }
    }
}

/// Wrong sectors in a row that have kind and distance in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first, in units of 512 bytes.
    pub sector: u64,
    /// How many.
    pub count: u64,
    /// What they hold.
    pub kind: Kind,
    /// From here to the address that their data are of, in sectors.
    pub distance: i64,
}

/// All that a check found.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    checked: u64,
    counts: [u64; Kind::NAMES.len()],
    /// By first sector, none beside another that it could be merged with.
    ranges: BTreeMap<u64, Range>,
    unlisted: u64,
}

impl Sums {
    /// Sectors that were read and compared.
    #[must_use]
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// Wrong ones of each kind, none of zero.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Kind::NAMES.into_iter().map(|(name, kind)| (name, self.counts[kind as usize])).filter(|(_, count)| *count > 0)
    }

    /// Where they lie, in rising order.
    pub fn ranges(&self) -> impl Iterator<Item = &Range> {
        self.ranges.values()
    }

    /// Wrong sectors that are in none of the ranges.
    #[must_use]
    pub fn unlisted(&self) -> u64 {
        self.unlisted
    }

    pub(crate) fn add(&mut self, checked: u64, found: &[Found]) {
        self.checked += checked;
        let mut found = found.iter().peekable();
        while let Some(first) = found.next() {
            let mut range = Range { sector: first.sector, count: 1, kind: first.kind, distance: first.distance };
            while found.next_if(|next| range.goes_on_with(next.sector, next.kind, next.distance)).is_some() {
                range.count += 1;
            }
            self.counts[range.kind as usize] += range.count;
            self.put(range);
        }
    }

    fn put(&mut self, mut range: Range) {
        let before = self.ranges.range(..range.sector).next_back().map(|(_, before)| *before);
        if let Some(before) = before.filter(|before| before.goes_on_with(range.sector, range.kind, range.distance)) {
            range = Range { sector: before.sector, count: before.count + range.count, ..range };
        }
        let after = self.ranges.get(&(range.sector + range.count)).copied();
        if let Some(after) = after.filter(|after| range.goes_on_with(after.sector, after.kind, after.distance)) {
            self.ranges.remove(&after.sector);
            range.count += after.count;
        }
        self.ranges.insert(range.sector, range);
        if self.ranges.len() > RANGES_MAX
            && let Some((_, last)) = self.ranges.pop_last()
        {
            self.unlisted += last.count;
        }
    }
}

impl Range {
    fn goes_on_with(&self, sector: u64, kind: Kind, distance: i64) -> bool {
        self.sector + self.count == sector && self.kind == kind && self.distance == distance
    }
}
