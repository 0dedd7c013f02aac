//! The host's side of a simulated drive: commands inside it and those that wait for a place, and what has completed.

use std::collections::VecDeque;

use assay_core::contract::{Bytes, Counters, Direction, Io};

use crate::pending::Pending;

pub(crate) struct Front {
    pub(crate) pending: Pending,
    pub(crate) counters: Counters,
    flights: Vec<Io>,
    queue_limit: u32,
    /// Commands inside the drive, and those that wait at the host for a place in it.
    admitted: u32,
    waiting: VecDeque<Io>,
}

impl Front {
    pub(crate) fn new(queue_limit: u32) -> Self {
        Self {
            pending: Pending::new(1),
            counters: Counters::default(),
            flights: Vec::new(),
            queue_limit,
            admitted: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Make ready for so many slots.
    pub(crate) fn prepare(&mut self, slot_count: u32) {
        let idle = Io { slot: 0, direction: Direction::Read, offset: Bytes(0), length: Bytes(0), data_index: 0 };
        self.flights = vec![idle; slot_count as usize];
        self.waiting.reserve(slot_count as usize);
        self.pending = Pending::new(slot_count);
    }

    /// Nothing is inside the drive.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.admitted == 0
    }

    /// The command, where there is a place for it in the drive; else it waits.
    #[inline]
    pub(crate) fn offer(&mut self, io: Io) -> Option<Io> {
        if self.admitted >= self.queue_limit {
            self.waiting.push_back(io);
            return None;
        }
        Some(self.admit(io))
    }

    /// A command is complete: the command itself, and one that waited and takes its place.
    #[inline]
    pub(crate) fn complete(&mut self, slot: u32) -> (Io, Option<Io>) {
        self.pending.clear(slot);
        self.admitted -= 1;
        let io = self.flights[slot as usize];
        let counters = match io.direction {
            Direction::Read => Some(&mut self.counters.read),
            Direction::Write => Some(&mut self.counters.write),
            Direction::Trim => Some(&mut self.counters.discard),
            Direction::Flush => None,
        };
        if let Some(counters) = counters {
            counters.io_count += 1;
            counters.bytes += io.length;
        }
        let next = self.waiting.pop_front();
        (io, next.map(|next| self.admit(next)))
    }

    #[inline]
    fn admit(&mut self, io: Io) -> Io {
        self.admitted += 1;
        self.flights[io.slot as usize] = io;
        io
    }
}
