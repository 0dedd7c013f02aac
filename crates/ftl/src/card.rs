//! The physical parameters of a simulated drive.

use assay_core::contract::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

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

#[allow(clippy::struct_excessive_bools, reason = "each is a trait that a drive has or has not")]
/// A drive's model card. Rates are in bytes per second, times in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// User capacity, a multiple of the logical block, 64 MiB to 16 TB.
    pub capacity: Bytes,
    /// Logical block, 512 or 4096.
    pub logical_block: Bytes,
    /// Bytes that are mapped as one, 4 KiB to 64 KiB, a power of two; smaller writes read and rewrite all of it.
    pub map_unit: Bytes,
    /// Flash beyond the user capacity as a share of it, 0.02 to 4; open and reserve units come on top.
    pub over_provisioning: f64,
    /// Share of the user capacity that a purge leaves mapped, 0 to 1.
    pub purge_mapped_share: f64,
    /// Channels, 1 to 64.
    pub channel_count: u32,
    /// Dies on each channel, 1 to 64.
    pub dies_per_channel: u32,
    /// Bytes that a die programs at once (NAND page x planes), a multiple of the map unit, at most 64 MiB.
    pub program_unit: Bytes,
    /// Bytes of one die that are erased together (block x planes), a multiple of the program unit, at most 4 GiB.
    pub erase_unit: Bytes,
    /// Time to read a page from the array (tR).
    pub read: Nanos,
    /// Time to program one program unit (tPROG).
    pub program: Nanos,
    /// Time to erase one erase unit (tBERS).
    pub erase: Nanos,
    /// Channel rate.
    pub channel_rate: u64,
    /// Host link rate: of both directions together, or of each where it is `full_duplex`.
    pub link_rate: u64,
    /// Reads and writes cross the host link at the same time.
    pub full_duplex: bool,
    /// Controller time per read command.
    pub read_command: Nanos,
    /// Controller time per write command.
    pub write_command: Nanos,
    /// Controller time for each further 4 KiB of a read.
    pub read_extra: Nanos,
    /// Controller time for each further 4 KiB of a write.
    pub write_extra: Nanos,
    /// Time that a command spends in host and protocol, holding up no other.
    pub protocol: Nanos,
    /// Extra controller time of a write that covers a map unit in part.
    pub partial_write: Nanos,
    /// Commands that the drive takes at once; others wait at the host. 1 to 65,536.
    pub queue_limit: u32,
    /// Commands are begun in order: one that waits for the write buffer holds up those behind it.
    pub in_order: bool,
    /// Reads are handed to their dies in order: one whose die programs or erases holds up the commands behind it until then.
    pub reads_in_order: bool,
    /// Host data that may wait to be programmed: at least 4 program units, 16 where the drive compresses, and two merge units
    /// more where it has a log.
    pub write_buffer: Bytes,
    /// A write is done when it is in the buffer; without, when it is in the flash.
    pub write_cache: bool,
    /// Reads of a partial write go before queued programs, as host reads do; without, they wait their turn.
    pub modify_reads_first: bool,
    /// Which unit is collected next.
    pub victim: VictimPolicy,
    /// One that is drawn at random and full of valid pages is left alone, since it would free nothing.
    pub spares_full_units: bool,
    /// Relocated data goes to the units that host data goes to.
    pub shared_frontier: bool,
    /// Relocations are done in batches of so much, up to a unit; 0 spreads them evenly.
    pub collection_batch: Bytes,
    /// Idle time after which collection begins by itself; 0 means never.
    pub idle_delay: Nanos,
    /// Free space that idle collection strives for, as a share of the user capacity, 0 to 1.
    pub idle_target: f64,
    /// Share of the idle time that it uses, above 0 to 1.
    pub idle_share: f64,
    /// A log for small writes in front of the map, beyond the over-provisioning; 0 means none.
    pub log: Bytes,
    /// What is written anew as a whole when it leaves the log; a multiple of the map unit.
    pub merge_unit: Bytes,
    /// Units collected between two that are taken at random whatever they hold, so that data at rest moves too; 0 means never.
    pub wear_levelling_every: u32,
    /// The drive frees what the host says it no longer needs.
    pub trim: bool,
    /// Flash written at `slc_program` before the rest is written at `program`; refilled when idle. 0 means none.
    pub slc_cache: Bytes,
    /// Time to program one program unit of the single-level cache.
    pub slc_program: Nanos,
    /// Rate at which idle time frees the single-level cache.
    pub slc_fold_rate: u64,
    /// Map entries held in memory, in bytes at 4 per entry, at most the capacity; others are read from flash. 0 means all.
    pub map_cache: Bytes,
    /// Data is compressed before it is stored, to a quarter at best; it crosses the host link as it is.
    pub compresses: bool,
    /// Rate of host writes that the drive sustains; 0 means no limit.
    pub write_limit_rate: u64,
    /// Host writes before that limit acts.
    pub write_limit_burst: Bytes,
    /// Bytes moved, less those that cooling makes up for, from which the drive is too hot; 0 means never.
    pub heat_limit: Bytes,
    /// Rate at which bytes may be moved for ever without getting hotter.
    pub cooling_rate: u64,
    /// Rate of a drive that is too hot, until it is down to 80 % of the limit; below the cooling rate.
    pub throttled_rate: u64,
    /// Host bytes after which the controller stops for `stall` to keep house; 0 means never.
    pub stall_every: Bytes,
    /// Length of that stop.
    pub stall: Nanos,
    /// Time after which the controller stops for `pause` whatever the host does; 0 means never.
    pub pause_every: Nanos,
    /// Length of that stop.
    pub pause: Nanos,
    /// Spread of array times: a share of each, triangular around it, 0 to 0.5.
    pub jitter: f64,
    /// Seed of victim draws and jitter.
    pub seed: u64,
    /// No flash at all: commands and link only.
    pub ideal: bool,
}

/// Why a card cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum CardError {
    /// A parameter outside its range: see the parameter's documentation.
    Parameter(&'static str),
    /// The capacity is too small for the geometry: raise it, or lower the number of dies.
    TooSmall {
        /// Smallest capacity in bytes.
        needed: u64,
    },
    /// The drive's tables do not fit into memory: lower the capacity.
    Memory {
        /// Bytes that they take, about.
        needed: u64,
    },
}

impl std::fmt::Display for CardError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Parameter(name) => write!(formatter, "{name} is outside its range"),
            Self::TooSmall { needed } => write!(formatter, "the capacity is below the {needed} bytes its dies need"),
            Self::Memory { needed } => {
                write!(formatter, "its tables need {needed} bytes of memory, which are not there")
            }
        }
    }
}

/// A compressing drive stores data in a quarter of its size at best.
const COMPRESSION_MAX: u64 = 4;

/// A second; no single operation of a drive takes longer.
const SECOND: u64 = 1_000_000_000;

impl Card {
    /// A plain drive for tests and benchmarks: 1 GB, eight dies, nothing beyond mapping and collection.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            capacity: Bytes(1_000_000_000),
            logical_block: Bytes(512),
            map_unit: Bytes(4096),
            over_provisioning: 0.07,
            purge_mapped_share: 0.0,
            channel_count: 4,
            dies_per_channel: 2,
            program_unit: Bytes(16384),
            erase_unit: Bytes(2 << 20),
            read: Nanos(50_000),
            program: Nanos(1_300_000),
            erase: Nanos(3_000_000),
            channel_rate: 200_000_000,
            link_rate: 550_000_000,
            full_duplex: false,
            read_command: Nanos(10_000),
            write_command: Nanos(10_000),
            read_extra: Nanos(0),
            write_extra: Nanos(0),
            protocol: Nanos(0),
            partial_write: Nanos(0),
            queue_limit: 65536,
            in_order: false,
            reads_in_order: false,
            write_buffer: Bytes(4 << 20),
            write_cache: true,
            modify_reads_first: true,
            victim: VictimPolicy::Greedy,
            spares_full_units: false,
            shared_frontier: false,
            collection_batch: Bytes(0),
            idle_delay: Nanos(0),
            idle_target: 0.0,
            idle_share: 1.0,
            log: Bytes(0),
            merge_unit: Bytes(0),
            wear_levelling_every: 0,
            trim: true,
            slc_cache: Bytes(0),
            slc_program: Nanos(0),
            slc_fold_rate: 0,
            map_cache: Bytes(0),
            compresses: false,
            write_limit_rate: 0,
            write_limit_burst: Bytes(0),
            heat_limit: Bytes(0),
            cooling_rate: 0,
            throttled_rate: 0,
            stall_every: Bytes(0),
            stall: Nanos(0),
            pause_every: Nanos(0),
            pause: Nanos(0),
            jitter: 0.0,
            seed: 1,
            ideal: false,
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

    pub(crate) fn check(&self) -> Result<(), CardError> {
        let sizes = self.size_checks();
        let all = sizes.iter().chain(&self.share_checks()).chain(&self.time_checks()).copied().collect::<Vec<_>>();
        match all.iter().find(|(_, inside)| !inside) {
            Some((name, _)) => Err(CardError::Parameter(name)),
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
            ("victim", !matches!(self.victim, VictimPolicy::Choices(0 | 1))),
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

fn in_range(value: u64, least: u64, most: u64) -> bool {
    (least..=most).contains(&value)
}
