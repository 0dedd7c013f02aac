//! How many valid pages each unit holds, and which unit is collected next.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash_model::VictimPolicy;
use crate::memory::table;
use crate::stream::Stream;

/// Added to the count of units that are no candidates, so that no branch is needed: open ones and the victim.
const NOT_COLLECTABLE: u32 = 1 << 31;

/// Draws of a victim before a full one is taken after all.
const FULL_DRAWS_MAX: u32 = 64;

/// Valid counts of all units, with what the victim policy needs to find the next one.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Victims {
    counts: Vec<u32>,
    policy: VictimPolicy,
    unit_pages: u32,
    spares_full: bool,
    watch: Watch,
    closed: Closed,
    stream: Stream,
    /// Victims between two that are taken at random, and those since; 0 means never.
    levelling: (u32, u32),
}

/// Units below the watched level by their count: the emptiest for greedy, for the others those with nothing valid, which any
/// controller erases first. An entry is stale where its unit's count has changed since.
#[derive(Default, Serialize, Deserialize)]
struct Watch {
    level: u32,
    lowest: u32,
    entries: usize,
    buckets: Vec<Vec<u32>>,
}

/// First in, first out, or at random: the closed units in the order they were closed, as far as draws leave it.
#[derive(Default, Serialize, Deserialize)]
struct Closed {
    /// `GONE` where a unit was taken out of the order.
    units: VecDeque<u32>,
    /// Place of each unit in `units`, counted from the first unit ever closed.
    places: Vec<u32>,
    /// How many left `units` at the front.
    left: u32,
}

const GONE: u32 = u32::MAX;

impl Victims {
    /// `levelling_every`: every so many victims one is taken at random, 0 for never.
    pub(crate) fn new(unit_count: u32, unit_pages: u32, policy: VictimPolicy, levelling_every: u32, seed: u64) -> Self {
        let greedy = policy == VictimPolicy::Greedy;
        let (level, levels) = if greedy { (0, unit_pages as usize + 1) } else { (1, 1) };
        let placed = if greedy { 0 } else { unit_count as usize };
        Self {
            counts: table(unit_count as usize, NOT_COLLECTABLE),
            policy,
            unit_pages,
            spares_full: false,
            watch: Watch { level, lowest: level, entries: 0, buckets: vec![Vec::new(); levels] },
            closed: Closed { units: VecDeque::new(), places: vec![0; placed], left: 0 },
            stream: Stream::new(seed),
            levelling: (levelling_every, 0),
        }
    }

    /// Leave units alone that are full of valid pages, as far as some draws find another.
    pub(crate) fn spare_full(mut self, spares: bool) -> Self {
        self.spares_full = spares;
        self
    }

    /// Whether these, out of a kept state, are of units that hold so many valid pages each.
    pub(crate) fn fits(&self, counts: &[u32], unit_pages: u32) -> bool {
        let units = counts.len();
        let known = |unit: &u32| (*unit as usize) < units;
        let greedy = self.policy == VictimPolicy::Greedy;
        let levels = if greedy { unit_pages as usize + 1 } else { 1 };
        let entries: usize = self.watch.buckets.iter().map(Vec::len).sum();
        self.unit_pages == unit_pages
            && self.counts.len() == units
            && self.counts.iter().zip(counts).all(|(kept, found)| kept & !NOT_COLLECTABLE == *found)
            && self.watch.buckets.len() == levels
            && self.watch.level as usize <= levels
            && self.watch.entries == entries
            && self.watch.buckets.iter().flatten().all(known)
            && self.closed.fit(units, greedy)
    }

    /// Pages of a unit became valid.
    #[inline]
    pub(crate) fn add(&mut self, unit: u32, pages: u32) {
        self.counts[unit as usize] += pages;
    }

    /// Pages of a unit became invalid.
    #[inline]
    pub(crate) fn remove(&mut self, unit: u32, pages: u32) {
        let count = self.counts[unit as usize] - pages;
        self.counts[unit as usize] = count;
        if count < self.watch.level {
            self.watch.note(unit, count, &self.counts);
        }
    }

    pub(crate) fn valid_in(&self, unit: u32) -> u32 {
        self.counts[unit as usize] & !NOT_COLLECTABLE
    }

    /// A unit is full: from now on it may be collected.
    pub(crate) fn close(&mut self, unit: u32) {
        let count = self.counts[unit as usize] - NOT_COLLECTABLE;
        self.counts[unit as usize] = count;
        if self.policy != VictimPolicy::Greedy {
            self.closed.push(unit);
        }
        if count < self.watch.level {
            self.watch.note(unit, count, &self.counts);
        }
    }

    /// Choose the next victim and take it out of the candidates; with its number of valid pages.
    /// `None` where no unit is closed.
    pub(crate) fn choose(&mut self) -> Option<(u32, u32)> {
        let levelling = self.levelling_is_due();
        let unit = match self.policy {
            _ if levelling => self.any_closed(),
            VictimPolicy::Greedy => self.emptiest(),
            VictimPolicy::Fifo => self.empty().or_else(|| self.closed.first()),
            VictimPolicy::Random => self.empty().or_else(|| self.draw_partly_free(1)),
            VictimPolicy::Choices(count) => self.empty().or_else(|| self.draw_partly_free(count)),
        }?;
        let count = self.counts[unit as usize];
        self.counts[unit as usize] += NOT_COLLECTABLE;
        Some((unit, count))
    }

    /// Whether the policy takes units that free the most.
    pub(crate) fn are_emptiest(&self) -> bool {
        self.policy == VictimPolicy::Greedy
    }

    fn levelling_is_due(&mut self) -> bool {
        let (every, since) = self.levelling;
        let due = every > 0 && since + 1 >= every;
        self.levelling.1 = if due { 0 } else { since + u32::from(every > 0) };
        due
    }

    fn any_closed(&mut self) -> Option<u32> {
        let count = self.counts.len() as u64;
        let first = self.stream.below(count) as usize;
        let (ahead, behind) = self.counts.split_at(first);
        let place = behind.iter().chain(ahead).position(|count| *count < NOT_COLLECTABLE)?;
        let unit = ((first + place) % self.counts.len()) as u32;
        if self.policy != VictimPolicy::Greedy {
            self.closed.take_out(unit, self.policy == VictimPolicy::Fifo);
        }
        Some(unit)
    }

    /// A closed unit with nothing valid, out of the order of the others.
    fn empty(&mut self) -> Option<u32> {
        let unit = self.watch.take(&self.counts)?;
        self.closed.take_out(unit, self.policy == VictimPolicy::Fifo);
        Some(unit)
    }

    /// The emptiest of `count` units drawn with replacement; drawn anew while it is full, where such are spared.
    fn draw_partly_free(&mut self, count: u32) -> Option<u32> {
        let mut unit = self.draw(count)?;
        for _ in 0..FULL_DRAWS_MAX {
            if !self.spares_full || self.counts[unit as usize] < self.unit_pages {
                break;
            }
            unit = self.draw(count)?;
        }
        self.closed.take_out(unit, false);
        Some(unit)
    }

    fn draw(&mut self, count: u32) -> Option<u32> {
        let Self { closed, stream, counts, .. } = self;
        let length = closed.units.len() as u64;
        let draws = (0..count).filter(|_| length > 0).map(|_| closed.units[stream.below(length) as usize]);
        draws.min_by_key(|unit| counts[*unit as usize])
    }

    fn emptiest(&mut self) -> Option<u32> {
        if let Some(unit) = self.watch.take(&self.counts) {
            return Some(unit);
        }
        self.watch.rebuild(&self.counts, self.unit_pages);
        self.watch.take(&self.counts)
    }
}

impl Closed {
    /// Whether these, out of a kept state, are of so many units.
    fn fit(&self, units: usize, greedy: bool) -> bool {
        let placed = if greedy { 0 } else { units };
        let at = |place: usize| self.left.wrapping_add(place as u32);
        self.places.len() == placed
            && self.units.len() <= 2 * placed
            && self.units.iter().enumerate().all(|(place, unit)| {
                *unit == GONE || self.places.get(*unit as usize).is_some_and(|kept| *kept == at(place))
            })
    }

    fn push(&mut self, unit: u32) {
        self.places[unit as usize] = self.left.wrapping_add(self.units.len() as u32);
        self.units.push_back(unit);
    }

    fn first(&mut self) -> Option<u32> {
        loop {
            self.left = self.left.wrapping_add(u32::from(!self.units.is_empty()));
            match self.units.pop_front() {
                Some(GONE) => (),
                other => return other,
            }
        }
    }

    /// Without its order kept, the last one takes the place of the unit.
    fn take_out(&mut self, unit: u32, ordered: bool) {
        let place = self.places[unit as usize].wrapping_sub(self.left);
        if ordered {
            self.units[place as usize] = GONE;
            return;
        }
        self.units.swap_remove_back(place as usize);
        if let Some(moved) = self.units.get(place as usize) {
            self.places[*moved as usize] = self.left.wrapping_add(place);
        }
    }
}

impl Watch {
    #[inline(never)]
    fn note(&mut self, unit: u32, count: u32, counts: &[u32]) {
        self.buckets[count as usize].push(unit);
        self.lowest = self.lowest.min(count);
        self.entries += 1;
        if self.entries > 4 * counts.len() {
            self.forget_stale(counts);
        }
    }

    /// Stale entries of levels that are never the lowest would pile up.
    fn forget_stale(&mut self, counts: &[u32]) {
        self.entries = 0;
        for (level, bucket) in self.buckets.iter_mut().enumerate() {
            bucket.retain(|unit| counts[*unit as usize] == level as u32);
            self.entries += bucket.len();
        }
    }

    fn take(&mut self, counts: &[u32]) -> Option<u32> {
        while self.lowest < self.level {
            while let Some(unit) = self.buckets[self.lowest as usize].pop() {
                self.entries -= 1;
                if counts[unit as usize] == self.lowest {
                    return Some(unit);
                }
            }
            self.lowest += 1;
        }
        None
    }

    /// Look at all units: watch those up to a little above the emptiest.
    fn rebuild(&mut self, counts: &[u32], unit_pages: u32) {
        let emptiest = *counts.iter().min().expect("a drive has units");
        if emptiest >= NOT_COLLECTABLE {
            return;
        }
        self.level = (emptiest + 1 + unit_pages / 32).min(unit_pages + 1);
        self.lowest = emptiest;
        self.buckets.iter_mut().for_each(Vec::clear);
        self.entries = 0;
        for (unit, count) in counts.iter().enumerate().filter(|(_, count)| **count < self.level) {
            self.buckets[*count as usize].push(unit as u32);
            self.entries += 1;
        }
    }
}
