//! A simulated solid-state drive in virtual time: its numbers emerge from physical parameters.
//!
//! ```text
//! Io -> controller and link -> write buffer -> mapping -> dies and channels -> Completion
//!                                                 ^
//!                                  garbage collection (greedy, paced by host writes)
//! ```
//!
//! No wall clock, no randomness from the system, no files: the same card and the same I/Os give the same
//! completions to the nanosecond.

#![forbid(unsafe_code)]

pub mod card;
pub mod drive;

mod collect;
mod geometry;
mod mapping;
mod timing;
