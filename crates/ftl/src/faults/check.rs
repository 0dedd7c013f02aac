//! Reads the faults of a file and refuses what cannot be meant.

use assay_core::contract::{Bytes, DeviceInfo, Errno};

use super::rule::{Rule, Target, Trigger};
use super::{Directions, Fault, Kind, Outcome};

/// Longest stall, reset, time limit and delay, in seconds.
const DURATION_S_MAX: f64 = 3_600.0;
/// Shortest of those, and of periods.
const SPAN_S_MIN: f64 = 0.001;
/// Latest time, in seconds.
const TIME_S_MAX: f64 = 1e9;
/// Most bytes or commands.
const AMOUNT_MAX: u64 = 1 << 60;
/// Time limit of a command where none is stated: that of Linux for `NVMe`.
const TIMEOUT_S: f64 = 30.0;

const TRIGGERS: &str = "at_s, every_s, after_written_bytes, after_commands or rate";

/// A fault that cannot be meant.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultError {
    /// The text is no list of faults: correct what is named.
    Text(String),
    /// A key of one fault.
    Key {
        /// Which fault, from 1.
        number: usize,
        /// Its key.
        key: &'static str,
        /// What is wrong with it.
        cause: Cause,
    },
}

/// What is wrong with a key of a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// This kind of fault has no such key: leave it out.
    Unused,
    /// This kind of fault needs the key: state it.
    Missing,
    /// So many triggers are stated: state exactly one.
    Triggers(usize),
    /// A number is outside its range, both ends included: choose one inside.
    Outside {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
    },
    /// Some of the range lies beyond the last block: choose a smaller one.
    Beyond {
        /// Blocks of the drive.
        block_count: u64,
    },
    /// No smaller drive of whole blocks: choose a multiple of the block below the capacity.
    NoSmaller {
        /// Block size in bytes.
        block: u64,
        /// The drive's capacity in bytes.
        capacity: u64,
    },
    /// What happens once cannot be counted: use `every_s` or `rate`, or leave the count out.
    Once,
    /// Only what is read is found to be bad: leave out the direction.
    Written,
}

impl std::fmt::Display for Cause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unused => formatter.write_str("is of no use here"),
            Self::Missing => formatter.write_str("is missing"),
            Self::Triggers(count) => write!(formatter, "needs exactly one of {TRIGGERS}, has {count}"),
            Self::Outside { least, most } => write!(formatter, "is outside {least} to {most}"),
            Self::Beyond { block_count } => write!(formatter, "reaches beyond the {block_count} blocks of the drive"),
            Self::NoSmaller { block, capacity } => {
                write!(formatter, "is no multiple of {block} from {block} up to below the capacity of {capacity}")
            }
            Self::Once => formatter.write_str("is for what can happen again"),
            Self::Written => {
                formatter.write_str("is not for blocks that fail until they are written: only reads find them")
            }
        }
    }
}

impl Cause {
    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unused => "leave it out",
            Self::Missing => "state it",
            Self::Triggers(_) => "state one of them",
            Self::Outside { .. } => "choose a value inside",
            Self::Beyond { .. } => "choose a smaller range, or a larger capacity",
            Self::NoSmaller { .. } => "choose a smaller capacity in whole blocks",
            Self::Once => "use every_s or rate, or leave the count out",
            Self::Written => "leave it out, or take until_written away",
        }
    }
}

impl std::fmt::Display for FaultError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(reason) => formatter.write_str(reason),
            Self::Key { number, key, cause } => write!(formatter, "fault {number}: {key} {cause}"),
        }
    }
}

/// Read a JSON list of [`Fault`]s for a drive and check every one.
///
/// # Errors
/// [`FaultError`] for the first that cannot be meant.
pub fn read_faults(text: &str, info: DeviceInfo) -> Result<Vec<Fault>, FaultError> {
    let faults: Vec<Fault> = serde_json::from_str(text).map_err(|error| FaultError::Text(error.to_string()))?;
    rules(&faults, info, 0)?;
    Ok(faults)
}

/// What the faults do to a drive. `seed`: of their draws.
pub(crate) fn rules(faults: &[Fault], info: DeviceInfo, seed: u64) -> Result<Vec<Rule>, FaultError> {
    let rule = |(index, fault): (usize, &Fault)| {
        let number = index + 1;
        let made = compile(fault, info).map(|target| Rule::new(target, seed, number as u64));
        made.map_err(|(key, cause)| FaultError::Key { number, key, cause })
    };
    faults.iter().enumerate().map(rule).collect()
}

type Wrong = (&'static str, Cause);

fn compile(fault: &Fault, info: DeviceInfo) -> Result<Target, Wrong> {
    refuse_unused(fault)?;
    let trigger = trigger(fault)?;
    // A drive model without a block is refused elsewhere.
    let block = info.logical_block.0.max(1);
    let range = range(fault, info.capacity.0 / block)?;
    let until_written = fault.until_written.unwrap_or(false);
    if until_written && fault.direction.is_some_and(|direction| direction != Directions::Read) {
        return Err(("direction", Cause::Written));
    }
    Ok(Target {
        kind: fault.kind,
        strikes: strikes(fault, &trigger)?,
        trigger,
        directions: if until_written { Directions::Read } else { fault.direction.unwrap_or_default() },
        from: range.0 * block,
        end: range.1 * block,
        until_written,
        duration: duration(fault)?,
        outcome: outcome(fault),
        errno: fault.errno.map(|name| Errno(name.number())),
        capacity: capacity(fault, info)?,
    })
}

/// Keys that a kind of fault has nothing to do with.
fn refuse_unused(fault: &Fault) -> Result<(), Wrong> {
    let commands = matches!(fault.kind, Kind::MediaError | Kind::Timeout);
    let fails = outcome(fault) == Outcome::Error && fault.kind != Kind::Stall && fault.kind != Kind::Gone;
    let keys = [
        ("jitter_s", fault.jitter_s.is_some(), fault.every_s.is_some()),
        ("direction", fault.direction.is_some(), commands),
        ("first_lba", fault.first_lba.is_some(), commands),
        ("lba_count", fault.lba_count.is_some(), commands),
        ("until_written", fault.until_written.is_some(), fault.kind == Kind::MediaError),
        ("duration_s", fault.duration_s.is_some(), !matches!(fault.kind, Kind::Shrink | Kind::Gone)),
        ("outcome", fault.outcome.is_some(), matches!(fault.kind, Kind::Timeout | Kind::Reset)),
        ("errno", fault.errno.is_some(), fails),
        ("capacity_bytes", fault.capacity_bytes.is_some(), fault.kind == Kind::Shrink),
    ];
    match keys.into_iter().find(|(_, stated, used)| *stated && !used) {
        Some((key, ..)) => Err((key, Cause::Unused)),
        None => Ok(()),
    }
}

fn trigger(fault: &Fault) -> Result<Trigger, Wrong> {
    let found = [
        fault.at_s.map(|at| seconds("at_s", at, 0.0, TIME_S_MAX).map(Trigger::At)),
        fault.every_s.map(|period| every(period, fault.jitter_s.unwrap_or(0.0))),
        fault.after_written_bytes.map(|bytes| amount("after_written_bytes", bytes).map(Trigger::Written)),
        fault.after_commands.map(|count| amount("after_commands", count).map(Trigger::Commands)),
        fault.rate.map(|rate| share("rate", rate).map(Trigger::Rate)),
    ];
    let mut stated: Vec<_> = found.into_iter().flatten().collect();
    match (stated.pop(), stated.len()) {
        (Some(only), 0) => only,
        (None, _) => Err(("trigger", Cause::Triggers(0))),
        (Some(_), more) => Err(("trigger", Cause::Triggers(more + 1))),
    }
}

fn every(period_s: f64, jitter_s: f64) -> Result<Trigger, Wrong> {
    let period = seconds("every_s", period_s, SPAN_S_MIN, TIME_S_MAX)?;
    let jitter = seconds("jitter_s", jitter_s, 0.0, TIME_S_MAX)?;
    // Later than the next one would be none of its own.
    if jitter >= period {
        return Err(("jitter_s", Cause::Outside { least: 0.0, most: period_s }));
    }
    Ok(Trigger::Every { period, jitter })
}

/// The range in blocks: its first, and the one behind its last.
fn range(fault: &Fault, block_count: u64) -> Result<(u64, u64), Wrong> {
    let first = fault.first_lba.unwrap_or(0);
    if first >= block_count {
        return Err(("first_lba", Cause::Beyond { block_count }));
    }
    let count = fault.lba_count.unwrap_or(block_count - first);
    if count == 0 || count > block_count - first {
        return Err(("lba_count", Cause::Beyond { block_count }));
    }
    Ok((first, first + count))
}

fn strikes(fault: &Fault, trigger: &Trigger) -> Result<u64, Wrong> {
    let again = matches!(trigger, Trigger::Every { .. } | Trigger::Rate(_));
    let commands = matches!(fault.kind, Kind::MediaError | Kind::Timeout) && fault.until_written != Some(true);
    let lasting = matches!(fault.kind, Kind::Shrink | Kind::Gone);
    match fault.count {
        Some(0) => Err(("count", Cause::Outside { least: 1.0, most: AMOUNT_MAX as f64 })),
        Some(_) if lasting || !(again || commands) => Err(("count", Cause::Once)),
        Some(count) => amount("count", count),
        None if again && !lasting => Ok(u64::MAX),
        None => Ok(1),
    }
}

fn duration(fault: &Fault) -> Result<u64, Wrong> {
    let (least, otherwise) = match fault.kind {
        Kind::MediaError => (0.0, Some(0.0)),
        Kind::Timeout => (SPAN_S_MIN, Some(TIMEOUT_S)),
        Kind::Stall | Kind::Reset => (SPAN_S_MIN, None),
        Kind::Shrink | Kind::Gone => return Ok(0),
    };
    let stated = fault.duration_s.or(otherwise).ok_or(("duration_s", Cause::Missing))?;
    seconds("duration_s", stated, least, DURATION_S_MAX)
}

fn outcome(fault: &Fault) -> Outcome {
    fault.outcome.unwrap_or(if fault.kind == Kind::Reset { Outcome::Retry } else { Outcome::Error })
}

fn capacity(fault: &Fault, info: DeviceInfo) -> Result<Bytes, Wrong> {
    if fault.kind != Kind::Shrink {
        return Ok(info.capacity);
    }
    let (block, capacity) = (info.logical_block.0, info.capacity.0);
    let left = fault.capacity_bytes.ok_or(("capacity_bytes", Cause::Missing))?;
    if left == 0 || left >= capacity || !left.is_multiple_of(block) {
        return Err(("capacity_bytes", Cause::NoSmaller { block, capacity }));
    }
    Ok(Bytes(left))
}

/// Seconds in range, in nanoseconds.
fn seconds(key: &'static str, value: f64, least: f64, most: f64) -> Result<u64, Wrong> {
    // A number that is none lies in no range.
    if (least..=most).contains(&value) {
        Ok((value * 1e9).round() as u64)
    } else {
        Err((key, Cause::Outside { least, most }))
    }
}

fn amount(key: &'static str, value: u64) -> Result<u64, Wrong> {
    if (1..=AMOUNT_MAX).contains(&value) {
        Ok(value)
    } else {
        Err((key, Cause::Outside { least: 1.0, most: AMOUNT_MAX as f64 }))
    }
}

/// A probability as the part of 2^64 that is below it.
fn share(key: &'static str, value: f64) -> Result<u128, Wrong> {
    if (0.0..=1.0).contains(&value) {
        Ok((value * 18_446_744_073_709_551_616.0) as u128)
    } else {
        Err((key, Cause::Outside { least: 0.0, most: 1.0 }))
    }
}
