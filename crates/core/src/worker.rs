//! The loop that keeps N I/Os outstanding: one worker is one device queue with its thread.
//!
//! At the end of a step nothing is cancelled or waited for: free slots go to the next step at once, and the
//! last completions of the old step are counted as its tail while the new one already runs. Where the new one differs,
//! its window opens when the last of them is in.

mod accesses;
mod completions;
mod seconds;
mod turns;

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arrival::Arrivals;
use crate::capture::WorkerTap;
use crate::contract::{Completion, Device, Direction, Errno, Io, Nanos, Probe};
use crate::pattern::Access;
use crate::record::{Ended, StepRecord};
use crate::sequence::{Group, SharedSequence, SharedStep};
use crate::stream::worker_stream;
use crate::tally::Tally;
use crate::worker_step::{Flight, WorkerStep};

/// Longest wait before a worker looks again whether it should stop.
const POLL: Nanos = Nanos(50_000_000);
/// The same for a worker that has nothing to do in a step of unknown length.
const IDLE_POLL: Nanos = Nanos(1_000_000);
/// The same for a worker that waits for the opening of a window, which another worker fixes a millisecond ahead.
const LEAD_IN_POLL: Nanos = Nanos(200_000);
/// How often the age of the outstanding I/Os is looked at.
const LOOK_EVERY: Nanos = Nanos(1_000_000_000);
/// Random accesses drawn before their turn.
const LOOK_AHEAD: usize = 16;
/// After an interruption, outstanding I/Os are waited for at most this long.
const DRAIN_LIMIT: Nanos = Nanos(3_000_000_000);

/// A device queue with the state that outlives sequences: its random stream and its memory.
pub(crate) struct Worker<D> {
    pub(crate) device: D,
    index: usize,
    rng: Xoshiro256PlusPlus,
    spare_tallies: Vec<Tally>,
    flights: Vec<Flight>,
    free: Vec<u32>,
    completions: Vec<Completion>,
    /// I/Os were given up and may still complete: their slots can never be used again.
    abandoned: bool,
}

impl<D: Device> Worker<D> {
    pub(crate) fn new(device: D, seed: u64, index: usize) -> Self {
        let rng = worker_stream(seed, index);
        Self {
            device,
            index,
            rng,
            spare_tallies: Vec::new(),
            flights: Vec::new(),
            free: Vec::new(),
            completions: Vec::new(),
            abandoned: false,
        }
    }

    /// Run all steps; one record per step that was begun. Nothing is submitted unless every worker is ready.
    pub(crate) fn run(&mut self, sequence: &SharedSequence) -> Result<Vec<StepRecord>, Errno> {
        let prepared = self.prepare(sequence);
        sequence.prepare_failed.fetch_or(prepared.is_err(), Ordering::AcqRel);
        sequence.start.fetch_max(self.device.now().0, Ordering::AcqRel);
        sequence.ready.wait();
        prepared?;
        // A worker without a part in the sequence sleeps through it: its wake-ups would disturb the others. The first one
        // keeps the time of a sequence that is nothing but idle.
        let sleeps = self.flights.is_empty() && self.index > 0;
        if sequence.prepare_failed.load(Ordering::Acquire) || sleeps {
            return Ok(Vec::new());
        }
        let start = Nanos(sequence.start.load(Ordering::Acquire));
        Ok(WorkerRun::new(self, sequence, start).run(start))
    }

    fn prepare(&mut self, sequence: &SharedSequence) -> Result<(), Errno> {
        if self.abandoned {
            return Err(Errno::TIMED_OUT);
        }
        let slots = sequence.groups.iter().map(|group| sequence.slots(*group, self.index)).max().unwrap_or(0);
        self.device.prepare(&sequence.data, slots, sequence.transfer)?;
        self.flights = vec![Flight::NONE; slots as usize];
        self.free = (0..slots).rev().collect();
        self.completions.clear();
        Ok(())
    }
}

/// One sequence running on one worker.
struct WorkerRun<'a, D> {
    worker: &'a mut Worker<D>,
    sequence: &'a SharedSequence,
    steps: Vec<WorkerStep>,
    /// Completions already looked at.
    taken: usize,
    outstanding: u32,
    /// Where the window of the step that runs opened, [`Nanos::NEVER`] while it is not open.
    opened: Nanos,
    /// I/Os of steps before the last opening that are still outstanding.
    earlier: u32,
    /// The last completion that was looked at before the present ones.
    counted: Nanos,
    /// The step of a group that is looked at first: they take turns.
    turn: usize,
    looked: Nanos,
    /// When the oldest outstanding I/O and how many were submitted with it, and since when these are the oldest.
    oldest: (Nanos, usize, Nanos),
    /// When the device is looked at again: for an I/O that is overdue, or a second to be published.
    look_at: Nanos,
    /// Where the next second to be published ends; [`Nanos::NEVER`] without an open window or a receiver.
    second_end: Nanos,
    io_count: u64,
    latency_sum_ns: u64,
    /// Accesses of the open step that were drawn ahead.
    ahead: VecDeque<Access>,
    tap: Option<WorkerTap>,
    boundary: Probe,
    /// Whose I/O is in a slot, of steps whose threads have bursts of their own.
    burst_threads: Vec<usize>,
}

impl<'a, D: Device> WorkerRun<'a, D> {
    fn new(worker: &'a mut Worker<D>, sequence: &'a SharedSequence, start: Nanos) -> Self {
        Self {
            worker,
            sequence,
            steps: Vec::with_capacity(sequence.steps.len()),
            taken: 0,
            outstanding: 0,
            opened: Nanos::NEVER,
            earlier: 0,
            counted: start,
            turn: 0,
            looked: start,
            oldest: (start, 0, start),
            look_at: start,
            second_end: Nanos::NEVER,
            io_count: 0,
            latency_sum_ns: 0,
            ahead: VecDeque::with_capacity(LOOK_AHEAD),
            tap: sequence.tap.as_ref().map(WorkerTap::new),
            boundary: Probe::default(),
            burst_threads: Vec::new(),
        }
    }

    fn run(mut self, mut start: Nanos) -> Vec<StepRecord> {
        self.boundary = self.probe();
        // What was before the sequence belongs to none of its steps.
        let _ = self.worker.device.stall_max();
        let worker = &self.sequence.worker_totals[self.worker.index];
        worker.blocks.store(self.worker.device.blocks(), Ordering::Relaxed);
        worker.clock.store(start.0.max(1), Ordering::Relaxed);
        let mut running = 0;
        for group in &self.sequence.groups {
            running = group.first;
            self.open(*group, start);
            let pattern = &self.sequence.steps[running].pattern;
            if group.count == 1 && !pattern.has_lines() && !pattern.is_replay() {
                self.keep_outstanding::<true>(*group);
            } else {
                self.keep_outstanding::<false>(*group);
            }
            self.close(*group);
            if self.sequence.halted().is_some() {
                break;
            }
            start = self.steps[running].end;
        }
        self.drain(running);
        self.note_stall(running);
        self.steps.into_iter().map(|step| step.record).collect()
    }

    fn open(&mut self, group: Group, begin: Nanos) {
        let step = &self.sequence.steps[group.first];
        self.sequence.step_index.fetch_max(group.first, Ordering::Relaxed);
        let now = self.worker.device.now();
        let wall = self.worker.device.wall();
        for index in group.steps() {
            let record = StepRecord {
                start_wall: Nanos((wall.0 + begin.0).saturating_sub(now.0)),
                // The drive counts for all that run side by side.
                counters_before: self.boundary.counters.filter(|_| index == group.first),
                ..StepRecord::default()
            };
            let tally = self.worker.spare_tallies.pop().unwrap_or_default();
            let (own, all) = (self.worker.index, self.sequence.worker_count);
            let shared = &self.sequence.steps[index];
            let places = shared.place_counts(own, all);
            let (slots, bursting) = (shared.slots(own, all), shared.bursting(own, all));
            self.steps.push(WorkerStep::new(begin, slots, bursting, tally, places, record));
        }
        self.turn = 0;
        self.ahead.clear();
        if group.first == 0 || self.sequence.steps[group.first - 1].opening != step.opening {
            self.wait_for_earlier(step, begin);
        } else {
            self.hand_on(group);
        }
        self.open_window(group.first);
    }

    /// What is outstanding of equal steps before takes slots of these.
    fn hand_on(&mut self, group: Group) {
        for flight in self.worker.flights.iter().filter(|flight| flight.outstanding) {
            if let Some(own) = group.steps().find(|own| self.sequence.goes_on(flight.step, *own)) {
                self.steps[own].carried += 1;
            }
        }
    }

    /// A step that differs from the one before: what is outstanding now has to come in before its window opens.
    fn wait_for_earlier(&mut self, step: &SharedStep, begin: Nanos) {
        self.earlier = self.outstanding;
        if self.sequence.openings[step.opening].immediate {
            self.sequence.openings[step.opening].open(begin);
        } else if self.earlier == 0 {
            self.sequence.drained(step.opening, begin, || self.worker.device.now());
        }
    }

    /// Open the window of the group whose first step is `index` if its instant is known.
    fn open_window(&mut self, index: usize) {
        let step = &self.sequence.steps[index];
        let known = self.sequence.openings[step.opening].at();
        if known == Nanos::NEVER {
            return;
        }
        let at = known.max(self.steps[index].begin);
        if self.counted_until() > at {
            self.sequence.halt(Ended::LateBoundary);
        }
        self.opened = at;
        self.begin_seconds(at);
        step.open(at);
        let Worker { rng, index: worker, .. } = &mut *self.worker;
        for index in self.sequence.groups[step.group].steps() {
            let arrivals = self.sequence.arrivals(index, *worker, at, rng);
            (self.steps[index].opened, self.steps[index].arrivals) = (at, arrivals);
        }
    }

    /// When the last I/O that has been counted was complete.
    fn counted_until(&self) -> Nanos {
        self.taken.checked_sub(1).map_or(self.counted, |last| self.worker.completions[last].at)
    }

    /// Submit and reap until the step ends.
    ///
    /// `ALONE`: it is one step without bursts, the common case, which is compiled for itself.
    fn keep_outstanding<const ALONE: bool>(&mut self, group: Group) {
        let index = group.first;
        let step = &self.sequence.steps[index];
        let limit = self.sequence.slots(group, self.worker.index);
        let mut now = self.worker.device.now();
        loop {
            // Looked up after the completions were stamped and before they are counted.
            if self.opened == Nanos::NEVER {
                self.open_window(index);
            }
            self.take_completions(index, step);
            if self.sequence.halted().is_some() {
                step.end_at(now);
            }
            if now >= step.end() {
                return;
            }
            if ALONE {
                self.fill(index, step, limit);
            } else {
                self.fill_in_turn(group, limit);
            }
            // One that is due already could not be claimed: the step is about to end.
            let due = if ALONE {
                let arrivals = self.steps[index].arrivals.as_ref();
                arrivals.filter(|_| self.outstanding < limit).map(Arrivals::due).filter(|due| *due > now)
            } else if self.outstanding < limit {
                self.next_due(group, now)
            } else {
                None
            };
            let look = due.unwrap_or(Nanos::NEVER).min(Nanos(now.0 + self.patience(step).0));
            now = self.reap(step.end().min(look));
        }
    }

    /// How long to wait before something other than a completion is looked at.
    fn patience(&self, step: &SharedStep) -> Nanos {
        if self.opened == Nanos::NEVER && self.sequence.busy_count > 1 {
            LEAD_IN_POLL
        } else if self.outstanding == 0 && step.end() == Nanos::NEVER {
            IDLE_POLL
        } else {
            POLL
        }
    }

    /// Use every free slot before waiting.
    fn fill(&mut self, index: usize, step: &SharedStep, limit: u32) {
        while self.outstanding < limit {
            let now = self.worker.device.now();
            if now >= step.end() {
                return;
            }
            if step.demand.arrival.is_some() && !self.is_due(index, now) {
                return;
            }
            if !step.claim(self.sequence.worker_count == 1) {
                self.sequence.end_claimed(step, now);
                return;
            }
            self.submit(index, step, step, now);
        }
    }

    /// Submit an I/O of a step; `first` of its group holds what its steps share.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "15 instructions per I/O less, where it is called from two loops")]
    fn submit(&mut self, index: usize, step: &SharedStep, first: &SharedStep, now: Nanos) -> u32 {
        let slot = self.worker.free.pop().expect("a worker has as many slots as its largest step");
        let access = self.next_access(index, step, slot);
        first.claimed_bytes(access.length, self.sequence.worker_count == 1);
        self.outstanding += 1;
        let Access { direction, offset, length } = access;
        let io = Io { slot, direction, offset, length, data_index: step.data_index };
        let now = if direction == Direction::Write { self.ready(first, &io, now) } else { now };
        if step.grid.passes(offset.0) {
            self.note_place(index, step, slot, access);
        }
        let own = &mut self.steps[index];
        let due = own.arrivals.as_mut().and_then(|arrivals| arrivals.take(&mut self.worker.rng));
        own.note_submission(now);
        self.worker.flights[slot as usize] =
            Flight { outstanding: true, step: index, direction, submitted: now, due, offset, length };
        self.worker.device.submit(io);
        slot
    }

    /// Make what a write holds; returns when its time begins, which is after that but still inside its step.
    #[inline]
    fn ready(&mut self, step: &SharedStep, io: &Io, now: Nanos) -> Nanos {
        self.worker.device.make_ready(io);
        self.worker.device.now().min(Nanos(step.end().0 - 1)).max(now)
    }

    /// Wait for completions, at the longest to the deadline; returns when that was over.
    fn reap(&mut self, deadline: Nanos) -> Nanos {
        if self.taken == self.worker.completions.len() {
            self.counted = self.counted_until();
            self.worker.completions.clear();
            self.taken = 0;
        }
        let failed = self.worker.device.reap(&mut self.worker.completions, deadline).is_err();
        let now = self.worker.device.now();
        if failed || (now >= self.look_at && self.look(now)) {
            self.sequence.halt(Ended::Hung);
        }
        let worker = &self.sequence.worker_totals[self.worker.index];
        worker.clock.store(now.0, Ordering::Relaxed);
        worker.outstanding.store(self.outstanding, Ordering::Relaxed);
        worker.io_count.store(self.io_count, Ordering::Relaxed);
        worker.latency_sum_ns.store(self.latency_sum_ns, Ordering::Relaxed);
        now
    }

    /// Has nothing as old as the oldest outstanding I/O completed for longer than the time limit? A drive that works off a
    /// deep queue answers, however long an I/O waits in it; an I/O that is lost becomes the oldest. Looked at only once in a
    /// while.
    fn overdue(&mut self, now: Nanos) -> bool {
        if self.outstanding == 0 || now.0 < self.looked.0 + LOOK_EVERY.0 {
            return false;
        }
        // A host that stopped the worker meanwhile is no fault of the drive: what has completed is only now seen.
        let stopped = now.0 > self.looked.0 + 2 * LOOK_EVERY.0;
        self.looked = now;
        let times = || self.worker.flights.iter().filter(|flight| flight.outstanding).map(|flight| flight.submitted);
        let submitted = times().min().unwrap_or(now);
        let count = times().filter(|time| *time == submitted).count();
        if (submitted, count) != (self.oldest.0, self.oldest.1) {
            self.oldest = (submitted, count, now);
        }
        !stopped && now.0.saturating_sub(self.oldest.2.0) > self.sequence.io_time_limit.0
    }

    /// The time integral of the outstanding I/Os is the sum of the times that each of them spent in the window: this adds
    /// what those still open spent there.
    fn integrate(&mut self, running: usize, end: Nanos) {
        for flight in self.worker.flights.iter().filter(|flight| flight.outstanding) {
            let own = self.sequence.counterpart(flight.step, running);
            self.steps[own].inside_ns += end.0.saturating_sub(flight.submitted.max(self.opened).0);
        }
    }

    fn close(&mut self, group: Group) {
        let index = group.first;
        let end = self.sequence.steps[index].end();
        self.integrate(index, end);
        if self.counted_until() > end {
            // Another worker has ended the step, of stated amount or count, or the whole sequence.
            self.sequence.halt(Ended::LateBoundary);
        }
        self.note_stall(index);
        let probe = self.probe();
        let halted = self.sequence.halted().unwrap_or_default();
        for (step, shared) in self.steps[group.steps()].iter_mut().zip(&self.sequence.steps[group.steps()]) {
            step.close(end);
            step.note_places(shared.places.as_ref());
            step.record.outstanding_ns = std::mem::take(&mut step.inside_ns);
            step.record.offered_io_count =
                step.arrivals.as_mut().and_then(|arrivals| arrivals.offered(end, &mut self.worker.rng));
            step.record.ended = halted;
            if step.slots > 0 {
                let gap = Nanos(end.0.saturating_sub(step.last_submission.0));
                step.record.submission_gap_max = step.record.submission_gap_max.max(gap);
            }
        }
        // Of the thread and the drive, which serve all that run side by side.
        let record = &mut self.steps[index].record;
        record.cpu = probe.cpu.zip(self.boundary.cpu).map(|(after, before)| after - before);
        record.waited = probe.waited.zip(self.boundary.waited).map(|(after, before)| after - before);
        record.counters_after = probe.counters;
        self.boundary = probe;
        self.opened = Nanos::NEVER;
        self.second_end = Nanos::NEVER;
        group.steps().for_each(|index| self.seal_if_done(index));
    }

    fn seal_if_done(&mut self, index: usize) {
        let threads = self.sequence.steps[index].threads(self.worker.index, self.sequence.worker_count);
        if let Some(tally) = self.steps[index].seal_if_done(threads) {
            self.worker.spare_tallies.push(tally);
            self.publish_sealed(index);
        }
    }

    /// Wait for the tail of the sequence; after a halt only for a while.
    fn drain(&mut self, running: usize) {
        let mut halted_at = None;
        // Nothing opens any more.
        self.earlier = 0;
        while self.outstanding > 0 {
            while let Some(completion) = self.worker.completions.get(self.taken).copied() {
                self.taken += 1;
                self.take(&completion, running);
            }
            let now = self.worker.device.now();
            if self.sequence.halted().is_some() && now.0 > halted_at.get_or_insert(now).0 + DRAIN_LIMIT.0 {
                break;
            }
            self.reap(Nanos(now.0 + POLL.0));
        }
        self.give_up(running);
    }

    /// Count what never came back as timed out, and say in its step why the sequence ended.
    fn give_up(&mut self, running: usize) {
        self.worker.abandoned = self.outstanding > 0;
        let now = self.worker.device.now();
        let lost: Vec<Flight> = self.worker.flights.iter().copied().filter(|flight| flight.outstanding).collect();
        for flight in lost {
            self.carry(&flight, now, running);
            self.count_error(&flight, Errno::TIMED_OUT, now);
        }
        let halted = self.sequence.halted();
        for index in 0..self.steps.len() {
            let step = &mut self.steps[index];
            if step.in_flight > 0 || self.sequence.steps[index].group + 1 == self.sequence.groups.len() {
                step.note_end(halted);
            }
            step.in_flight = 0;
            self.seal_if_done(index);
        }
    }

    /// How long the device was silent since the last look, where it knows: in the step that ran.
    fn note_stall(&mut self, index: usize) {
        let record = &mut self.steps[index].record;
        record.stall_max = record.stall_max.max(self.worker.device.stall_max());
    }

    fn probe(&mut self) -> Probe {
        self.worker.device.probe(self.worker.index == 0)
    }
}
