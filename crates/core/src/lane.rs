//! The loop that keeps N I/Os outstanding: one lane is one device queue with its thread.
//!
//! At the end of a step nothing is cancelled or waited for: free slots go to the next step at once, and the
//! last completions of the old step are counted as its tail while the new one already runs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arrival::Arrivals;
use crate::capture::{Captured, LaneTap};
use crate::contract::{Bytes, Completion, Device, Direction, Errno, Io, Nanos, Probe};
use crate::pattern::{Access, Cursor};
use crate::program::{SharedProgram, SharedStep};
use crate::record::{Ended, StepRecord};
use crate::stream::lane_stream;
use crate::tally::{Completed, Tally};

/// Longest wait before a lane looks again whether it should stop.
const POLL: Nanos = Nanos(50_000_000);
/// The same for a lane that has nothing to do in a step of unknown length.
const IDLE_POLL: Nanos = Nanos(1_000_000);
/// How often the age of the outstanding I/Os is looked at.
const LOOK_EVERY: Nanos = Nanos(1_000_000_000);
/// Random accesses drawn before their turn.
const LOOK_AHEAD: usize = 16;
/// After an interruption, outstanding I/Os are waited for at most this long.
const DRAIN_LIMIT: Nanos = Nanos(3_000_000_000);

/// A device queue with the state that outlives programs: its random stream and its memory.
pub(crate) struct Lane<D> {
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

#[derive(Clone, Copy)]
struct Flight {
    outstanding: bool,
    step: usize,
    direction: Direction,
    submitted: Nanos,
    due: Option<Nanos>,
    offset: Bytes,
    length: Bytes,
}

/// A step as this lane sees it.
struct LaneStep {
    record: StepRecord,
    tally: Option<Tally>,
    /// When its I/Os are due, where it states a rate.
    arrivals: Option<Arrivals>,
    in_flight: u32,
    end: Nanos,
    closed: bool,
}

impl<D: Device> Lane<D> {
    pub(crate) fn new(device: D, seed: u64, index: usize) -> Self {
        let rng = lane_stream(seed, index);
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

    /// Run all steps; one record per step that was begun. Nothing is submitted unless every lane is ready.
    pub(crate) fn run(&mut self, program: &SharedProgram) -> Result<Vec<StepRecord>, Errno> {
        let prepared = self.prepare(program);
        program.prepare_failed.fetch_or(prepared.is_err(), Ordering::AcqRel);
        program.start.fetch_max(self.device.now().0, Ordering::AcqRel);
        program.ready.wait();
        prepared?;
        // A lane without a part in the program sleeps through it: its wake-ups would disturb the others.
        if program.prepare_failed.load(Ordering::Acquire) || self.flights.is_empty() {
            return Ok(Vec::new());
        }
        let start = Nanos(program.start.load(Ordering::Acquire));
        Ok(LaneRun::new(self, program, start).run(start))
    }

    fn prepare(&mut self, program: &SharedProgram) -> Result<(), Errno> {
        if self.abandoned {
            return Err(Errno::TIMED_OUT);
        }
        let slots = program.steps.iter().map(|step| step.slots(self.index, program.lane_count)).max().unwrap_or(0);
        self.device.prepare(&program.data, slots, program.transfer)?;
        let idle = Flight {
            outstanding: false,
            step: 0,
            direction: Direction::Read,
            submitted: Nanos(0),
            due: None,
            offset: Bytes(0),
            length: Bytes(0),
        };
        self.flights = vec![idle; slots as usize];
        self.free = (0..slots).rev().collect();
        self.completions.clear();
        Ok(())
    }
}

/// One program running on one lane.
struct LaneRun<'a, D> {
    lane: &'a mut Lane<D>,
    program: &'a SharedProgram,
    steps: Vec<LaneStep>,
    /// Completions already looked at.
    taken: usize,
    outstanding: u32,
    /// Times that completed I/Os spent in the open step, and where it began.
    inside_ns: u64,
    begun: Nanos,
    last_submission: Nanos,
    looked: Nanos,
    io_count: u64,
    latency_sum_ns: u64,
    /// Accesses of the open step that were drawn ahead.
    ahead: VecDeque<Access>,
    tap: Option<LaneTap>,
    boundary: Probe,
}

impl<'a, D: Device> LaneRun<'a, D> {
    fn new(lane: &'a mut Lane<D>, program: &'a SharedProgram, start: Nanos) -> Self {
        Self {
            lane,
            program,
            steps: Vec::with_capacity(program.steps.len()),
            taken: 0,
            outstanding: 0,
            inside_ns: 0,
            begun: start,
            last_submission: start,
            looked: start,
            io_count: 0,
            latency_sum_ns: 0,
            ahead: VecDeque::with_capacity(LOOK_AHEAD),
            tap: program.tap.as_ref().map(LaneTap::new),
            boundary: Probe::default(),
        }
    }

    fn run(mut self, mut start: Nanos) -> Vec<StepRecord> {
        self.boundary = self.probe();
        let lane = &self.program.lane_totals[self.lane.index];
        lane.blocks.store(self.lane.device.blocks(), Ordering::Relaxed);
        lane.clock.store(start.0.max(1), Ordering::Relaxed);
        for index in 0..self.program.steps.len() {
            self.open(index, start);
            self.keep_outstanding(index);
            self.close(index);
            if self.program.halted().is_some() {
                break;
            }
            start = self.steps[index].end;
        }
        self.drain();
        self.steps.into_iter().map(|step| step.record).collect()
    }

    fn open(&mut self, index: usize, start: Nanos) {
        self.program.steps[index].begin(start);
        self.program.step_index.fetch_max(index, Ordering::Relaxed);
        let now = self.lane.device.now();
        let wall = self.lane.device.wall();
        let record = StepRecord {
            start,
            start_wall: Nanos((wall.0 + start.0).saturating_sub(now.0)),
            counters_before: self.boundary.counters,
            ..StepRecord::default()
        };
        let tally = Some(self.lane.spare_tallies.pop().unwrap_or_default());
        let Lane { rng, index: lane, .. } = &mut *self.lane;
        let arrivals = self.program.steps[index].arrivals(*lane, self.program.lane_count, start, rng);
        self.steps.push(LaneStep { record, tally, arrivals, in_flight: 0, end: Nanos::NEVER, closed: false });
        self.last_submission = start;
        self.ahead.clear();
    }

    /// Submit and reap until the step ends.
    fn keep_outstanding(&mut self, index: usize) {
        let step = &self.program.steps[index];
        let limit = step.slots(self.lane.index, self.program.lane_count);
        let mut now = self.lane.device.now();
        loop {
            self.take_completions(step.end());
            if self.program.halted().is_some() {
                step.end_at(now);
            }
            if now >= step.end() {
                return;
            }
            self.fill(index, step, limit);
            let wait = if self.outstanding == 0 && step.end() == Nanos::NEVER { IDLE_POLL } else { POLL };
            let due = self.steps[index].arrivals.as_ref().filter(|_| self.outstanding < limit).map(Arrivals::due);
            let look = due.unwrap_or(Nanos::NEVER).min(Nanos(now.0 + wait.0));
            now = self.reap(step.end().min(look));
        }
    }

    /// Use every free slot before waiting.
    fn fill(&mut self, index: usize, step: &SharedStep, limit: u32) {
        while self.outstanding < limit {
            let now = self.lane.device.now();
            if now >= step.end() {
                return;
            }
            if self.steps[index].arrivals.as_ref().is_some_and(|arrivals| arrivals.due() > now) {
                return;
            }
            if !step.claim(self.program.lane_count == 1) {
                step.end_at(now);
                return;
            }
            self.submit(index, step, now);
        }
    }

    #[inline]
    fn submit(&mut self, index: usize, step: &SharedStep, now: Nanos) {
        let slot = self.lane.free.pop().expect("a lane has as many slots as its largest step");
        let access = self.next_access(step, slot);
        step.claimed_bytes(access.length, self.program.lane_count == 1);
        self.outstanding += 1;
        let due = self.steps[index].arrivals.as_mut().map(|arrivals| arrivals.take(&mut self.lane.rng));
        self.lane.flights[slot as usize] = Flight {
            outstanding: true,
            step: index,
            direction: access.direction,
            submitted: now,
            due,
            offset: access.offset,
            length: access.length,
        };
        self.note_submission(index, now);
        let Access { direction, offset, length } = access;
        self.lane.device.submit(Io { slot, direction, offset, length, data_index: step.data_index });
    }

    /// The next access. Random ones are drawn ahead, so that the device can fetch what it needs for them.
    fn next_access(&mut self, step: &SharedStep, slot: u32) -> Access {
        if !step.pattern.is_random() {
            let cursor = self.cursor(step, slot);
            return step.pattern.draw(&mut self.lane.rng, cursor);
        }
        if !D::LOOKS_AHEAD {
            return step.pattern.draw(&mut self.lane.rng, &step.cursor);
        }
        while self.ahead.len() < LOOK_AHEAD {
            let access = step.pattern.draw(&mut self.lane.rng, &step.cursor);
            self.lane.device.look_ahead(access.offset);
            self.ahead.push_back(access);
        }
        self.ahead.pop_front().expect("just filled")
    }

    fn cursor<'s>(&self, step: &'s SharedStep, slot: u32) -> &'s AtomicU64 {
        match step.pattern.cursor() {
            Cursor::Shared => &step.cursor,
            Cursor::PerThread => {
                let nth = slot / step.demand.queue_depth % step.threads(self.lane.index, self.program.lane_count);
                &step.thread_cursors[self.lane.index + nth as usize * self.program.lane_count]
            }
        }
    }

    fn note_submission(&mut self, index: usize, now: Nanos) {
        let step = &mut self.steps[index];
        step.in_flight += 1;
        step.record.submission_gap_max = step.record.submission_gap_max.max(now - self.last_submission);
        step.record.first_submission.get_or_insert(now);
        step.record.last_submission = Some(now);
        self.last_submission = now;
    }

    /// Wait for completions, at the longest to the deadline; returns when that was over.
    fn reap(&mut self, deadline: Nanos) -> Nanos {
        if self.taken == self.lane.completions.len() {
            self.lane.completions.clear();
            self.taken = 0;
        }
        let failed = self.lane.device.reap(&mut self.lane.completions, deadline).is_err();
        let now = self.lane.device.now();
        if failed || self.overdue(now) {
            self.program.halt(Ended::Hung);
        }
        let lane = &self.program.lane_totals[self.lane.index];
        lane.clock.store(now.0, Ordering::Relaxed);
        lane.outstanding.store(self.outstanding, Ordering::Relaxed);
        lane.io_count.store(self.io_count, Ordering::Relaxed);
        lane.latency_sum_ns.store(self.latency_sum_ns, Ordering::Relaxed);
        now
    }

    /// Is an I/O outstanding for longer than the time limit? Looked at in full only once in a while.
    fn overdue(&mut self, now: Nanos) -> bool {
        if self.outstanding == 0 || now.0 < self.looked.0 + LOOK_EVERY.0 {
            return false;
        }
        // A host that stopped the lane meanwhile is no fault of the drive: what has completed is only now seen.
        let stopped = now.0 > self.looked.0 + 2 * LOOK_EVERY.0;
        self.looked = now;
        let limit = self.program.io_time_limit.0;
        !stopped && self.lane.flights.iter().any(|flight| flight.outstanding && now.0 - flight.submitted.0 > limit)
    }

    /// Count the completions up to `end`; later ones are left for the next step.
    fn take_completions(&mut self, end: Nanos) {
        while let Some(completion) = self.lane.completions.get(self.taken) {
            if completion.at > end {
                return;
            }
            let completion = *completion;
            self.taken += 1;
            self.take(&completion);
        }
    }

    #[inline]
    fn take(&mut self, completion: &Completion) {
        let flight = self.lane.flights[completion.slot as usize];
        self.inside_ns += completion.at.0 - flight.submitted.max(self.begun).0;
        self.outstanding -= 1;
        self.lane.flights[completion.slot as usize].outstanding = false;
        self.lane.free.push(completion.slot);
        let step = &mut self.steps[flight.step];
        step.in_flight -= 1;
        let done = step.closed && step.in_flight == 0;
        let tally = step.tally.as_mut().expect("a step keeps its tally until its last I/O is in");
        match completion.result {
            Ok(bytes) if bytes == flight.length => {
                let Flight { direction, submitted, due, .. } = flight;
                self.io_count += 1;
                self.latency_sum_ns += completion.at.0 - submitted.0;
                let completed = Completed { direction, submitted, due, at: completion.at, bytes };
                tally.count(&completed, step.record.start, step.end);
                if let Some(tap) = &mut self.tap {
                    tap.take(captured(&flight, completion.at));
                }
            }
            Ok(_) => self.count_error(flight, Errno::SHORT_TRANSFER),
            Err(errno) => self.count_error(flight, errno),
        }
        if done {
            self.seal_if_done(flight.step);
        }
    }

    #[cold]
    fn count_error(&mut self, flight: Flight, errno: Errno) {
        if let Some(tally) = self.steps[flight.step].tally.as_mut() {
            tally.count_error(flight.direction, errno);
        }
        self.program.count_error();
    }

    /// The time integral of the outstanding I/Os is the sum of the times that each of them spent in the step.
    fn integrate(&mut self, index: usize, end: Nanos) {
        let begun = self.begun;
        let open = self.lane.flights.iter().filter(|flight| flight.outstanding);
        let open_ns: u64 = open.map(|flight| end.0.saturating_sub(flight.submitted.max(begun).0)).sum();
        self.steps[index].record.outstanding_ns = self.inside_ns + open_ns;
        self.inside_ns = 0;
        self.begun = end;
    }

    fn close(&mut self, index: usize) {
        let end = self.program.steps[index].end();
        self.integrate(index, end);
        let probe = self.probe();
        let active = self.program.steps[index].slots(self.lane.index, self.program.lane_count) > 0;
        let step = &mut self.steps[index];
        step.end = end;
        step.closed = true;
        step.record.offered_io_count = step.arrivals.as_mut().map(|arrivals| arrivals.offered(end, &mut self.lane.rng));
        step.record.span = Nanos(end.0.saturating_sub(step.record.start.0));
        step.record.cpu = probe.cpu.zip(self.boundary.cpu).map(|(after, before)| after - before);
        step.record.counters_after = probe.counters;
        step.record.ended = self.program.halted().unwrap_or_default();
        if active {
            let gap = Nanos(end.0.saturating_sub(self.last_submission.0));
            step.record.submission_gap_max = step.record.submission_gap_max.max(gap);
        }
        self.boundary = probe;
        self.seal_if_done(index);
    }

    fn seal_if_done(&mut self, index: usize) {
        let threads = self.program.steps[index].threads(self.lane.index, self.program.lane_count);
        let step = &mut self.steps[index];
        if step.closed
            && step.in_flight == 0
            && let Some(mut tally) = step.tally.take()
        {
            tally.seal(&mut step.record);
            if threads == 1 {
                let io_count = step.record.read.window_io_count + step.record.write.window_io_count;
                step.record.thread_io_count_min = Some(io_count);
                step.record.thread_io_count_max = Some(io_count);
            }
            self.lane.spare_tallies.push(tally);
        }
    }

    /// Wait for the tail of the program; after a halt only for a while.
    fn drain(&mut self) {
        let mut halted_at = None;
        while self.outstanding > 0 {
            self.take_completions(Nanos::NEVER);
            let now = self.lane.device.now();
            if self.program.halted().is_some() && now.0 > halted_at.get_or_insert(now).0 + DRAIN_LIMIT.0 {
                break;
            }
            self.reap(Nanos(now.0 + POLL.0));
        }
        self.give_up();
    }

    /// Count what never came back as timed out, and say in its step why the program ended.
    fn give_up(&mut self) {
        self.lane.abandoned = self.outstanding > 0;
        let lost: Vec<Flight> = self.lane.flights.iter().copied().filter(|flight| flight.outstanding).collect();
        for flight in lost {
            self.count_error(flight, Errno::TIMED_OUT);
        }
        let halted = self.program.halted();
        for index in 0..self.steps.len() {
            let step = &mut self.steps[index];
            if step.in_flight > 0 || index + 1 == self.program.steps.len() {
                step.record.ended = step.record.ended.max(halted.unwrap_or_default());
            }
            step.in_flight = 0;
            self.seal_if_done(index);
        }
    }

    fn probe(&mut self) -> Probe {
        self.lane.device.probe(self.lane.index == 0)
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
