//! Sequences of steps: texts from Python, read and completed with the files that they name.

use std::collections::HashMap;
use std::sync::Arc;

use assay_core::active_range::ActiveRange;
use assay_core::contract::{Bytes, DataKind, DataPattern, DataText};
use assay_core::step::StepSpec;
use assay_json::read;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::{assay_error, range_error, refusal_error};

/// A sequence as it crosses: what several steps share stands in it once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequence {
    /// Ranges, by which `steps` name theirs.
    ranges: Vec<ActiveRange>,
    /// Steps that differ.
    steps: Vec<StepSpec<usize, DataText>>,
    /// The sequence: for each of its steps the one of `steps` that it is like.
    order: Vec<usize>,
    /// For each of them the label of its record.
    labels: Vec<String>,
}

/// Data files by path, read once and then the same for the whole run.
pub(crate) type DataFiles = HashMap<String, Arc<[u8]>>;

/// The steps of a sequence and their labels. Raises `ValueRangeError` with the place of what cannot be.
pub(crate) fn read_sequence(text: &str, files: &mut DataFiles) -> PyResult<(Vec<StepSpec>, Vec<String>)> {
    let sequence: Sequence = read(text).map_err(|refusal| refusal_error("sequence", &refusal))?;
    let Sequence { ranges, steps, order, labels } = sequence;
    let complete = |step| completed(step, &ranges, files);
    let steps: Vec<StepSpec> = steps.into_iter().map(complete).collect::<PyResult<_>>()?;
    if labels.len() != order.len() {
        return Err(no_such("label", labels.len().min(order.len())));
    }
    let ordered = order.into_iter().map(|index| steps.get(index).cloned().ok_or_else(|| no_such("step", index)));
    Ok((ordered.collect::<PyResult<_>>()?, labels))
}

/// Content of the data written. Raises `ValueRangeError` with the place of what cannot be.
pub(crate) fn read_data(text: &str) -> PyResult<DataPattern> {
    let data = read(text).map_err(|refusal| refusal_error("data pattern", &refusal))?;
    found(&data, &mut DataFiles::new())
}

fn completed(step: StepSpec<usize, DataText>, ranges: &[ActiveRange], files: &mut DataFiles) -> PyResult<StepSpec> {
    let StepSpec { pattern, demand, range, stop, beside } = step;
    let range = ranges.get(range).cloned().ok_or_else(|| no_such("range", range))?;
    let data = found(&pattern.data, files)?;
    Ok(StepSpec { pattern: pattern.with_data(data), demand, range, stop, beside })
}

fn found(data: &DataText, files: &mut DataFiles) -> PyResult<DataPattern> {
    Ok(match data.kind {
        DataKind::Random => DataPattern::Random,
        DataKind::Compressible => DataPattern::Compressible { stored_share: data.stored_share },
        DataKind::Stamped => DataPattern::Stamped,
        DataKind::Repeating => DataPattern::Repeating { pool: data.pool },
        DataKind::Addressed => DataPattern::Addressed,
        DataKind::File => DataPattern::File(read_once(files, &data.path)?),
    })
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

fn no_such(thing: &str, index: usize) -> PyErr {
    assay_error("ValueRangeError", "sequence", &format!("has no {thing} {index}"), "correct the sequence")
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
