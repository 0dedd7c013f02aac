//! What a step did, as frozen Python objects.

use std::collections::BTreeMap;

use assay_core::contract::Counters;
use assay_core::record::{DirectionRecord, Ended, SeriesPoint, StepRecord};
use pyo3::prelude::*;

/// One direction of a step; the fields are those of `assay.records.DirectionRecord`.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub(crate) struct NativeDirection {
    lead_in_io_count: u64,
    lead_in_bytes: u64,
    window_io_count: u64,
    window_bytes: u64,
    tail_io_count: u64,
    tail_bytes: u64,
    carried_in_io_count: u64,
    carried_in_bytes: u64,
    carried_in_latency_ns_sum: u64,
    latency_io_count: u64,
    latency_ns_sum: u64,
    latency_ns_min: Option<u64>,
    latency_ns_max: Option<u64>,
    errors: BTreeMap<i32, u64>,
    failed_ns: u64,
    histogram: Vec<(u32, u64)>,
    series_io_count: Vec<u64>,
    series_bytes: Vec<u64>,
    series_latency_ns_sum: Vec<u64>,
    series_latency_ns_max: Vec<u64>,
    intended_ns_sum: Option<u64>,
    intended_ns_min: Option<u64>,
    intended_ns_max: Option<u64>,
    intended_histogram: Vec<(u32, u64)>,
    lead_in_latency_ns_sum: Option<u64>,
    lead_in_latency_ns_min: Option<u64>,
    lead_in_latency_ns_max: Option<u64>,
    lead_in_histogram: Vec<(u32, u64)>,
}

/// The drive's cumulative counters; the fields are those of `assay.records.KernelCounters`.
#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub(crate) struct NativeCounters {
    read_io_count: u64,
    read_bytes: u64,
    read_merge_count: u64,
    write_io_count: u64,
    write_bytes: u64,
    write_merge_count: u64,
}

/// One step; the fields are those of `assay.records.StepRecord` without its label.
#[pyclass(frozen, get_all)]
pub(crate) struct NativeStep {
    span_ns: u64,
    lead_in_ns: u64,
    start_ns: u64,
    start_wall_ns: u64,
    read: NativeDirection,
    write: NativeDirection,
    outstanding_ns: u64,
    carried_in_ns: u64,
    carried_out_ns: u64,
    submission_gap_ns_max: u64,
    stall_ns_max: Option<u64>,
    first_submission_ns: Option<u64>,
    last_submission_ns: Option<u64>,
    offered_io_count: Option<u64>,
    thread_io_count_min: Option<u64>,
    thread_io_count_max: Option<u64>,
    cpu_ns: Option<u64>,
    counters_before: Option<NativeCounters>,
    counters_after: Option<NativeCounters>,
    ended: String,
}

impl From<DirectionRecord> for NativeDirection {
    fn from(record: DirectionRecord) -> Self {
        let series = |value: fn(&SeriesPoint) -> u64| record.series.iter().map(value).collect();
        let (intended, lead_in) = (record.intended.as_ref(), record.lead_in_latency.as_ref());
        Self {
            lead_in_latency_ns_sum: lead_in.map(|latency| latency.sum_ns),
            lead_in_latency_ns_min: lead_in.map(|latency| latency.min_ns),
            lead_in_latency_ns_max: lead_in.map(|latency| latency.max_ns),
            intended_ns_sum: intended.map(|latency| latency.sum_ns),
            intended_ns_min: intended.map(|latency| latency.min_ns),
            intended_ns_max: intended.map(|latency| latency.max_ns),
            lead_in_io_count: record.lead_in_io_count,
            lead_in_bytes: record.lead_in_bytes.0,
            window_io_count: record.window_io_count,
            window_bytes: record.window_bytes.0,
            tail_io_count: record.tail_io_count,
            tail_bytes: record.tail_bytes.0,
            carried_in_io_count: record.carried_in_io_count,
            carried_in_bytes: record.carried_in_bytes.0,
            carried_in_latency_ns_sum: record.carried_in_latency_sum_ns,
            latency_io_count: record.latency_io_count,
            latency_ns_sum: record.latency_sum_ns,
            latency_ns_min: record.latency_min_ns,
            latency_ns_max: record.latency_max_ns,
            series_io_count: series(|point| point.io_count),
            series_bytes: series(|point| point.bytes),
            series_latency_ns_sum: series(|point| point.latency_sum_ns),
            series_latency_ns_max: series(|point| point.latency_max_ns),
            errors: record.errors,
            failed_ns: record.failed_ns,
            histogram: record.histogram,
            lead_in_histogram: record.lead_in_latency.map(|latency| latency.histogram).unwrap_or_default(),
            intended_histogram: record.intended.map(|latency| latency.histogram).unwrap_or_default(),
        }
    }
}

impl From<Counters> for NativeCounters {
    fn from(counters: Counters) -> Self {
        Self {
            read_io_count: counters.read.io_count,
            read_bytes: counters.read.bytes.0,
            read_merge_count: counters.read.merge_count,
            write_io_count: counters.write.io_count,
            write_bytes: counters.write.bytes.0,
            write_merge_count: counters.write.merge_count,
        }
    }
}

impl From<StepRecord> for NativeStep {
    fn from(record: StepRecord) -> Self {
        Self {
            span_ns: record.span.0,
            lead_in_ns: record.lead_in.0,
            start_ns: record.start.0,
            start_wall_ns: record.start_wall.0,
            read: record.read.into(),
            write: record.write.into(),
            outstanding_ns: record.outstanding_ns,
            carried_in_ns: record.carried_in_ns,
            carried_out_ns: record.carried_out_ns,
            submission_gap_ns_max: record.submission_gap_max.0,
            stall_ns_max: record.stall_max.map(|span| span.0),
            first_submission_ns: record.first_submission.map(|at| at.0),
            last_submission_ns: record.last_submission.map(|at| at.0),
            offered_io_count: record.offered_io_count,
            thread_io_count_min: record.thread_io_count_min,
            thread_io_count_max: record.thread_io_count_max,
            cpu_ns: record.cpu.map(|span| span.0),
            counters_before: record.counters_before.map(Into::into),
            counters_after: record.counters_after.map(Into::into),
            ended: ended(record.ended).to_owned(),
        }
    }
}

fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::StopRule => "stop-rule",
        Ended::Interrupted => "interrupted",
        Ended::Errors => "errors",
        Ended::Hung => "hung",
        Ended::LateBoundary => "late-boundary",
        Ended::Clock => "clock",
    }
}
