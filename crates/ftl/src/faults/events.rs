//! What a kernel would have written into its log of a drive that fails.

use assay_core::contract::{Direction, Io, Nanos};

/// Lines that are kept until they are taken; further ones are counted.
const KEPT_MAX: usize = 4096;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, on the drive's clock.
    pub at: Nanos,
    /// Level of the kernel's log: 3 error, 4 warning, 6 information.
    pub level: u8,
    /// What happened.
    pub text: String,
}

/// Lines in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Events {
    kept: Vec<Event>,
    lost_count: u64,
}

impl Events {
    pub(crate) fn note(&mut self, at: u64, level: u8, text: impl FnOnce() -> String) {
        if self.kept.len() < KEPT_MAX {
            self.kept.push(Event { at: Nanos(at), level, text: text() });
        } else {
            self.lost_count += 1;
        }
    }

    /// What was noted since this was last asked, and how many lines were lost.
    pub(crate) fn take(&mut self) -> (Vec<Event>, u64) {
        (std::mem::take(&mut self.kept), std::mem::take(&mut self.lost_count))
    }
}

/// A command in words. Worked: a read of byte 4096 on blocks of 512 -> `read of LBA 8`.
pub(crate) fn command(io: &Io, block: u64) -> String {
    let word = match io.direction {
        Direction::Read => "read",
        Direction::Write => "write",
        Direction::Trim => "discard",
        Direction::Flush => "flush",
    };
    format!("{word} of LBA {}", io.offset.0 / block)
}
