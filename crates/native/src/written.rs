//! What is written, without a drive.

use assay_core::contract::{Bytes, Nanos};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{assay_error, io_error};
use crate::specs::read_data;

/// Bytes of one answer, at most.
const BYTES_MAX: u64 = 1 << 30;
const TRANSFER_BYTES_MAX: u64 = 64 << 20;

/// Bytes per second that one thread makes for writes of `transfer_bytes` each, into 32 buffers in turn, for `seconds`.
/// `data` is the JSON text `{"kind": "random", "stored_share": 1, "pool_bytes": 0, "path": ""}`.
/// Raises `ValueRangeError` where the kind of data is unknown or a transfer is of no bytes or above 64 MiB.
#[pyfunction]
pub(crate) fn fill_rate(py: Python<'_>, data: &str, transfer_bytes: u64, seconds: f64) -> PyResult<f64> {
    let data = read_data(data)?;
    check("transfer_bytes", transfer_bytes, 1, TRANSFER_BYTES_MAX)?;
    let span = Nanos((seconds.clamp(0.0, 3600.0) * 1e9) as u64);
    py.detach(|| assay_uring::written::fill_rate(&data, Bytes(transfer_bytes), span)).map_err(|error| io_error(&error))
}

/// What `count` writes of `transfer_bytes` each hold, one behind the other, from the thread's write `first` on.
///
/// `origin` is the run's data origin; thread n of a run has `origin ^ (n << 48)`. Raises `ValueRangeError` where the kind of
/// data is unknown or the answer would be above 1 GiB.
#[pyfunction]
pub(crate) fn written_data<'py>(
    py: Python<'py>,
    data: &str,
    origin: u64,
    transfer_bytes: u64,
    first: u64,
    count: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = read_data(data)?;
    check("transfer_bytes x count", transfer_bytes.saturating_mul(count), 1, BYTES_MAX)?;
    let made = py.detach(|| assay_uring::written::written(&data, origin, Bytes(transfer_bytes), first, count));
    Ok(PyBytes::new(py, &made))
}

fn check(thing: &str, value: u64, least: u64, most: u64) -> PyResult<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(assay_error("ValueRangeError", thing, &format!("is {value}"), &format!("choose {least} to {most}")))
}
