//! Keeps the state of a simulated drive in a file, and takes it up again.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use assay_core::contract::Nanos;
use assay_ftl::card::Card;
use assay_ftl::drive::SimulatedDrive;
use assay_ftl::state::StateError;
use pyo3::prelude::*;

use crate::errors::assay_error;

/// The drive that a file holds.
pub(crate) fn load(card: Card, epoch: Nanos, path: &Path) -> Result<SimulatedDrive, StateError> {
    let file = File::open(path).map_err(|error| StateError::Io(error.to_string()))?;
    SimulatedDrive::load(card, epoch, BufReader::with_capacity(1 << 20, file))
}

/// Write a drive's state beside the file and put it in its place, so that a failure leaves the old one.
pub(crate) fn save(drive: &SimulatedDrive, path: &Path) -> Result<(), StateError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let written = File::create(&beside)
        .map_err(|error| StateError::Io(error.to_string()))
        .and_then(|file| drive.save(BufWriter::with_capacity(1 << 20, file)));
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
        StateError::OtherCard => "name the drive with the card, capacity and seed that it had, or another file",
        StateError::NotAState => "name another file; a new one is made where there is none",
        StateError::Card(_) => "correct the model card or the capacity",
        StateError::Io(_) => "name a file that can be written and read",
    };
    assay_error("ValueRangeError", &format!("state {}", path.display()), &error.to_string(), remedy)
}
