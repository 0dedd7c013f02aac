//! Faults of simulated drives: they come from Python as one JSON text, and what they did goes back.

use assay_core::contract::{Bytes, Device, DeviceInfo};
use assay_core::stimulus::Stimulus;
use assay_ftl::faults::{Fault, FaultError, Faulty, read_faults};
use pyo3::prelude::*;

use crate::errors::{assay_error, sequence_error};

/// Events as (time in ns on the drive's clock, level of the kernel's log, text), and how many more there were.
pub(crate) type Happened = (Vec<(u64, u8, String)>, u64);

/// The faults of a text, checked for a drive of this size.
pub(crate) fn faults_of(text: &str, capacity: Bytes, logical_block: Bytes) -> PyResult<Vec<Fault>> {
    read_faults(text, DeviceInfo { capacity, logical_block }).map_err(|error| fault_error(&error))
}

fn fault_error(error: &FaultError) -> PyErr {
    match error {
        FaultError::Text(reason) => assay_error("ValueRangeError", "faults", reason, "correct the faults"),
        FaultError::Key { number, key, cause } => {
            assay_error("ValueRangeError", &format!("fault {number}: {key}"), &cause.to_string(), cause.remedy())
        }
    }
}

/// Refuse faults that a drive of this capacity cannot have; `faults` is a JSON list of `assay_ftl::faults::Fault`.
///
/// Raises `ValueRangeError` with the number of the fault, from 1, and its key.
#[pyfunction]
pub(crate) fn check_faults(faults: &str, capacity_bytes: u64, logical_block_bytes: u64) -> PyResult<()> {
    faults_of(faults, Bytes(capacity_bytes), Bytes(logical_block_bytes)).map(drop)
}

/// What is left of a drive's capacity, `None` where it is gone.
pub(crate) fn present<D: Device + 'static>(stimulus: &Stimulus<Faulty<D>>) -> PyResult<Option<u64>> {
    let left = stimulus.with_device(Faulty::present).map_err(|error| sequence_error(&error))?;
    Ok(left.map(|capacity| capacity.0))
}

/// What happened to a drive since this was last asked.
pub(crate) fn happened<D: Device + 'static>(stimulus: &Stimulus<Faulty<D>>) -> PyResult<Happened> {
    let (events, lost_count) = stimulus.with_device(Faulty::take_events).map_err(|error| sequence_error(&error))?;
    Ok((events.into_iter().map(|event| (event.at.0, event.level, event.text)).collect(), lost_count))
}

pub(crate) fn no_faults() -> PyErr {
    assay_error("ValueRangeError", "drive", "has no faults", "name a simulated drive with faults=FILE")
}
