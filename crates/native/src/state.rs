//! Keeps the state of a simulated drive in a file, and takes it up again.

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufReader, BufWriter};
use std::path::Path;

use assay_core::contract::Nanos;
use assay_ftl::drive::SimulatedDrive;
use assay_ftl::flash_model::FlashModel;
use assay_ftl::state::StateError;
use pyo3::prelude::*;

use crate::errors::assay_error;

/// The drive that a file holds.
pub(crate) fn load(model: FlashModel, epoch: Nanos, path: &Path) -> Result<SimulatedDrive, StateError> {
    // A pipe would be waited for, and a device has no end.
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Err(StateError::NotAState);
    }
    let file = File::open(path).map_err(|error| StateError::Io(error.to_string()))?;
    SimulatedDrive::load(model, epoch, BufReader::with_capacity(1 << 20, file))
}

/// Write a drive's state beside the file and put it in its place, so that a failure leaves the old one.
///
/// The file beside has a name that nobody can foresee and is made anew, so that nothing that lies there is followed.
pub(crate) fn save(drive: &SimulatedDrive, path: &Path) -> Result<(), StateError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{:016x}", RandomState::new().build_hasher().finish()));
    let written = File::create_new(&beside).map_err(|error| StateError::Io(error.to_string())).and_then(|file| {
        drive.save(BufWriter::with_capacity(1 << 20, &file))?;
        file.sync_all().map_err(|error| StateError::Io(error.to_string()))
    });
    let put = written.and_then(|()| std::fs::rename(&beside, path).map_err(|error| StateError::Io(error.to_string())));
    if put.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    put
}

/// A state's hash in hexadecimal digits.
pub(crate) fn hash(drive: &SimulatedDrive) -> String {
    drive.state_hash().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn state_error(path: &Path, error: &StateError) -> PyErr {
    let remedy = match error {
        StateError::OtherDriveModel => "name the drive with the model, capacity and seed that it had, or another file",
        StateError::NotAState => "name another file; a new one is made where there is none",
        StateError::Damaged => "take a copy of the file, or name another; a new one is made where there is none",
        StateError::FlashModel(_) => "correct the model model or the capacity",
        StateError::Io(_) => "name a file that can be written and read",
    };
    assay_error("ValueRangeError", &format!("state {}", path.display()), &error.to_string(), remedy)
}
