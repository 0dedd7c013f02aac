//! Appending pages, and garbage collection paced by the host's writes.
//!
//! Victims with v of N pages valid free N - v pages; v relocations are spread evenly, or in batches, over the host
//! pages that use those up, so the free pool stays level and no write waits for more than a batch. A policy that does not look
//! for the emptiest unit may take one that frees nothing: then the next ones are taken along with it, and paid for together.

use serde::{Deserialize, Serialize};

use crate::geometry::{Geometry, RESERVE_UNITS};
use crate::mapping::Mapping;
use crate::victims::Victims;

/// Collection runs while no more units than this are free: all of the reserve but the two frontiers.
const FREE_LOW: usize = RESERVE_UNITS as usize - 2;
/// Victims that are not the emptiest are taken until they free one of so many parts of a unit.
const FREED_SHARE: u32 = 2;
/// Host pages appended at a time, so that collection keeps up with long writes.
const RUN_PAGES: u32 = 32;
/// Relocations that the map is fetched ahead for.
const FETCH_AHEAD: usize = 16;
/// Words of 64 pages that the reverse map is fetched ahead for.
const WORDS_AHEAD: u32 = 2;

/// What the flash has to do, in order; the timing layer charges it to dies and channels.
pub(crate) trait FlashWork {
    /// A stripe is full, with so many pages: program it. `host` is false for relocated data.
    fn program(&mut self, stripe: u32, pages: u32, host: bool);
    /// Read one of the `pages` of a stripe in order to relocate it.
    fn relocate(&mut self, stripe: u32, pages: u32);
    /// Erase one unit on all dies.
    fn erase(&mut self);
}

/// Work that takes no time: of idle collection, whose time is over, and of what a purge leaves behind.
pub(crate) struct NoTime;

impl FlashWork for NoTime {
    fn program(&mut self, _: u32, _: u32, _: bool) {}
    fn relocate(&mut self, _: u32, _: u32) {}
    fn erase(&mut self) {}
}

/// How units are chosen and relocations are done.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Collection {
    pub(crate) shared_frontier: bool,
    /// Pages relocated at a time, at least 1.
    pub(crate) batch: u32,
}

/// Pages written so far; their ratio is the write amplification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashStatistics {
    /// Mapped pages written by the host.
    pub host_pages: u64,
    /// Mapped pages relocated by garbage collection.
    pub relocated_pages: u64,
    /// Units erased.
    pub erased_units: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct Frontier {
    unit: u32,
    next: u32,
    end: u32,
    /// The stripe that is being filled, its end, and how many pages it holds.
    stripe: u32,
    stripe_end: u32,
    stripe_pages: u32,
}

impl Frontier {
    /// Whether it can be one of a drive of this geometry.
    fn fits(&self, geometry: &Geometry) -> bool {
        let from = u64::from(self.unit) * u64::from(geometry.unit_slots);
        let end = from + u64::from(geometry.unit_slots);
        self.unit < geometry.unit_count
            && self.next <= self.end
            && u64::from(self.end) <= end
            && (self.end == 0 || (u64::from(self.next) >= from && self.stripe_pages > 0 && self.stripe_end > self.next))
    }

    /// Have the stripes programmed that are full.
    #[inline]
    fn finish_stripes(&mut self, host: bool, work: &mut impl FlashWork) {
        while self.next >= self.stripe_end {
            work.program(self.stripe, self.stripe_pages, host);
            self.stripe += 1;
            self.stripe_end += self.stripe_pages;
        }
    }
}

/// What victims that were taken together cost, and how far it is paid.
#[derive(Default, Serialize, Deserialize)]
struct Dues {
    valid: u32,
    /// Host pages that fit into what they free.
    freed: u32,
    relocated: u32,
    host_pages: u32,
}

impl Dues {
    /// So many host pages are written, of those that the victims stand for; returns how many relocations are due.
    fn pay(&mut self, host_pages: u32) -> u32 {
        self.host_pages += host_pages;
        let owed = if self.are_last() {
            self.valid
        } else {
            (u64::from(self.host_pages) * u64::from(self.valid)).div_ceil(u64::from(self.freed)) as u32
        };
        owed.saturating_sub(self.relocated)
    }

    fn left(&self) -> u32 {
        self.freed.saturating_sub(self.host_pages)
    }

    fn are_last(&self) -> bool {
        self.host_pages >= self.freed
    }
}

#[derive(Serialize, Deserialize)]
struct Victim {
    unit: u32,
    /// Pages that each of its stripes holds.
    stripe_pages: u32,
    /// Valid pages found so far that are not relocated yet, each with its logical page: a ring.
    found: [(u32, u32); FETCH_AHEAD],
    found_first: usize,
    found_count: usize,
    /// Where the search for valid pages goes on: a word of 64, what is left of it, and the first page behind the unit.
    word: u32,
    left: u64,
    end: u32,
}

impl Victim {
    fn new(unit: u32, geometry: &Geometry, stripe_pages: u32, mapping: &Mapping) -> Self {
        let from = unit * geometry.unit_slots;
        let end = from + stripe_pages * geometry.unit_stripes();
        let mut victim = Self {
            unit,
            stripe_pages,
            found: [(0, 0); FETCH_AHEAD],
            found_first: 0,
            found_count: 0,
            word: from / 64,
            left: mapping.valid_word(from / 64) & (u64::MAX << (from % 64)),
            end,
        };
        (0..=WORDS_AHEAD).for_each(|ahead| mapping.fetch_word(victim.word + ahead));
        (0..FETCH_AHEAD).for_each(|_| victim.find(mapping));
        victim
    }

    /// Find one more valid page and fetch its entry of the map.
    #[inline]
    fn find(&mut self, mapping: &Mapping) {
        while self.left == 0 {
            self.word += 1;
            if self.word * 64 >= self.end {
                self.word -= 1;
                return;
            }
            self.left = mapping.valid_word(self.word);
            mapping.fetch_word(self.word + WORDS_AHEAD);
        }
        let page = self.word * 64 + self.left.trailing_zeros();
        if page >= self.end {
            return;
        }
        self.left &= self.left - 1;
        let logical = mapping.logical_of(page);
        mapping.fetch(logical);
        self.found[(self.found_first + self.found_count) % FETCH_AHEAD] = (page, logical);
        self.found_count += 1;
    }

    /// The next page to relocate with its logical page; what was overwritten since it was found is left out.
    #[inline]
    fn next(&mut self, mapping: &Mapping) -> Option<(u32, u32)> {
        while self.found_count > 0 {
            let (page, logical) = self.found[self.found_first];
            self.found_first = (self.found_first + 1) % FETCH_AHEAD;
            self.found_count -= 1;
            self.find(mapping);
            if mapping.lies_at(logical, page) {
                return Some((page, logical));
            }
        }
        None
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Collector {
    #[serde(skip)]
    geometry: Geometry,
    collection: Collection,
    pub(crate) mapping: Mapping,
    pub(crate) statistics: FlashStatistics,
    free: Vec<u32>,
    host: Frontier,
    relocation: Frontier,
    victim: Option<Victim>,
    /// Victims that come after it, the next one last, and what all of them cost together.
    victims_next: Vec<u32>,
    dues: Dues,
    /// Pages per stripe of host data that comes now, and of every unit; empty where the drive does not compress.
    host_stripe_pages: u32,
    densities: Vec<u32>,
    /// Host pages since collection was last done: it is done for a stripe at a time.
    uncollected: u32,
}

impl Collector {
    pub(crate) fn new(geometry: &Geometry, victims: Victims, collection: Collection) -> Self {
        let units = geometry.unit_count as usize;
        Self {
            geometry: geometry.clone(),
            collection,
            mapping: Mapping::new(geometry, victims),
            statistics: FlashStatistics::default(),
            free: (0..geometry.unit_count).rev().collect(),
            host: Frontier::default(),
            relocation: Frontier::default(),
            victim: None,
            victims_next: Vec::new(),
            dues: Dues::default(),
            host_stripe_pages: geometry.stripe_pages,
            densities: if geometry.unit_slots == geometry.unit_pages { Vec::new() } else { vec![0; units] },
            uncollected: 0,
        }
    }

    pub(crate) fn user_pages(&self) -> u32 {
        self.geometry.user_pages
    }

    /// What a kept state leaves out, since it follows from the rest. False where the rest fits no drive of this geometry.
    pub(crate) fn complete(&mut self, geometry: &Geometry) -> bool {
        self.geometry = geometry.clone();
        let units = geometry.unit_count;
        let dense = if geometry.unit_slots == geometry.unit_pages { 0 } else { units as usize };
        let stripe_max = geometry.stripe_pages * (geometry.unit_slots / geometry.unit_pages);
        let mut places = vec![false; units as usize];
        let free = self.free.iter().all(|unit| *unit < units && !std::mem::replace(&mut places[*unit as usize], true));
        let victim = self.victim.as_ref().is_none_or(|victim| {
            let found = victim.found_first < FETCH_AHEAD && victim.found_count <= FETCH_AHEAD;
            found && victim.unit < units && (1..=stripe_max).contains(&victim.stripe_pages)
        });
        let fits = free
            && victim
            && self.victims_next.iter().all(|unit| *unit < units)
            && self.densities.len() == dense
            && self.densities.iter().chain([&self.host_stripe_pages]).all(|pages| *pages <= stripe_max)
            && [&self.host, &self.relocation].iter().all(|frontier| frontier.fits(geometry))
            && self.collection.batch > 0
            && self.uncollected < geometry.stripe_pages.max(RUN_PAGES) * 2;
        fits && self.mapping.complete(geometry)
    }

    /// Write one host page: append it, then do the collection that it owes.
    #[inline]
    pub(crate) fn write(&mut self, logical: u32, work: &mut impl FlashWork) {
        let page = self.append_host();
        self.mapping.place(logical, page, self.host.unit);
        self.statistics.host_pages += 1;
        self.host.finish_stripes(true, work);
        self.owe(1, work);
    }

    /// Write pages that follow each other.
    pub(crate) fn write_run(&mut self, logical: u32, count: u32, work: &mut impl FlashWork) {
        let (mut from, end) = (logical, logical + count);
        while from < end {
            let page = self.append_host();
            let taken = (end - from).min(self.host.end - page).min(RUN_PAGES);
            self.host.next = page + taken;
            self.mapping.place_run(from, taken, page, self.host.unit);
            self.statistics.host_pages += u64::from(taken);
            self.host.finish_stripes(true, work);
            self.owe(taken, work);
            from += taken;
        }
    }

    /// The stripe that host data is collected for.
    #[inline]
    pub(crate) fn open_stripe(&self) -> u32 {
        self.host.stripe
    }

    /// Data of the host is from now on stored so many pages to a stripe; units that are open keep their density.
    pub(crate) fn set_density(&mut self, stripe_pages: u32) {
        self.host_stripe_pages = stripe_pages;
    }

    /// The stripe that a physical page lies in.
    #[inline]
    pub(crate) fn stripe_of(&self, page: u32) -> u32 {
        if self.densities.is_empty() { self.geometry.stripe_of(page) } else { self.dense_stripe_of(page) }
    }

    fn dense_stripe_of(&self, page: u32) -> u32 {
        let unit = self.mapping.unit_of(page);
        let within = (page - unit * self.geometry.unit_slots) / self.densities[unit as usize].max(1);
        unit * self.geometry.unit_stripes() + within
    }

    fn density_of(&self, unit: u32) -> u32 {
        self.densities.get(unit as usize).copied().unwrap_or(self.geometry.stripe_pages)
    }

    /// Relocate while the drive has nothing else to do, until `target` pages are free.
    pub(crate) fn collect_idle(&mut self, mut budget: u64, target: u64, work: &mut impl FlashWork) {
        while budget > 0 && self.free_pages() < target {
            if self.victim.is_none() && !self.choose_victims() {
                break;
            }
            let most = budget.min(u64::from(self.geometry.unit_pages)) as u32;
            budget -= u64::from(self.relocate(most, work));
            self.free_if_empty(work);
        }
    }

    fn free_pages(&self) -> u64 {
        (self.free.len() as u64).saturating_sub(FREE_LOW as u64) * u64::from(self.geometry.unit_pages)
    }

    #[inline]
    fn append_host(&mut self) -> u32 {
        if self.host.next == self.host.end {
            self.open(true, self.host_stripe_pages);
        }
        self.host.next += 1;
        self.host.next - 1
    }

    /// Take a free unit for the host's data, or for relocated data, at so many pages to a stripe.
    fn open(&mut self, host: bool, stripe_pages: u32) {
        let frontier = if host { &mut self.host } else { &mut self.relocation };
        if frontier.end > 0 {
            self.mapping.victims.close(frontier.unit);
        }
        let unit = self.free.pop().expect("paced collection keeps units free");
        let next = unit * self.geometry.unit_slots;
        let stripes = self.geometry.unit_stripes();
        *frontier = Frontier {
            unit,
            next,
            end: next + stripe_pages * stripes,
            stripe: unit * stripes,
            stripe_end: next + stripe_pages,
            stripe_pages,
        };
        if let Some(density) = self.densities.get_mut(unit as usize) {
            *density = stripe_pages;
        }
    }

    /// Host pages have been written: collection is due once they fill a stripe.
    #[inline]
    fn owe(&mut self, host_pages: u32, work: &mut impl FlashWork) {
        self.uncollected += host_pages;
        if self.uncollected >= self.geometry.stripe_pages {
            let owed = std::mem::take(&mut self.uncollected);
            self.collect(owed, work);
        }
    }

    /// Do the relocations that so many host pages owe.
    fn collect(&mut self, host_pages: u32, work: &mut impl FlashWork) {
        let mut left = host_pages;
        while left > 0 {
            if self.victim.is_none() && (self.free.len() > FREE_LOW || !self.choose_victims()) {
                return;
            }
            left -= self.collect_some(left, work);
        }
    }

    /// Go on with the victims for up to `host_pages`; returns how many of them they stand for.
    ///
    /// A greedy victim whose pages are all valid frees nothing and stands for none. There is always another: while so few
    /// units are free, the closed ones hold more pages than the user has.
    fn collect_some(&mut self, host_pages: u32, work: &mut impl FlashWork) -> u32 {
        if self.victim.is_none() {
            return host_pages;
        }
        let taken = host_pages.min(self.dues.left());
        let due = self.dues.pay(taken);
        if due >= self.collection.batch || self.dues.are_last() || self.free.len() < 2 {
            self.relocate_due(due, work);
        }
        taken
    }

    /// Relocate so many pages, of one victim after the other.
    fn relocate_due(&mut self, due: u32, work: &mut impl FlashWork) {
        let mut left = due;
        loop {
            left -= self.relocate(left, work);
            if !self.free_if_empty(work) || self.victim.is_none() || left == 0 {
                return;
            }
        }
    }

    /// Free the victim where it holds nothing any more, and go on to the next; returns whether it did.
    fn free_if_empty(&mut self, work: &mut impl FlashWork) -> bool {
        let Self { mapping, free, .. } = self;
        let Some(victim) = self.victim.take_if(|victim| mapping.victims.valid_in(victim.unit) == 0) else {
            return false;
        };
        free.push(victim.unit);
        self.statistics.erased_units += 1;
        work.erase();
        if let Some(unit) = self.victims_next.pop() {
            self.begin_victim(unit);
        }
        true
    }

    fn begin_victim(&mut self, unit: u32) {
        self.victim = Some(Victim::new(unit, &self.geometry, self.density_of(unit), &self.mapping));
    }

    /// Take victims until they free a share of a unit, or the emptiest. False where no unit is closed yet.
    fn choose_victims(&mut self) -> bool {
        self.dues = Dues::default();
        let least = if self.mapping.victims.are_emptiest() { 0 } else { self.geometry.unit_pages / FREED_SHARE };
        while let Some((unit, valid)) = self.mapping.victims.choose() {
            self.dues.valid += valid;
            self.dues.freed += self.host_pages_freed(unit, valid);
            self.victims_next.push(unit);
            if self.dues.freed >= least {
                break;
            }
        }
        self.victims_next.reverse();
        let first = self.victims_next.pop();
        first.inspect(|unit| self.begin_victim(*unit)).is_some()
    }

    /// Host pages that fit into what a unit with so many valid pages frees.
    fn host_pages_freed(&self, unit: u32, valid: u32) -> u32 {
        let stripe_pages = self.density_of(unit);
        let freed = stripe_pages * self.geometry.unit_stripes() - valid;
        if stripe_pages == self.host_stripe_pages {
            return freed;
        }
        (u64::from(freed) * u64::from(self.host_stripe_pages) / u64::from(stripe_pages)) as u32
    }

    /// Move up to `most` of the victim's valid pages; returns how many.
    fn relocate(&mut self, most: u32, work: &mut impl FlashWork) -> u32 {
        let Some(mut victim) = self.victim.take() else { return 0 };
        let shared = self.collection.shared_frontier;
        let mut moved = 0;
        while moved < most
            && let Some((from, logical)) = victim.next(&self.mapping)
        {
            work.relocate(self.stripe_of(from), victim.stripe_pages);
            let frontier = if shared { &self.host } else { &self.relocation };
            if frontier.next == frontier.end {
                self.open(shared, if shared { self.host_stripe_pages } else { victim.stripe_pages });
            }
            let frontier = if shared { &mut self.host } else { &mut self.relocation };
            self.mapping.relocate(logical, from, victim.unit, frontier.next, frontier.unit);
            frontier.next += 1;
            frontier.finish_stripes(shared, work);
            moved += 1;
        }
        self.dues.relocated += moved;
        self.victim = Some(victim);
        self.statistics.relocated_pages += u64::from(moved);
        moved
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "theory_tests.rs"]
mod theory;
