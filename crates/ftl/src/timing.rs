//! When the parts of the drive are busy, by reservation: each part knows until when it is taken.

#![allow(clippy::inline_always, reason = "on the path of every I/O; the callers are few")]

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::buffered::Buffered;
use crate::bus::Bus;
use crate::collect::FlashWork;
use crate::die::{Clock, Die};
use crate::flash_model::FlashModel;
use crate::geometry::{Divisor, Geometry};
use crate::stream::Stream;

/// A part that serves one request after the other.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Server {
    busy_until: u64,
}

impl Server {
    #[inline(always)]
    fn serve(&mut self, from: u64, span: u64) -> u64 {
        self.busy_until = self.busy_until.max(from) + span;
        self.busy_until
    }
}

/// A channel between the controller and its dies. Data on its way to or from a die in the controller's service gives way to
/// what a host read waits for, as a chip that is not selected in the middle of a transfer waits.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Channel {
    reads: Bus,
    /// End of all other transfers, if no further read comes.
    others_until: u64,
}

impl Channel {
    /// What a read waits for crosses; it waits for other reads only.
    #[inline(always)]
    fn read(&mut self, sensed: u64, span: u64, now: u64) -> u64 {
        if self.others_until > sensed {
            self.others_until += span;
        }
        self.reads.serve(sensed, span, now)
    }

    /// Anything else crosses, one after the other, in the time that is left.
    #[inline]
    fn serve(&mut self, from: u64, span: u64) -> u64 {
        self.others_until = self.reads.passed(self.others_until.max(from), span);
        self.others_until
    }
}

/// Time that bytes take at a rate, without a division for each I/O.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Rate {
    /// Nanoseconds per byte times 2^32.
    scaled: u64,
}

impl Rate {
    fn new(bytes_per_s: u64) -> Self {
        Self { scaled: ((1_000_000_000_u128 << 32) / u128::from(bytes_per_s)) as u64 }
    }

    #[inline]
    fn span(self, bytes: u64) -> u64 {
        ((u128::from(bytes) * u128::from(self.scaled)) >> 32) as u64
    }
}

/// The direction of a transfer on the host link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    ToHost,
    FromHost,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Timing {
    read: u64,
    program: u64,
    erase: u64,
    jitter: f64,
    stream: Stream,
    page_bytes: u64,
    channel_rate: Rate,
    stripe_transfer: u64,
    link_rate: Rate,
    controller: Server,
    links: [Bus; 2],
    full_duplex: bool,
    reads_hold_programs: bool,
    /// Time in which a host read is in a drive that does so.
    held: Bus,
    channels: Vec<Channel>,
    dies: Vec<Die>,
    channel_of_die: Vec<u32>,
    stripe_pages: u32,
    /// Stripes to dies: the remainder.
    die_ring: Divisor,
    /// Time of one page on a channel.
    page_transfer: u64,
    /// When buffer slots are free again, oldest first, as (time, slots); those of the open stripe are not in it.
    buffer: VecDeque<(u64, u32)>,
    /// Slots held by the pages of the open host stripe.
    open_stripe_count: u32,
    /// Time at which the last of them has reached the buffer.
    open_stripe_accepted: u64,
    /// Time at which the write in progress has reached the buffer.
    accepted: u64,
    /// Time at which the last host stripe is in the flash.
    programmed: u64,
    /// Host stripes that are not, where the map tells the stripe of every page.
    buffered: Option<Buffered>,
    /// When the controller is done with the last command: no part is asked for anything before that any more.
    now: u64,
    relocated_stripe: u32,
    /// When the controller stops for itself next, for how long, and how often.
    next_pause: u64,
    pause: u64,
    pause_every: u64,
    slc_program: u64,
    slc_left: u64,
    slc_bytes: u64,
    slc_fold_rate: u64,
    program_bytes: u64,
}

impl Timing {
    pub(crate) fn new(model: &FlashModel, geometry: &Geometry) -> Self {
        let slots = (model.write_buffer.0 / geometry.page_bytes()) as u32;
        let channel_rate = Rate::new(model.channel_rate);
        Self {
            read: model.read.0,
            program: model.program.0,
            erase: geometry.erase_ns,
            jitter: model.jitter,
            stream: Stream::new(model.seed ^ 0x71),
            page_bytes: geometry.page_bytes(),
            channel_rate,
            stripe_transfer: channel_rate.span(model.program_unit.0),
            link_rate: Rate::new(model.link_rate),
            controller: Server::default(),
            links: Default::default(),
            full_duplex: model.full_duplex,
            reads_hold_programs: model.reads_hold_programs,
            held: Bus::default(),
            channels: vec![Channel::default(); geometry.channel_count as usize],
            dies: vec![Die::default(); geometry.die_count as usize],
            channel_of_die: (0..geometry.die_count).map(|die| die % geometry.channel_count).collect(),
            stripe_pages: geometry.stripe_pages,
            die_ring: Divisor::new(geometry.die_count),
            page_transfer: channel_rate.span(geometry.page_bytes()),
            buffer: VecDeque::from([(0, slots)]),
            open_stripe_count: 0,
            open_stripe_accepted: 0,
            accepted: 0,
            programmed: 0,
            buffered: (model.log.0 == 0).then(Buffered::default),
            now: 0,
            relocated_stripe: u32::MAX,
            next_pause: if model.pause_every.0 == 0 { u64::MAX } else { model.pause_every.0 },
            pause: model.pause.0,
            pause_every: model.pause_every.0,
            slc_program: model.slc_program.0,
            slc_left: model.slc_cache.0,
            slc_bytes: model.slc_cache.0,
            slc_fold_rate: model.slc_fold_rate,
            program_bytes: model.program_unit.0,
        }
    }

    /// Whether this, out of a kept state, is of the same drive as a fresh one, at rest.
    pub(crate) fn fits(&self, fresh: &Self) -> bool {
        let slots = |timing: &Self| {
            let free = timing.buffer.iter().map(|(_, slots)| u64::from(*slots)).sum::<u64>();
            free + u64::from(timing.open_stripe_count)
        };
        let parts =
            |timing: &Self| (timing.channels.len(), timing.dies.len(), timing.stripe_pages, timing.program_bytes);
        parts(self) == parts(fresh)
            && self.channel_of_die == fresh.channel_of_die
            && self.die_ring == fresh.die_ring
            && slots(self) == slots(fresh)
    }

    /// The controller takes a command at the drive's time `at`; returns when it is done with it.
    #[inline]
    pub(crate) fn command(&mut self, at: u64, span: u64) -> u64 {
        if at >= self.next_pause {
            self.controller.serve(at, self.pause);
            self.next_pause = at + self.pause_every;
        }
        self.now = self.controller.serve(at, span);
        self.now
    }

    /// Nothing behind a command is begun before `until`.
    #[inline]
    pub(crate) fn hold_commands(&mut self, until: u64) {
        self.controller.busy_until = self.controller.busy_until.max(until);
    }

    /// Bytes cross the host link; returns when the last has.
    #[inline(always)]
    pub(crate) fn link(&mut self, way: Way, at: u64, bytes: u64) -> u64 {
        let lane = usize::from(self.full_duplex && way == Way::ToHost);
        self.links[lane].serve(at, self.link_rate.span(bytes), self.now)
    }

    /// A stripe's array read, before queued programs, and the transfer of `bytes` of it to the controller.
    #[inline]
    pub(crate) fn read_stripe(&mut self, stripe: u32, bytes: u64, at: u64) -> u64 {
        let (die, span) = (self.die_of(stripe), self.array_time(self.read));
        let sensed = self.dies[die].sense(at, span, Clock { now: self.now, held: &self.held });
        self.cross(die, bytes, sensed)
    }

    /// The same for a host read; where the drive does so, no program or erase is begun on any die until it is over.
    #[inline]
    pub(crate) fn read_of_host(&mut self, stripe: u32, bytes: u64, at: u64) -> u64 {
        if self.reads_hold_programs { self.read_alone(stripe, bytes, at) } else { self.read_stripe(stripe, bytes, at) }
    }

    #[inline(never)]
    fn read_alone(&mut self, stripe: u32, bytes: u64, at: u64) -> u64 {
        let (die, span) = (self.die_of(stripe), self.array_time(self.read));
        let sensed = self.dies[die].sense_held(at, span, Clock { now: self.now, held: &self.held });
        let end = self.cross(die, bytes, sensed);
        // What is over is forgotten of the time that is held: whatever began in it has to be known before.
        for die in &mut self.dies {
            die.advance(Clock { now: self.now, held: &self.held });
        }
        let added = self.held.take(at, end, self.now);
        for die in &mut self.dies {
            die.postpone(at, added);
        }
        end
    }

    /// Bytes that a read waits for cross the channel of their die.
    #[inline(always)]
    fn cross(&mut self, die: usize, bytes: u64, sensed: u64) -> u64 {
        let (transfer, now) = (self.channel_rate.span(bytes), self.now);
        self.channel_of(die).read(sensed, transfer, now)
    }

    /// The same for a read that waits behind everything that its die has to do.
    pub(crate) fn read_in_turn(&mut self, stripe: u32, bytes: u64, at: u64) -> u64 {
        let (die, span) = (self.die_of(stripe), self.array_time(self.read));
        let sensed = self.dies[die].queue(at, span, Clock { now: self.now, held: &self.held });
        let transfer = self.channel_rate.span(bytes);
        self.channel_of(die).serve(sensed, transfer)
    }

    /// Nothing behind a read of a stripe is begun before the operation in progress on its die is over.
    #[inline]
    pub(crate) fn hold_for_die(&mut self, stripe: u32, at: u64) {
        let die = self.die_of(stripe);
        let until = self.dies[die].engaged_until(at, Clock { now: self.now, held: &self.held });
        self.hold_commands(until);
    }

    /// Read map entries that are not in memory, from some die.
    pub(crate) fn read_map(&mut self, segment: u32, at: u64) -> u64 {
        let stripe = segment % self.dies.len() as u32;
        self.read_stripe(stripe, 4096, at)
    }

    /// Time that a page, or less, takes on the host link.
    #[inline]
    pub(crate) fn page_on_link(&self, bytes: u64) -> u64 {
        self.link_rate.span(bytes.min(self.page_bytes))
    }

    /// Pages that are in the controller at `ready` wait for buffer slots; returns when the last has one.
    #[inline]
    pub(crate) fn accept(&mut self, ready: u64, pages: u32) -> u64 {
        let mut left = pages;
        let mut freed = 0;
        while left > 0 {
            let (at, slots) = self.buffer.front_mut().expect("the buffer holds more than one stripe");
            let taken = left.min(*slots);
            freed = freed.max(*at);
            left -= taken;
            *slots -= taken;
            if *slots == 0 {
                self.buffer.pop_front();
            }
        }
        self.accepted = ready.max(freed);
        self.open_stripe_count += pages;
        self.open_stripe_accepted = self.open_stripe_accepted.max(self.accepted);
        self.accepted
    }

    /// Whether the pages of a stripe are read from the write buffer at a time; `open` is the stripe that is being filled.
    #[inline]
    pub(crate) fn is_buffered(&self, stripe: u32, open: u32, at: u64) -> bool {
        if self.programmed <= at && self.open_stripe_count == 0 {
            return false;
        }
        let Some(buffered) = &self.buffered else { return false };
        (self.open_stripe_count > 0 && stripe == open) || (self.programmed > at && buffered.holds(stripe, at))
    }

    /// Program what is in the open stripe now, as a drive without a write cache does; returns when all is in the flash.
    pub(crate) fn write_through(&mut self) -> u64 {
        if self.open_stripe_count > 0 {
            let die = self.stream.below(self.dies.len() as u64) as u32;
            self.program_buffered(die, self.open_stripe_count);
        }
        self.programmed
    }

    /// Idle time frees the single-level cache.
    pub(crate) fn fold(&mut self, span: u64) {
        let freed = u128::from(self.slc_fold_rate) * u128::from(span) / 1_000_000_000;
        self.slc_left = self.slc_bytes.min(self.slc_left.saturating_add(freed as u64));
    }

    /// Time that one relocated page takes of all dies together.
    pub(crate) fn relocation_time(&self) -> u64 {
        (self.read + self.program) / self.dies.len() as u64 / u64::from(self.stripe_pages)
    }

    /// The longest queue of any die, in operations.
    #[cfg(test)]
    pub(crate) fn longest_queue(&self) -> usize {
        self.dies.iter().map(Die::queue_length).max().unwrap_or(0)
    }

    #[inline]
    fn die_of(&self, stripe: u32) -> usize {
        self.die_ring.remainder(stripe) as usize
    }

    #[inline]
    fn channel_of(&mut self, die: usize) -> &mut Channel {
        &mut self.channels[self.channel_of_die[die] as usize]
    }

    #[inline]
    fn array_time(&mut self, span: u64) -> u64 {
        if self.jitter == 0.0 {
            return span;
        }
        (span as f64 * (1.0 + self.jitter * self.stream.around_zero())) as u64
    }

    /// Load and program a stripe that is in the controller at `at`; returns when it is in the flash.
    #[inline(always)]
    fn program_from(&mut self, at: u64, stripe: u32, host: bool) -> u64 {
        let (die, transfer) = (self.die_of(stripe), self.stripe_transfer);
        let loaded = self.channel_of(die).serve(at, transfer);
        let span = self.program_span(host);
        self.dies[die].queue(loaded, span, Clock { now: self.now, held: &self.held })
    }

    /// Program so many pages of the open stripe, and free their slots.
    #[inline]
    fn program_buffered(&mut self, stripe: u32, pages: u32) -> u64 {
        let at = self.open_stripe_accepted.max(self.accepted).max(self.now);
        let release = self.program_from(at, stripe, true);
        let freed = self.open_stripe_count.min(pages);
        if freed > 0 {
            self.buffer.push_back((release, freed));
            self.open_stripe_count -= freed;
            if self.open_stripe_count == 0 {
                self.open_stripe_accepted = 0;
            }
            self.programmed = self.programmed.max(release);
        }
        release
    }

    fn program_span(&mut self, host: bool) -> u64 {
        if host && self.slc_left >= self.program_bytes {
            self.slc_left -= self.program_bytes;
            return self.array_time(self.slc_program);
        }
        self.array_time(self.program)
    }
}

impl FlashWork for Timing {
    #[inline]
    fn program(&mut self, stripe: u32, pages: u32, host: bool) {
        if host {
            let release = self.program_buffered(stripe, pages);
            if let Some(buffered) = &mut self.buffered {
                buffered.push(stripe, release, self.now);
            }
        } else {
            self.program_from(self.accepted, stripe, false);
        }
    }

    #[inline]
    fn relocate(&mut self, stripe: u32, pages: u32) {
        let (die, at) = (self.die_of(stripe), self.accepted);
        let transfer =
            if pages == self.stripe_pages { self.page_transfer } else { self.stripe_transfer / u64::from(pages) };
        self.channel_of(die).serve(at, transfer);
        if stripe != self.relocated_stripe {
            // A relocation is no host read: it waits its turn behind what is queued.
            let span = self.array_time(self.read);
            self.dies[die].queue(at, span, Clock { now: self.now, held: &self.held });
            self.relocated_stripe = stripe;
        }
    }

    fn erase(&mut self) {
        for die in &mut self.dies {
            die.queue(self.accepted, self.erase, Clock { now: self.now, held: &self.held });
        }
    }
}

#[cfg(test)]
#[path = "queueing_tests.rs"]
mod queueing;
