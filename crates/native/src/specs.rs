//! Reads the frozen records of `assay.records` by their attributes.

use std::collections::HashMap;
use std::sync::Arc;

use assay_core::active_range::ActiveRange;
use assay_core::arrival::{Arrival, ArrivalProcess};
use assay_core::contract::{Bytes, DataPattern, Nanos};
use assay_core::pattern::{AccessPattern, Cursor};
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_ftl::card::{Card, VictimPolicy};
use pyo3::prelude::*;

use crate::errors::{assay_error, range_error};
use crate::words::meaning;

#[derive(FromPyObject)]
pub(crate) struct PyDataPattern {
    kind: String,
    stored_share: f64,
    pool_bytes: u64,
    path: String,
}

#[derive(FromPyObject)]
pub(crate) struct PyAccessPattern {
    sizes: Vec<(u64, f64)>,
    read_share: f64,
    random_share: f64,
    alignment_bytes: u64,
    lba_groups: Vec<(f64, f64)>,
    cursor: String,
    writes_tail: bool,
    data: PyDataPattern,
}

#[derive(FromPyObject)]
pub(crate) struct PyDemand {
    thread_count: u32,
    queue_depth: u32,
    arrivals_per_s: Option<f64>,
    arrival_process: String,
}

impl PyDemand {
    fn convert(&self) -> PyResult<Demand> {
        let known = [("fixed", ArrivalProcess::Fixed), ("poisson", ArrivalProcess::Poisson)];
        let process = meaning("arrival process", &self.arrival_process, &known)?;
        let arrival = self.arrivals_per_s.map(|per_second| Arrival { per_second, process });
        Ok(Demand { thread_count: self.thread_count, queue_depth: self.queue_depth, arrival })
    }
}

#[derive(FromPyObject)]
pub(crate) struct PyActiveRange {
    segment_starts: Vec<u64>,
    segment_bytes: u64,
}

#[derive(FromPyObject)]
pub(crate) struct PyStopRule {
    time_ns: Option<u64>,
    amount_bytes: Option<u64>,
    io_count: Option<u64>,
}

#[derive(FromPyObject)]
pub(crate) struct PyStepSpec {
    pattern: PyAccessPattern,
    demand: PyDemand,
    active_range: PyActiveRange,
    stop: PyStopRule,
}

/// A drive model whose words are known.
pub(crate) struct PyCard(Card);

#[allow(clippy::struct_excessive_bools, reason = "the fields of assay.device.simulated.Card")]
#[derive(FromPyObject)]
struct PyCardFields {
    capacity_bytes: u64,
    logical_block_bytes: u64,
    map_unit_bytes: u64,
    over_provisioning: f64,
    purge_mapped_share: f64,
    channel_count: u32,
    dies_per_channel: u32,
    program_unit_bytes: u64,
    erase_unit_bytes: u64,
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    channel_bytes_per_s: u64,
    link_bytes_per_s: u64,
    full_duplex: bool,
    read_command_ns: u64,
    write_command_ns: u64,
    read_extra_ns: u64,
    write_extra_ns: u64,
    partial_write_ns: u64,
    protocol_ns: u64,
    queue_limit: u32,
    in_order: bool,
    reads_in_order: bool,
    write_buffer_bytes: u64,
    write_cache: bool,
    modify_reads_first: bool,
    victim: String,
    victim_choices: u32,
    shared_frontier: bool,
    collection_batch_bytes: u64,
    idle_delay_ns: u64,
    idle_target_share: f64,
    idle_share: f64,
    log_bytes: u64,
    merge_unit_bytes: u64,
    wear_levelling_every: u32,
    trim: bool,
    slc_cache_bytes: u64,
    slc_program_ns: u64,
    slc_fold_bytes_per_s: u64,
    map_cache_bytes: u64,
    write_limit_bytes_per_s: u64,
    write_limit_burst_bytes: u64,
    compresses: bool,
    heat_limit_bytes: u64,
    cooling_bytes_per_s: u64,
    throttled_bytes_per_s: u64,
    stall_every_bytes: u64,
    stall_ns: u64,
    pause_every_ns: u64,
    pause_ns: u64,
    spares_full_units: bool,
    jitter_share: f64,
    seed: u64,
    ideal: bool,
}

#[derive(Clone, Copy)]
enum DataKind {
    Random,
    Compressible,
    Stamped,
    Repeating,
    File,
}

const DATA_KINDS: [(&str, DataKind); 5] = [
    ("random", DataKind::Random),
    ("compressible", DataKind::Compressible),
    ("stamped", DataKind::Stamped),
    ("repeating", DataKind::Repeating),
    ("file", DataKind::File),
];

/// Data files by path, read once and then the same for the whole run.
pub(crate) type DataFiles = HashMap<String, Arc<[u8]>>;

impl PyDataPattern {
    pub(crate) fn convert(self, files: &mut DataFiles) -> PyResult<DataPattern> {
        Ok(match meaning("data kind", &self.kind, &DATA_KINDS)? {
            DataKind::Random => DataPattern::Random,
            DataKind::Compressible => DataPattern::Compressible { stored_share: self.stored_share },
            DataKind::Stamped => DataPattern::Stamped,
            DataKind::Repeating => DataPattern::Repeating { pool: Bytes(self.pool_bytes) },
            DataKind::File => DataPattern::File(read_once(files, &self.path)?),
        })
    }
}

fn read_once(files: &mut DataFiles, path: &str) -> PyResult<Arc<[u8]>> {
    if let Some(content) = files.get(path) {
        return Ok(Arc::clone(content));
    }
    let content: Arc<[u8]> = match std::fs::read(path) {
        Ok(content) if !content.is_empty() => content.into(),
        Ok(_) => return Err(assay_error("UsageError", path, "is empty", "name a file with data")),
        Err(error) => return Err(assay_error("UsageError", path, &error.to_string(), "name a readable data file")),
    };
    files.insert(path.to_owned(), Arc::clone(&content));
    Ok(content)
}

impl PyStepSpec {
    pub(crate) fn convert(self, files: &mut DataFiles) -> PyResult<StepSpec> {
        let PyActiveRange { segment_starts, segment_bytes } = self.active_range;
        Ok(StepSpec {
            pattern: self.pattern.convert(files)?,
            demand: self.demand.convert()?,
            range: ActiveRange::new(segment_starts, segment_bytes).map_err(|error| range_error(&error))?,
            stop: self.stop.convert()?,
        })
    }
}

impl PyAccessPattern {
    fn convert(self, files: &mut DataFiles) -> PyResult<AccessPattern> {
        Ok(AccessPattern {
            sizes: self.sizes,
            read_share: self.read_share,
            random_share: self.random_share,
            alignment: self.alignment_bytes,
            lba_groups: self.lba_groups,
            cursor: meaning("cursor", &self.cursor, &[("shared", Cursor::Shared), ("per_thread", Cursor::PerThread)])?,
            writes_tail: self.writes_tail,
            data: self.data.convert(files)?,
        })
    }
}

impl PyStopRule {
    fn convert(self) -> PyResult<StopRule> {
        match (self.time_ns, self.amount_bytes, self.io_count) {
            (Some(time), None, None) => Ok(StopRule::Time(Nanos(time))),
            (None, Some(amount), None) => Ok(StopRule::Amount(Bytes(amount))),
            (None, None, Some(count)) => Ok(StopRule::Count(count)),
            _ => Err(assay_error(
                "ValueRangeError",
                "stop rule",
                "needs exactly one of three",
                "set time, amount or count",
            )),
        }
    }
}

impl PyCard {
    pub(crate) fn convert(self) -> Card {
        self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for PyCard {
    type Error = PyErr;

    /// By hand, since a derived one would hide behind a `TypeError` why a word is refused.
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        object.extract::<PyCardFields>()?.convert().map(Self)
    }
}

impl PyCardFields {
    fn convert(self) -> PyResult<Card> {
        Ok(Card {
            capacity: Bytes(self.capacity_bytes),
            logical_block: Bytes(self.logical_block_bytes),
            map_unit: Bytes(self.map_unit_bytes),
            over_provisioning: self.over_provisioning,
            purge_mapped_share: self.purge_mapped_share,
            channel_count: self.channel_count,
            dies_per_channel: self.dies_per_channel,
            program_unit: Bytes(self.program_unit_bytes),
            erase_unit: Bytes(self.erase_unit_bytes),
            read: Nanos(self.read_ns),
            program: Nanos(self.program_ns),
            erase: Nanos(self.erase_ns),
            channel_rate: self.channel_bytes_per_s,
            link_rate: self.link_bytes_per_s,
            full_duplex: self.full_duplex,
            read_command: Nanos(self.read_command_ns),
            write_command: Nanos(self.write_command_ns),
            read_extra: Nanos(self.read_extra_ns),
            write_extra: Nanos(self.write_extra_ns),
            partial_write: Nanos(self.partial_write_ns),
            protocol: Nanos(self.protocol_ns),
            queue_limit: self.queue_limit,
            in_order: self.in_order,
            reads_in_order: self.reads_in_order,
            write_buffer: Bytes(self.write_buffer_bytes),
            write_cache: self.write_cache,
            modify_reads_first: self.modify_reads_first,
            victim: victim_policy(&self.victim, self.victim_choices)?,
            shared_frontier: self.shared_frontier,
            collection_batch: Bytes(self.collection_batch_bytes),
            idle_delay: Nanos(self.idle_delay_ns),
            idle_target: self.idle_target_share,
            idle_share: self.idle_share,
            log: Bytes(self.log_bytes),
            merge_unit: Bytes(self.merge_unit_bytes),
            wear_levelling_every: self.wear_levelling_every,
            trim: self.trim,
            slc_cache: Bytes(self.slc_cache_bytes),
            slc_program: Nanos(self.slc_program_ns),
            slc_fold_rate: self.slc_fold_bytes_per_s,
            map_cache: Bytes(self.map_cache_bytes),
            write_limit_rate: self.write_limit_bytes_per_s,
            write_limit_burst: Bytes(self.write_limit_burst_bytes),
            compresses: self.compresses,
            heat_limit: Bytes(self.heat_limit_bytes),
            cooling_rate: self.cooling_bytes_per_s,
            throttled_rate: self.throttled_bytes_per_s,
            stall_every: Bytes(self.stall_every_bytes),
            stall: Nanos(self.stall_ns),
            pause_every: Nanos(self.pause_every_ns),
            pause: Nanos(self.pause_ns),
            spares_full_units: self.spares_full_units,
            jitter: self.jitter_share,
            seed: self.seed,
            ideal: self.ideal,
        })
    }
}

fn victim_policy(name: &str, choices: u32) -> PyResult<VictimPolicy> {
    let known = [
        ("greedy", VictimPolicy::Greedy),
        ("fifo", VictimPolicy::Fifo),
        ("random", VictimPolicy::Random),
        ("choices", VictimPolicy::Choices(choices)),
    ];
    meaning("victim policy", name, &known)
}

/// First byte of each of `count` segments placed at random; see `assay_core::active_range`.
///
/// Raises `TooSmallError` where segments and the 1 MiB gaps between them do not fit into the capacity.
#[pyfunction]
pub(crate) fn place_segments(capacity_bytes: u64, count: u64, segment_bytes: u64, seed: u64) -> PyResult<Vec<u64>> {
    ActiveRange::place(Bytes(capacity_bytes), count, Bytes(segment_bytes), seed)
        .map(|range| range.starts().to_vec())
        .map_err(|error| range_error(&error))
}
