//! What is written, without a drive.

use assay_core::contract::{Bytes, Nanos};
use assay_uring::addressed::{SECTOR_BYTES, Sectors};
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
/// `origin` is the run's data origin; thread n of a run has `origin ^ (n << 48)`. `place_bytes` is where the first of them
/// goes, which addressed data say. Raises `ValueRangeError` where the kind of
/// data is unknown or the answer would be above 1 GiB.
#[pyfunction]
#[pyo3(signature = (data, origin, transfer_bytes, first, count, place_bytes = 0))]
pub(crate) fn written_data<'py>(
    py: Python<'py>,
    data: &str,
    origin: u64,
    transfer_bytes: u64,
    first: u64,
    count: u64,
    place_bytes: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = read_data(data)?;
    check("transfer_bytes x count", transfer_bytes.saturating_mul(count), 1, BYTES_MAX)?;
    let made = py.detach(|| {
        assay_uring::written::written(&data, origin, Bytes(transfer_bytes), first, count, Bytes(place_bytes))
    });
    Ok(PyBytes::new(py, &made))
}

/// What each 512 bytes of addressed data say: sector, number of the write, worker and run; None of what is damaged or other.
#[pyfunction]
pub(crate) fn addressed_tags(content: &[u8]) -> Vec<Option<(u64, u64, u16, u32)>> {
    let sectors = Sectors::default();
    let tag = |content| sectors.read(content).map(|tag| (tag.sector, tag.number, tag.worker, tag.run));
    content.chunks(SECTOR_BYTES).map(tag).collect()
}

fn check(thing: &str, value: u64, least: u64, most: u64) -> PyResult<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(assay_error("ValueRangeError", thing, &format!("is {value}"), &format!("choose {least} to {most}")))
}
