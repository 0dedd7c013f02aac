//! The physical parameters of a simulated drive.

use assay_core::contract::{Bytes, Nanos};

/// Bytes of one mapped page.
pub const PAGE_BYTES: u64 = 4096;

/// A drive's model card. Rates are in bytes per second, times in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// User capacity, a multiple of the logical block, 64 MiB to 16 TB.
    pub capacity: Bytes,
    /// Logical block, 512 or 4096.
    pub logical_block: Bytes,
    /// Flash beyond the user capacity as a share of it, 0.02 to 4; open and reserve units come on top.
    pub over_provisioning: f64,
    /// Channels, 1 to 64.
    pub channel_count: u32,
    /// Dies on each channel, 1 to 64.
    pub dies_per_channel: u32,
    /// Bytes that a die programs at once (NAND page x planes), a multiple of 4 KiB.
    pub program_unit: Bytes,
    /// Bytes of one die that are erased together (block x planes), a multiple of the program unit.
    pub erase_unit: Bytes,
    /// Time to read a page from the array (tR).
    pub read: Nanos,
    /// Time to program one program unit (tPROG).
    pub program: Nanos,
    /// Time to erase one erase unit (tBERS).
    pub erase: Nanos,
    /// Channel rate.
    pub channel_rate: u64,
    /// Host link rate, shared by both directions.
    pub link_rate: u64,
    /// Controller time per read command.
    pub read_command: Nanos,
    /// Controller time per write command.
    pub write_command: Nanos,
    /// Host data that may wait to be programmed, at least 4 program units.
    pub write_buffer: Bytes,
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
}

impl std::fmt::Display for CardError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Parameter(name) => write!(formatter, "{name} is outside its range"),
            Self::TooSmall { needed } => write!(formatter, "the capacity is below the {needed} bytes its dies need"),
        }
    }
}

impl Card {
    pub(crate) fn check(&self) -> Result<(), CardError> {
        let block = self.logical_block.0;
        let checks = [
            ("logical_block_bytes", block == 512 || block == 4096),
            ("capacity_bytes", in_range(self.capacity.0, 64 << 20, 16_000_000_000_000)),
            ("capacity_bytes", self.capacity.0.is_multiple_of(block.max(1))),
            ("over_provisioning", (0.02..=4.0).contains(&self.over_provisioning)),
            ("channel_count", in_range(u64::from(self.channel_count), 1, 64)),
            ("dies_per_channel", in_range(u64::from(self.dies_per_channel), 1, 64)),
            ("program_unit_bytes", self.program_unit.0 > 0 && self.program_unit.0.is_multiple_of(PAGE_BYTES)),
            ("erase_unit_bytes", self.erase_unit.0 > 0 && self.erase_unit.0.is_multiple_of(self.program_unit.0.max(1))),
            ("read_ns", in_range(self.read.0, 1, 1_000_000_000)),
            ("program_ns", in_range(self.program.0, 1, 1_000_000_000)),
            ("erase_ns", in_range(self.erase.0, 1, 10_000_000_000)),
            ("channel_bytes_per_s", in_range(self.channel_rate, 1_000_000, 1_000_000_000_000)),
            ("link_bytes_per_s", in_range(self.link_rate, 1_000_000, 1_000_000_000_000)),
            ("read_command_ns", self.read_command.0 <= 1_000_000_000),
            ("write_command_ns", self.write_command.0 <= 1_000_000_000),
            ("write_buffer_bytes", in_range(self.write_buffer.0, 4 * self.program_unit.0, 1 << 34)),
        ];
        match checks.iter().find(|(_, inside)| !inside) {
            Some((name, _)) => Err(CardError::Parameter(name)),
            None => Ok(()),
        }
    }
}

fn in_range(value: u64, least: u64, most: u64) -> bool {
    (least..=most).contains(&value)
}
