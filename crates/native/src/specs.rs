//! Reads the frozen records of `assay.records` by their attributes.

use std::collections::HashMap;
use std::sync::Arc;

use assay_core::active_range::ActiveRange;
use assay_core::arrival::{Arrival, ArrivalProcess};
use assay_core::contract::{Bytes, DataPattern, Nanos};
use assay_core::pattern::{AccessPattern, Cursor};
use assay_core::step::{Demand, StepSpec, StopRule};
use pyo3::prelude::*;

use crate::errors::{assay_error, range_error};
use crate::words::meaning;

#[derive(FromPyObject)]
pub(crate) struct PyDataPattern {
    kind: String,
    stored_share: f64,
    pool_bytes: u64,
    path: String,
}

#[derive(FromPyObject)]
pub(crate) struct PyAccessPattern {
    sizes: Vec<(u64, f64)>,
    read_share: f64,
    random_share: f64,
    alignment_bytes: u64,
    lba_groups: Vec<(f64, f64)>,
    cursor: String,
    writes_tail: bool,
    data: PyDataPattern,
}

#[derive(FromPyObject)]
pub(crate) struct PyDemand {
    thread_count: u32,
    queue_depth: u32,
    arrivals_per_s: Option<f64>,
    arrival_process: String,
}

impl PyDemand {
    fn convert(&self) -> PyResult<Demand> {
        let known = [("fixed", ArrivalProcess::Fixed), ("poisson", ArrivalProcess::Poisson)];
        let process = meaning("arrival process", &self.arrival_process, &known)?;
        let arrival = self.arrivals_per_s.map(|per_second| Arrival { per_second, process });
        Ok(Demand { thread_count: self.thread_count, queue_depth: self.queue_depth, arrival })
    }
}

#[derive(FromPyObject)]
pub(crate) struct PyActiveRange {
    segment_starts: Vec<u64>,
    segment_bytes: u64,
}

#[derive(FromPyObject)]
pub(crate) struct PyStopRule {
    time_ns: Option<u64>,
    amount_bytes: Option<u64>,
    io_count: Option<u64>,
}

#[derive(FromPyObject)]
pub(crate) struct PyStepSpec {
    pattern: PyAccessPattern,
    demand: PyDemand,
    active_range: PyActiveRange,
    stop: PyStopRule,
}

#[derive(Clone, Copy)]
enum DataKind {
    Random,
    Compressible,
    Stamped,
    Repeating,
    File,
}

const DATA_KINDS: [(&str, DataKind); 5] = [
    ("random", DataKind::Random),
    ("compressible", DataKind::Compressible),
    ("stamped", DataKind::Stamped),
    ("repeating", DataKind::Repeating),
    ("file", DataKind::File),
];

/// Data files by path, read once and then the same for the whole run.
pub(crate) type DataFiles = HashMap<String, Arc<[u8]>>;

impl PyDataPattern {
    pub(crate) fn convert(self, files: &mut DataFiles) -> PyResult<DataPattern> {
        Ok(match meaning("data kind", &self.kind, &DATA_KINDS)? {
            DataKind::Random => DataPattern::Random,
            DataKind::Compressible => DataPattern::Compressible { stored_share: self.stored_share },
            DataKind::Stamped => DataPattern::Stamped,
            DataKind::Repeating => DataPattern::Repeating { pool: Bytes(self.pool_bytes) },
            DataKind::File => DataPattern::File(read_once(files, &self.path)?),
        })
    }
}

fn read_once(files: &mut DataFiles, path: &str) -> PyResult<Arc<[u8]>> {
    if let Some(content) = files.get(path) {
        return Ok(Arc::clone(content));
    }
    let content: Arc<[u8]> = match std::fs::read(path) {
        Ok(content) if !content.is_empty() => content.into(),
        Ok(_) => return Err(assay_error("UsageError", path, "is empty", "name a file with data")),
        Err(error) => return Err(assay_error("UsageError", path, &error.to_string(), "name a readable data file")),
    };
    files.insert(path.to_owned(), Arc::clone(&content));
    Ok(content)
}

impl PyStepSpec {
    pub(crate) fn convert(self, files: &mut DataFiles) -> PyResult<StepSpec> {
        let PyActiveRange { segment_starts, segment_bytes } = self.active_range;
        Ok(StepSpec {
            pattern: self.pattern.convert(files)?,
            demand: self.demand.convert()?,
            range: ActiveRange::new(segment_starts, segment_bytes).map_err(|error| range_error(&error))?,
            stop: self.stop.convert()?,
        })
    }
}

impl PyAccessPattern {
    fn convert(self, files: &mut DataFiles) -> PyResult<AccessPattern> {
        Ok(AccessPattern {
            sizes: self.sizes,
            read_share: self.read_share,
            random_share: self.random_share,
            alignment: self.alignment_bytes,
            lba_groups: self.lba_groups,
            cursor: meaning("cursor", &self.cursor, &[("shared", Cursor::Shared), ("per_thread", Cursor::PerThread)])?,
            writes_tail: self.writes_tail,
            data: self.data.convert(files)?,
        })
    }
}

impl PyStopRule {
    fn convert(self) -> PyResult<StopRule> {
        match (self.time_ns, self.amount_bytes, self.io_count) {
            (Some(time), None, None) => Ok(StopRule::Time(Nanos(time))),
            (None, Some(amount), None) => Ok(StopRule::Amount(Bytes(amount))),
            (None, None, Some(count)) => Ok(StopRule::Count(count)),
            _ => Err(assay_error(
                "ValueRangeError",
                "stop rule",
                "needs exactly one of three",
                "set time, amount or count",
            )),
        }
    }
}

/// First byte of each of `count` segments placed at random; see `assay_core::active_range`.
///
/// Raises `TooSmallError` where segments and the 1 MiB gaps between them do not fit into the capacity.
#[pyfunction]
pub(crate) fn place_segments(capacity_bytes: u64, count: u64, segment_bytes: u64, seed: u64) -> PyResult<Vec<u64>> {
    ActiveRange::place(Bytes(capacity_bytes), count, Bytes(segment_bytes), seed)
        .map(|range| range.starts().to_vec())
        .map_err(|error| range_error(&error))
}
