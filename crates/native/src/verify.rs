//! Addressed data, read back whole.

use std::time::{Duration, Instant};

use assay_core::contract::Bytes;
use assay_uring::device::duplicate;
use assay_uring::verify::{Expected, Sums, Verification};
use pyo3::prelude::*;

use crate::errors::{assay_error, io_error};

const PAUSE: Duration = Duration::from_millis(20);
/// A drive that answers no read for so long is lost.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// What a check of addressed data found; sectors have 512 bytes.
#[pyclass(frozen, get_all)]
pub(crate) struct NativeSectors {
    checked_count: u64,
    /// Wrong sectors by kind: `zeros`, `stale`, `other-run`, `misdirected`, `corrupt` or `unread`.
    counts: Vec<(&'static str, u64)>,
    /// First sector, count, kind, and the distance to the address that the data are of, in sectors.
    ranges: Vec<(u64, u64, &'static str, i64)>,
    /// Wrong sectors that are in none of the ranges.
    unlisted_count: u64,
    span_ns: u64,
}

impl NativeSectors {
    fn new(sums: &Sums, span: Duration) -> Self {
        Self {
            checked_count: sums.checked(),
            counts: sums.counts().collect(),
            ranges: sums.ranges().map(|one| (one.sector, one.count, one.kind.name(), one.distance)).collect(),
            unlisted_count: sums.unlisted(),
            span_ns: span.as_nanos() as u64,
        }
    }
}

/// Read parts of a drive (first byte, length) that addressed data were written to, and compare all of them.
///
/// `since`, `until`: of each worker, its first write that counts and the first that has not been. `look` takes the bytes
/// that are done, 50 times a second. The GIL is released. Raises `DeviceFailureError` where no read returns for a minute.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
#[allow(clippy::too_many_arguments, reason = "named one by one on the Python side")]
pub(crate) fn check_addressed(
    py: Python<'_>,
    descriptor: i32,
    logical_block_bytes: u64,
    parts: Vec<(u64, u64)>,
    data_origin: u64,
    since: Vec<u64>,
    until: Vec<u64>,
    thread_count: u32,
    look: Bound<'_, PyAny>,
) -> PyResult<NativeSectors> {
    let parts = parts.into_iter().map(|(from, length)| (Bytes(from), Bytes(length))).collect();
    let expected = Expected { data_origin, since, until };
    let descriptor = duplicate(descriptor).map_err(|error| io_error(&error))?;
    let begun = Instant::now();
    let check = Verification::start(descriptor, Bytes(logical_block_bytes), parts, expected, thread_count as usize)
        .map_err(|error| io_error(&error))?;
    let (mut done, mut moved) = (Bytes(0), begun);
    while !check.is_over() {
        py.detach(|| std::thread::sleep(PAUSE));
        py.check_signals()?;
        if check.done() != done {
            (done, moved) = (check.done(), Instant::now());
            look.call1((done.0,))?;
        } else if moved.elapsed() > SILENCE_MAX {
            let reason = "returned nothing for 60 s while its data was read back";
            return Err(assay_error(
                "DeviceFailureError",
                "drive",
                reason,
                "check the drive, its cabling and the kernel log",
            ));
        }
    }
    Ok(NativeSectors::new(&check.sums(), begun.elapsed()))
}
