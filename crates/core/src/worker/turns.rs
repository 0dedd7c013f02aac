//! Which step submits next, where several run side by side, at rates or in bursts.

use crate::arrival::Arrivals;
use crate::contract::{Device, Nanos};
use crate::sequence::Group;
use crate::worker::WorkerRun;
use crate::worker_step::Flight;

impl<D: Device> WorkerRun<'_, D> {
    /// Use every free slot where steps run side by side or in bursts: each in turn submits one, until none can.
    #[inline(never)]
    pub(super) fn fill_in_turn(&mut self, group: Group, limit: u32) {
        let first = &self.sequence.steps[group.first];
        self.count_bursts(group);
        let mut refused = 0;
        while refused < group.count && self.outstanding < limit {
            let now = self.worker.device.now();
            if now >= first.end() {
                return;
            }
            let index = group.first + self.turn;
            self.turn = (self.turn + 1) % group.count;
            if self.is_played(index) {
                self.sequence.end_claimed(first, now);
                return;
            }
            if !self.may_submit(index, now) {
                refused += 1;
                continue;
            }
            if !first.claim(self.sequence.worker_count == 1) {
                self.sequence.end_claimed(first, now);
                return;
            }
            let slot = self.submit(index, &self.sequence.steps[index], first, now);
            if self.sequence.steps[index].pattern.has_lines() {
                self.burst_threads[slot as usize] = self.steps[index].note_burst();
            }
            refused = 0;
        }
    }

    /// Count what every thread with bursts of its own has outstanding now; completions do not, which costs all others.
    fn count_bursts(&mut self, group: Group) {
        self.burst_threads.resize(self.worker.flights.len(), 0);
        for index in group.steps() {
            let step = &mut self.steps[index];
            match step.bursts.as_mut_slice() {
                [] => {}
                [alone] => alone.in_flight = step.in_flight + step.carried,
                several => {
                    for own in several.iter_mut() {
                        own.in_flight = 0;
                    }
                    let flights = self.worker.flights.iter().zip(&self.burst_threads);
                    let own = |flight: &Flight| flight.outstanding && self.sequence.goes_on(flight.step, index);
                    for (_, thread) in flights.filter(|(flight, _)| own(flight)) {
                        several[*thread].in_flight += 1;
                    }
                }
            }
        }
    }

    /// Whether a step has a free slot and an I/O that is due and may begin.
    fn may_submit(&mut self, index: usize, now: Nanos) -> bool {
        let pattern = &self.sequence.steps[index].pattern;
        let step = &mut self.steps[index];
        if !step.has_slot() {
            return false;
        }
        if pattern.has_lines() {
            let rng = &mut self.worker.rng;
            let depth = self.sequence.steps[index].demand.queue_depth;
            if !step.find_burst(depth, |burst| pattern.burst(rng, burst, now), now) {
                return false;
            }
        }
        (self.sequence.steps[index].demand.arrival.is_none() && !pattern.is_replay()) || self.is_due(index, now)
    }

    /// Whether a step replays a recording that has come to its end.
    fn is_played(&self, index: usize) -> bool {
        let arrivals = self.steps[index].arrivals.as_ref();
        self.sequence.steps[index].pattern.is_replay() && arrivals.is_some_and(|arrivals| arrivals.access().is_none())
    }

    /// When the next I/O after `now` is due or may begin, of a step with a free slot.
    pub(super) fn next_due(&self, group: Group, now: Nanos) -> Option<Nanos> {
        let steps = self.steps[group.steps()].iter().filter(|step| group.count == 1 || step.has_slot());
        let times = steps.flat_map(|step| {
            let bursts = step.bursts.iter().map(|own| own.burst.from());
            step.arrivals.as_ref().map(Arrivals::due).into_iter().chain(bursts)
        });
        times.filter(|time| *time > now).min()
    }

    /// Whether an I/O of an open loop is due; nothing is before the window opens.
    pub(super) fn is_due(&self, index: usize, now: Nanos) -> bool {
        self.steps[index].arrivals.as_ref().is_some_and(|arrivals| arrivals.due() <= now)
    }
}
