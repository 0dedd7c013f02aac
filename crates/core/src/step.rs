//! A step: one access pattern at one demand on one range until one stop rule.

use serde::Deserialize;

use crate::active_range::{ActiveRange, RangeError};
use crate::arrival::{Arrival, ArrivalProcess};
use crate::contract::{Bytes, DataPattern, DeviceInfo, Errno, Nanos};
use crate::pattern::{AccessPattern, CompiledPattern, PatternError};

/// Most I/Os that a step may keep outstanding.
pub const OUTSTANDING_MAX: u64 = 65_536;

/// Thread count and outstanding I/Os per thread; total OIO is their product. Both zero, in a step of stated time: idle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "WrittenDemand")]
pub struct Demand {
    /// Threads, at least 1 unless idle.
    pub thread_count: u32,
    /// Outstanding I/Os per thread, at least 1 unless idle; with a stated arrival rate the most that there may be.
    pub queue_depth: u32,
    /// I/Os are issued at this rate, whatever the drive does; `None` means as soon as another is complete.
    pub arrival: Option<Arrival>,
}

impl Demand {
    /// Nothing is issued.
    pub const IDLE: Self = Self { thread_count: 0, queue_depth: 0, arrival: None };

    /// Total outstanding I/O. Worked: 2 threads at queue depth 16 keep 32 outstanding.
    #[must_use]
    pub fn total(self) -> u64 {
        u64::from(self.thread_count) * u64::from(self.queue_depth)
    }
}

/// A demand as it is written: the parts of its arrival beside the others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDemand {
    thread_count: u32,
    queue_depth: u32,
    #[serde(default)]
    arrivals_per_s: Option<f64>,
    arrival_process: ArrivalProcess,
    #[serde(default = "constant")]
    arrival_end_factor: f64,
}

fn constant() -> f64 {
    1.0
}

impl From<WrittenDemand> for Demand {
    fn from(written: WrittenDemand) -> Self {
        let WrittenDemand { thread_count, queue_depth, .. } = written;
        let (process, end_factor) = (written.arrival_process, written.arrival_end_factor);
        let arrival = written.arrivals_per_s.map(|per_second| Arrival { per_second, process, end_factor });
        Self { thread_count, queue_depth, arrival }
    }
}

/// When a step stops submitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum StopRule {
    /// After this span.
    #[serde(rename = "time_ns")]
    Time(Nanos),
    /// When this many bytes have been submitted (rounded up to the last I/O).
    #[serde(rename = "amount_bytes")]
    Amount(Bytes),
    /// When this many I/Os have been submitted.
    #[serde(rename = "io_count")]
    Count(u64),
}

/// A step as it is asked for.
///
/// As it crosses from Python, its range `R` is the index of one that several steps share, its data `D` may name a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec<R = ActiveRange, D = DataPattern> {
    /// What the I/Os look like.
    pub pattern: AccessPattern<D>,
    /// How many are kept outstanding.
    pub demand: Demand,
    /// Where they may go.
    #[serde(rename = "active_range")]
    pub range: R,
    /// When to stop.
    pub stop: StopRule,
    /// It runs side by side with the step before it, whose stop rule it has: both are streams of one group.
    #[serde(default)]
    pub beside: bool,
}

/// Most steps that run side by side.
pub const STREAMS_MAX: usize = 64;

/// Why a sequence cannot be run; nothing has been submitted.
#[derive(Clone, Debug, PartialEq)]
pub enum SequenceError {
    /// The pattern of step `step` is wrong.
    Pattern {
        /// Index of the step.
        step: usize,
        /// What is wrong.
        cause: PatternError,
    },
    /// The range of step `step` ends beyond the drive, or is wrong in itself.
    Range {
        /// Index of the step.
        step: usize,
        /// What is wrong.
        cause: RangeError,
    },
    /// Thread count or queue depth of step `step` is zero or too large.
    Demand {
        /// Index of the step.
        step: usize,
        /// Total outstanding I/O asked for.
        outstanding: u64,
    },
    /// The arrival rate of step `step` is not above 0 and at most 10^9 a second.
    Arrival {
        /// Index of the step.
        step: usize,
    },
    /// The stop rule of step `step` allows no I/O.
    Stop {
        /// Index of the step.
        step: usize,
    },
    /// Step `step` cannot run beside the one before it.
    Beside {
        /// Index of the step.
        step: usize,
        /// Why.
        reason: &'static str,
    },
    /// Step `step` cannot replay a recording.
    Replay {
        /// Index of the step.
        step: usize,
        /// Why.
        reason: &'static str,
    },
    /// The device could not get memory or queue entries.
    Prepare(Errno),
    /// The device's thread is gone.
    DeviceLost,
    /// The drive holds a thread inside a system call that does not end; nothing can be told of the sequence.
    Stuck,
}

impl std::fmt::Display for SequenceError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pattern { step, cause } => write!(formatter, "step {step}: {cause}"),
            Self::Range { step, cause } => write!(formatter, "step {step}: {cause}"),
            Self::Demand { step, outstanding } => {
                write!(formatter, "step {step}: {outstanding} outstanding I/Os are not in 1 to {OUTSTANDING_MAX}")
            }
            Self::Arrival { step } => {
                write!(
                    formatter,
                    "step {step}: the arrival rate must be above 0 and at most 10^9 a second, and change in a step of stated time only"
                )
            }
            Self::Beside { step, reason } | Self::Replay { step, reason } => write!(formatter, "step {step}: {reason}"),
            Self::Stop { step } => write!(formatter, "step {step}: the stop rule allows no I/O"),
            Self::Prepare(errno) => {
                write!(formatter, "the device could not be made ready (errno {}): lower the demand", errno.0)
            }
            Self::DeviceLost => formatter.write_str("the device's thread has ended"),
            Self::Stuck => formatter.write_str("the drive stopped answering inside a system call that cannot be left"),
        }
    }
}

impl StepSpec {
    /// Whether this step goes on with what `before` does: equal in all but its stop rule.
    pub(crate) fn continues(&self, before: &Self) -> bool {
        self.pattern == before.pattern && self.demand == before.demand && self.range == before.range
    }

    /// A rate may change over a step of stated time only.
    fn can_keep(&self, arrival: Arrival) -> bool {
        let rates = 1e-3..=1e9;
        let timed = matches!(self.stop, StopRule::Time(_));
        let end = arrival.per_second * arrival.end_factor;
        let constant = (arrival.end_factor - 1.0).abs() < f64::EPSILON;
        rates.contains(&arrival.per_second) && rates.contains(&end) && (timed || constant)
    }

    /// Check the step against a drive and make its pattern ready.
    pub(crate) fn compile(&self, step: usize, info: DeviceInfo) -> Result<CompiledPattern, SequenceError> {
        let outstanding = self.demand.total();
        let idle = self.demand.thread_count == 0 && self.demand.queue_depth == 0;
        let fits = (1..=OUTSTANDING_MAX).contains(&outstanding) || (idle && matches!(self.stop, StopRule::Time(_)));
        if !fits {
            return Err(SequenceError::Demand { step, outstanding });
        }
        if matches!(self.stop, StopRule::Time(Nanos(0)) | StopRule::Amount(Bytes(0)) | StopRule::Count(0)) {
            return Err(SequenceError::Stop { step });
        }
        if self.demand.arrival.is_some_and(|arrival| !self.can_keep(arrival)) {
            return Err(SequenceError::Arrival { step });
        }
        let (needed, capacity) = (self.range.end().0, info.capacity.0);
        if needed > capacity {
            return Err(SequenceError::Range { step, cause: RangeError::TooLarge { needed, capacity } });
        }
        CompiledPattern::new(&self.pattern, &self.range, info.logical_block.0)
            .map_err(|cause| SequenceError::Pattern { step, cause })
    }
}
