//! One step as one worker sees it: what of an I/O belongs to its lead-in, its window and its tail.
//!
//! ```text
//!            step before          this step                      next step
//! -------------------------|----------------------------------|--------------
//!                          begin        opened               end
//!                          |<- lead-in ->|<-- window, T ----->|<- tail
//!   I/O of the step before  ------------x
//!   own, lead-in latency         ----x
//!   own, counts in the rate        -----------x
//!   own, latency and rate                 -----------x
//!   own, latency only                               ----------------x
//! ```

use crate::addressed::{AskedPlaces, PlaceCounts};
use crate::arrival::Arrivals;
use crate::contract::{Bytes, Direction, Errno, Nanos};
use crate::pattern::Burst;
use crate::record::{Ended, StepRecord};
use crate::tally::{Completed, Place, Tally};

/// An I/O from its submission on.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    pub(crate) outstanding: bool,
    pub(crate) step: usize,
    pub(crate) direction: Direction,
    pub(crate) submitted: Nanos,
    pub(crate) due: Option<Nanos>,
    pub(crate) offset: Bytes,
    pub(crate) length: Bytes,
}

impl Flight {
    /// A slot that nothing was submitted in yet.
    pub(crate) const NONE: Self = Self {
        outstanding: false,
        step: 0,
        direction: Direction::Read,
        submitted: Nanos(0),
        due: None,
        offset: Bytes(0),
        length: Bytes(0),
    };

    #[inline]
    pub(crate) fn completed(&self, at: Nanos) -> Completed {
        Completed {
            direction: self.direction,
            at,
            latency: at - self.submitted,
            intended: self.due.map(|due| at - due),
            bytes: self.length,
        }
    }
}

/// The burst of one thread, and how many of its I/Os are outstanding.
#[derive(Clone, Default)]
pub(crate) struct ThreadBurst {
    pub(crate) burst: Burst,
    pub(crate) in_flight: u32,
}

/// A step as a worker sees it.
pub(crate) struct WorkerStep {
    pub(crate) record: StepRecord,
    pub(crate) tally: Option<Tally>,
    /// When its I/Os are due, where it states a rate and its window is open.
    pub(crate) arrivals: Option<Arrivals>,
    pub(crate) in_flight: u32,
    /// I/Os of the equal step before it that are still in flight, which take its slots.
    pub(crate) carried: u32,
    /// Most I/Os of it that this worker keeps outstanding.
    pub(crate) slots: u32,
    /// Of its I/Os, where they come in bursts: of each thread that the worker stands for.
    pub(crate) bursts: Vec<ThreadBurst>,
    /// Where its I/Os went.
    pub(crate) places: PlaceCounts,
    /// The thread whose burst goes on with the next I/O.
    pub(crate) thread: usize,
    /// Times that completed I/Os spent in its window.
    pub(crate) inside_ns: u64,
    pub(crate) last_submission: Nanos,
    /// Seconds of its window that were published.
    pub(crate) published: usize,
    pub(crate) begin: Nanos,
    /// [`Nanos::NEVER`] while the window is not open, and for good where the step ended in its lead-in.
    pub(crate) opened: Nanos,
    /// [`Nanos::NEVER`] until the step is closed.
    pub(crate) end: Nanos,
}

impl WorkerStep {
    /// `bursting` : threads that have bursts, 0 in a step without.
    pub(crate) fn new(
        begin: Nanos,
        slots: u32,
        bursting: u32,
        tally: Tally,
        places: PlaceCounts,
        record: StepRecord,
    ) -> Self {
        Self {
            record,
            tally: Some(tally),
            arrivals: None,
            in_flight: 0,
            carried: 0,
            slots,
            bursts: vec![ThreadBurst::default(); bursting as usize],
            places,
            thread: 0,
            inside_ns: 0,
            last_submission: begin,
            published: 0,
            begin,
            opened: Nanos::NEVER,
            end: Nanos::NEVER,
        }
    }

    /// Whether another of its I/Os may be outstanding.
    pub(crate) fn has_slot(&self) -> bool {
        self.in_flight + self.carried < self.slots
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.end != Nanos::NEVER
    }

    /// Find a thread with a free slot of `depth` and a burst that goes on or may begin; threads take turns.
    pub(crate) fn find_burst(&mut self, depth: u32, mut next: impl FnMut(Burst) -> Burst, now: Nanos) -> bool {
        let count = self.bursts.len();
        for nth in 0..count {
            let thread = (self.thread + nth) % count;
            let own = &mut self.bursts[thread];
            if own.in_flight >= depth {
                continue;
            }
            own.burst = next(own.burst);
            if own.burst.from() <= now {
                self.thread = thread;
                return true;
            }
        }
        false
    }

    /// Count an I/O of the thread that was found last, and let the next one have its turn.
    pub(crate) fn note_burst(&mut self) -> usize {
        let thread = self.thread;
        self.bursts[thread].in_flight += 1;
        self.thread = (thread + 1) % self.bursts.len();
        thread
    }

    /// Count a submission and how long there was none before it.
    #[inline]
    pub(crate) fn note_submission(&mut self, now: Nanos) {
        self.in_flight += 1;
        let gap = Nanos(now.0.saturating_sub(self.last_submission.0));
        self.record.submission_gap_max = self.record.submission_gap_max.max(gap);
        self.record.first_submission.get_or_insert(now);
        self.record.last_submission = Some(now);
        self.last_submission = now;
    }

    /// Fix start, lead-in and span. An opening that comes only with the end is none.
    pub(crate) fn close(&mut self, end: Nanos) {
        if self.opened >= end {
            self.opened = Nanos::NEVER;
        }
        let start = self.opened.min(end);
        self.end = end;
        self.record.start = start;
        self.record.lead_in = start - self.begin;
        self.record.start_wall += self.record.lead_in;
        self.record.span = end - start;
    }

    /// Fix where its I/Os went, all of which are submitted. Idle threads have no part in it.
    pub(crate) fn note_places(&mut self, asked: Option<&AskedPlaces>) {
        let asked = asked.filter(|_| self.slots > 0);
        self.record.misaligned_io_count = asked.map(|_| self.places.misaligned);
        self.record.successor_io_count = asked.filter(|asked| asked.knows_successors()).map(|_| self.places.successors);
    }

    /// Count an own I/O that was submitted or completed outside of the window.
    pub(crate) fn count_crossing(&mut self, io: &Completed, submitted: Nanos) {
        let (place, in_window) = (self.place(io.at), self.holds(submitted));
        let (opened, tally) = (self.opened, self.tally());
        tally.count_crossing(io, place, in_window);
        if place == Place::Window {
            tally.count_in_series(io, opened);
        }
    }

    /// Count a completion in this window of an I/O of an earlier, equal step.
    pub(crate) fn count_carried_in(&mut self, io: &Completed) {
        let (opened, tally) = (self.opened, self.tally());
        tally.count_carried_in(io);
        tally.count_in_series(io, opened);
    }

    pub(crate) fn count_error(&mut self, flight: &Flight, errno: Errno, at: Nanos) {
        let in_window = self.holds(flight.submitted);
        let latency = Nanos(at.0.saturating_sub(flight.submitted.0));
        self.tally().count_error(flight.direction, errno, in_window, latency);
    }

    /// Add the time that an I/O in flight at this window's opening or end ran from there on.
    pub(crate) fn carry(&mut self, submitted: Nanos, at: Nanos) {
        if self.opened == Nanos::NEVER {
            return;
        }
        if submitted < self.opened {
            self.record.carried_in_ns += at.0.saturating_sub(self.opened.0);
        }
        if submitted < self.end {
            self.record.carried_out_ns += at.0.saturating_sub(self.end.0);
        }
    }

    /// Give the tally back once the step is closed and its last I/O is in. `threads` that the worker stands for.
    pub(crate) fn seal_if_done(&mut self, threads: u32) -> Option<Tally> {
        if !self.is_closed() || self.in_flight > 0 {
            return None;
        }
        let mut tally = self.tally.take()?;
        let record = &mut self.record;
        tally.seal(record);
        if threads == 1 {
            let sides = [&record.read, &record.write, &record.other];
            let io_count = sides.iter().map(|side| side.window_io_count + side.carried_in_io_count).sum();
            record.thread_io_count_min = Some(io_count);
            record.thread_io_count_max = Some(io_count);
        }
        Some(tally)
    }

    /// Note why the sequence ended, where this step still had I/Os outstanding or was the last.
    pub(crate) fn note_end(&mut self, halted: Option<Ended>) {
        self.record.ended = self.record.ended.max(halted.unwrap_or_default());
    }

    fn place(&self, at: Nanos) -> Place {
        if at <= self.opened {
            Place::LeadIn
        } else if at <= self.end {
            Place::Window
        } else {
            Place::Tail
        }
    }

    /// Whether an own I/O was submitted in the window.
    fn holds(&self, submitted: Nanos) -> bool {
        submitted >= self.opened
    }

    pub(crate) fn tally(&mut self) -> &mut Tally {
        self.tally.as_mut().expect("a step keeps its tally until its last I/O is in")
    }
}
