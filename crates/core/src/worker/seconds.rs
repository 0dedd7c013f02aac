//! What a worker publishes of its steps for those who watch: the seconds that are over, about once a second.

use std::sync::atomic::Ordering;

use crate::contract::{Device, Nanos};
use crate::live::WorkerSeconds;
use crate::worker::{LOOK_EVERY, WorkerRun};

impl<D: Device> WorkerRun<'_, D> {
    /// Publish the seconds that are over; whether an I/O is overdue. Called when `look_at` has come, not for every I/O.
    #[cold]
    pub(super) fn look(&mut self, now: Nanos) -> bool {
        self.publish_seconds();
        let overdue = self.overdue(now);
        self.look_at = Nanos(self.looked.0 + LOOK_EVERY.0).min(self.second_end);
        overdue
    }

    /// The window has opened: its first second ends a second later.
    pub(super) fn begin_seconds(&mut self, opened: Nanos) {
        if self.sequence.seconds.is_some() {
            self.second_end = opened + Nanos::SECOND;
            self.look_at = self.look_at.min(self.second_end);
        }
    }

    /// At the look before this one every completion up to its time was counted: what ended by then is final.
    fn publish_seconds(&mut self) {
        let clock = &self.sequence.worker_totals[self.worker.index].clock;
        let counted = Nanos(clock.load(Ordering::Relaxed));
        if counted < self.second_end {
            return;
        }
        let until = ((counted - self.opened).0 / Nanos::SECOND.0) as usize;
        for index in self.sequence.groups[self.sequence.steps[self.steps.len() - 1].group].steps() {
            let step = &mut self.steps[index];
            let from = std::mem::replace(&mut step.published, until);
            let points = (from..until).map(|second| step.tally().second(second)).collect();
            self.publish(WorkerSeconds { worker: self.worker.index, step: index, from, points, span: None });
        }
        self.second_end = Nanos(self.opened.0 + (until as u64 + 1) * Nanos::SECOND.0);
    }

    /// A step is sealed: publish the seconds that are left, the last of which may be no whole one.
    pub(super) fn publish_sealed(&mut self, index: usize) {
        if self.sequence.seconds.is_none() {
            return;
        }
        let step = &self.steps[index];
        let (record, span) = (&step.record, step.record.span);
        let seconds = span.0.div_ceil(Nanos::SECOND.0) as usize;
        // A worker that had counted past an end that another fixed has put what came later into the last second.
        let from = step.published.min(seconds.saturating_sub(1));
        let sides = [&record.read, &record.write, &record.other];
        let point = |second: usize| sides.map(|side| side.series.get(second).copied().unwrap_or_default());
        let points = (from..seconds).map(point).collect();
        self.publish(WorkerSeconds { worker: self.worker.index, step: index, from, points, span: Some(span) });
    }

    fn publish(&self, seconds: WorkerSeconds) {
        if let Some(receiver) = &self.sequence.seconds {
            // Nobody may be there any more to receive it.
            let _ = receiver.send(seconds);
        }
    }
}
