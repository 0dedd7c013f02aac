//! Which access a worker submits next, and of which of its threads it is.

use crate::arrival::Arrivals;
use crate::contract::Device;
use crate::pattern::{Access, Cursor};
use crate::sequence::SharedStep;
use crate::worker::{LOOK_AHEAD, WorkerRun};

impl<D: Device> WorkerRun<'_, D> {
    /// The next access. Random ones are drawn ahead, so that the device can fetch what it needs for them.
    #[inline]
    pub(super) fn next_access(&mut self, index: usize, step: &SharedStep, slot: u32) -> Access {
        if !step.is_plain {
            return self.next_in_place(index, step, slot);
        }
        if !D::LOOKS_AHEAD {
            return step.pattern.draw_plain(&mut self.worker.rng);
        }
        while self.ahead.len() < LOOK_AHEAD {
            let access = step.pattern.draw_plain(&mut self.worker.rng);
            self.worker.device.look_ahead(access.offset);
            self.ahead.push_back(access);
        }
        self.ahead.pop_front().expect("just filled")
    }

    /// The next access of a step that takes places from a cursor, moves no data, comes in bursts, or runs beside others.
    #[inline(never)]
    fn next_in_place(&mut self, index: usize, step: &SharedStep, slot: u32) -> Access {
        let thread = self.thread_of(index, step, slot);
        let own = &mut self.steps[index];
        if step.pattern.is_replay() {
            let access = own.arrivals.as_ref().and_then(Arrivals::access);
            return access.expect("an I/O of a recording that has come to its end is never due");
        }
        let cursors = step.cursors_of(self.worker.index, self.sequence.worker_count, thread);
        let rng = &mut self.worker.rng;
        if step.pattern.has_lines() {
            step.pattern.draw_of_burst(rng, cursors, &mut own.bursts[thread].burst)
        } else if step.pattern.moves_data() {
            step.pattern.draw(rng, cursors)
        } else {
            step.pattern.draw_command(rng, cursors)
        }
    }

    /// Count where an I/O goes that is about to be handed to the device, where its step's mask lets it pass.
    #[cold]
    #[inline(never)]
    pub(super) fn note_place(&mut self, index: usize, step: &SharedStep, slot: u32, access: Access) {
        if let Some(asked) = &step.places {
            let shared = step.pattern.cursor() == Cursor::Shared;
            let thread = if shared { 0 } else { self.thread_of(index, step, slot) };
            self.steps[index].places.note(asked, thread, access.direction, access.offset.0, access.length.0);
        }
    }

    /// Which of the worker's threads the I/O is of that is next in a slot.
    fn thread_of(&self, index: usize, step: &SharedStep, slot: u32) -> usize {
        if step.pattern.has_lines() {
            self.steps[index].thread
        } else {
            step.thread_of(self.worker.index, self.sequence.worker_count, slot)
        }
    }
}
