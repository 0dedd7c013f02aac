//! What the drive returns, held against what was written.

use assay_core::contract::{Device, Nanos};
use assay_core::stimulus::Stimulus;
use assay_uring::device::UringDevice;
use assay_uring::read_back::{Check, Outcome};
use pyo3::prelude::*;

use crate::errors::sequence_error;

/// What a read-back found; the fields are those of `assay.engine.records.ReadBack` that it knows.
#[pyclass(frozen, get_all)]
pub(crate) struct NativeReadBack {
    checked_count: u64,
    known_count: u64,
    given_count: u64,
    unknown_count: u64,
    wrong_count: u64,
    /// Place in bytes, and what it holds: `zeros`, `stale`, `elsewhere`, `another` or `other`.
    wrong: Vec<(u64, &'static str)>,
    /// Place in bytes of a block that could not be read, and the errno.
    failed: Option<(u64, i32)>,
    span_ns: u64,
}

impl From<Outcome> for NativeReadBack {
    fn from(outcome: Outcome) -> Self {
        Self {
            checked_count: outcome.checked_count,
            known_count: outcome.known_count,
            given_count: outcome.given_count,
            unknown_count: outcome.unknown_count,
            wrong_count: outcome.wrong_count,
            wrong: outcome.wrong.into_iter().map(|(place, wrong)| (place.0, wrong.name())).collect(),
            failed: outcome.failed.map(|(place, errno)| (place.0, errno.0)),
            span_ns: outcome.span.0,
        }
    }
}

/// Blocks of all workers, read by the first one.
pub(crate) fn read_back(
    stimulus: &Stimulus<UringDevice>,
    count: Option<u64>,
    turn: u64,
    limit: Nanos,
) -> PyResult<NativeReadBack> {
    let workers = stimulus.with_devices(|device| device.remembered()).map_err(|error| sequence_error(&error))?;
    let count = count.map_or(usize::MAX, |count| count as usize);
    let checked = stimulus.with_device(move |device| {
        let check = Check::new(workers, device.info().logical_block);
        check.run(device, count, turn as usize, limit)
    });
    checked.map(NativeReadBack::from).map_err(|error| sequence_error(&error))
}
