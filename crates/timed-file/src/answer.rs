//! Answers as linux/fuse.h lays them out.

use crate::protocol::{FILE_NODE, FOLDER_NODE, PAGES_MAX, TRANSFER_BYTES_MAX};

/// What precedes each answer: length, error, number of the request.
pub(crate) const HEADER_BYTES: usize = 16;

/// The interface that these layouts are of; the kernel keeps to it.
const MAJOR: u32 = 7;
const MINOR: u32 = 38;
/// Reads side by side, writes beyond a page, direct I/Os outstanding together, requests of so many pages.
const ABILITIES: u32 = 1 | 1 << 5 | 1 << 15 | 1 << 22;
/// I/Os over a ring are "background" requests: the kernel holds back those beyond.
const BACKGROUND_MAX: u16 = u16::MAX;
/// Nothing is cached, and writes need not wait for each other.
const OPEN_DIRECT_PARALLEL: u32 = 1 | 1 << 6;
const FOLDER_MODE: u32 = 0o040_755;
const FILE_MODE: u32 = 0o100_600;
const BLOCK_BYTES: u32 = 4096;
const SECTOR_BYTES: u64 = 512;
/// How long the kernel may keep names and attributes, in seconds.
const FOR_EVER: u64 = u32::MAX as u64;

/// Fields in their order, in the host's byte order.
#[derive(Default)]
pub(crate) struct Fields(Vec<u8>);

impl Fields {
    fn short(mut self, value: u16) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    fn word(mut self, value: u32) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    fn long(mut self, value: u64) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    fn zeros(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The header of an answer with so many bytes behind it. `error` is zero or an errno.
pub(crate) fn header(number: u64, error: i32, body_bytes: usize) -> Fields {
    Fields::default().word((HEADER_BYTES + body_bytes) as u32).word((-error).cast_unsigned()).long(number)
}

/// The answer to the first request.
pub(crate) fn begin(read_ahead_bytes: u32) -> Fields {
    Fields::default()
        .word(MAJOR)
        .word(MINOR)
        .word(read_ahead_bytes)
        .word(ABILITIES)
        .short(BACKGROUND_MAX)
        .short(BACKGROUND_MAX)
        .word(TRANSFER_BYTES_MAX as u32)
        // Times to the nanosecond.
        .word(1)
        .short(PAGES_MAX)
        .zeros(2 + 4 + 4 + 2 + 22)
}

/// The file, by its name.
pub(crate) fn found(size_bytes: u64) -> Fields {
    let entry = Fields::default().long(FILE_NODE).long(0).long(FOR_EVER).long(FOR_EVER).zeros(8);
    with_attributes(entry, FILE_NODE, size_bytes)
}

/// What a folder or the file is like.
pub(crate) fn attributes(node: u64, size_bytes: u64) -> Fields {
    with_attributes(Fields::default().long(FOR_EVER).zeros(8), node, size_bytes)
}

fn with_attributes(fields: Fields, node: u64, size_bytes: u64) -> Fields {
    let (mode, links, size_bytes) = if node == FOLDER_NODE { (FOLDER_MODE, 2, 0) } else { (FILE_MODE, 1, size_bytes) };
    fields
        .long(node)
        .long(size_bytes)
        .long(size_bytes / SECTOR_BYTES)
        // Times, and their nanoseconds.
        .zeros(3 * 8 + 3 * 4)
        .word(mode)
        .word(links)
        // Owner, group, device.
        .zeros(3 * 4)
        .word(BLOCK_BYTES)
        .zeros(4)
}

pub(crate) fn opened() -> Fields {
    Fields::default().long(0).word(OPEN_DIRECT_PARALLEL).zeros(4)
}

pub(crate) fn written(length_bytes: u32) -> Fields {
    Fields::default().word(length_bytes).zeros(4)
}

/// The file takes all of the space.
pub(crate) fn space(size_bytes: u64) -> Fields {
    Fields::default()
        .long(size_bytes / u64::from(BLOCK_BYTES))
        .zeros(4 * 8)
        .word(BLOCK_BYTES)
        // The longest name.
        .word(255)
        .word(BLOCK_BYTES)
        .zeros(4 + 6 * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_as_long_as_the_kernel_wants_them() {
        let lengths = [
            (header(1, 0, 0), 16),
            (begin(0), 64),
            (found(4096), 128),
            (attributes(2, 4096), 104),
            (opened(), 16),
            (written(1), 8),
            (space(4096), 80),
        ];
        for (fields, length) in lengths {
            assert_eq!(fields.bytes().len(), length);
        }
    }

    #[test]
    fn an_error_is_negative_and_the_length_counts_the_header() {
        assert_eq!(header(9, 5, 8).bytes()[..8], [24_i32.to_ne_bytes(), (-5_i32).to_ne_bytes()].concat());
    }
}
