//! The seconds of a running sequence, merged over its workers, for those who watch.
//!
//! ```text
//! worker 0   second 0  second 1  second 2            sealed
//! worker 1   second 0  second 1            sealed
//! sent       second 0  second 1                      second 2 ...
//! ```
//!
//! A second is sent once every worker has closed it; what is sent is equal to the series of the step's record.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender};

use crate::contract::Nanos;
use crate::live::{Second, Sides, WorkerSeconds};
use crate::sequence::{Group, SharedSequence};

/// Seconds of a step in a worker that wait for those of the others.
#[derive(Default)]
struct Waiting {
    points: VecDeque<Sides>,
    span: Option<Nanos>,
}

/// Adds up what workers publish, and sends it on in order.
pub(crate) struct Merging {
    published: Receiver<WorkerSeconds>,
    merged: Sender<Second>,
    groups: Vec<Group>,
    workers: Vec<usize>,
    waiting: BTreeMap<(usize, usize), Waiting>,
    /// The group and the second of it that are sent next.
    group: usize,
    second: usize,
}

impl Merging {
    pub(crate) fn new(sequence: &SharedSequence, published: Receiver<WorkerSeconds>, merged: Sender<Second>) -> Self {
        let takes_part =
            |worker: &usize| *worker == 0 || sequence.groups.iter().any(|group| sequence.slots(*group, *worker) > 0);
        Self {
            published,
            merged,
            groups: sequence.groups.clone(),
            workers: (0..sequence.worker_count).filter(takes_part).collect(),
            waiting: BTreeMap::new(),
            group: 0,
            second: 0,
        }
    }

    /// Send what all workers have closed by now.
    pub(crate) fn pass_on(&mut self) {
        while let Ok(seconds) = self.published.try_recv() {
            self.add(seconds);
        }
        while let Some(group) = self.groups.get(self.group).copied().filter(|group| self.is_closed(*group)) {
            if self.is_over(group) {
                self.waiting.retain(|(step, _), _| *step >= group.first + group.count);
                (self.group, self.second) = (self.group + 1, 0);
            } else {
                self.send(group);
            }
        }
    }

    fn add(&mut self, seconds: WorkerSeconds) {
        let begun = self.groups.get(self.group).is_some_and(|group| group.steps().contains(&seconds.step));
        let sent = if begun { self.second } else { 0 };
        let waiting = self.waiting.entry((seconds.step, seconds.worker)).or_default();
        waiting.points.truncate(seconds.from.saturating_sub(sent));
        waiting.points.extend(seconds.points.into_iter().skip(sent.saturating_sub(seconds.from)));
        waiting.span = seconds.span;
    }

    fn parts(&self, group: Group) -> impl Iterator<Item = Option<&Waiting>> {
        let keys = group.steps().flat_map(|step| self.workers.iter().map(move |worker| (step, *worker)));
        keys.map(|key| self.waiting.get(&key))
    }

    /// Whether every worker has closed the next second, or the whole step.
    fn is_closed(&self, group: Group) -> bool {
        self.parts(group).all(|part| part.is_some_and(|part| part.span.is_some() || !part.points.is_empty()))
    }

    fn is_over(&self, group: Group) -> bool {
        self.parts(group).flatten().all(|part| part.points.is_empty())
    }

    fn send(&mut self, group: Group) {
        let begin = self.second as u64 * Nanos::SECOND.0;
        let span = self.parts(group).flatten().find_map(|part| part.span);
        let covered = span.map_or(Nanos::SECOND, |span| Nanos(span.0.saturating_sub(begin)).min(Nanos::SECOND));
        let sides = group.steps().map(|step| self.take(step)).collect();
        let second = Second { step: group.first, index: self.second, covered, sides };
        self.second += 1;
        // Who watched may be gone.
        let _ = self.merged.send(second);
    }

    /// The next second of a step over all workers.
    fn take(&mut self, step: usize) -> Sides {
        let mut total = Sides::default();
        for worker in &self.workers {
            let part = self.waiting.get_mut(&(step, *worker)).and_then(|waiting| waiting.points.pop_front());
            for (sum, point) in total.iter_mut().zip(part.unwrap_or_default()) {
                sum.add(&point);
            }
        }
        total
    }
}
