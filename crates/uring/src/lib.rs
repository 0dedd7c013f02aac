//! A real block device or file as a [`assay_core::contract::Device`]: one ring and one thread per worker.
//!
//! All `unsafe` I/O of the project lives here. The descriptor is opened by the gate, never here.

pub mod addressed;
pub mod affinity;
pub mod device;
pub mod discard;
pub mod gauge;
pub mod generator;
pub mod kernel_workers;
pub mod lack;
pub mod locked;
pub mod null;
pub mod path;
pub mod processors;
pub mod read_back;
pub mod remembered;
pub mod trial;
pub mod verify;
pub mod written;

mod buffers;
mod clock;
mod counters;
mod memory;
mod parts;
mod passthrough;
mod payload;
mod queue;
mod ring;
mod synchronous;
mod waited;

#[cfg(test)]
mod path_tests;
