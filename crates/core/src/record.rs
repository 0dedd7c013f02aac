//! What one step did, as it leaves the stimulus; the names under which it is written are those of `assay.engine.records`.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::contract::{Bytes, Counters, DirectionCounters, Errno, Nanos};
use crate::histogram::merge_sparse;

/// The records of a worker, by step.
pub(crate) type WorkerResult = Result<Vec<StepRecord>, Errno>;
/// What the workers have returned so far, by their number.
pub(crate) type Returned = BTreeMap<usize, WorkerResult>;

/// Why a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    /// A worker had counted past the opening or the end of a window before it learned of it: the host held another up.
    LateBoundary,
    /// An I/O was complete before it was submitted: the clock ran backwards.
    Clock,
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

/// Response times of completed I/Os.
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
///
/// The step's own I/Os are counted by where they completed (lead-in, window, tail), their latencies by where they were
/// submitted (lead-in, or window).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectionRecord {
    /// Own completions before the window opened.
    pub lead_in_io_count: u64,
    /// Their bytes.
    pub lead_in_bytes: Bytes,
    /// Own completions within (0, T].
    pub window_io_count: u64,
    /// Their bytes.
    pub window_bytes: Bytes,
    /// Own completions after T.
    pub tail_io_count: u64,
    /// Their bytes.
    pub tail_bytes: Bytes,
    /// Completions within (0, T] of I/Os that earlier, equal steps of the call submitted.
    pub carried_in_io_count: u64,
    /// Their bytes.
    pub carried_in_bytes: Bytes,
    /// Their latencies, ns.
    #[serde(rename = "carried_in_latency_ns_sum")]
    pub carried_in_latency_sum_ns: u64,
    /// Completed I/Os that were submitted within [0, T), wherever they completed.
    pub latency_io_count: u64,
    /// Sum of their latencies, ns.
    #[serde(rename = "latency_ns_sum")]
    pub latency_sum_ns: u64,
    /// The smallest; `None` where there are none.
    #[serde(rename = "latency_ns_min")]
    pub latency_min_ns: Option<u64>,
    /// The largest.
    #[serde(rename = "latency_ns_max")]
    pub latency_max_ns: Option<u64>,
    /// All of them as (bucket, count), ascending.
    pub histogram: Vec<(u32, u64)>,
    /// The same of the completed I/Os that were submitted in the lead-in.
    #[serde(flatten, serialize_with = "lead_in_columns")]
    pub lead_in_latency: Option<LatencyRecord>,
    /// Failed and short I/Os by errno, wherever they ended.
    pub errors: BTreeMap<i32, u64>,
    /// The time that those of them that were submitted within [0, T) took, ns.
    pub failed_ns: u64,
    /// One point per second of the window: own completions and those carried in.
    #[serde(flatten, serialize_with = "series_columns")]
    pub series: Vec<SeriesPoint>,
    /// With a stated arrival rate: the I/Os of the window from when they were due, the time they waited to be issued
    /// included.
    #[serde(flatten, serialize_with = "intended_columns")]
    pub intended: Option<LatencyRecord>,
    /// Of the same I/Os, how much later they were issued than they were due.
    #[serde(flatten, serialize_with = "late_columns")]
    pub late: Option<LatencyRecord>,
}

/// What one step did. Times are on the device's clock.
///
/// A step whose accesses, demand or range differ from those of the step before has a *lead-in*: submission goes on without
/// a gap, and its window opens when the last I/O of the step before is in, at one instant for all workers. It lasts the
/// full T from there. Equal steps in a row have none: completions count where they happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepRecord {
    /// Where the window opened; where the step ended, if that was in its lead-in.
    #[serde(rename = "start_ns")]
    pub start: Nanos,
    /// The same instant since the Unix epoch.
    #[serde(rename = "start_wall_ns")]
    pub start_wall: Nanos,
    /// From the end of the step before to `start`.
    #[serde(rename = "lead_in_ns")]
    pub lead_in: Nanos,
    /// T, the length of the window; zero where it never opened.
    #[serde(rename = "span_ns")]
    pub span: Nanos,
    /// Reads.
    pub read: DirectionRecord,
    /// Writes.
    pub write: DirectionRecord,
    /// Trims or flushes, as its access pattern says; left out where there are none.
    #[serde(skip_serializing_if = "is_empty")]
    pub other: DirectionRecord,
    /// Time integral of the I/Os outstanding on the drive over [0, T], I/O x ns.
    pub outstanding_ns: u64,
    /// Time that the I/Os in flight where the window opened still had to run, I/O x ns.
    pub carried_in_ns: u64,
    /// Time that the I/Os in flight at T ran beyond it, I/O x ns.
    pub carried_out_ns: u64,
    /// Longest time that a thread went without a submission, lead-in included.
    #[serde(rename = "submission_gap_ns_max")]
    pub submission_gap_max: Nanos,
    /// Longest time without any completion while I/Os were outstanding, lead-in included: to about 0.1 s on a real drive,
    /// exact on a simulated one with faults, `None` on one without.
    #[serde(rename = "stall_ns_max")]
    pub stall_max: Option<Nanos>,
    /// First submission, in the lead-in where there is one.
    #[serde(rename = "first_submission_ns")]
    pub first_submission: Option<Nanos>,
    /// Last submission.
    #[serde(rename = "last_submission_ns")]
    pub last_submission: Option<Nanos>,
    /// With a stated arrival rate: I/Os that were due in [0, T), those that could not be issued among them.
    pub offered_io_count: Option<u64>,
    /// I/Os that the device was handed off their grid; `None` where they have none: flushes and replays.
    pub misaligned_io_count: Option<u64>,
    /// I/Os that the device was handed where the one before them ended, by the step's rule of continuation; `None` where
    /// all are random, or several workers take places from one cursor.
    pub successor_io_count: Option<u64>,
    /// Fewest completions of any one thread within (0, T]; `None` where a worker stands for several threads.
    pub thread_io_count_min: Option<u64>,
    /// Most completions of any one thread within (0, T].
    pub thread_io_count_max: Option<u64>,
    /// CPU time of the stimulus threads, lead-in included.
    #[serde(rename = "cpu_ns")]
    pub cpu: Option<Nanos>,
    /// Time that the stimulus threads were ready to run and waited for a processor, lead-in included.
    #[serde(rename = "wait_ns")]
    pub waited: Option<Nanos>,
    /// The drive's counters at the start of the lead-in.
    pub counters_before: Option<Counters>,
    /// The drive's counters at the end.
    pub counters_after: Option<Counters>,
    /// Why it ended.
    pub ended: Ended,
}

impl SeriesPoint {
    pub(crate) fn add(&mut self, other: &Self) {
        self.io_count += other.io_count;
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

impl DirectionRecord {
    /// Failed and short I/Os.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    fn merge(&mut self, other: &Self) {
        self.lead_in_io_count += other.lead_in_io_count;
        self.lead_in_bytes += other.lead_in_bytes;
        self.window_io_count += other.window_io_count;
        self.window_bytes += other.window_bytes;
        self.tail_io_count += other.tail_io_count;
        self.tail_bytes += other.tail_bytes;
        self.carried_in_io_count += other.carried_in_io_count;
        self.carried_in_bytes += other.carried_in_bytes;
        self.carried_in_latency_sum_ns += other.carried_in_latency_sum_ns;
        self.failed_ns += other.failed_ns;
        self.latency_io_count += other.latency_io_count;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_min_ns = smallest(self.latency_min_ns, other.latency_min_ns);
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        for (errno, count) in &other.errors {
            *self.errors.entry(*errno).or_default() += count;
        }
        merge_sparse(&mut self.histogram, &other.histogram);
        merge_series(&mut self.series, &other.series);
        merge_latencies(&mut self.lead_in_latency, other.lead_in_latency.as_ref());
        merge_latencies(&mut self.intended, other.intended.as_ref());
        merge_latencies(&mut self.late, other.late.as_ref());
    }
}

fn merge_latencies(into: &mut Option<LatencyRecord>, from: Option<&LatencyRecord>) {
    match (into.as_mut(), from) {
        (Some(total), Some(other)) => {
            total.sum_ns += other.sum_ns;
            total.min_ns = total.min_ns.min(other.min_ns);
            total.max_ns = total.max_ns.max(other.max_ns);
            merge_sparse(&mut total.histogram, &other.histogram);
        }
        (None, other) => *into = other.cloned(),
        (Some(_), None) => {}
    }
}

impl StepRecord {
    /// Add what another worker did in the same step.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.other.merge(&other.other);
        self.outstanding_ns += other.outstanding_ns;
        self.carried_in_ns += other.carried_in_ns;
        self.carried_out_ns += other.carried_out_ns;
        self.submission_gap_max = self.submission_gap_max.max(other.submission_gap_max);
        self.first_submission = smallest(self.first_submission, other.first_submission);
        self.last_submission = self.last_submission.max(other.last_submission);
        self.offered_io_count = sum(self.offered_io_count, other.offered_io_count);
        self.misaligned_io_count = sum(self.misaligned_io_count, other.misaligned_io_count);
        self.successor_io_count = sum(self.successor_io_count, other.successor_io_count);
        self.thread_io_count_min = smallest(self.thread_io_count_min, other.thread_io_count_min);
        self.thread_io_count_max = self.thread_io_count_max.max(other.thread_io_count_max);
        self.counters_before = self.counters_before.or(other.counters_before);
        self.counters_after = self.counters_after.or(other.counters_after);
        self.cpu = self.cpu.zip(other.cpu).map(|(left, right)| left + right);
        self.waited = self.waited.zip(other.waited).map(|(left, right)| left + right);
        self.ended = self.ended.max(other.ended);
    }
}

fn is_empty(record: &DirectionRecord) -> bool {
    *record == DirectionRecord::default()
}

fn sum(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left + right),
        (left, right) => left.or(right),
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
        point.add(other);
    }
}

#[allow(clippy::ref_option, reason = "what serde hands over")]
fn lead_in_columns<S: Serializer>(lead_in: &Option<LatencyRecord>, serializer: S) -> Result<S::Ok, S::Error> {
    let names = ["lead_in_latency_ns_sum", "lead_in_latency_ns_min", "lead_in_latency_ns_max", "lead_in_histogram"];
    latency_columns(lead_in.as_ref(), names, serializer)
}

#[allow(clippy::ref_option, reason = "what serde hands over")]
fn intended_columns<S: Serializer>(intended: &Option<LatencyRecord>, serializer: S) -> Result<S::Ok, S::Error> {
    let names = ["intended_ns_sum", "intended_ns_min", "intended_ns_max", "intended_histogram"];
    latency_columns(intended.as_ref(), names, serializer)
}

#[allow(clippy::ref_option, reason = "what serde hands over")]
fn late_columns<S: Serializer>(late: &Option<LatencyRecord>, serializer: S) -> Result<S::Ok, S::Error> {
    latency_columns(late.as_ref(), ["late_ns_sum", "late_ns_min", "late_ns_max", "late_histogram"], serializer)
}

/// Sum, smallest, largest and histogram under names beside those of the direction; without I/Os, none and an empty one.
fn latency_columns<S: Serializer>(
    latency: Option<&LatencyRecord>,
    names: [&'static str; 4],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut columns = serializer.serialize_map(Some(names.len()))?;
    columns.serialize_entry(names[0], &latency.map(|latency| latency.sum_ns))?;
    columns.serialize_entry(names[1], &latency.map(|latency| latency.min_ns))?;
    columns.serialize_entry(names[2], &latency.map(|latency| latency.max_ns))?;
    columns.serialize_entry(names[3], latency.map_or(&[][..], |latency| &latency.histogram))?;
    columns.end()
}

/// The first of the seconds with the largest latency; `None` where nothing completed.
fn slowest_second(series: &[SeriesPoint]) -> Option<usize> {
    let largest = series.iter().map(|point| point.latency_max_ns).max().filter(|largest| *largest > 0)?;
    series.iter().position(|point| point.latency_max_ns == largest)
}

/// One list per value instead of one table per second.
fn series_columns<S: Serializer>(series: &[SeriesPoint], serializer: S) -> Result<S::Ok, S::Error> {
    let column = |value: fn(&SeriesPoint) -> u64| series.iter().map(value).collect::<Vec<u64>>();
    let mut columns = serializer.serialize_map(Some(5))?;
    columns.serialize_entry("slowest_second", &slowest_second(series))?;
    columns.serialize_entry("series_io_count", &column(|point| point.io_count))?;
    columns.serialize_entry("series_bytes", &column(|point| point.bytes))?;
    columns.serialize_entry("series_latency_ns_sum", &column(|point| point.latency_sum_ns))?;
    columns.serialize_entry("series_latency_ns_max", &column(|point| point.latency_max_ns))?;
    columns.end()
}

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut counters = serializer.serialize_map(None)?;
        counters.serialize_entry("read_io_count", &self.read.io_count)?;
        counters.serialize_entry("read_bytes", &self.read.bytes)?;
        counters.serialize_entry("read_merge_count", &self.read.merge_count)?;
        counters.serialize_entry("write_io_count", &self.write.io_count)?;
        counters.serialize_entry("write_bytes", &self.write.bytes)?;
        counters.serialize_entry("write_merge_count", &self.write.merge_count)?;
        if self.discard != DirectionCounters::default() {
            counters.serialize_entry("discard_io_count", &self.discard.io_count)?;
            counters.serialize_entry("discard_bytes", &self.discard.bytes)?;
        }
        counters.end()
    }
}
