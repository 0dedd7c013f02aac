//! How late this host lets a thread run, while a sequence runs.

use assay_uring::gauge::{self, Gauge, Readings};
use pyo3::prelude::*;

use crate::errors::io_error;

/// Read the clock of response times again and again: (nanoseconds per reading, readings that ran back).
#[pyfunction]
pub(crate) fn clock_reads(py: Python<'_>, count: u32) -> (f64, u64) {
    py.detach(|| gauge::clock_reads(count))
}

/// What a gauge saw; the fields are those of `assay.engine.records.HostRecord` that it knows.
#[pyclass(frozen, get_all)]
pub(crate) struct NativeStalls {
    began_ns: u64,
    span_ns: u64,
    wakes: Vec<(u64, u64)>,
    waits: Vec<(u64, u64)>,
    watched_ns: u64,
    late_ns_by_second: Vec<(u64, u64)>,
    late_ns_p999: u64,
    late_ns_max: u64,
    stalled_ns: u64,
    stalls: Vec<(u64, u64)>,
    gauge_cpu_ns: u64,
}

impl From<Readings> for NativeStalls {
    fn from(readings: Readings) -> Self {
        Self {
            began_ns: readings.began.0,
            span_ns: readings.span.0,
            wakes: readings.wakes,
            waits: readings.waits,
            watched_ns: readings.watched.0,
            late_ns_by_second: readings.seconds,
            late_ns_p999: readings.late_p999.0,
            late_ns_max: readings.late_max.0,
            stalled_ns: readings.stalled.0,
            stalls: readings.stalls.into_iter().map(|(start, span)| (start.0, span.0)).collect(),
            gauge_cpu_ns: readings.cpu.0,
        }
    }
}

/// Threads that are woken once per millisecond and see how late they were, from their making to `finish`: one on each of
/// `cpus`, or one that is left free where the list is empty.
#[pyclass]
pub(crate) struct NativeStallGauge {
    gauge: Option<Gauge>,
}

#[pymethods]
impl NativeStallGauge {
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
    fn new(cpus: Vec<u32>) -> PyResult<Self> {
        Ok(Self { gauge: Some(Gauge::start(&cpus).map_err(|error| io_error(&error))?) })
    }

    /// End it and tell what it saw; None where that was done before.
    fn finish(&mut self, py: Python<'_>) -> Option<NativeStalls> {
        let gauge = self.gauge.take()?;
        Some(py.detach(|| gauge.finish()).into())
    }
}
