//! The log: one record of 40 bytes per read or write, in the order of the answers.
//!
//! Native byte order: `arrival_ns`, `due_ns`, `answered_ns` (monotonic clock; due is when the timetable has it done),
//! `offset_bytes` as u64, `length_bytes` and `write` (0 or 1) as u32. `answered_ns` is taken just before the record is
//! written, and the answer given right after, so that every I/O that a client has back is in the log.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// One read or write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) arrival_ns: u64,
    pub(crate) due_ns: u64,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u32,
    pub(crate) write: bool,
}

pub(crate) struct Log {
    file: File,
}

impl Log {
    /// A fresh log; a file of that name must not be there.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: OpenOptions::new().write(true).create_new(true).open(path)? })
    }

    pub(crate) fn add(&mut self, entry: &Entry, answered_ns: u64) -> io::Result<()> {
        self.file.write_all(&record(entry, answered_ns))
    }
}

fn record(entry: &Entry, answered_ns: u64) -> [u8; 40] {
    let mut bytes = [0; 40];
    let words = [entry.arrival_ns, entry.due_ns, answered_ns, entry.offset_bytes];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    bytes[32..36].copy_from_slice(&entry.length_bytes.to_ne_bytes());
    bytes[36..].copy_from_slice(&u32::from(entry.write).to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_fields_in_their_places() {
        let entry = Entry { arrival_ns: 1, due_ns: 2, offset_bytes: 4, length_bytes: 5, write: true };
        let bytes = record(&entry, 3);
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes"))).collect();
        assert_eq!(words[..4], [1, 2, 3, 4]);
        assert_eq!(bytes[32..36], 5_u32.to_ne_bytes());
        assert_eq!(bytes[36..], 1_u32.to_ne_bytes());
    }
}
