//! Reads addressed data back, whole sectors at the speed of the drive, and names what is not as it was written.

mod outcome;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use assay_core::contract::Bytes;

use crate::addressed::{Origin, SECTOR_BYTES, Sectors, Tag};
use crate::memory::Memory;

pub use outcome::{Found, Kind, Range, Sums};

/// Bytes of one read.
const CHUNK_BYTES: u64 = 1 << 20;

/// What the sectors have to hold.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Of the data of worker 0.
    pub data_origin: u64,
    /// Of each worker, the first write that counts: an earlier one is stale.
    pub since: Vec<u64>,
    /// Of each worker, the first write that has not been.
    pub until: Vec<u64>,
}

/// Parts of the drive: first byte and length, whole logical blocks, in rising order and apart.
pub type Parts = Vec<(Bytes, Bytes)>;

/// A check on its way, by threads of its own.
pub struct Verification {
    shared: Arc<Shared>,
}

struct Shared {
    file: File,
    block: u64,
    expected: Expected,
    origin: Origin,
    sectors: Sectors,
    cursor: Mutex<Cursor>,
    sums: Mutex<Sums>,
    done_bytes: AtomicU64,
    running: AtomicUsize,
    stopped: AtomicBool,
}

/// What is read next.
struct Cursor {
    parts: Parts,
    index: usize,
    within: u64,
}

impl Verification {
    /// Begin to read with so many threads; 8 when unsure.
    ///
    /// `descriptor` : opened by the gate with `O_DIRECT`. `block` : size of a logical block.
    ///
    /// # Errors
    /// When threads or memory cannot be had.
    pub fn start(
        descriptor: OwnedFd,
        block: Bytes,
        parts: Parts,
        expected: Expected,
        threads: usize,
    ) -> io::Result<Self> {
        let origin = Origin::new(expected.data_origin);
        let threads = threads.max(1);
        let memories = (0..threads).map(|_| Memory::new(CHUNK_BYTES as usize)).collect::<io::Result<Vec<_>>>()?;
        let shared = Arc::new(Shared {
            file: File::from(descriptor),
            block: block.0.max(SECTOR_BYTES as u64),
            expected,
            origin,
            sectors: Sectors::default(),
            cursor: Mutex::new(Cursor { parts, index: 0, within: 0 }),
            sums: Mutex::default(),
            done_bytes: AtomicU64::new(0),
            running: AtomicUsize::new(threads),
            stopped: AtomicBool::new(false),
        });
        for memory in memories {
            let own = Arc::clone(&shared);
            let begun = thread::Builder::new().name("assay-verify".to_owned()).spawn(move || own.work(memory));
            if let Err(error) = begun {
                shared.stopped.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(Self { shared })
    }

    /// Bytes that are read and compared so far.
    #[must_use]
    pub fn done(&self) -> Bytes {
        Bytes(self.shared.done_bytes.load(Ordering::Relaxed))
    }

    /// Whether no thread reads any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.running.load(Ordering::Acquire) == 0
    }

    /// Begin no further read.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
    }

    /// What was found so far.
    #[must_use]
    pub fn sums(&self) -> Sums {
        locked(&self.shared.sums).clone()
    }
}

impl Drop for Verification {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Cursor {
    fn next(&mut self) -> Option<(u64, u64)> {
        loop {
            let (from, length) = *self.parts.get(self.index)?;
            let rest = length.0 - self.within;
            if rest > 0 {
                let (place, bytes) = (from.0 + self.within, rest.min(CHUNK_BYTES));
                self.within += bytes;
                return Some((place, bytes));
            }
            (self.index, self.within) = (self.index + 1, 0);
        }
    }
}

impl Shared {
    fn work(&self, mut memory: Memory) {
        while !self.stopped.load(Ordering::Relaxed) {
            let Some((place, bytes)) = locked(&self.cursor).next() else { break };
            let mut found = Vec::new();
            self.check(place, memory.slice_mut(0, bytes as usize), &mut found);
            locked(&self.sums).add(bytes / SECTOR_BYTES as u64, &found);
            self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        self.running.fetch_sub(1, Ordering::Release);
    }

    /// Where a large read fails, each logical block is read by itself.
    fn check(&self, place: u64, buffer: &mut [u8], found: &mut Vec<Found>) {
        if self.file.read_exact_at(buffer, place).is_ok() {
            self.judge(place, buffer, found);
        } else {
            for (index, block) in (0..).zip(buffer.chunks_mut(self.block as usize)) {
                let place = place + index * self.block;
                match self.file.read_exact_at(block, place) {
                    Ok(()) => self.judge(place, block, found),
                    Err(_) => found.extend(sectors_of(place, block).map(|(sector, _)| Found::unread(sector))),
                }
            }
        }
    }

    fn judge(&self, place: u64, content: &[u8], found: &mut Vec<Found>) {
        found.extend(sectors_of(place, content).filter_map(|(sector, content)| self.wrong(sector, content)));
    }

    /// What is wrong with a sector; `None` where nothing is.
    fn wrong(&self, sector: u64, content: &[u8]) -> Option<Found> {
        let Some(tag) = self.sectors.read(content) else {
            let kind = if content.iter().all(|byte| *byte == 0) { Kind::Zeros } else { Kind::Corrupt };
            return Some(Found { sector, kind, distance: 0 });
        };
        let distance = tag.sector.cast_signed() - sector.cast_signed();
        let kind = if distance == 0 { self.kind_here(&tag)? } else { Kind::Misdirected };
        Some(Found { sector, kind, distance })
    }

    /// The same of data that belong here.
    fn kind_here(&self, tag: &Tag) -> Option<Kind> {
        let Some(worker) = self.origin.worker(tag) else { return Some(Kind::OtherRun) };
        match (self.expected.since.get(worker), self.expected.until.get(worker)) {
            (Some(since), Some(_)) if tag.number < *since => Some(Kind::Stale),
            (Some(_), Some(until)) if tag.number < *until => None,
            _ => Some(Kind::OtherRun),
        }
    }
}

fn sectors_of(place: u64, content: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (place / SECTOR_BYTES as u64..).zip(content.chunks(SECTOR_BYTES))
}

/// A thread that panicked leaves what it did; the panic itself is shown where it happened.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
