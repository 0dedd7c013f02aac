//! The contract between the stimulus and a drive, real or simulated.

use std::ops::{Add, AddAssign, Sub};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A point in time or a span on a device's own monotonic clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub u64);

/// An amount of data, or a place on a drive counted in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bytes(pub u64);

macro_rules! arithmetic {
    ($name:ident) => {
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
    };
}
arithmetic!(Nanos);
arithmetic!(Bytes);

impl Nanos {
    /// The end of time: a deadline that never comes.
    pub const NEVER: Self = Self(u64::MAX);
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);
}

/// A positive operating-system error number; 5 is EIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// What a transfer of less than the asked length is counted as.
    pub const SHORT_TRANSFER: Self = Self(5);
    /// An operation that the drive does not have: EOPNOTSUPP.
    pub const NOT_SUPPORTED: Self = Self(95);
    /// What an I/O that never came back is counted as.
    pub const TIMED_OUT: Self = Self(110);
}

/// What an I/O does, seen from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the drive.
    Read,
    /// To the drive.
    Write,
    /// What lies there is no longer needed.
    Trim,
    /// What was written before is made durable; of no place and no length.
    Flush,
}

/// One I/O to be submitted. `offset` and `length` are multiples of the logical block, a flush has zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Names the I/O until it completes; below the worker's slot count.
    pub slot: u32,
    /// What it does.
    pub direction: Direction,
    /// Place on the drive.
    pub offset: Bytes,
    /// Transfer size.
    pub length: Bytes,
    /// Index into the patterns given to [`Device::prepare`].
    pub data_index: u32,
}

/// The end of one I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot of the [`Io`].
    pub slot: u32,
    /// When the device's clock saw it complete.
    pub at: Nanos,
    /// Bytes moved, or the error.
    pub result: Result<Bytes, Errno>,
}

/// Content of the data written.
#[derive(Clone, Debug, PartialEq)]
pub enum DataPattern {
    /// Made anew for every write: it does not compress, within a write or over a whole run.
    Random,
    /// A common compressor keeps this share to within 0.02, of any 4 KiB and of a whole run: every 512 bytes begin with
    /// fresh ones and end in zeros.
    Compressible {
        /// Share kept, in [`Self::STORED_SHARE_MIN`] to [`Self::STORED_SHARE_MAX`].
        stored_share: f64,
    },
    /// Random bytes of which 16 of every 512 are fresh in each write: no 512 bytes are written twice, but what several
    /// writes have in common compresses.
    Stamped,
    /// The same pool of random bytes again and again.
    Repeating {
        /// Size of the pool, at least 512.
        pool: Bytes,
    },
    /// Every 512 bytes begin with 16 that say for which address, by which run, worker and write they were written; all others
    /// follow from these. None compresses, and no 512 bytes are written twice.
    Addressed,
    /// These bytes, again and again.
    File(Arc<[u8]>),
}

impl DataPattern {
    /// Smallest share of compressible data: below, what compressors write of their own outweighs it.
    pub const STORED_SHARE_MIN: f64 = 0.05;
    /// Largest: above, compressors give up and store all of it.
    pub const STORED_SHARE_MAX: f64 = 0.95;
}

/// Content of the data written as it is asked for: a file by its path.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataText {
    /// Which of the [`DataPattern`]s.
    pub kind: DataKind,
    /// Share that compressible data keep.
    pub stored_share: f64,
    /// Size of the pool of repeating data.
    #[serde(rename = "pool_bytes")]
    pub pool: Bytes,
    /// The file.
    pub path: String,
}

/// The word for a [`DataPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "see DataPattern")]
pub enum DataKind {
    Random,
    Compressible,
    Stamped,
    Repeating,
    Addressed,
    File,
}

/// What a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// User capacity.
    pub capacity: Bytes,
    /// Logical block, 512 or 4096.
    pub logical_block: Bytes,
}

/// A drive's own cumulative counters of completed I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Completed reads, bytes read, and reads merged into others.
    pub read: DirectionCounters,
    /// The same for writes.
    pub write: DirectionCounters,
    /// The same for trims; zero where the drive counts none.
    pub discard: DirectionCounters,
}

/// One direction of [`Counters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Completed requests.
    pub io_count: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Requests merged into another before they reached the drive.
    pub merge_count: u64,
}

/// What can be read off at a step boundary; `None` where it cannot be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The drive's counters.
    pub counters: Option<Counters>,
    /// CPU time used so far by the thread that drives this device.
    pub cpu: Option<Nanos>,
    /// Time so far in which that thread was ready to run and waited for a processor.
    pub waited: Option<Nanos>,
}

/// A drive as the stimulus sees it: one submission queue with its clock.
///
/// A device is used by one thread. `submit` may queue; `reap` sends what is queued, then waits until an I/O
/// has completed or the deadline has come, whichever is first. Time never runs backwards.
pub trait Device {
    /// Whether `look_ahead` does anything.
    const LOOKS_AHEAD: bool = false;

    /// Whether its clock runs at another pace than the host's: then nobody beside it can tell how long it is silent.
    const VIRTUAL_TIME: bool = false;

    /// Capacity and logical block.
    fn info(&self) -> DeviceInfo;

    /// The device's monotonic clock.
    fn now(&self) -> Nanos;

    /// The same instant since the Unix epoch.
    fn wall(&self) -> Nanos;

    /// Make ready for up to `slot_count` outstanding I/Os of up to `transfer` bytes with these data patterns.
    ///
    /// # Errors
    /// The operating system's error when memory or queue entries cannot be had.
    fn prepare(&mut self, data: &[DataPattern], slot_count: u32, transfer: Bytes) -> Result<(), Errno>;

    /// An I/O at this place will come soon; a device may fetch what it needs for it. It changes no result.
    fn look_ahead(&mut self, offset: Bytes) {
        let _ = offset;
    }

    /// The I/O that is submitted next: what it writes may be made now, before its response time begins. `submit` does it
    /// where this was not called.
    fn make_ready(&mut self, io: &Io) {
        let _ = io;
    }

    /// Whether `submit` returns only when its I/O is over.
    fn blocks(&self) -> bool {
        false
    }

    /// Accept one I/O. Its slot must be free.
    fn submit(&mut self, io: Io);

    /// Append completions to `completions`; returns with none when the deadline comes first.
    ///
    /// # Errors
    /// The queue itself failed; no I/O can be trusted to complete any more.
    fn reap(&mut self, completions: &mut Vec<Completion>, deadline: Nanos) -> Result<(), Errno>;

    /// Counters and times of the thread; `with_counters` is false where only the times are wanted.
    fn probe(&mut self, with_counters: bool) -> Probe;

    /// Longest time without any completion while I/Os were outstanding, since this was last asked; one that still lasts
    /// counts up to now. `None` where the device does not watch itself.
    fn stall_max(&mut self) -> Option<Nanos> {
        None
    }
}
