//! Every completion, handed on in chunks while the sequence runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::contract::{Bytes, Direction, Nanos};

/// Completions in a chunk.
pub const CHUNK: usize = 65_536;
/// Chunks that may wait to be written: with those of the workers they bound the memory.
const WAITING_MAX: usize = 24;

/// One completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When it completed, on the device's clock.
    pub at: Nanos,
    /// Its response time.
    pub latency: Nanos,
    /// Its place on the drive.
    pub offset: Bytes,
    /// Its size, below 4 GiB.
    pub length: u32,
    /// Index of the step that issued it.
    pub step: u32,
    /// Read or write.
    pub direction: Direction,
}

/// Where the workers of a sequence leave what they captured.
#[derive(Clone)]
pub struct Tap {
    filled: SyncSender<Vec<Captured>>,
    spare: Arc<Mutex<Vec<Vec<Captured>>>>,
    lost: Arc<AtomicU64>,
    waits: bool,
}

/// The other end of a [`Tap`].
pub struct Chunks {
    filled: Receiver<Vec<Captured>>,
    spare: Arc<Mutex<Vec<Vec<Captured>>>>,
    lost: Arc<AtomicU64>,
}

/// A tap and its other end. A worker that finds no room `waits` where time is virtual; else what it has is lost and counted,
/// since waiting would change what is measured.
#[must_use]
pub fn tap(waits: bool) -> (Tap, Chunks) {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    let (spare, lost) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
    let chunks = Chunks { filled: receiver, spare: Arc::clone(&spare), lost: Arc::clone(&lost) };
    (Tap { filled: sender, spare, lost, waits }, chunks)
}

impl Chunks {
    /// Hand every chunk to `write` until all workers are done; returns how many completions were lost.
    ///
    /// # Errors
    /// The first error of `write`; what comes later is then dropped.
    pub fn drain<E>(self, mut write: impl FnMut(&[Captured]) -> Result<(), E>) -> Result<u64, E> {
        let mut failed = None;
        for mut chunk in &self.filled {
            if failed.is_none() {
                failed = write(&chunk).err();
            }
            chunk.clear();
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        }
        failed.map_or_else(|| Ok(self.lost.load(Ordering::Acquire)), Err)
    }
}

/// What one worker has captured and not yet handed on.
pub(crate) struct WorkerTap {
    tap: Tap,
    chunk: Vec<Captured>,
}

impl WorkerTap {
    pub(crate) fn new(tap: &Tap) -> Self {
        Self { tap: tap.clone(), chunk: Vec::with_capacity(CHUNK) }
    }

    #[inline]
    pub(crate) fn take(&mut self, captured: Captured) {
        self.chunk.push(captured);
        if self.chunk.len() == CHUNK {
            self.hand_on(self.tap.waits);
        }
    }

    #[cold]
    fn hand_on(&mut self, waits: bool) {
        let spare = self.tap.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let chunk = std::mem::replace(&mut self.chunk, spare.unwrap_or_else(|| Vec::with_capacity(CHUNK)));
        let refused = if waits {
            self.tap.filled.send(chunk).err().map(|error| error.0)
        } else {
            self.tap.filled.try_send(chunk).err().map(|error| match error {
                TrySendError::Full(chunk) | TrySendError::Disconnected(chunk) => chunk,
            })
        };
        if let Some(chunk) = refused {
            self.tap.lost.fetch_add(chunk.len() as u64, Ordering::AcqRel);
        }
    }
}

impl Drop for WorkerTap {
    fn drop(&mut self) {
        if !self.chunk.is_empty() {
            // The worker has nothing left to measure; others may end at the same time, and too little room be left.
            self.hand_on(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(nth: u64) -> Captured {
        Captured {
            at: Nanos(nth),
            latency: Nanos(1),
            offset: Bytes(0),
            length: 4096,
            step: 0,
            direction: Direction::Read,
        }
    }

    #[test]
    fn everything_arrives_in_order_and_buffers_are_used_again() {
        let (tap, chunks) = tap(true);
        let count = 40 * CHUNK as u64 + 7;
        let writer = std::thread::spawn(move || {
            let mut seen = Vec::new();
            let lost = chunks.drain(|chunk| {
                seen.extend(chunk.iter().map(|row| row.at.0));
                Ok::<(), ()>(())
            });
            (seen, lost)
        });
        let mut worker = WorkerTap::new(&tap);
        (0..count).for_each(|nth| worker.take(captured(nth)));
        drop((worker, tap));
        let (seen, lost) = writer.join().expect("drains");
        assert!(seen.iter().copied().eq(0..count));
        assert_eq!(lost, Ok(0));
    }

    #[test]
    fn workers_that_end_all_at_once_lose_nothing() {
        const LANES: u64 = 64;
        let (tap, chunks) = tap(false);
        let (sender, ended) = std::sync::mpsc::channel::<()>();
        let workers = std::thread::spawn(move || {
            for nth in 0..LANES {
                WorkerTap::new(&tap).take(captured(nth));
            }
            drop(sender);
        });
        let mut count = 0;
        let lost = chunks.drain(|chunk| {
            if count == 0 {
                // Workers that did not wait would all have ended before the second chunk is taken.
                let _ = ended.recv_timeout(std::time::Duration::from_millis(100));
            }
            count += chunk.len() as u64;
            Ok::<(), ()>(())
        });
        workers.join().expect("ends");
        assert_eq!((count, lost), (LANES, Ok(0)));
    }

    #[test]
    fn what_finds_no_room_is_counted_as_lost_where_time_is_real() {
        let (tap, chunks) = tap(false);
        let mut worker = WorkerTap::new(&tap);
        (0..(WAITING_MAX as u64 + 3) * CHUNK as u64).for_each(|nth| worker.take(captured(nth)));
        drop((worker, tap));
        let mut count = 0;
        let lost = chunks.drain(|chunk| {
            count += chunk.len();
            Ok::<(), ()>(())
        });
        assert_eq!((count, lost), (WAITING_MAX * CHUNK, Ok(3 * CHUNK as u64)));
    }
}
