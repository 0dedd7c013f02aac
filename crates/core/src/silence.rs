//! How long a drive is silent, seen from beside the lanes: they pay nothing for it, and it goes on while a drive holds
//! them inside a system call.

use std::time::{Duration, Instant};

use std::sync::atomic::Ordering;

use crate::contract::Nanos;
use crate::program::SharedProgram;
use crate::record::{Ended, StepRecord};
use crate::stimulus::Returned;

/// Looks lie 50 ms apart. One that comes later than this shows that the host did not run; that is not laid to the drive.
const LATE: Duration = Duration::from_millis(250);
/// A lane that looks at its device at least this often and finds nothing is waiting for the drive.
const FRESH: Duration = Duration::from_millis(200);
/// After a halt, a lane is held by its device if it does not return for so long; it waits 3 s for its last I/Os itself.
const LEAVE: Duration = Duration::from_secs(5);

/// Whether the lanes are worth waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// They will return.
    Alive,
    /// At least one never will.
    Stuck,
}

/// What one lane was last seen to do.
#[derive(Clone, Copy, Default)]
struct Seen {
    clock: u64,
    unchanged: Duration,
}

/// Looks at the lanes' totals of one program every now and then.
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
    /// `limit`: a lane that does not come back from its device for so long ends the program.
    pub(crate) fn new(program: &SharedProgram, limit: Duration) -> Self {
        Self {
            limit,
            looked: None,
            completed: 0,
            silence: Duration::ZERO,
            halted: Duration::ZERO,
            seen: vec![Seen::default(); program.lane_count],
            longest: vec![Duration::ZERO; program.steps.len()],
        }
    }

    /// Look once; `returned` are the lanes that are done.
    pub(crate) fn look(&mut self, program: &SharedProgram, now: Instant, returned: &Returned) -> Sign {
        let since = self.looked.replace(now).map_or(Duration::ZERO, |looked| now - looked);
        let passed = if since > LATE { Duration::ZERO } else { since };
        let (mut waiting, mut longest) = (false, Duration::ZERO);
        for (index, lane) in program.lane_totals.iter().enumerate().filter(|(index, _)| !returned.contains_key(index)) {
            let unchanged = self.age(index, lane.clock.load(Ordering::Relaxed), passed);
            let asleep = lane.outstanding.load(Ordering::Relaxed) == 0;
            waiting |= !asleep && (unchanged <= FRESH || lane.blocks.load(Ordering::Relaxed));
            longest = longest.max(unchanged);
        }
        self.count_silence(program, passed, waiting);
        if longest > self.limit {
            program.halt(Ended::Hung);
        }
        self.halted = if program.halted().is_some() { self.halted + passed } else { Duration::ZERO };
        if self.halted.min(longest) > LEAVE { Sign::Stuck } else { Sign::Alive }
    }

    /// Write the longest silence of each step into its record.
    pub(crate) fn note(&self, records: &mut [StepRecord]) {
        for (record, longest) in records.iter_mut().zip(&self.longest) {
            record.stall_max = Some(Nanos(longest.as_nanos() as u64));
        }
    }

    /// How long a lane has not looked at its device; a lane without a part in the program never does.
    fn age(&mut self, index: usize, clock: u64, passed: Duration) -> Duration {
        let seen = &mut self.seen[index];
        let unchanged = if clock == 0 || clock != seen.clock { Duration::ZERO } else { seen.unchanged + passed };
        *seen = Seen { clock, unchanged };
        unchanged
    }

    fn count_silence(&mut self, program: &SharedProgram, passed: Duration, waiting: bool) {
        let lanes = program.lane_totals.iter().map(|lane| lane.io_count.load(Ordering::Relaxed));
        let completed = lanes.sum::<u64>() + program.errors.load(Ordering::Relaxed);
        let silent = waiting && completed == self.completed;
        self.completed = completed;
        self.silence = if silent { self.silence + passed } else { Duration::ZERO };
        let step = &mut self.longest[program.step_index.load(Ordering::Relaxed)];
        *step = self.silence.max(*step);
    }
}
