//! A sequence as all workers share it: when steps begin and end, what is still to be submitted, and why to stop.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::addressed::{AskedPlaces, GridMask, PlaceCounts};
use crate::arrival::{ArrivalProcess, Arrivals, Drawn};
use crate::capture::Tap;
use crate::contract::{Bytes, DataPattern, Nanos};
use crate::live::WorkerSeconds;
use crate::pattern::{CompiledPattern, Cursor};
use crate::record::Ended;
use crate::recorded::{Allowed, Playback, Recording};
use crate::step::{Demand, StopRule};

/// Before the last I/O of a step is in, the window of a different one does not open: where several workers share a
/// sequence, the one that sees the last I/O fixes the instant so far ahead, so that it lies before all of them.
const OPENING_AHEAD: Nanos = Nanos(1_000_000);
/// The same for the end of a step of stated amount or count, which is known once the last I/O has been claimed.
const END_AHEAD: Nanos = Nanos(20_000);
/// A step holds the instants from its beginning to just before its end, those of all of its submissions.
const JUST_BEHIND: Nanos = Nanos(1);

/// Where the windows of consecutive equal steps may open: no I/O of an earlier step is outstanding any more.
pub(crate) struct Opening {
    at: AtomicU64,
    /// Workers that have not come so far, or still have an I/O of an earlier step outstanding.
    behind: AtomicUsize,
    /// Nothing can be outstanding: the first step of a sequence, or one behind idle time.
    pub(crate) immediate: bool,
}

/// Steps that run side by side; the first of them holds what they share.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Group {
    /// Indices of its steps.
    pub(crate) fn steps(self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// One step as all workers share it.
pub(crate) struct SharedStep {
    pub(crate) pattern: CompiledPattern,
    /// Index of its group.
    pub(crate) group: usize,
    /// Threads of the steps before it in its group, which have the first workers.
    pub(crate) threads_before: u32,
    /// It runs alone, moves data, and no access takes its place from a cursor or belongs to a burst.
    pub(crate) is_plain: bool,
    /// Index of its opening; consecutive equal steps have one in common.
    pub(crate) opening: usize,
    pub(crate) demand: Demand,
    pub(crate) stop: StopRule,
    pub(crate) data_index: u32,
    pub(crate) cursor: Arc<AtomicU64>,
    /// Of each thread, where they have their own: one, or one of reads and one of writes. Steps that go on share them.
    pub(crate) thread_cursors: Arc<Vec<AtomicU64>>,
    /// What is counted of the places of its I/Os, where they have any.
    pub(crate) places: Option<AskedPlaces>,
    /// Which of them are looked at.
    pub(crate) grid: GridMask,
    pub(crate) claimed: AtomicU64,
    pub(crate) end: AtomicU64,
}

/// A sequence as all workers share it.
pub(crate) struct SharedSequence {
    pub(crate) steps: Vec<SharedStep>,
    pub(crate) groups: Vec<Group>,
    pub(crate) openings: Vec<Opening>,
    pub(crate) data: Vec<DataPattern>,
    pub(crate) transfer: Bytes,
    pub(crate) worker_count: usize,
    /// Workers with a part in the sequence.
    pub(crate) busy_count: usize,
    /// All workers are ready, or one of them has failed, before the first I/O is submitted.
    pub(crate) ready: Barrier,
    pub(crate) prepare_failed: AtomicBool,
    /// Where the sequence begins on the devices' clock: when the last worker was ready.
    pub(crate) start: AtomicU64,
    pub(crate) halt: AtomicU8,
    pub(crate) errors: AtomicU64,
    pub(crate) error_limit: u64,
    pub(crate) io_time_limit: Nanos,
    pub(crate) step_index: AtomicUsize,
    pub(crate) worker_totals: Vec<WorkerTotal>,
    pub(crate) tap: Option<Tap>,
    /// Where workers publish the seconds that they have closed.
    pub(crate) seconds: Option<Sender<WorkerSeconds>>,
    /// I/Os of the step that replays them, until it takes them.
    pub(crate) recording: Mutex<Option<Recording>>,
    /// Where they may go.
    pub(crate) allowed: Allowed,
}

/// How far a worker has come, for those who watch; told at every look at its device.
#[derive(Default)]
pub(crate) struct WorkerTotal {
    pub(crate) io_count: AtomicU64,
    pub(crate) latency_sum_ns: AtomicU64,
    /// When it last looked, 0 before its first step; it does so at least every 50 ms, unless its device holds it.
    pub(crate) clock: AtomicU64,
    pub(crate) outstanding: AtomicU32,
    /// See [`crate::contract::Device::blocks`].
    pub(crate) blocks: AtomicBool,
}

impl SharedSequence {
    pub(crate) fn halt(&self, why: Ended) {
        // The first reason stands.
        let _ = self.halt.compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(crate) fn halted(&self) -> Option<Ended> {
        match self.halt.load(Ordering::Relaxed) {
            0 => None,
            reason if reason == Ended::Interrupted as u8 => Some(Ended::Interrupted),
            reason if reason == Ended::Errors as u8 => Some(Ended::Errors),
            reason if reason == Ended::LateBoundary as u8 => Some(Ended::LateBoundary),
            reason if reason == Ended::Clock as u8 => Some(Ended::Clock),
            _ => Some(Ended::Hung),
        }
    }

    /// When the I/Os of a worker are due in a step whose window opened at `start`, where it states a rate or replays a
    /// recording, in which only one worker has a part.
    pub(crate) fn arrivals(
        &self,
        index: usize,
        worker: usize,
        start: Nanos,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Option<Arrivals> {
        let step = &self.steps[index];
        if !step.pattern.is_replay() {
            return step.drawn(worker, self.worker_count, start, rng).map(Arrivals::Drawn);
        }
        if step.threads(worker, self.worker_count) == 0 {
            return None;
        }
        let recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let timed = step.demand.arrival.is_some_and(|arrival| arrival.process == ArrivalProcess::Recorded);
        Some(Arrivals::Recorded(Playback::new(recording, self.allowed, start, timed)))
    }

    /// Most I/Os of a group that a worker keeps outstanding.
    pub(crate) fn slots(&self, group: Group, worker: usize) -> u32 {
        self.steps[group.steps()].iter().map(|step| step.slots(worker, self.worker_count)).sum()
    }

    /// The step of the group of `running` that goes on with what a step does, where the two groups are equal.
    pub(crate) fn counterpart(&self, step: usize, running: usize) -> usize {
        let (own, other) = (self.groups[self.steps[step].group], self.groups[self.steps[running].group]);
        other.first + (step - own.first).min(other.count - 1)
    }

    /// Whether `running` is `step` or goes on with what it does, in a later, equal group.
    pub(crate) fn goes_on(&self, step: usize, running: usize) -> bool {
        self.steps[step].opening == self.steps[running].opening && self.counterpart(step, running) == running
    }

    /// A step of stated amount or count ends: at once where one worker does all of it, else a moment ahead.
    pub(crate) fn end_claimed(&self, step: &SharedStep, now: Nanos) {
        step.end_at(now + if self.busy_count == 1 { JUST_BEHIND } else { END_AHEAD });
    }

    /// A worker has nothing left of the steps before an opening; `last` is when its last such I/O was complete, and `now`
    /// tells its time.
    pub(crate) fn drained(&self, opening: usize, last: Nanos, now: impl Fn() -> Nanos) {
        let opening = &self.openings[opening];
        if self.busy_count == 1 {
            opening.open(last);
        } else if opening.behind.fetch_sub(1, Ordering::AcqRel) == 1 {
            opening.open(now() + OPENING_AHEAD);
        }
    }

    pub(crate) fn count_error(&self) {
        if self.errors.fetch_add(1, Ordering::Relaxed) + 1 >= self.error_limit {
            self.halt(Ended::Errors);
        }
    }
}

impl Opening {
    pub(crate) fn new(busy_count: usize, immediate: bool) -> Self {
        Self { at: AtomicU64::new(Nanos::NEVER.0), behind: AtomicUsize::new(busy_count), immediate }
    }

    /// [`Nanos::NEVER`] while an I/O of an earlier step is outstanding.
    pub(crate) fn at(&self) -> Nanos {
        Nanos(self.at.load(Ordering::Acquire))
    }

    pub(crate) fn open(&self, at: Nanos) {
        self.at.fetch_min(at.0, Ordering::AcqRel);
    }
}

impl SharedStep {
    pub(crate) fn end(&self) -> Nanos {
        Nanos(self.end.load(Ordering::Acquire))
    }

    pub(crate) fn end_at(&self, at: Nanos) {
        self.end.fetch_min(at.0, Ordering::AcqRel);
    }

    /// Fix the end of a timed step once the opening of its window is known; every worker computes the same.
    pub(crate) fn open(&self, at: Nanos) {
        if let StopRule::Time(span) = self.stop {
            self.end_at(at + span);
        }
    }

    /// May one more I/O be submitted? `alone`: no other worker claims from this sequence.
    #[inline]
    pub(crate) fn claim(&self, alone: bool) -> bool {
        match self.stop {
            StopRule::Time(_) => true,
            StopRule::Amount(amount) => self.claimed.load(Ordering::Relaxed) < amount.0,
            StopRule::Count(count) => self.add_claimed(1, alone) < count,
        }
    }

    #[inline]
    pub(crate) fn claimed_bytes(&self, bytes: Bytes, alone: bool) {
        if let StopRule::Amount(_) = self.stop {
            self.add_claimed(bytes.0, alone);
        }
    }

    /// Returns what was claimed before. A worker that is alone needs no locked instruction.
    #[inline]
    fn add_claimed(&self, amount: u64, alone: bool) -> u64 {
        if !alone {
            return self.claimed.fetch_add(amount, Ordering::Relaxed);
        }
        let before = self.claimed.load(Ordering::Relaxed);
        self.claimed.store(before + amount, Ordering::Relaxed);
        before
    }

    /// When the I/Os of this worker are due, where the step states a rate.
    fn drawn(&self, worker: usize, worker_count: usize, start: Nanos, rng: &mut Xoshiro256PlusPlus) -> Option<Drawn> {
        let (workers, place) = (worker_count.min(self.demand.thread_count as usize), self.place(worker, worker_count));
        let arrival = self.demand.arrival.filter(|_| place < workers)?;
        let span = if let StopRule::Time(span) = self.stop { Some(span) } else { None };
        Some(Drawn::new(arrival, place, workers, start, span, rng))
    }

    pub(crate) fn slots(&self, worker: usize, worker_count: usize) -> u32 {
        self.threads(worker, worker_count) * self.demand.queue_depth
    }

    /// Threads of the step that this worker stands for: one of a real drive, all of a simulated one.
    pub(crate) fn threads(&self, worker: usize, worker_count: usize) -> u32 {
        (self.place(worker, worker_count)..self.demand.thread_count as usize).step_by(worker_count).count() as u32
    }

    /// Of these the ones that have bursts of their own: all or none.
    pub(crate) fn bursting(&self, worker: usize, worker_count: usize) -> u32 {
        if self.pattern.has_lines() { self.threads(worker, worker_count) } else { 0 }
    }

    /// Which of the worker's threads an I/O in a slot is of.
    pub(crate) fn thread_of(&self, worker: usize, worker_count: usize, slot: u32) -> usize {
        (slot / self.demand.queue_depth % self.threads(worker, worker_count)) as usize
    }

    /// Where I/Os of one of the worker's threads go on: reads, and all others.
    pub(crate) fn cursors_of(&self, worker: usize, worker_count: usize, thread: usize) -> [&AtomicU64; 2] {
        let index = self.place(worker, worker_count) + thread * worker_count;
        match self.pattern.cursor() {
            Cursor::Shared => [&self.cursor, &self.cursor],
            Cursor::PerThread | Cursor::Iometer => [&self.thread_cursors[index], &self.thread_cursors[index]],
            Cursor::Fio => [&self.thread_cursors[2 * index], &self.thread_cursors[2 * index + 1]],
        }
    }

    /// Counts of the places of its I/Os in a worker, which begin where its cursors are now.
    pub(crate) fn place_counts(&self, worker: usize, worker_count: usize) -> PlaceCounts {
        let Some(asked) = &self.places else {
            return PlaceCounts::default();
        };
        let threads = 0..self.threads(worker, worker_count) as usize;
        let cursors = threads.map(|thread| self.cursors_of(worker, worker_count, thread));
        // One place that all threads share is known under the first.
        let count = if self.pattern.cursor() == Cursor::Shared { 1 } else { usize::MAX };
        PlaceCounts::new(asked, cursors.take(count).map(|pair| pair.map(|cursor| cursor.load(Ordering::Relaxed))))
    }

    /// The first of its threads that a worker stands for: they are dealt out behind those of the steps before it.
    pub(crate) fn place(&self, worker: usize, worker_count: usize) -> usize {
        (worker + worker_count - self.threads_before as usize % worker_count) % worker_count
    }
}
