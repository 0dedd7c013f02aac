//! The stimulus of one drive as a Python object; one call runs one sequence.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use assay_core::contract::{Bytes, DeviceInfo, Nanos};
use assay_core::live::Second;
use assay_core::sampled::Sampling;
use assay_core::step::SequenceError;
use assay_core::stimulus::{Attached, Decision, Limits, Progress, Stimulus};
use assay_ftl::disk::SimulatedDisk;
use assay_ftl::drive::SimulatedDrive;
use assay_ftl::faults::Faulty;
use assay_ftl::model::DriveModel;
use assay_uring::device::{Target, UringDevice, duplicate};
use assay_uring::discard::TrimWay;
use assay_uring::locked::{ring_bytes, worker_share};
use assay_uring::null::NullDevice;
use assay_uring::path::Path;
use assay_uring::processors::admit_kernel_threads;
use assay_uring::trial::{Share, try_host};
use pyo3::prelude::*;

use crate::errors::{assay_error, drive_model_error, io_error, not_opened, sequence_error};
use crate::faults::{Happened, faults_of, happened, no_faults, present};
use crate::models::read_model;
use crate::paths::{open_error, path_error, path_of};
use crate::read_back::{NativeReadBack, read_back};
use crate::records::records_text;
use crate::replay::Replayer;
use crate::specs::{DataFiles, read_sequence};
use crate::state;
use crate::trace::Tracer;

/// Progress is shown at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(500);
/// Seconds that have ended are handed on at most this often.
const HAND_ON_EVERY: Duration = Duration::from_millis(200);

/// A step of a second and its direction, with I/Os, bytes, sum and maximum of their latencies in ns.
type Point = (usize, usize, u64, u64, u64, u64);
/// Step, second, what it covers in ns, and what completed in it.
type Row = (usize, usize, u64, Vec<Point>);

/// Rows that a capture has written, and completions that it has lost.
type Traced = (u64, u64);

type Disclosed = (&'static str, i32, bool, bool, &'static str);

enum Engine {
    Simulated(Stimulus<SimulatedDrive>),
    SimulatedDisk(Stimulus<SimulatedDisk>),
    Faulty(Stimulus<Faulty<SimulatedDrive>>),
    FaultyDisk(Stimulus<Faulty<SimulatedDisk>>),
    Null(Stimulus<NullDevice>),
    Real(Stimulus<UringDevice>),
}

/// The stimulus of one drive, alive for the whole run.
#[pyclass]
pub(crate) struct NativeStimulus {
    engine: Option<Engine>,
    files: DataFiles,
}

#[pymethods]
impl NativeStimulus {
    /// Drive a fresh simulated drive; `model` is a JSON text as for `drive_model_fault`.
    #[staticmethod]
    fn simulated(model: &str, seed: u64, epoch_wall_ns: u64) -> PyResult<Self> {
        let epoch = Nanos(epoch_wall_ns);
        let opened = match read_model(model)? {
            DriveModel::Flash(model) => {
                Stimulus::open(seed, vec![move || SimulatedDrive::new(model, epoch)]).map(Engine::Simulated)
            }
            DriveModel::Disk(model) => {
                Stimulus::open(seed, vec![move || SimulatedDisk::new(model, epoch)]).map(Engine::SimulatedDisk)
            }
        };
        Ok(Self::of(opened.map_err(|error| not_opened(error, |error| drive_model_error(&error)))?))
    }

    /// The same with faults: a JSON list of `assay_ftl::faults::Fault`, whose draws follow from the drive model's seed.
    #[staticmethod]
    fn faulty(model: &str, seed: u64, epoch_wall_ns: u64, faults: &str) -> PyResult<Self> {
        const CHECKED: &str = "the faults were checked for this drive";
        let epoch = Nanos(epoch_wall_ns);
        let opened = match read_model(model)? {
            DriveModel::Flash(model) => {
                let (faults, draws) = (faults_of(faults, model.capacity, model.logical_block)?, model.seed);
                let wrap = move |drive| Faulty::new(drive, &faults, draws).expect(CHECKED);
                Stimulus::open(seed, vec![move || SimulatedDrive::new(model, epoch).map(wrap)]).map(Engine::Faulty)
            }
            DriveModel::Disk(model) => {
                let (faults, draws) = (faults_of(faults, model.capacity, model.logical_block)?, model.seed);
                let wrap = move |drive| Faulty::new(drive, &faults, draws).expect(CHECKED);
                Stimulus::open(seed, vec![move || SimulatedDisk::new(model, epoch).map(wrap)]).map(Engine::FaultyDisk)
            }
        };
        Ok(Self::of(opened.map_err(|error| not_opened(error, |error| drive_model_error(&error)))?))
    }

    /// Drive a simulated drive from the state that a file holds; see `keep_state`.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
    fn from_state(model: &str, seed: u64, epoch_wall_ns: u64, path: PathBuf) -> PyResult<Self> {
        let DriveModel::Flash(model) = read_model(model)? else { return Err(no_state()) };
        let from = path.clone();
        let opened = Stimulus::open(seed, vec![move || state::load(model, Nanos(epoch_wall_ns), &from)]);
        let opened = opened.map_err(|error| not_opened(error, |error| state::state_error(&path, &error)))?;
        Ok(Self::of(Engine::Simulated(opened)))
    }

    /// Drive nothing: I/Os go to the kernel and come back at once, or after a constant time in ns.
    ///
    /// The threads are spread over `cpus` as those of `real` are.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
    fn null(seed: u64, answer_ns: Option<u64>, thread_count: u32, cpus: Vec<u32>) -> PyResult<Self> {
        let placed = worker_cpus(&cpus).take(thread_count.max(1) as usize);
        let openers = placed.map(|cpu| move || NullDevice::placed(answer_ns.map(Nanos), cpu)).collect();
        let opened = Stimulus::open(seed, openers);
        let stimulus = opened.map_err(|error| not_opened(error, |error| io_error(&error)))?;
        Ok(Self::of(Engine::Null(stimulus)))
    }

    /// Drive a real device through a descriptor that the gate opened; it is duplicated, not taken.
    ///
    /// The threads are spread over `cpus`, again and again where there are more of them; an empty list leaves them free.
    /// `ring_beyond`: what system calls cannot carry goes over a ring. About 1,000 blocks of each `written_range_bytes` are
    /// remembered for `read_back`.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
    #[allow(clippy::too_many_arguments, reason = "named one by one on the Python side")]
    fn real(
        descriptor: i32,
        capacity_bytes: u64,
        logical_block_bytes: u64,
        thread_count: u32,
        seed: u64,
        data_origin: u64,
        written_range_bytes: u64,
        transfer_bytes_max: u64,
        counters_path: Option<PathBuf>,
        path: &str,
        ring_beyond: bool,
        cpus: Vec<u32>,
    ) -> PyResult<Self> {
        let path = path_of(path)?;
        if path == Path::KernelThread {
            admit_kernel_threads(thread_count as usize).map_err(|crowded| path_error(path, &crowded.to_string()))?;
        }
        let info = DeviceInfo { capacity: Bytes(capacity_bytes), logical_block: Bytes(logical_block_bytes) };
        let locked_max = worker_share(thread_count as usize);
        let sampling = Sampling::new(info, Bytes(written_range_bytes), data_origin);
        let mut openers = Vec::new();
        for (worker, cpu) in (0..u64::from(thread_count)).zip(worker_cpus(&cpus)) {
            let target = Target {
                descriptor: duplicate(descriptor).map_err(|error| io_error(&error))?,
                info,
                counters: counters_path.clone(),
                data_origin: data_origin ^ (worker << 48),
                sampling,
                transfer: Bytes(transfer_bytes_max),
                path,
                ring_beyond,
                locked_max,
                cpu,
            };
            openers.push(move || UringDevice::new(target));
        }
        let opened = Stimulus::open(seed, openers);
        let stimulus = opened.map_err(|error| not_opened(error, |error| open_error(path, &error)))?;
        Ok(Self::of(Engine::Real(stimulus)))
    }

    /// Take for a moment everything that the workers of a run take of this host; nothing is written anywhere.
    ///
    /// `shares` has the I/Os outstanding, the bytes of buffers and the open files of each worker. Returns the resource that was
    /// refused (`thread`, `file`, `memory` or `ring`) and the errno; None where all is there.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
    fn try_host(
        py: Python<'_>,
        path: &str,
        shares: Vec<(u32, u64, u32)>,
        spare_file_count: u32,
        spare_thread_count: u32,
    ) -> PyResult<Option<(&'static str, i32)>> {
        let path = path_of(path)?;
        let share = |&(slot_count, buffer_bytes, file_count)| Share { slot_count, buffer_bytes, file_count };
        let shares: Vec<_> = shares.iter().map(share).collect();
        let tried = py.detach(|| try_host(path, &shares, spare_file_count, spare_thread_count));
        Ok(tried.err().map(|lack| (lack.resource.name(), lack.error.raw_os_error().unwrap_or(0))))
    }

    /// What a ring for so many I/Os at a time takes of locked memory, at most, in bytes.
    #[staticmethod]
    fn ring_locked_bytes(path: &str, slot_count: u32) -> PyResult<u64> {
        Ok(ring_bytes(slot_count, path_of(path)?).0)
    }

    /// Run the steps without a gap and return one record per step that was begun, as JSON.
    ///
    /// `sequence` is the JSON text `{"ranges": [...], "steps": [...], "order": [0, 0, 1], "labels": [...]}`: steps that differ, each with the index
    /// of its range, and the order in which they are run.
    /// `watch(step_index, io_count, latency_ns_sum, elapsed_ns)` is called at most twice a second. Ctrl-C ends the sequence:
    /// the last record then says `interrupted`. `capture` is a file for every completion and whether places and sizes are
    /// kept; its rows, and the completions that were lost, are returned beside the records. `replay` is the file of the I/Os
    /// that a step of the operation `replay` issues. An I/O that is outstanding for
    /// longer than `io_time_limit_ns` ends the sequence as `hung`. `seconds` is called with the seconds that have ended since,
    /// in order: (step, second, covered ns, points); a point is (step, place of the direction, I/Os, bytes, latency sum, maximum).
    #[allow(clippy::too_many_arguments, reason = "named one by one on the Python side")]
    fn run(
        &mut self,
        py: Python<'_>,
        sequence: &str,
        error_limit: u64,
        io_time_limit_ns: u64,
        watch: Option<Py<PyAny>>,
        capture: Option<(PathBuf, bool)>,
        replay: Option<PathBuf>,
        seconds: Option<Py<PyAny>>,
    ) -> PyResult<(String, Option<Traced>)> {
        let (steps, labels) = read_sequence(sequence, &mut self.files)?;
        let limits = Limits { error_limit, io_time_limit: Nanos(io_time_limit_ns) };
        let (mut watcher, seconds) = Watcher::new(watch, seconds);
        let engine = self.engine()?;
        // Time is virtual on a simulated drive: there the loop may wait for the file.
        let waits = !matches!(engine, Engine::Real(_) | Engine::Null(_));
        let tracing = capture.map(|(path, addresses)| Tracer::start(&path, addresses, waits)).transpose()?;
        let (tracer, tap) = tracing.unzip();
        let (reader, recording) = replay.map(|path| Replayer::start(&path)).transpose()?.unzip();
        let attached = Attached { tap, recording, seconds };
        let (records, captured, replayed, lost) = py.detach(|| {
            let look = |progress| watcher.look(progress);
            let records = match engine {
                Engine::Simulated(stimulus) => stimulus.run_attached(&steps, limits, attached, look),
                Engine::SimulatedDisk(stimulus) => stimulus.run_attached(&steps, limits, attached, look),
                Engine::Faulty(stimulus) => stimulus.run_attached(&steps, limits, attached, look),
                Engine::FaultyDisk(stimulus) => stimulus.run_attached(&steps, limits, attached, look),
                Engine::Null(stimulus) => stimulus.run_attached(&steps, limits, attached, look),
                Engine::Real(stimulus) => stimulus.run_attached(&steps, limits, attached, look),
            };
            // A drive that holds a worker for ever holds the recording, too.
            let lost = matches!(records, Err(SequenceError::Stuck));
            let replayed = reader.filter(|_| !lost).map(Replayer::finish).transpose();
            (records, tracer.map(Tracer::finish).transpose(), replayed, lost)
        });
        let handed_on = Python::attach(|py| watcher.show_seconds(py));
        watcher.outcome(lost)?;
        // Ctrl-C that comes here is in no record.
        handed_on?;
        let records = records.map_err(|error| sequence_error(&error))?;
        replayed?;
        Ok((records_text(&records, &labels), captured?))
    }

    /// Purge a simulated drive; the virtual time it took, in ns. None on a real drive.
    fn purge_simulated(&mut self) -> PyResult<Option<u64>> {
        let purged = match self.engine()? {
            Engine::Simulated(stimulus) => stimulus.with_device(SimulatedDrive::purge),
            Engine::SimulatedDisk(stimulus) => stimulus.with_device(SimulatedDisk::purge),
            Engine::Faulty(stimulus) => stimulus.with_device(|drive| drive.purge(SimulatedDrive::purge)),
            Engine::FaultyDisk(stimulus) => stimulus.with_device(|drive| drive.purge(SimulatedDisk::purge)),
            Engine::Null(_) | Engine::Real(_) => return Ok(None),
        };
        Ok(Some(purged.map_err(|error| sequence_error(&error))?.0))
    }

    /// Free what lies between two places of simulated flash, in bytes, as a trim command does.
    fn trim_simulated(&mut self, from_bytes: u64, to_bytes: u64) -> PyResult<()> {
        let (from, to) = (Bytes(from_bytes), Bytes(to_bytes));
        let trimmed = match self.engine()? {
            Engine::Faulty(stimulus) => stimulus.with_device(move |drive| drive.trim(from, to)),
            _ => self.flash()?.with_device(move |drive| drive.trim(from, to)),
        };
        trimmed.map_err(|error| sequence_error(&error))
    }

    /// Switch the volatile write cache of simulated flash.
    fn switch_write_cache_simulated(&mut self, enabled: bool) -> PyResult<()> {
        let switched = match self.engine()? {
            Engine::Faulty(stimulus) => stimulus.with_device(move |drive| drive.switch_write_cache(enabled)),
            _ => self.flash()?.with_device(move |drive| drive.switch_write_cache(enabled)),
        };
        switched.map_err(|error| sequence_error(&error))
    }

    /// What faults have left of a simulated drive's capacity, in bytes; None where it is gone.
    fn present_bytes(&mut self) -> PyResult<Option<u64>> {
        match self.engine()? {
            Engine::Faulty(stimulus) => present(stimulus),
            Engine::FaultyDisk(stimulus) => present(stimulus),
            _ => Err(no_faults()),
        }
    }

    /// What faults did since this was last asked: (time in ns on the drive's clock, level of the kernel's log, text) each,
    /// and how many more there were.
    fn fault_events(&mut self) -> PyResult<Happened> {
        match self.engine()? {
            Engine::Faulty(stimulus) => happened(stimulus),
            Engine::FaultyDisk(stimulus) => happened(stimulus),
            _ => Err(no_faults()),
        }
    }

    /// Read blocks back that were written last, `count` of them or all, for `limit_ns` at most; `turn` chooses others each time.
    ///
    /// Their content is made again and compared whole. None on a drive without data: simulated, or none at all.
    fn read_back(
        &mut self,
        py: Python<'_>,
        count: Option<u64>,
        turn: u64,
        limit_ns: u64,
    ) -> PyResult<Option<NativeReadBack>> {
        let Engine::Real(stimulus) = self.engine()? else { return Ok(None) };
        py.detach(|| read_back(stimulus, count, turn, Nanos(limit_ns))).map(Some)
    }

    /// Of each worker, the origin of its data and its writes so far; none of a drive that holds no data.
    fn written(&mut self) -> PyResult<Vec<(u64, u64)>> {
        let Engine::Real(stimulus) = self.engine()? else { return Ok(Vec::new()) };
        stimulus.with_devices(|device| device.written()).map_err(|error| sequence_error(&error))
    }

    /// Something else than this stimulus changed what lies between two places, in bytes.
    fn forget_written(&mut self, from_bytes: u64, to_bytes: u64) -> PyResult<()> {
        let Engine::Real(stimulus) = self.engine()? else { return Ok(()) };
        let (from, to) = (Bytes(from_bytes), Bytes(to_bytes));
        stimulus.with_devices(move |device| device.forget(from, to)).map_err(|error| sequence_error(&error))?;
        Ok(())
    }

    /// Keep the state of simulated flash in a file.
    #[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
    fn keep_state(&mut self, path: PathBuf) -> PyResult<()> {
        let to = path.clone();
        let kept = self.flash()?.with_device(move |drive| state::save(drive, &to));
        kept.map_err(|error| sequence_error(&error))?.map_err(|error| state::state_error(&path, &error))
    }

    /// SHA-256 of the state of simulated flash, in hexadecimal digits.
    fn state_hash(&mut self) -> PyResult<String> {
        self.flash()?.with_device(|drive| state::hash(drive)).map_err(|error| sequence_error(&error))
    }

    /// (path, errno that refused to register buffers, completions deferred, stamps of the counter, how trims reach the drive)
    /// of the last sequence.
    ///
    /// The errno is 0 where they are registered. None on a simulated drive.
    fn disclosure(&mut self) -> PyResult<Option<Disclosed>> {
        match self.engine()? {
            Engine::Simulated(_)
            | Engine::SimulatedDisk(_)
            | Engine::Faulty(_)
            | Engine::FaultyDisk(_)
            | Engine::Null(_) => Ok(None),
            Engine::Real(stimulus) => {
                let workers =
                    stimulus.with_devices(|device| device.disclosure()).map_err(|error| sequence_error(&error))?;
                let workers: Vec<_> = workers.into_iter().flatten().collect();
                let refused = workers.iter().find_map(|how| how.registration_refused).map_or(0, |errno| errno.0);
                let deferred = workers.iter().all(|how| how.deferred_completions);
                Ok(workers.first().map(|how| {
                    let trims = how.trims.map_or("", TrimWay::name);
                    (how.path.name(), refused, deferred, how.counter_clock, trims)
                }))
            }
        }
    }

    /// End the workers and let go of the drive.
    fn close(&mut self, py: Python<'_>) {
        let engine = self.engine.take();
        py.detach(|| drop(engine));
    }
}

/// The CPU of every worker in turn, without an end.
fn worker_cpus(cpus: &[u32]) -> impl Iterator<Item = Option<u32>> {
    cpus.iter().copied().map(Some).cycle().chain(std::iter::repeat(None))
}

fn no_state() -> PyErr {
    assay_error("ValueRangeError", "drive", "is not simulated flash", "choose one that is; see assay drives")
}

impl NativeStimulus {
    fn of(engine: Engine) -> Self {
        Self { engine: Some(engine), files: DataFiles::new() }
    }

    fn flash(&mut self) -> PyResult<&mut Stimulus<SimulatedDrive>> {
        match self.engine()? {
            Engine::Simulated(stimulus) => Ok(stimulus),
            _ => Err(no_state()),
        }
    }

    fn engine(&mut self) -> PyResult<&mut Engine> {
        self.engine
            .as_mut()
            .ok_or_else(|| assay_error("DeviceFailureError", "stimulus", "has been closed", "open the drive again"))
    }
}

/// Asks Python for signals and shows it the progress, while the sequence runs without the GIL.
struct Watcher {
    watch: Option<Py<PyAny>>,
    shown: Instant,
    seconds: Option<(Py<PyAny>, Receiver<Second>)>,
    handed_on: Instant,
    error: Option<PyErr>,
}

impl Watcher {
    /// With where the seconds of the sequence are to be sent.
    fn new(watch: Option<Py<PyAny>>, seconds: Option<Py<PyAny>>) -> (Self, Option<Sender<Second>>) {
        let (sender, seconds) =
            seconds.map(|call| (call, channel())).map(|(call, (to, from))| (to, (call, from))).unzip();
        let now = Instant::now();
        (Self { watch, shown: now, seconds, handed_on: now, error: None }, sender)
    }

    fn look(&mut self, progress: Progress) -> Decision {
        let looked = Python::attach(|py| {
            py.check_signals()?;
            if self.handed_on.elapsed() >= HAND_ON_EVERY {
                self.handed_on = Instant::now();
                self.show_seconds(py)?;
            }
            self.show(py, progress)
        });
        match looked {
            Ok(()) => Decision::Continue,
            Err(error) => {
                self.error = Some(error);
                Decision::Stop
            }
        }
    }

    fn show(&mut self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        if let Some(watch) = self.watch.as_ref().filter(|_| self.shown.elapsed() >= SHOW_EVERY) {
            self.shown = Instant::now();
            let Progress { step_index, io_count, latency_sum, elapsed } = progress;
            watch.call1(py, (step_index, io_count, latency_sum.0, elapsed.0))?;
        }
        Ok(())
    }

    /// Hand on the seconds that ended last.
    fn show_seconds(&self, py: Python<'_>) -> PyResult<()> {
        let Some((call, seconds)) = &self.seconds else { return Ok(()) };
        let rows: Vec<Row> = seconds.try_iter().map(|second| row(&second)).collect();
        if !rows.is_empty() {
            call.call1(py, (rows,))?;
        }
        Ok(())
    }

    /// Ctrl-C is told by the last record, unless there is none; any other error of the watcher is raised.
    fn outcome(self, without_records: bool) -> PyResult<()> {
        let Some(error) = self.error else { return Ok(()) };
        let interrupted = Python::attach(|py| error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py));
        if interrupted && !without_records { Ok(()) } else { Err(error) }
    }
}

/// A second as Python has it, without directions in which nothing completed.
fn row(second: &Second) -> Row {
    let steps = (second.step..).zip(&second.sides);
    let points = steps.flat_map(|(step, sides)| {
        sides.iter().enumerate().filter(|(_, point)| point.io_count > 0).map(move |(side, point)| {
            (step, side, point.io_count, point.bytes, point.latency_sum_ns, point.latency_max_ns)
        })
    });
    (second.step, second.index, second.covered.0, points.collect())
}
