//! Faults that are injected into a simulated drive: what a file may say of them, with units and ranges.
//!
//! ```text
//! text of a file -> Fault (one per entry) -> check -> Rule (what it does, when) -> Faulty<Drive>
//! ```
//!
//! A drive without faults is not wrapped and pays nothing for them.

mod bad_blocks;
mod check;
mod events;
mod faulty;
mod rule;

use serde::Deserialize;

pub use check::{Cause, FaultError, read_faults};
pub use events::Event;
pub use faulty::Faulty;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A command is carried out and ends with an error.
    MediaError,
    /// A command is lost; the host gives it up, or sends it again, after a time limit.
    Timeout,
    /// The drive stands still.
    Stall,
    /// The controller starts anew: as a stall, and the commands inside fail or are sent again.
    Reset,
    /// The drive becomes smaller.
    Shrink,
    /// The drive is there no more.
    Gone,
}

/// Which commands a fault may hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Any.
    #[default]
    Both,
}

/// What becomes of a command that timed out or was inside a controller that was reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It ends with an error.
    Error,
    /// It is sent again, and ends that much later.
    Retry,
}

/// Errors of the Linux kernel that a command may end with.
#[allow(clippy::upper_case_acronyms, reason = "the kernel's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ErrnoName {
    /// 5
    EIO,
    /// 19
    ENODEV,
    /// 28
    ENOSPC,
    /// 61
    ENODATA,
    /// 62
    ETIME,
    /// 67
    ENOLINK,
    /// 84
    EILSEQ,
    /// 110
    ETIMEDOUT,
    /// 121
    EREMOTEIO,
}

impl ErrnoName {
    /// Its number on Linux.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::EIO => 5,
            Self::ENODEV => 19,
            Self::ENOSPC => 28,
            Self::ENODATA => 61,
            Self::ETIME => 62,
            Self::ENOLINK => 67,
            Self::EILSEQ => 84,
            Self::ETIMEDOUT => 110,
            Self::EREMOTEIO => 121,
        }
    }
}

/// One `[[faults]]` entry as written; what is absent is `None`. [`read_faults`] checks it.
///
/// Exactly one of `at_s`, `every_s`, `after_written_bytes`, `after_commands` and `rate` is its trigger.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub kind: Kind,
    /// Virtual time in seconds since the drive's clock began, purges included; 0 to 10^9.
    pub at_s: Option<f64>,
    /// Period in seconds, 0.001 to 10^9; the first time is one period after the clock began.
    pub every_s: Option<f64>,
    /// Each of these times is later by an even draw from 0 to so many seconds; below the period, 0 where absent.
    pub jitter_s: Option<f64>,
    /// Right after the write that brings the bytes written by the host to so many; 1 to 2^60.
    pub after_written_bytes: Option<u64>,
    /// Right after so many commands were submitted; 1 to 2^60.
    pub after_commands: Option<u64>,
    /// Probability per command that it may hit, 0 to 1.
    pub rate: Option<f64>,
    /// It strikes at most so often, at least 1; where absent once, or without a limit with `every_s` and `rate`.
    pub count: Option<u64>,
    /// Commands that it may hit; both where absent.
    pub direction: Option<Directions>,
    /// First logical block of the range in which it hits; 0 where absent.
    pub first_lba: Option<u64>,
    /// Blocks of that range, at least 1; to the end of the drive where absent.
    pub lba_count: Option<u64>,
    /// The blocks cannot be read until each was written again: with `rate` those of the command that was hit, else the
    /// whole range from the trigger on.
    pub until_written: Option<bool>,
    /// Length of a stall or reset (0.001 to 3,600 s), time limit of a command (0.001 to 3,600 s, 30 where absent), time
    /// that a media error adds (0 to 3,600 s, 0 where absent).
    pub duration_s: Option<f64>,
    /// What becomes of the commands: `error` for a timeout and `retry` for a reset where absent.
    pub outcome: Option<Outcome>,
    /// The error they end with; where absent what the kernel gives, see [`Kind`] and the guide.
    pub errno: Option<ErrnoName>,
    /// What is left of a drive that shrinks: whole blocks, at least one, less than its capacity.
    pub capacity_bytes: Option<u64>,
}

#[cfg(test)]
#[path = "faults/fault_tests.rs"]
mod tests;
