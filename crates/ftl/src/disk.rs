//! The simulated hard disk as a [`Device`].
//!
//! ```text
//! Io -> controller and link -> queue -> arm (seek, settle, rotation) -> medium -> Completion
//!                                ^
//!                  writes that the buffer has answered already
//! ```

mod arm;
mod geometry;
mod model;
mod queue;

use std::collections::VecDeque;

use assay_core::contract::{Bytes, Completion, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos, Probe};

use crate::front::Front;
use crate::limits::span_of;
use crate::model_error::DriveModelError;
use arm::Arm;
use geometry::Geometry;
pub use model::DiskModel;
use queue::{Command, Queue};

/// A simulated hard disk. It has no fresh state: a disk that was never written to is as fast as any other.
///
/// Its clock starts at zero and moves only when completions are reaped. It keeps no data: a read that overlaps a write
/// in the buffer is served from the medium like any other.
pub struct SimulatedDisk {
    model: DiskModel,
    geometry: Geometry,
    arm: Arm,
    queue: Queue,
    clock: Nanos,
    epoch: Nanos,
    front: Front,
    controller_until: u64,
    /// The link's two directions, to and from the host.
    to_host_until: u64,
    from_host_until: u64,
    buffer: Buffer,
}

/// Answered writes on their way to the medium.
#[derive(Default)]
struct Buffer {
    bytes: u64,
    count: u32,
    /// What the arm is just writing; its room is free when the arm is.
    leaving: Option<u64>,
    /// Writes that wait for room, oldest first.
    outside: VecDeque<Command>,
    /// Writes that have left it.
    left: u64,
    /// Flushes by slot, with how many writes must have left before each ends.
    flushes: VecDeque<(u32, u64)>,
}

impl SimulatedDisk {
    /// Build a disk. `epoch` is the wall-clock time, since the Unix epoch, at which its clock is zero.
    ///
    /// # Errors
    /// [`DriveModelError`] when a parameter is outside its range.
    pub fn new(model: DiskModel, epoch: Nanos) -> Result<Self, DriveModelError> {
        model.check()?;
        let geometry = Geometry::new(&model);
        Ok(Self {
            arm: Arm::new(&model, &geometry),
            queue: Queue::new(model.queue_limit + model.write_segments, model.age_limit.0, model.age_credit),
            front: Front::new(model.queue_limit),
            model,
            geometry,
            clock: Nanos(0),
            epoch,
            controller_until: 0,
            to_host_until: 0,
            from_host_until: 0,
            buffer: Buffer::default(),
        })
    }

    /// Overwrite the whole disk, as a sanitize command does; nothing of it is faster afterwards. Returns the time this
    /// takes: every track once, with the skews between them.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    pub fn purge(&mut self) -> Nanos {
        assert!(self.front.is_idle(), "a disk is purged between programs");
        let span = Nanos(self.geometry.pass_span());
        self.clock += span;
        self.queue.clear();
        self.buffer = Buffer::default();
        self.arm.reset(self.clock.0);
        span
    }

    /// Receive a command: controller, link, then the queue or the buffer.
    fn admit(&mut self, io: Io) {
        let begun = self.controller_until.max(self.clock.0) + self.model.command.0;
        self.controller_until = begun;
        match io.direction {
            Direction::Read | Direction::Write => self.transfer(io, begun),
            // A disk has no use for trims and refuses them.
            Direction::Trim => self.front.pending.set(io.slot, begun),
            Direction::Flush => self.flush(io.slot, begun),
        }
    }

    /// A flush ends when as many writes have left the buffer as were in it or before it.
    fn flush(&mut self, slot: u32, begun: u64) {
        let inside = u64::from(self.buffer.count) + self.buffer.outside.len() as u64;
        if inside == 0 {
            self.front.pending.set(slot, begun);
        } else {
            self.buffer.flushes.push_back((slot, self.buffer.left + inside));
        }
    }

    /// End the flushes whose writes have left the buffer.
    fn end_flushes(&mut self, at: u64) {
        while let Some((slot, _)) = self.buffer.flushes.front().copied().filter(|flush| flush.1 <= self.buffer.left) {
            self.buffer.flushes.pop_front();
            self.front.pending.set(slot, at);
        }
    }

    fn transfer(&mut self, io: Io, begun: u64) {
        let writes = io.direction == Direction::Write;
        let ready = if writes { self.receive(begun, io.length.0) } else { begun };
        let extent = self.geometry.extent(io.offset.0, io.length.0);
        let command = Command { slot: io.slot, writes, answered: false, bytes: io.length.0, ready, extent };
        if writes && self.model.write_cache {
            self.buffer.outside.push_back(command);
            self.fill_buffer(ready);
        } else {
            self.queue.push(command);
        }
    }

    /// Take writes into the buffer, oldest first, as long as there is room for them at `at`.
    fn fill_buffer(&mut self, at: u64) {
        while let Some(mut write) = self.buffer.outside.front().copied().filter(|write| self.has_room(write)) {
            self.buffer.outside.pop_front();
            self.buffer.bytes += write.bytes;
            self.buffer.count += 1;
            write.ready = write.ready.max(at);
            write.answered = true;
            self.front.pending.set(write.slot, write.ready);
            self.queue.push(write);
        }
    }

    /// A write that is larger than the buffer passes through it alone.
    fn has_room(&self, write: &Command) -> bool {
        let Buffer { bytes, count, .. } = self.buffer;
        count == 0 || (count < self.model.write_segments && bytes + write.bytes <= self.model.write_buffer.0)
    }

    /// When the arm next becomes free for a command or leaves room in the buffer.
    #[inline]
    fn next_decision(&self) -> Option<u64> {
        match self.buffer.leaving {
            Some(_) => Some(self.arm.free_at),
            None => self.queue.next_start(self.arm.free_at),
        }
    }

    /// Let the arm take the next command at `at`, which no submission can precede any more.
    fn decide(&mut self, at: u64) {
        if let Some(bytes) = self.buffer.leaving.take() {
            self.buffer.bytes -= bytes;
            self.buffer.count -= 1;
            self.buffer.left += 1;
            self.end_flushes(at);
            self.fill_buffer(at);
        }
        let Some(command) = self.queue.take(&self.arm, at) else { return };
        let service = self.arm.serve(&command.extent, command.writes, at);
        if command.answered {
            self.buffer.leaving = Some(command.bytes);
        } else if command.writes {
            self.front.pending.set(command.slot, service.end);
        } else {
            let done =
                self.send(service.begin, command.bytes).max(service.end + self.link_span(command.bytes.min(4096)));
            self.front.pending.set(command.slot, done);
        }
    }

    fn receive(&mut self, at: u64, bytes: u64) -> u64 {
        self.from_host_until = self.from_host_until.max(at) + self.link_span(bytes);
        self.from_host_until
    }

    fn send(&mut self, at: u64, bytes: u64) -> u64 {
        self.to_host_until = self.to_host_until.max(at) + self.link_span(bytes);
        self.to_host_until
    }

    fn link_span(&self, bytes: u64) -> u64 {
        span_of(bytes, self.model.link_rate)
    }
}

impl Device for SimulatedDisk {
    const VIRTUAL_TIME: bool = true;

    fn info(&self) -> DeviceInfo {
        DeviceInfo { capacity: self.model.capacity, logical_block: self.model.logical_block }
    }

    fn now(&self) -> Nanos {
        self.clock
    }

    fn wall(&self) -> Nanos {
        self.epoch + self.clock
    }

    fn prepare(&mut self, _: &[DataPattern], slot_count: u32, _: Bytes) -> Result<(), Errno> {
        self.front.prepare(slot_count);
        self.buffer.outside.reserve(self.model.queue_limit as usize);
        Ok(())
    }

    fn submit(&mut self, io: Io) {
        if let Some(io) = self.front.offer(io) {
            self.admit(io);
        }
    }

    /// What happens inside up to the next completion is decided here, because nothing can be submitted before it.
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno> {
        let (done, slot) = loop {
            let completion = self.front.pending.next().filter(|(done, _)| *done <= deadline.0);
            let until = completion.map_or(deadline.0, |(done, _)| done.saturating_sub(1));
            match (self.next_decision().filter(|at| *at <= until), completion) {
                (Some(at), _) => self.decide(at),
                (None, Some(completion)) => break completion,
                (None, None) => {
                    self.clock = self.clock.max(deadline);
                    return Ok(());
                }
            }
        };
        self.clock = self.clock.max(Nanos(done));
        let (io, next) = self.front.complete(slot);
        let refused = io.direction == Direction::Trim;
        completions.push(Completion {
            slot,
            at: self.clock,
            result: if refused { Err(Errno::NOT_SUPPORTED) } else { Ok(io.length) },
        });
        if let Some(next) = next {
            self.admit(next);
        }
        Ok(())
    }

    fn probe(&mut self, with_counters: bool) -> Probe {
        Probe { counters: with_counters.then_some(self.front.counters), ..Probe::default() }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
