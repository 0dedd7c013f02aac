//! Which access a worker submits next, and of which of its threads it is.

use crate::arrival::Arrivals;
use crate::contract::Device;
use crate::pattern::{Access, Cursor};
use crate::sequence::SharedStep;
use crate::worker::{LOOK_AHEAD, WorkerRun};

impl<D: Device> WorkerRun<'_, D> {
    /// The next access with its thread. Random ones are drawn ahead, so that the device can fetch what it needs for them.
    #[inline]
    pub(super) fn next_access(&mut self, index: usize, step: &SharedStep, slot: u32) -> (Access, usize) {
        if !step.is_plain {
            return self.next_in_place(index, step, slot);
        }
        let cursors = [&*step.cursor, &*step.cursor];
        if !D::LOOKS_AHEAD {
            return (step.pattern.draw(&mut self.worker.rng, cursors), 0);
        }
        while self.ahead.len() < LOOK_AHEAD {
            let access = step.pattern.draw(&mut self.worker.rng, cursors);
            self.worker.device.look_ahead(access.offset);
            self.ahead.push_back(access);
        }
        (self.ahead.pop_front().expect("just filled"), 0)
    }

    /// The next access of a step that takes places from a cursor, moves no data, comes in bursts, or runs beside others.
    #[inline(never)]
    fn next_in_place(&mut self, index: usize, step: &SharedStep, slot: u32) -> (Access, usize) {
        let own = &mut self.steps[index];
        if step.pattern.is_replay() {
            let access = own.arrivals.as_ref().and_then(Arrivals::access);
            return (access.expect("an I/O of a recording that has come to its end is never due"), 0);
        }
        let (worker, worker_count) = (self.worker.index, self.sequence.worker_count);
        let has_lines = step.pattern.has_lines();
        let thread = if has_lines { own.thread } else { step.thread_of(worker, worker_count, slot) };
        let cursors = step.cursors_of(worker, worker_count, thread);
        let rng = &mut self.worker.rng;
        let access = if has_lines {
            step.pattern.draw_of_burst(rng, cursors, &mut own.bursts[thread].burst)
        } else if step.pattern.moves_data() {
            step.pattern.draw(rng, cursors)
        } else {
            step.pattern.draw_command(rng, cursors)
        };
        (access, if step.pattern.cursor() == Cursor::Shared { 0 } else { thread })
    }
}
