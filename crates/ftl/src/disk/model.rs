//! The physical parameters of a simulated hard disk.

use assay_core::contract::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::model_error::DriveModelError;
use crate::parameters::{Parameters, with_parameters};

with_parameters! {
/// What a hard disk is made of. Ranges are checked when a disk is built; each error names the parameter.
///
/// A smaller capacity is a disk with fewer cylinders of the same kind: its strokes take the same times, so that random
/// rates do not depend on the capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskModel {
    /// User capacity, a multiple of the logical block, 64 MiB to 16 TB.
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    /// Logical block, 512 or 4096.
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Bytes,
    /// Revolutions per minute, 3,600 to 20,000.
    #[serde(rename = "rotation_rpm")]
    pub rotation: u32,
    /// Recording surfaces, 1 to 32.
    pub head_count: u32,
    /// Zones of the same number of cylinders, 1 to 64; the track length falls evenly from the first to the last.
    pub zone_count: u32,
    /// Bytes of a track in the first (outer) zone, 64 KiB to 16 MiB, rounded down to whole blocks.
    #[serde(rename = "outer_track_bytes")]
    pub outer_track: Bytes,
    /// The same in the last (inner) zone, at most that of the outer zone.
    #[serde(rename = "inner_track_bytes")]
    pub inner_track: Bytes,
    /// Seek to the next cylinder before a read, settling included, 1 ns to 50 ms.
    #[serde(rename = "track_seek_ns")]
    pub track_seek: Nanos,
    /// Average seek before a read over all pairs of cylinders; between the other two, and such that the curve rises.
    #[serde(rename = "average_seek_ns")]
    pub average_seek: Nanos,
    /// Seek over all cylinders before a read, at most 100 ms.
    #[serde(rename = "full_seek_ns")]
    pub full_seek: Nanos,
    /// To switch heads within a cylinder before a read, 0 to 50 ms.
    #[serde(rename = "head_switch_ns")]
    pub head_switch: Nanos,
    /// Further settling before a write on a track that is not yet being written, 0 to 50 ms.
    #[serde(rename = "write_settle_ns")]
    pub write_settle: Nanos,
    /// Largest deviation of a seek or head switch from its mean (triangular), 0 up to the shorter of `track_seek` and
    /// `head_switch`.
    #[serde(rename = "settle_spread_ns", default)]
    pub settle_spread: Nanos,
    /// What the scheduler adds to a mean positioning time, so that it seldom comes too late and loses a revolution.
    #[serde(rename = "settle_margin_ns", default)]
    pub settle_margin: Nanos,
    /// Controller time of a command; the mechanics go on meanwhile. At most 1 s.
    #[serde(rename = "command_ns")]
    pub command: Nanos,
    /// Bytes per second of the host link in each direction, 1 MB/s to 1 TB/s.
    #[serde(rename = "link_bytes_per_s")]
    pub link_rate: u64,
    /// Commands that the scheduler chooses from, 1 to 256; further ones wait at the host.
    pub queue_limit: u32,
    /// By what share of the time it has waited a command counts as nearer, 0 (nearest first, whatever its age) to 1.
    #[serde(rename = "age_credit_share", default)]
    pub age_credit: f64,
    /// A command that has waited longer goes first, 1 ms to 30 s.
    #[serde(rename = "age_limit_ns", default = "longest")]
    pub age_limit: Nanos,
    /// A write is done when it is in the buffer instead of on the medium.
    #[serde(default)]
    pub write_cache: bool,
    /// Written data that waits in the buffer, 64 KiB to 1 GiB.
    #[serde(rename = "write_buffer_bytes", default = "buffer")]
    pub write_buffer: Bytes,
    /// Writes that the buffer holds at most, 1 to 1,024.
    #[serde(rename = "write_segment_count", default = "one")]
    pub write_segments: u32,
    /// What is read beyond a read while no other command waits; 0 for none, at most 1 GiB.
    #[serde(rename = "read_ahead_bytes", default)]
    pub read_ahead: Bytes,
    /// Seed of the settling times and of the rotation's phase.
    #[serde(default = "seed")]
    pub seed: u64,
}
}

const MILLISECOND: u64 = 1_000_000;

impl DiskModel {
    /// A plain disk for tests: 1 GB, 15,000 rpm, four heads, four zones.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            capacity: Bytes(1_000_000_000),
            logical_block: Bytes(512),
            rotation: 15_000,
            head_count: 4,
            zone_count: 4,
            outer_track: Bytes(700_000),
            inner_track: Bytes(500_000),
            track_seek: Nanos(250_000),
            average_seek: Nanos(2_900_000),
            full_seek: Nanos(5_900_000),
            head_switch: Nanos(250_000),
            write_settle: Nanos(400_000),
            settle_spread: Nanos(0),
            settle_margin: Nanos(0),
            command: Nanos(100_000),
            link_rate: 300_000_000,
            queue_limit: 32,
            age_credit: 0.0,
            age_limit: Nanos(500_000_000),
            write_cache: false,
            write_buffer: Bytes(8 << 20),
            write_segments: 64,
            read_ahead: Bytes(1 << 20),
            seed: 1,
        }
    }

    /// Bytes of memory that the disk takes, about: a disk has no map.
    ///
    /// # Errors
    /// [`DriveModelError`] when a parameter is outside its range.
    pub fn memory(&self) -> Result<Bytes, DriveModelError> {
        self.check().map(|()| Bytes(16 << 20))
    }

    pub(crate) fn check(&self) -> Result<(), DriveModelError> {
        let (sizes, times) = (self.size_checks(), self.time_checks());
        match sizes.iter().chain(&times).find(|(_, inside)| !inside) {
            Some((name, _)) => Err(DriveModelError::Parameter(name)),
            None => Ok(()),
        }
    }

    fn size_checks(&self) -> [(&'static str, bool); 13] {
        let block = self.logical_block.0;
        [
            ("logical_block_bytes", block == 512 || block == 4096),
            ("capacity_bytes", (64 << 20..=16_000_000_000_000).contains(&self.capacity.0)),
            ("capacity_bytes", self.capacity.0.is_multiple_of(block.max(1))),
            ("rotation_rpm", (3_600..=20_000).contains(&self.rotation)),
            ("head_count", (1..=32).contains(&self.head_count)),
            ("zone_count", (1..=64).contains(&self.zone_count)),
            ("outer_track_bytes", (64 << 10..=16 << 20).contains(&self.outer_track.0)),
            ("inner_track_bytes", (64 << 10..=self.outer_track.0).contains(&self.inner_track.0)),
            ("link_bytes_per_s", (1_000_000..=1_000_000_000_000).contains(&self.link_rate)),
            ("queue_limit", (1..=256).contains(&self.queue_limit)),
            ("write_segment_count", (1..=1024).contains(&self.write_segments)),
            ("read_ahead_bytes", self.read_ahead.0 <= 1 << 30),
            ("write_buffer_bytes", (64 << 10..=1 << 30).contains(&self.write_buffer.0)),
        ]
    }

    fn time_checks(&self) -> [(&'static str, bool); 10] {
        let (root, linear) = self.seek_curve();
        let settles = self.track_seek.min(self.head_switch);
        [
            ("track_seek_ns", (1..=50 * MILLISECOND).contains(&self.track_seek.0)),
            ("full_seek_ns", (self.track_seek.0..=100 * MILLISECOND).contains(&self.full_seek.0)),
            ("average_seek_ns", root >= 0.0 && linear >= 0.0),
            ("head_switch_ns", self.head_switch.0 <= 50 * MILLISECOND),
            ("write_settle_ns", self.write_settle.0 <= 50 * MILLISECOND),
            ("settle_spread_ns", self.settle_spread <= settles),
            ("settle_margin_ns", self.settle_margin.0 <= 50 * MILLISECOND),
            ("command_ns", self.command.0 <= 1000 * MILLISECOND),
            ("age_credit_share", (0.0..=1.0).contains(&self.age_credit)),
            ("age_limit_ns", (MILLISECOND..=30_000 * MILLISECOND).contains(&self.age_limit.0)),
        ]
    }

    /// The shares a and b, in ns, of a seek over the share x of the stroke: `track_seek + a sqrt(x) + b x`.
    ///
    /// They follow from the average and the full stroke, because over all pairs of cylinders the mean of x is 1/3 and
    /// that of its root 8/15. Worked: 0.25, 2.9 and 5.9 ms give a = 3.83 ms and b = 1.82 ms.
    #[must_use]
    pub fn seek_curve(&self) -> (f64, f64) {
        let track = self.track_seek.0 as f64;
        let (average, full) = (self.average_seek.0 as f64 - track, self.full_seek.0 as f64 - track);
        let root = 5.0 * average - 5.0 / 3.0 * full;
        (root, full - root)
    }

    /// Time of one revolution in ns. Worked: 15,000 rpm are 4,000,000 ns.
    #[must_use]
    pub fn revolution_ns(&self) -> u64 {
        60_000 * MILLISECOND / u64::from(self.rotation.max(1))
    }
}

impl Parameters for DiskModel {
    const PARAMETERS: &[(&str, &str)] = Self::PARAMETERS;

    fn plain() -> Self {
        Self::plain()
    }

    fn check(&self) -> Result<(), DriveModelError> {
        self.check()
    }
}

fn longest() -> Nanos {
    Nanos(30_000_000_000)
}

fn buffer() -> Bytes {
    Bytes(1 << 20)
}

fn one() -> u32 {
    1
}

fn seed() -> u64 {
    1
}
