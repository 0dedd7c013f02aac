//! The ways an I/O can take, by name, and which one suits a device.

use std::os::fd::AsFd;

use assay_core::contract::Bytes;
use assay_uring::device::duplicate;
use assay_uring::kernel_workers;
use assay_uring::path::Path;
use pyo3::prelude::*;

use crate::errors::{assay_error, io_error};

/// Whether the device behind an open descriptor hands the I/Os of a ring to worker threads of the kernel; the first block
/// is read a few times to see. Raises `DeviceFailureError` where it cannot be read.
#[pyfunction]
pub(crate) fn hands_to_workers(py: Python<'_>, descriptor: i32, logical_block_bytes: u64) -> PyResult<bool> {
    let descriptor = duplicate(descriptor).map_err(|error| io_error(&error))?;
    let found = py.detach(|| kernel_workers::hands_to_workers(descriptor.as_fd(), Bytes(logical_block_bytes)));
    found.map_err(|error| io_error(&error))
}

pub(crate) fn path_of(name: &str) -> PyResult<Path> {
    Path::from_name(name).ok_or_else(|| {
        let names = Path::NAMES.map(|(name, _)| name).join(", ");
        assay_error(
            "ValueRangeError",
            "path",
            &format!("there is none of the name {name}"),
            &format!("choose one of {names}"),
        )
    })
}

/// Opening a drive failed; a drive without queues for polling says so by the error of its first read.
pub(crate) fn open_error(path: Path, error: &std::io::Error) -> PyErr {
    if path == Path::Polled && error.kind() == std::io::ErrorKind::Unsupported {
        return path_error(path, "takes a drive with queues for polling, and a first read was refused (EOPNOTSUPP)");
    }
    io_error(error)
}

pub(crate) fn path_error(path: Path, reason: &str) -> PyErr {
    assay_error("ValueRangeError", &format!("I/O path {}", path.name()), reason, "choose --io-path interrupt")
}
