//! Reads the cards of simulated drives that are not flash.

use assay_core::contract::{Bytes, Nanos};
use assay_ftl::disk::DiskCard;
use pyo3::prelude::*;

use crate::errors::card_error;
use crate::specs::PyCard;

/// The card of a simulated drive, told apart by a field that only disks have.
#[allow(clippy::large_enum_variant, reason = "one is made for each run")]
pub(crate) enum PySimulatedCard {
    Disk(PyDiskCard),
    Flash(PyCard),
}

impl<'a, 'py> FromPyObject<'a, 'py> for PySimulatedCard {
    type Error = PyErr;

    /// By hand, since a derived one would hide behind a `TypeError` why a card is refused.
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.hasattr("rotation_rpm")? {
            object.extract().map(Self::Disk)
        } else {
            object.extract().map(Self::Flash)
        }
    }
}

/// The fields of `assay.device.simulated_disk.DiskCard`.
#[derive(FromPyObject)]
pub(crate) struct PyDiskCard {
    capacity_bytes: u64,
    logical_block_bytes: u64,
    rotation_rpm: u32,
    head_count: u32,
    zone_count: u32,
    outer_track_bytes: u64,
    inner_track_bytes: u64,
    track_seek_ns: u64,
    average_seek_ns: u64,
    full_seek_ns: u64,
    head_switch_ns: u64,
    write_settle_ns: u64,
    settle_spread_ns: u64,
    settle_margin_ns: u64,
    command_ns: u64,
    link_bytes_per_s: u64,
    queue_limit: u32,
    age_credit_share: f64,
    age_limit_ns: u64,
    write_cache: bool,
    write_buffer_bytes: u64,
    write_segment_count: u32,
    read_ahead_bytes: u64,
    seed: u64,
}

impl PyDiskCard {
    pub(crate) fn convert(self) -> DiskCard {
        DiskCard {
            capacity: Bytes(self.capacity_bytes),
            logical_block: Bytes(self.logical_block_bytes),
            rotation: self.rotation_rpm,
            head_count: self.head_count,
            zone_count: self.zone_count,
            outer_track: Bytes(self.outer_track_bytes),
            inner_track: Bytes(self.inner_track_bytes),
            track_seek: Nanos(self.track_seek_ns),
            average_seek: Nanos(self.average_seek_ns),
            full_seek: Nanos(self.full_seek_ns),
            head_switch: Nanos(self.head_switch_ns),
            write_settle: Nanos(self.write_settle_ns),
            settle_spread: Nanos(self.settle_spread_ns),
            settle_margin: Nanos(self.settle_margin_ns),
            command: Nanos(self.command_ns),
            link_rate: self.link_bytes_per_s,
            queue_limit: self.queue_limit,
            age_credit: self.age_credit_share,
            age_limit: Nanos(self.age_limit_ns),
            write_cache: self.write_cache,
            write_buffer: Bytes(self.write_buffer_bytes),
            write_segments: self.write_segment_count,
            read_ahead: Bytes(self.read_ahead_bytes),
            seed: self.seed,
        }
    }
}

/// Bytes of memory that a simulated drive takes, about. `card` is as for `NativeStimulus.simulated`.
///
/// Raises `ValueRangeError` where a parameter is outside its range or the capacity too small for the dies.
#[pyfunction]
pub(crate) fn simulated_memory_bytes(card: PySimulatedCard) -> PyResult<u64> {
    let needed = match card {
        PySimulatedCard::Flash(card) => card.convert().memory(),
        PySimulatedCard::Disk(card) => card.convert().memory(),
    };
    Ok(needed.map_err(|error| card_error(&error))?.0)
}
