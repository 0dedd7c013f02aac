//! What one step did, as it leaves the stimulus.

use std::collections::BTreeMap;

use crate::contract::{Bytes, Counters, Nanos};
use crate::histogram::merge_sparse;

/// Why a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Its stop rule was met.
    #[default]
    StopRule,
    /// The caller asked to stop.
    Interrupted,
    /// More I/Os failed than the error limit allows.
    Errors,
    /// No I/O completed within the time limit, or the queue itself failed.
    Hung,
}

/// One second of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesPoint {
    /// Completions in this second.
    pub io_count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies together, ns.
    pub latency_sum_ns: u64,
    /// The largest of them, ns.
    pub latency_max_ns: u64,
}

/// Response times of completed I/Os, counted from when they were due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyRecord {
    /// Their sum, ns.
    pub sum_ns: u64,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// All of them as (bucket, count), ascending.
    pub histogram: Vec<(u32, u64)>,
}

/// Everything counted in one direction of a step; see [`StepRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionRecord {
    /// Completions within [0, T].
    pub window_io_count: u64,
    /// Their bytes.
    pub window_bytes: Bytes,
    /// Completions of this step's I/Os after T.
    pub tail_io_count: u64,
    /// Their bytes.
    pub tail_bytes: Bytes,
    /// Sum of all latencies, window and tail, ns.
    pub latency_sum_ns: u64,
    /// Smallest latency; `None` where nothing completed.
    pub latency_min_ns: Option<u64>,
    /// Largest latency.
    pub latency_max_ns: Option<u64>,
    /// Failed and short I/Os by errno.
    pub errors: BTreeMap<i32, u64>,
    /// Latencies as (bucket, count), ascending.
    pub histogram: Vec<(u32, u64)>,
    /// One point per second of the window.
    pub series: Vec<SeriesPoint>,
    /// With a stated arrival rate: the same I/Os from when they were due, the time they waited to be issued included.
    pub intended: Option<LatencyRecord>,
}

/// What one step did. Times are on the device's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepRecord {
    /// Start of the window.
    pub start: Nanos,
    /// The same instant since the Unix epoch.
    pub start_wall: Nanos,
    /// T, the length of the window.
    pub span: Nanos,
    /// Reads.
    pub read: DirectionRecord,
    /// Writes.
    pub write: DirectionRecord,
    /// Time integral of the I/Os outstanding on the drive over [0, T], I/O x ns.
    pub outstanding_ns: u64,
    /// Longest time that a thread went without a submission.
    pub submission_gap_max: Nanos,
    /// Longest time without any completion while I/Os were outstanding, to about 0.1 s; `None` where time is virtual.
    pub stall_max: Option<Nanos>,
    /// First submission.
    pub first_submission: Option<Nanos>,
    /// Last submission.
    pub last_submission: Option<Nanos>,
    /// With a stated arrival rate: I/Os that were due in [0, T], those that could not be issued among them.
    pub offered_io_count: Option<u64>,
    /// Fewest completions of any one thread within [0, T]; `None` where a lane stands for several threads.
    pub thread_io_count_min: Option<u64>,
    /// Most completions of any one thread within [0, T].
    pub thread_io_count_max: Option<u64>,
    /// CPU time of the stimulus threads.
    pub cpu: Option<Nanos>,
    /// The drive's counters at the start.
    pub counters_before: Option<Counters>,
    /// The drive's counters at the end.
    pub counters_after: Option<Counters>,
    /// Why it ended.
    pub ended: Ended,
}

impl DirectionRecord {
    /// Failed and short I/Os.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    fn merge(&mut self, other: &Self) {
        self.window_io_count += other.window_io_count;
        self.window_bytes += other.window_bytes;
        self.tail_io_count += other.tail_io_count;
        self.tail_bytes += other.tail_bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_min_ns = smallest(self.latency_min_ns, other.latency_min_ns);
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        for (errno, count) in &other.errors {
            *self.errors.entry(*errno).or_default() += count;
        }
        merge_sparse(&mut self.histogram, &other.histogram);
        merge_series(&mut self.series, &other.series);
        self.intended = match (self.intended.take(), &other.intended) {
            (Some(left), Some(right)) => Some(left.merged(right)),
            (left, right) => left.or_else(|| right.clone()),
        };
    }
}

impl LatencyRecord {
    fn merged(mut self, other: &Self) -> Self {
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        merge_sparse(&mut self.histogram, &other.histogram);
        self
    }
}

impl StepRecord {
    /// Add what another lane did in the same step.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.outstanding_ns += other.outstanding_ns;
        self.submission_gap_max = self.submission_gap_max.max(other.submission_gap_max);
        self.first_submission = smallest(self.first_submission, other.first_submission);
        self.last_submission = self.last_submission.max(other.last_submission);
        self.offered_io_count = match (self.offered_io_count, other.offered_io_count) {
            (Some(left), Some(right)) => Some(left + right),
            (left, right) => left.or(right),
        };
        self.thread_io_count_min = smallest(self.thread_io_count_min, other.thread_io_count_min);
        self.thread_io_count_max = self.thread_io_count_max.max(other.thread_io_count_max);
        self.counters_before = self.counters_before.or(other.counters_before);
        self.counters_after = self.counters_after.or(other.counters_after);
        self.cpu = self.cpu.zip(other.cpu).map(|(left, right)| left + right);
        self.ended = self.ended.max(other.ended);
    }
}

fn smallest<T: Ord>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

fn merge_series(into: &mut Vec<SeriesPoint>, from: &[SeriesPoint]) {
    into.resize(into.len().max(from.len()), SeriesPoint::default());
    for (point, other) in into.iter_mut().zip(from) {
        point.io_count += other.io_count;
        point.bytes += other.bytes;
        point.latency_sum_ns += other.latency_sum_ns;
        point.latency_max_ns = point.latency_max_ns.max(other.latency_max_ns);
    }
}
