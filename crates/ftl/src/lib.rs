//! A simulated solid-state drive in virtual time: its numbers emerge from physical parameters.
//!
//! ```text
//! Io -> controller and link -> write buffer -> mapping -> dies and channels -> Completion
//!                                                 ^
//!                                  garbage collection (paced by host writes)
//! ```
//!
//! Beside it stands [`disk`], a hard disk: seeks, rotation and a scheduler instead of flash. [`faults`] makes either fail
//! where and when a file says.
//!
//! No wall clock, no randomness from the system, no files: the same drive model and the same I/Os give the same
//! completions to the nanosecond.

#![deny(unsafe_code)]

pub mod disk;
pub mod drive;
pub mod faults;
pub mod flash_model;
pub mod model;
pub mod model_error;

mod buffered;
mod bus;
mod collect;
mod die;
mod footprint;
mod front;
mod geometry;
mod limits;
mod log;
mod map_cache;
mod mapping;
#[allow(unsafe_code, reason = "hints to the memory that change no result")]
mod memory;
pub mod parameters;
mod pending;
pub mod state;
mod stream;
mod timing;
mod victims;
