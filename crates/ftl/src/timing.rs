//! When the parts of the drive are busy, by reservation: each part knows until when it is taken.

use std::collections::VecDeque;

use crate::card::{Card, PAGE_BYTES};
use crate::collect::FlashWork;
use crate::geometry::Geometry;

/// A die: programs and erases one after the other, and reads, which go before those that have not begun.
#[derive(Clone, Default)]
struct Die {
    /// End of everything that is queued, if no further read comes.
    busy_until: u64,
    read_until: u64,
    /// End of the operation that began last.
    current_until: u64,
    /// Operations that have not begun: when each may, and how long it takes.
    waiting: VecDeque<(u64, u64)>,
}

impl Die {
    /// Queue an operation; `now` is a time before which no read can come any more.
    fn queue(&mut self, ready: u64, span: u64, now: u64) -> u64 {
        // Without this a drive that is only written to would remember every operation it ever did.
        self.advance(now);
        self.busy_until = self.busy_until.max(ready).max(self.read_until) + span;
        self.waiting.push_back((ready, span));
        self.busy_until
    }

    /// Let the operations begin that can until `at`.
    fn advance(&mut self, at: u64) {
        while let Some((ready, span)) = self.waiting.front() {
            let begin = self.current_until.max(self.read_until).max(*ready);
            if begin > at {
                return;
            }
            self.current_until = begin + span;
            self.waiting.pop_front();
        }
    }

    /// Read the array: after the operation in progress and earlier reads, before everything that waits.
    fn sense(&mut self, at: u64, span: u64) -> u64 {
        self.advance(at);
        self.read_until = at.max(self.current_until).max(self.read_until) + span;
        if self.busy_until > at {
            self.busy_until += span;
        }
        self.read_until
    }
}

/// A part that serves one request after the other.
#[derive(Clone, Copy, Default)]
struct Server {
    busy_until: u64,
}

impl Server {
    fn serve(&mut self, from: u64, span: u64) -> u64 {
        self.busy_until = self.busy_until.max(from) + span;
        self.busy_until
    }
}

pub(crate) struct Timing {
    read: u64,
    program: u64,
    erase: u64,
    page_transfer: u64,
    stripe_transfer: u64,
    link_rate: u64,
    controller: Server,
    link: Server,
    channels: Vec<Server>,
    dies: Vec<Die>,
    geometry: Geometry,
    /// When each buffer slot is free again, oldest first; slots of the open stripe are not in it.
    buffer: VecDeque<u64>,
    /// Slots held by the pages of the open host stripe.
    open_stripe_count: u32,
    /// Time at which the last of them has reached the buffer.
    open_stripe_accepted: u64,
    /// Time at which the write in progress has reached the buffer.
    accepted: u64,
    /// Time of the last command.
    now: u64,
    relocated_stripe: u32,
}

impl Timing {
    pub(crate) fn new(card: &Card, geometry: &Geometry) -> Self {
        let slots = (card.write_buffer.0 / PAGE_BYTES) as usize;
        Self {
            read: card.read.0,
            program: card.program.0,
            erase: geometry.erase_ns,
            page_transfer: span_at(PAGE_BYTES, card.channel_rate),
            stripe_transfer: span_at(card.program_unit.0, card.channel_rate),
            link_rate: card.link_rate,
            controller: Server::default(),
            link: Server::default(),
            channels: vec![Server::default(); geometry.channel_count as usize],
            dies: vec![Die::default(); geometry.die_count as usize],
            geometry: geometry.clone(),
            buffer: std::iter::repeat_n(0, slots).collect(),
            open_stripe_count: 0,
            open_stripe_accepted: 0,
            accepted: 0,
            now: 0,
            relocated_stripe: u32::MAX,
        }
    }

    /// The controller takes a command at the drive's time `at`; returns when it is done with it.
    pub(crate) fn command(&mut self, at: u64, span: u64) -> u64 {
        self.now = at;
        self.controller.serve(at, span)
    }

    /// Bytes cross the host link; returns when the last has.
    pub(crate) fn link(&mut self, at: u64, bytes: u64) -> u64 {
        self.link.serve(at, span_at(bytes, self.link_rate))
    }

    /// A stripe's array read and the transfer of `pages` of it to the controller.
    pub(crate) fn read_stripe(&mut self, stripe: u32, pages: u32, at: u64) -> u64 {
        let index = self.geometry.die_of_stripe(stripe);
        let sensed = self.dies[index as usize].sense(at, self.read);
        let transfer = u64::from(pages) * self.page_transfer;
        // The channel's share is reserved when the command comes, so that a busy die does not block its neighbours.
        let channel = self.channel_of(index).serve(at, transfer);
        (sensed + transfer).max(channel)
    }

    /// Time that a page, or less, takes on the host link.
    pub(crate) fn page_on_link(&self, bytes: u64) -> u64 {
        span_at(bytes.min(PAGE_BYTES), self.link_rate)
    }

    /// A page that is in the controller at `ready` waits for a buffer slot; returns when it has one.
    pub(crate) fn accept(&mut self, ready: u64) -> u64 {
        let freed = self.buffer.pop_front().expect("the buffer holds more than one stripe");
        self.accepted = ready.max(freed);
        self.open_stripe_count += 1;
        self.open_stripe_accepted = self.open_stripe_accepted.max(self.accepted);
        self.accepted
    }

    /// The longest queue of any die, in operations.
    #[cfg(test)]
    pub(crate) fn longest_queue(&self) -> usize {
        self.dies.iter().map(|die| die.waiting.len()).max().unwrap_or(0)
    }

    fn channel_of(&mut self, die: u32) -> &mut Server {
        let count = self.channels.len();
        &mut self.channels[die as usize % count]
    }
}

impl FlashWork for Timing {
    fn program(&mut self, stripe: u32, host: bool) {
        let (index, transfer) = (self.geometry.die_of_stripe(stripe), self.stripe_transfer);
        let at = if host { self.open_stripe_accepted } else { self.accepted };
        let loaded = self.channel_of(index).serve(at, transfer);
        let release = self.dies[index as usize].queue(loaded, self.program, self.now);
        if host {
            self.buffer.extend(std::iter::repeat_n(release, self.open_stripe_count as usize));
            self.open_stripe_count = 0;
            self.open_stripe_accepted = 0;
        }
    }

    fn relocate(&mut self, page: u32) {
        let stripe = self.geometry.stripe_of(page);
        let (index, at) = (self.geometry.die_of_stripe(stripe), self.accepted);
        let transfer = self.page_transfer;
        self.channel_of(index).serve(at, transfer);
        if stripe != self.relocated_stripe {
            // A relocation is no host read: it waits its turn behind what is queued.
            self.dies[index as usize].queue(at, self.read, self.now);
            self.relocated_stripe = stripe;
        }
    }

    fn erase(&mut self) {
        for die in &mut self.dies {
            die.queue(self.accepted, self.erase, self.now);
        }
    }
}

fn span_at(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64
}
