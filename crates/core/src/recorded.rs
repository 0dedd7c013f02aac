//! I/Os that were recorded elsewhere, handed in in chunks while the sequence that issues them again runs.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::contract::{Bytes, Direction, Nanos};
use crate::pattern::Access;

/// I/Os in a chunk: 128 KiB of memory.
pub const CHUNK: usize = 4096;
/// Chunks that may wait to be issued.
const WAITING_MAX: usize = 16;
/// A worker waits for the next chunk at most so long; a file that takes longer is as good as gone.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(30);

/// One I/O to be issued again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedIo {
    /// When it is due, from the opening of the window.
    pub due: Nanos,
    /// What it does.
    pub direction: Direction,
    /// Its place on the drive.
    pub offset: Bytes,
    /// Its size.
    pub length: Bytes,
}

/// Where the I/Os are handed in.
pub struct Feed(SyncSender<Vec<RecordedIo>>);

/// The I/Os of one step, in the order in which they are issued.
pub struct Recording(Receiver<Vec<RecordedIo>>);

/// A feed and the recording that it fills.
#[must_use]
pub fn recording() -> (Feed, Recording) {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    (Feed(sender), Recording(receiver))
}

impl Feed {
    /// Hand in a chunk, waiting for room. Returns false where nobody takes any more: the sequence is over.
    #[must_use]
    pub fn give(&self, chunk: Vec<RecordedIo>) -> bool {
        self.0.send(chunk).is_ok()
    }

    /// Hand in a chunk where there is room; returns it where there is none.
    ///
    /// # Errors
    /// The chunk, where it was not taken.
    pub fn try_give(&self, chunk: Vec<RecordedIo>) -> Result<(), Vec<RecordedIo>> {
        self.0.try_send(chunk).map_err(|refused| match refused {
            TrySendError::Full(chunk) | TrySendError::Disconnected(chunk) => chunk,
        })
    }
}

/// Where I/Os of a recording may go: the first that goes elsewhere ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// Bytes of the drive.
    pub(crate) capacity: Bytes,
    /// Logical block, which places and sizes are multiples of.
    pub(crate) logical_block: Bytes,
    /// Largest read or write, for which there is memory.
    pub(crate) transfer: Bytes,
}

impl Allowed {
    fn holds(&self, io: &RecordedIo) -> bool {
        let moves = matches!(io.direction, Direction::Read | Direction::Write);
        let whole = |bytes: Bytes| bytes.0.is_multiple_of(self.logical_block.0);
        let inside = io.offset.0.checked_add(io.length.0).is_some_and(|end| end <= self.capacity.0);
        let sized = (io.length.0 > 0 || io.direction == Direction::Flush) && (!moves || io.length <= self.transfer);
        inside && sized && whole(io.offset) && whole(io.length)
    }
}

/// A recording that is being issued, from the opening of its window on.
pub(crate) struct Playback {
    recording: Recording,
    allowed: Allowed,
    chunk: std::vec::IntoIter<RecordedIo>,
    start: Nanos,
    /// Whether I/Os wait until they are due.
    timed: bool,
    taken: u64,
}

impl Playback {
    pub(crate) fn new(recording: Recording, allowed: Allowed, start: Nanos, timed: bool) -> Self {
        let mut playback = Self { recording, allowed, chunk: Vec::new().into_iter(), start, timed, taken: 0 };
        playback.fill();
        playback
    }

    /// The next I/O; `None` at the end of the recording.
    pub(crate) fn next(&self) -> Option<&RecordedIo> {
        self.chunk.as_slice().first()
    }

    /// What the next I/O does.
    pub(crate) fn access(&self) -> Option<Access> {
        self.next().map(|io| Access { direction: io.direction, offset: io.offset, length: io.length })
    }

    /// When the next I/O may be issued: at the opening where times do not count, never at the end of the recording.
    pub(crate) fn due(&self) -> Nanos {
        match self.next() {
            Some(io) if self.timed => self.start + io.due,
            Some(_) => self.start,
            None => Nanos::NEVER,
        }
    }

    /// Go on to the next I/O; returns when this one was due, where times count.
    pub(crate) fn take(&mut self) -> Option<Nanos> {
        let due = self.due();
        self.chunk.next();
        self.taken += 1;
        self.fill();
        self.timed.then_some(due)
    }

    /// I/Os that were due before `end`, those that were never issued among them; `None` where times do not count.
    pub(crate) fn offered(&mut self, end: Nanos) -> Option<u64> {
        while self.timed && self.due() < end {
            self.take();
        }
        self.timed.then_some(self.taken)
    }

    fn fill(&mut self) {
        while self.chunk.as_slice().is_empty() {
            match self.recording.0.recv_timeout(CHUNK_TIMEOUT) {
                Ok(mut chunk) => {
                    let allowed = chunk.iter().position(|io| !self.allowed.holds(io));
                    if let Some(allowed) = allowed {
                        chunk.truncate(allowed);
                        self.recording = recording().1;
                    }
                    self.chunk = chunk.into_iter();
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}
