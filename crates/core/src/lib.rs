//! The stimulus: what the next I/O is, exact counts of what came of it, and the loop that keeps N outstanding.
//!
//! Nothing here knows whether a [`contract::Device`] is a real drive or a simulated one.
//!
//! ```text
//! StepSpec -> compiled pattern -> Io -> Device -> Completion -> tally -> StepRecord
//! ```

#![forbid(unsafe_code)]

pub mod active_range;
pub mod arrival;
pub mod capture;
pub mod contract;
pub mod histogram;
pub mod live;
pub mod open_error;
pub mod pattern;
pub mod record;
pub mod recorded;
pub mod sampled;
pub mod step;
pub mod stimulus;

mod addressed;
mod groups;
mod merging;
mod sequence;
mod silence;
mod stream;
mod tally;
mod worker;
mod worker_step;
