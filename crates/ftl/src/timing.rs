//! When the parts of the drive are busy, by reservation: each part knows until when it is taken.

use std::collections::VecDeque;

use crate::card::{Card, PAGE_BYTES};
use crate::collect::FlashWork;
use crate::geometry::Geometry;

/// A die: its backlog of programs and erases, and its reads, which go before queued programs.
#[derive(Clone, Copy, Default)]
struct Die {
    busy_until: u64,
    read_until: u64,
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
    /// Time at which the write in progress has reached the buffer.
    accepted: u64,
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
            accepted: 0,
            relocated_stripe: u32::MAX,
        }
    }

    /// The controller takes a command; returns when it is done with it.
    pub(crate) fn command(&mut self, at: u64, span: u64) -> u64 {
        self.controller.serve(at, span)
    }

    /// Bytes cross the host link; returns when the last has.
    pub(crate) fn link(&mut self, at: u64, bytes: u64) -> u64 {
        self.link.serve(at, span_at(bytes, self.link_rate))
    }

    /// A stripe's array read and the transfer of `pages` of it to the controller.
    pub(crate) fn read_stripe(&mut self, stripe: u32, pages: u32, at: u64) -> u64 {
        let index = self.geometry.die_of_stripe(stripe);
        let sensed = self.sense(index, at);
        let transfer = u64::from(pages) * self.page_transfer;
        // The channel's share is reserved when the command comes, so that a busy die does not block its neighbours.
        let channel = self.channel_of(index).serve(at, transfer);
        (sensed + transfer).max(channel)
    }

    /// Reads go before queued programs and wait only for the operation in progress.
    fn sense(&mut self, index: u32, at: u64) -> u64 {
        let die = &mut self.dies[index as usize];
        let backlog = die.busy_until.saturating_sub(at);
        let in_progress = if backlog == 0 { 0 } else { (backlog - 1) % self.program + 1 };
        let done = (at + in_progress).max(die.read_until) + self.read;
        die.read_until = done;
        if backlog > 0 {
            die.busy_until += self.read;
        }
        done
    }

    /// A page that is in the controller at `ready` waits for a buffer slot; returns when it has one.
    pub(crate) fn accept(&mut self, ready: u64) -> u64 {
        let freed = self.buffer.pop_front().expect("the buffer holds more than one stripe");
        self.accepted = ready.max(freed);
        self.open_stripe_count += 1;
        self.accepted
    }

    fn channel_of(&mut self, die: u32) -> &mut Server {
        let count = self.channels.len();
        &mut self.channels[die as usize % count]
    }
}

impl FlashWork for Timing {
    fn program(&mut self, stripe: u32, host: bool) {
        let (index, at, transfer) = (self.geometry.die_of_stripe(stripe), self.accepted, self.stripe_transfer);
        let loaded = self.channel_of(index).serve(at, transfer);
        let die = &mut self.dies[index as usize];
        die.busy_until = die.busy_until.max(loaded).max(die.read_until) + self.program;
        if host {
            let release = die.busy_until;
            self.buffer.extend(std::iter::repeat_n(release, self.open_stripe_count as usize));
            self.open_stripe_count = 0;
        }
    }

    fn relocate(&mut self, page: u32) {
        let stripe = self.geometry.stripe_of(page);
        let (index, at) = (self.geometry.die_of_stripe(stripe), self.accepted);
        let transfer = self.page_transfer;
        self.channel_of(index).serve(at, transfer);
        if stripe != self.relocated_stripe {
            let die = &mut self.dies[index as usize];
            die.busy_until = die.busy_until.max(at) + self.read;
            self.relocated_stripe = stripe;
        }
    }

    fn erase(&mut self) {
        for die in &mut self.dies {
            die.busy_until = die.busy_until.max(self.accepted) + self.erase;
        }
    }
}

fn span_at(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64
}
