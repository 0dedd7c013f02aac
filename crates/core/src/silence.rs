//! How long a drive is silent, seen from beside the workers: they pay nothing for it, and it goes on while a drive holds
//! them inside a system call.

use std::time::{Duration, Instant};

use std::sync::atomic::Ordering;

use crate::contract::Nanos;
use crate::record::{Ended, Returned, StepRecord};
use crate::sequence::SharedSequence;

/// Looks lie 50 ms apart. One that comes later than this shows that the host did not run; that is not laid to the drive.
const LATE: Duration = Duration::from_millis(250);
/// A worker that looks at its device at least this often and finds nothing is waiting for the drive.
const FRESH: Duration = Duration::from_millis(200);
/// After a halt, a worker is held by its device if it does not return for so long; it waits 3 s for its last I/Os itself.
const LEAVE: Duration = Duration::from_secs(5);

/// Whether the workers are worth waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// They will return.
    Alive,
    /// At least one never will.
    Stuck,
}

/// What one worker was last seen to do.
#[derive(Clone, Copy, Default)]
struct Seen {
    clock: u64,
    unchanged: Duration,
}

/// Looks at the workers' totals of one sequence every now and then.
pub(crate) struct SilenceWatch {
    limit: Duration,
    looked: Option<Instant>,
    completed: u64,
    silence: Duration,
    halted: Duration,
    seen: Vec<Seen>,
    /// The longest silence of each step.
    longest: Vec<Duration>,
}

impl SilenceWatch {
    /// `limit`: a worker that does not come back from its device for so long ends the sequence.
    pub(crate) fn new(sequence: &SharedSequence, limit: Duration) -> Self {
        Self {
            limit,
            looked: None,
            completed: 0,
            silence: Duration::ZERO,
            halted: Duration::ZERO,
            seen: vec![Seen::default(); sequence.worker_count],
            longest: vec![Duration::ZERO; sequence.steps.len()],
        }
    }

    /// Look once; `returned` are the workers that are done.
    pub(crate) fn look(&mut self, sequence: &SharedSequence, now: Instant, returned: &Returned) -> Sign {
        let since = self.looked.replace(now).map_or(Duration::ZERO, |looked| now - looked);
        let passed = if since > LATE { Duration::ZERO } else { since };
        let (mut waiting, mut longest) = (false, Duration::ZERO);
        for (index, worker) in
            sequence.worker_totals.iter().enumerate().filter(|(index, _)| !returned.contains_key(index))
        {
            let unchanged = self.age(index, worker.clock.load(Ordering::Relaxed), passed);
            let asleep = worker.outstanding.load(Ordering::Relaxed) == 0;
            waiting |= !asleep && (unchanged <= FRESH || worker.blocks.load(Ordering::Relaxed));
            longest = longest.max(unchanged);
        }
        self.count_silence(sequence, passed, waiting);
        if longest > self.limit {
            sequence.halt(Ended::Hung);
        }
        self.halted = if sequence.halted().is_some() { self.halted + passed } else { Duration::ZERO };
        if self.halted.min(longest) > LEAVE { Sign::Stuck } else { Sign::Alive }
    }

    /// Write the longest silence of each step into its record.
    pub(crate) fn note(&self, records: &mut [StepRecord]) {
        for (record, longest) in records.iter_mut().zip(&self.longest) {
            record.stall_max = Some(Nanos(longest.as_nanos() as u64));
        }
    }

    /// How long a worker has not looked at its device; a worker without a part in the sequence never does.
    fn age(&mut self, index: usize, clock: u64, passed: Duration) -> Duration {
        let seen = &mut self.seen[index];
        let unchanged = if clock == 0 || clock != seen.clock { Duration::ZERO } else { seen.unchanged + passed };
        *seen = Seen { clock, unchanged };
        unchanged
    }

    fn count_silence(&mut self, sequence: &SharedSequence, passed: Duration, waiting: bool) {
        let workers = sequence.worker_totals.iter().map(|worker| worker.io_count.load(Ordering::Relaxed));
        let completed = workers.sum::<u64>() + sequence.errors.load(Ordering::Relaxed);
        let silent = waiting && completed == self.completed;
        self.completed = completed;
        self.silence = if silent { self.silence + passed } else { Duration::ZERO };
        let step = &mut self.longest[sequence.step_index.load(Ordering::Relaxed)];
        *step = self.silence.max(*step);
    }
}
