//! The physical parameters of a simulated drive.

use assay_core::contract::{Bytes, Nanos};
use assay_json::read_value;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model_error::DriveModelError;
use crate::parameters::{Parameters, with_parameters};

/// Which closed unit garbage collection takes next; one with nothing valid goes before all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum VictimPolicy {
    /// The one with the fewest valid pages.
    #[default]
    Greedy,
    /// The one that was closed first.
    Fifo,
    /// Any, with equal chance.
    Random,
    /// The emptiest of so many drawn at random, at least 2.
    Choices(u32),
}

/// The word for a [`VictimPolicy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "see VictimPolicy")]
pub enum Victim {
    #[default]
    Greedy,
    Fifo,
    Random,
    Choices,
}

with_parameters! {
#[allow(clippy::struct_excessive_bools, reason = "each is a trait that a drive has or has not")]
/// The parameters of simulated flash, by the names that drive models give them. Rates are in bytes per second, times in
/// nanoseconds, each below 2^63. What a model does not state is absent from the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashModel {
    /// User capacity, a multiple of the logical block, 64 MiB to 16 TB.
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    /// Logical block, 512 or 4096.
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Bytes,
    /// Bytes of a map entry, 4 KiB to 64 KiB, a power of two; smaller writes read and rewrite all of it.
    #[serde(rename = "map_unit_bytes", default = "map_unit")]
    pub map_unit: Bytes,
    /// Flash beyond the user capacity as a share of it, 0.02 to 4; open and reserve units come on top.
    pub over_provisioning: f64,
    /// Share of the user capacity that a purge leaves mapped, 0 to 1.
    #[serde(default)]
    pub purge_mapped_share: f64,
    /// Channels, 1 to 64.
    pub channel_count: u32,
    /// Dies on each channel, 1 to 64.
    pub dies_per_channel: u32,
    /// Bytes that a die programs at once (NAND page x planes), a multiple of the map unit, at most 64 MiB.
    #[serde(rename = "program_unit_bytes")]
    pub program_unit: Bytes,
    /// Bytes of a die that are erased together (block x planes), a multiple of the program unit, at most 4 GiB.
    #[serde(rename = "erase_unit_bytes")]
    pub erase_unit: Bytes,
    /// Time to read a page from the array (tR), 1 ns to 1 s.
    #[serde(rename = "read_ns")]
    pub read: Nanos,
    /// Time to program a program unit (tPROG), 1 ns to 1 s.
    #[serde(rename = "program_ns")]
    pub program: Nanos,
    /// Time to erase an erase unit (tBERS), 1 ns to 10 s.
    #[serde(rename = "erase_ns")]
    pub erase: Nanos,
    /// Channel rate, 1 MB/s to 1 TB/s.
    #[serde(rename = "channel_bytes_per_s")]
    pub channel_rate: u64,
    /// Host link rate: of both directions together, or of each where it is `full_duplex`; 1 MB/s to 1 TB/s.
    #[serde(rename = "link_bytes_per_s")]
    pub link_rate: u64,
    /// Reads and writes cross the host link at the same time.
    #[serde(default)]
    pub full_duplex: bool,
    /// Controller time per read command, at most 1 s.
    #[serde(rename = "read_command_ns")]
    pub read_command: Nanos,
    /// Controller time per write command, at most 1 s.
    #[serde(rename = "write_command_ns")]
    pub write_command: Nanos,
    /// Controller time for each further 4 KiB of a read, at most 1 s.
    #[serde(rename = "read_extra_ns", default)]
    pub read_extra: Nanos,
    /// Controller time for each further 4 KiB of a write, at most 1 s.
    #[serde(rename = "write_extra_ns", default)]
    pub write_extra: Nanos,
    /// Time that a command spends in host and protocol, holding up no other; at most 1 s.
    #[serde(rename = "protocol_ns", default)]
    pub protocol: Nanos,
    /// Extra controller time of a write that covers a map unit in part, at most 1 s.
    #[serde(rename = "partial_write_ns", default)]
    pub partial_write: Nanos,
    /// Commands that the drive takes at once; others wait at the host. 1 to 65,536.
    #[serde(default = "queue_limit")]
    pub queue_limit: u32,
    /// Commands begin in order: a command that waits for the write buffer blocks all later commands.
    #[serde(default)]
    pub in_order: bool,
    /// Reads reach their dies in order: a read of a die that programs or erases blocks all later commands until then.
    #[serde(default)]
    pub reads_in_order: bool,
    /// While a host read is in the drive no program or erase is begun on any die.
    #[serde(default)]
    pub reads_hold_programs: bool,
    /// Host data that may wait to be programmed: at least 4 program units, 16 where the drive compresses, and two merge units
    /// more where it has a log; at most 16 GiB.
    #[serde(rename = "write_buffer_bytes")]
    pub write_buffer: Bytes,
    /// A write is done when it is in the buffer; without, when it is in the flash.
    #[serde(default = "yes")]
    pub write_cache: bool,
    /// The host cannot switch the write cache, as of a buffer that keeps its data without power.
    #[serde(default)]
    pub write_cache_fixed: bool,
    /// Reads of a partial write go before queued programs, as host reads do; without, they wait their turn.
    #[serde(default = "yes")]
    pub modify_reads_first: bool,
    /// Which unit is collected next: greedy, fifo, random or choices; see [`VictimPolicy`].
    #[serde(default)]
    pub victim: Victim,
    /// Units that `victim = "choices"` draws at random, at least 2.
    #[serde(default = "two")]
    pub victim_choices: u32,
    /// A victim drawn at random that is full of valid pages is skipped: it would free nothing.
    #[serde(default)]
    pub spares_full_units: bool,
    /// Relocated data goes to the units that host data goes to.
    #[serde(default)]
    pub shared_frontier: bool,
    /// Relocations are done in batches of so much, up to a unit; 0 spreads them evenly. At most the capacity.
    #[serde(rename = "collection_batch_bytes", default)]
    pub collection_batch: Bytes,
    /// Idle time after which collection begins by itself; 0 means never.
    #[serde(rename = "idle_delay_ns", default)]
    pub idle_delay: Nanos,
    /// Free space that idle collection strives for, as a share of the user capacity, 0 to 1.
    #[serde(rename = "idle_target_share", default)]
    pub idle_target: f64,
    /// Share of the idle time that it uses, above 0 to 1.
    #[serde(default = "whole")]
    pub idle_share: f64,
    /// A log for small writes in front of the map, beyond the over-provisioning; from a merge unit to the capacity, 0 means none.
    #[serde(rename = "log_bytes", default)]
    pub log: Bytes,
    /// What is written anew as a whole when it leaves the log; a multiple of the map unit, from
    /// two of them to 64 MiB.
    #[serde(rename = "merge_unit_bytes", default)]
    pub merge_unit: Bytes,
    /// Units collected between two that are taken at random whatever they hold, so that data at rest moves too; 0 means never.
    #[serde(default)]
    pub wear_levelling_every: u32,
    /// The drive frees what the host says it no longer needs.
    #[serde(default = "yes")]
    pub trim: bool,
    /// Flash written at `slc_program` before the rest is written at `program`; refilled when idle. 0 means none.
    #[serde(rename = "slc_cache_bytes", default)]
    pub slc_cache: Bytes,
    /// Time to program a program unit of the single-level cache, 1 ns to 1 s where the drive has a cache.
    #[serde(rename = "slc_program_ns", default)]
    pub slc_program: Nanos,
    /// Rate at which idle time frees the single-level cache, above 0 where the drive has a cache.
    #[serde(rename = "slc_fold_bytes_per_s", default)]
    pub slc_fold_rate: u64,
    /// Map entries held in memory, in bytes at 4 per entry, at most the capacity; others are read from flash. 0 means all.
    #[serde(rename = "map_cache_bytes", default)]
    pub map_cache: Bytes,
    /// Data is compressed before it is stored, to a quarter at best; it crosses the host link as it is.
    #[serde(default)]
    pub compresses: bool,
    /// Rate of host writes that the drive sustains; 0 means no limit.
    #[serde(rename = "write_limit_bytes_per_s", default)]
    pub write_limit_rate: u64,
    /// Host writes before that limit acts, at most 1 PiB.
    #[serde(rename = "write_limit_burst_bytes", default)]
    pub write_limit_burst: Bytes,
    /// Bytes moved, less those that cooling makes up for, from which the drive is too hot; 0 means never.
    #[serde(rename = "heat_limit_bytes", default)]
    pub heat_limit: Bytes,
    /// Rate at which bytes may be moved for ever without getting hotter.
    #[serde(rename = "cooling_bytes_per_s", default)]
    pub cooling_rate: u64,
    /// Rate of a drive that is too hot, until it is down to 80 % of the limit; 1 byte/s to the cooling rate.
    #[serde(rename = "throttled_bytes_per_s", default)]
    pub throttled_rate: u64,
    /// Host bytes after which the controller stops for `stall` to do maintenance; 0 means never.
    #[serde(rename = "stall_every_bytes", default)]
    pub stall_every: Bytes,
    /// Length of that stop, at most 10 s.
    #[serde(rename = "stall_ns", default)]
    pub stall: Nanos,
    /// Time after which the controller stops for `pause` whatever the host does; 0 means never.
    #[serde(rename = "pause_every_ns", default)]
    pub pause_every: Nanos,
    /// Length of that stop, at most 1 s and below a tenth of the time between two.
    #[serde(rename = "pause_ns", default)]
    pub pause: Nanos,
    /// Spread of array times: a share of each, triangular around it, 0 to 0.5.
    #[serde(rename = "jitter_share", default)]
    pub jitter: f64,
    /// Seed of victim draws and jitter.
    #[serde(default = "one")]
    pub seed: u64,
    /// No flash at all: commands and link only.
    #[serde(default)]
    pub ideal: bool,
}
}

/// A compressing drive stores data in a quarter of its size at best.
const COMPRESSION_MAX: u64 = 4;

/// A second; no single operation of a drive takes longer.
const SECOND: u64 = 1_000_000_000;

impl FlashModel {
    /// A plain drive for tests and benchmarks: 1 GB, eight dies, nothing beyond mapping and collection.
    ///
    /// # Panics
    /// Never: it states what must be stated.
    #[must_use]
    pub fn plain() -> Self {
        let stated = json!({
            "capacity_bytes": 1_000_000_000,
            "logical_block_bytes": 512,
            "over_provisioning": 0.07,
            "channel_count": 4,
            "dies_per_channel": 2,
            "program_unit_bytes": 16384,
            "erase_unit_bytes": 2 << 20,
            "read_ns": 50_000,
            "program_ns": 1_300_000,
            "erase_ns": 3_000_000,
            "channel_bytes_per_s": 200_000_000,
            "link_bytes_per_s": 550_000_000,
            "read_command_ns": 10_000,
            "write_command_ns": 10_000,
            "write_buffer_bytes": 4 << 20,
        });
        read_value(&stated).expect("all that must be stated")
    }

    /// Which unit is collected next.
    #[must_use]
    pub fn victim_policy(&self) -> VictimPolicy {
        match self.victim {
            Victim::Greedy => VictimPolicy::Greedy,
            Victim::Fifo => VictimPolicy::Fifo,
            Victim::Random => VictimPolicy::Random,
            Victim::Choices => VictimPolicy::Choices(self.victim_choices),
        }
    }

    /// How many times its size the flash may hold.
    pub(crate) fn density_max(&self) -> u64 {
        if self.compresses { COMPRESSION_MAX } else { 1 }
    }

    fn buffer_min(&self) -> u64 {
        let merged = if self.log.0 > 0 { self.merge_unit.0.saturating_mul(2) } else { 0 };
        (4 * self.density_max()).saturating_mul(self.program_unit.0).saturating_add(merged)
    }

    pub(crate) fn check(&self) -> Result<(), DriveModelError> {
        let sizes = self.size_checks();
        let all = sizes.iter().chain(&self.share_checks()).chain(&self.time_checks()).copied().collect::<Vec<_>>();
        match all.iter().find(|(_, inside)| !inside) {
            Some((name, _)) => Err(DriveModelError::Parameter(name)),
            None => Ok(()),
        }
    }

    fn size_checks(&self) -> [(&'static str, bool); 20] {
        let (merge, log) = (self.merge_unit.0, self.log.0);
        let (block, unit) = (self.logical_block.0, self.map_unit.0);
        let program = self.program_unit.0;
        [
            ("logical_block_bytes", block == 512 || block == 4096),
            ("capacity_bytes", in_range(self.capacity.0, 64 << 20, 16_000_000_000_000)),
            ("capacity_bytes", self.capacity.0.is_multiple_of(block.max(1))),
            ("map_unit_bytes", unit.is_power_of_two() && in_range(unit, 4096, 65536)),
            ("merge_unit_bytes", log == 0 || in_range(merge, 2 * unit, 64 << 20) && merge.is_multiple_of(unit.max(1))),
            ("log_bytes", log == 0 || in_range(log, merge, self.capacity.0)),
            ("channel_count", in_range(u64::from(self.channel_count), 1, 64)),
            ("dies_per_channel", in_range(u64::from(self.dies_per_channel), 1, 64)),
            ("program_unit_bytes", in_range(program, 1, 64 << 20) && program.is_multiple_of(unit.max(1))),
            ("erase_unit_bytes", in_range(self.erase_unit.0, 1, 4 << 30)),
            ("erase_unit_bytes", self.erase_unit.0.is_multiple_of(program.max(1))),
            ("map_cache_bytes", self.map_cache.0 <= self.capacity.0),
            ("collection_batch_bytes", self.collection_batch.0 <= self.capacity.0),
            ("write_limit_burst_bytes", self.write_limit_rate == 0 || self.write_limit_burst.0 <= 1 << 50),
            ("channel_bytes_per_s", in_range(self.channel_rate, 1_000_000, 1_000_000_000_000)),
            ("link_bytes_per_s", in_range(self.link_rate, 1_000_000, 1_000_000_000_000)),
            ("queue_limit", in_range(u64::from(self.queue_limit), 1, 65536)),
            ("write_buffer_bytes", in_range(self.write_buffer.0, self.buffer_min(), 1 << 34)),
            ("slc_fold_bytes_per_s", self.slc_cache.0 == 0 || self.slc_fold_rate > 0),
            ("throttled_bytes_per_s", self.heat_limit.0 == 0 || in_range(self.throttled_rate, 1, self.cooling_rate)),
        ]
    }

    fn share_checks(&self) -> [(&'static str, bool); 6] {
        [
            ("over_provisioning", (0.02..=4.0).contains(&self.over_provisioning)),
            ("purge_mapped_share", (0.0..=1.0).contains(&self.purge_mapped_share)),
            ("idle_target_share", (0.0..=1.0).contains(&self.idle_target)),
            ("idle_share", self.idle_share > 0.0 && self.idle_share <= 1.0),
            ("jitter_share", (0.0..=0.5).contains(&self.jitter)),
            ("victim_choices", self.victim != Victim::Choices || self.victim_choices >= 2),
        ]
    }

    fn time_checks(&self) -> [(&'static str, bool); 12] {
        [
            ("read_ns", in_range(self.read.0, 1, SECOND)),
            ("program_ns", in_range(self.program.0, 1, SECOND)),
            ("erase_ns", in_range(self.erase.0, 1, 10 * SECOND)),
            ("slc_program_ns", self.slc_cache.0 == 0 || in_range(self.slc_program.0, 1, SECOND)),
            ("read_command_ns", self.read_command.0 <= SECOND),
            ("write_command_ns", self.write_command.0 <= SECOND),
            ("read_extra_ns", self.read_extra.0 <= SECOND),
            ("write_extra_ns", self.write_extra.0 <= SECOND),
            ("protocol_ns", self.protocol.0 <= SECOND),
            ("partial_write_ns", self.partial_write.0 <= SECOND),
            ("stall_ns", self.stall.0 <= 10 * SECOND),
            ("pause_ns", self.pause.0 <= SECOND && (self.pause.0 == 0 || self.pause_every.0 > 10 * self.pause.0)),
        ]
    }
}

impl Parameters for FlashModel {
    const PARAMETERS: &[(&str, &str)] = Self::PARAMETERS;

    fn plain() -> Self {
        Self::plain()
    }

    fn check(&self) -> Result<(), DriveModelError> {
        self.check()
    }
}

fn map_unit() -> Bytes {
    Bytes(4096)
}

fn queue_limit() -> u32 {
    65_536
}

fn yes() -> bool {
    true
}

fn two() -> u32 {
    2
}

fn whole() -> f64 {
    1.0
}

fn one() -> u64 {
    1
}

fn in_range(value: u64, least: u64, most: u64) -> bool {
    (least..=most).contains(&value)
}
