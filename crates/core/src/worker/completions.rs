//! What becomes of a completion: in the window that is open now, or across the ends of one.

use crate::capture::Captured;
use crate::contract::{Completion, Device, Errno, Nanos};
use crate::record::Ended;
use crate::sequence::SharedStep;
use crate::worker::WorkerRun;
use crate::worker_step::Flight;

impl<D: Device> WorkerRun<'_, D> {
    /// Count the completions up to the step's end; later ones are left for the next step.
    pub(super) fn take_completions(&mut self, index: usize, step: &SharedStep) {
        while let Some(completion) = self.worker.completions.get(self.taken) {
            // Fixed by the completion before, where that one opened the window.
            if completion.at > step.end() {
                return;
            }
            let completion = *completion;
            self.taken += 1;
            self.take(&completion, index);
        }
    }

    /// `running`: index of the step that runs, the first of its group, or after the last step its own.
    #[inline]
    pub(super) fn take(&mut self, completion: &Completion, running: usize) {
        let at = completion.at;
        let flight = &mut self.worker.flights[completion.slot as usize];
        flight.outstanding = false;
        let flight = *flight;
        self.outstanding -= 1;
        self.worker.free.push(completion.slot);
        let step = &mut self.steps[flight.step];
        step.in_flight -= 1;
        if flight.submitted < self.opened || at < flight.submitted {
            self.take_crossing(&flight, completion, running);
        } else {
            // Submitted in the window that is open now.
            step.inside_ns += at.0 - flight.submitted.0;
            match completion.result {
                Ok(bytes) if bytes == flight.length => {
                    step.tally().count(&flight.completed(at), self.opened);
                    self.count_total(&flight, at);
                }
                result => self.count_error(&flight, result.err().unwrap_or(Errno::SHORT_TRANSFER), at),
            }
        }
    }

    #[inline]
    fn count_total(&mut self, flight: &Flight, at: Nanos) {
        self.io_count += 1;
        self.latency_sum_ns += at.0 - flight.submitted.0;
        if let Some(tap) = &mut self.tap {
            tap.take(captured(flight, at));
        }
    }

    /// An I/O that was not submitted in the window that is open now: of the lead-in, or of an earlier step.
    #[cold]
    fn take_crossing(&mut self, flight: &Flight, completion: &Completion, running: usize) {
        let at = completion.at;
        if at < flight.submitted {
            self.sequence.halt(Ended::Clock);
            return;
        }
        self.carry(flight, at, running);
        self.give_back(flight, running);
        match completion.result {
            Ok(bytes) if bytes == flight.length => {
                self.count_total(flight, at);
                self.count_crossing(flight, at, running);
            }
            result => self.count_error(flight, result.err().unwrap_or(Errno::SHORT_TRANSFER), at),
        }
        self.seal_if_done(flight.step);
        self.come_in(flight, at, running);
    }

    /// The times that an I/O spent on both sides of each boundary that it crossed.
    pub(super) fn carry(&mut self, flight: &Flight, at: Nanos, running: usize) {
        let counterpart = self.sequence.counterpart(flight.step, running);
        self.steps[counterpart].inside_ns += at.0.saturating_sub(flight.submitted.max(self.opened).0);
        for group in &self.sequence.groups[self.sequence.steps[flight.step].group..=self.sequence.steps[running].group]
        {
            let own = self.sequence.counterpart(flight.step, group.first);
            self.steps[own].carry(flight.submitted, at);
        }
    }

    /// An I/O of an earlier, equal step frees the slot that it took.
    fn give_back(&mut self, flight: &Flight, running: usize) {
        let first = self.sequence.groups[self.sequence.steps[running].group].first;
        if flight.step < first {
            let own = self.sequence.counterpart(flight.step, running);
            if self.sequence.goes_on(flight.step, own) {
                self.steps[own].carried -= 1;
            }
        }
    }

    fn count_crossing(&mut self, flight: &Flight, at: Nanos, running: usize) {
        let io = flight.completed(at);
        self.steps[flight.step].count_crossing(&io, flight.submitted);
        let equal = self.sequence.steps[flight.step].opening == self.sequence.steps[running].opening;
        if flight.step < running && equal && at > self.opened {
            let counterpart = self.sequence.counterpart(flight.step, running);
            self.steps[counterpart].count_carried_in(&io);
        }
    }

    /// The last I/O of all steps before an opening lets the window open.
    fn come_in(&mut self, flight: &Flight, at: Nanos, running: usize) {
        let opening = self.sequence.steps[running].opening;
        if self.earlier > 0 && self.sequence.steps[flight.step].opening < opening {
            self.earlier -= 1;
            if self.earlier == 0 {
                self.sequence.drained(opening, at, || self.worker.device.now());
                if self.sequence.busy_count == 1 {
                    self.open_window(running);
                }
            }
        }
    }

    #[cold]
    pub(super) fn count_error(&mut self, flight: &Flight, errno: Errno, at: Nanos) {
        self.steps[flight.step].count_error(flight, errno, at);
        self.sequence.count_error();
    }
}

fn captured(flight: &Flight, at: Nanos) -> Captured {
    Captured {
        at,
        latency: at - flight.submitted,
        offset: flight.offset,
        length: flight.length.0 as u32,
        step: flight.step as u32,
        direction: flight.direction,
    }
}
