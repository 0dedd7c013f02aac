//! The block layer's own counters of a disk (`/sys/block/*/stat`).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use assay_core::contract::{Bytes, Counters, DirectionCounters};

/// Sectors in the counters are 512 bytes whatever the drive's block.
const SECTOR_BYTES: u64 = 512;

pub(crate) struct CounterFile(File);

impl CounterFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    pub(crate) fn read(&self) -> Option<Counters> {
        let mut text = [0_u8; 512];
        let length = self.0.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// Fields 1 to 3 are reads, merged reads and sectors read; 5 to 7 the same for writes, 12 to 14 for discards (since Linux 4.18).
fn parse(text: &str) -> Option<Counters> {
    let fields: Vec<u64> = text.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let direction = |first: usize| {
        Some(DirectionCounters {
            io_count: *fields.get(first)?,
            merge_count: *fields.get(first + 1)?,
            bytes: Bytes(fields.get(first + 2)? * SECTOR_BYTES),
        })
    };
    Some(Counters { read: direction(0)?, write: direction(4)?, discard: direction(11).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discards_and_times_are_left_apart() {
        let counters = parse("  10 1 80 5 20 2 160 7 0 9 9 3 0 24 1 4 4\n").expect("well formed");
        assert_eq!(counters.read, DirectionCounters { io_count: 10, bytes: Bytes(40_960), merge_count: 1 });
        assert_eq!(counters.write, DirectionCounters { io_count: 20, bytes: Bytes(81_920), merge_count: 2 });
        assert_eq!(counters.discard, DirectionCounters { io_count: 3, bytes: Bytes(12_288), merge_count: 0 });
        assert_eq!(parse("10 1"), None);
    }
}
