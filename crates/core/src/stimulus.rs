//! Runs sequences of steps on the workers of one drive and adds up what they did.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::active_range::ActiveRange;
use crate::addressed::{AskedPlaces, GridMask};
use crate::capture::Tap;
use crate::contract::{Bytes, Counters, DataPattern, Device, DeviceInfo, Nanos};
use crate::groups::{check_replay, continues, groups};
use crate::live::Second;
use crate::merging::Merging;
use crate::open_error::{OpenError, Opened};
use crate::pattern::Cursor;
use crate::record::{Ended, Returned, StepRecord, WorkerResult};
use crate::recorded::{Allowed, Recording};
use crate::sequence::{Opening, SharedSequence, SharedStep, WorkerTotal};
use crate::silence::{Sign, SilenceWatch};
use crate::step::{Demand, SequenceError, StepSpec};
use crate::worker::Worker;

/// How often the caller is asked whether to go on.
const POLL: Duration = Duration::from_millis(50);
/// A worker is waited for at most so long at its end: a drive that hangs may hold it for ever.
const FAREWELL: Duration = Duration::from_secs(2);

/// When a sequence is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Failed I/Os after which a sequence ends, at least 1.
    pub error_limit: u64,
    /// Longest time in which none of the oldest outstanding I/Os completes.
    pub io_time_limit: Nanos,
}

impl Default for Limits {
    /// 100 failed I/Os; 35 s, so that the kernel's own time limit of 30 s acts first.
    fn default() -> Self {
        Self { error_limit: 100, io_time_limit: Nanos(35_000_000_000) }
    }
}

/// How far a running sequence has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Index of the step that runs.
    pub step_index: usize,
    /// Completed I/Os of the sequence so far.
    pub io_count: u64,
    /// Sum of their response times.
    pub latency_sum: Nanos,
    /// Time since the sequence began, on the device's clock.
    pub elapsed: Nanos,
}

/// What the caller wants after a look at the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Continue,
    /// Stop submitting, keep what was measured.
    Stop,
}

/// What may hang on a sequence.
#[derive(Default)]
pub struct Attached {
    /// Where every completion is handed to.
    pub tap: Option<Tap>,
    /// The I/Os of its step that replays them.
    pub recording: Option<Recording>,
    /// Where the seconds of its steps are sent while it runs, in order, once all workers have closed them.
    pub seconds: Option<Sender<Second>>,
}

type Job<D> = Box<dyn FnOnce(&mut Worker<D>) + Send>;

struct WorkerThread<D> {
    jobs: Option<Sender<Job<D>>>,
    thread: Option<JoinHandle<()>>,
    /// Closed by the worker when it has let go of its device; locked for nobody, which makes it fit to be shared.
    gone: Mutex<Receiver<()>>,
}

/// The stimulus of one drive: its workers, alive for the whole run, with random streams and sequential
/// cursors that go on from sequence to sequence.
pub struct Stimulus<D> {
    workers: Vec<WorkerThread<D>>,
    info: DeviceInfo,
    cursors: Vec<(ActiveRange, usize, Arc<AtomicU64>)>,
}

impl<D: Device + 'static> Stimulus<D> {
    /// Start one thread per opener and open its device there.
    ///
    /// A real drive has one opener per thread of the largest demand; a simulated one has a single opener,
    /// whatever the demand.
    ///
    /// # Errors
    /// The first error of an opener, or that a thread cannot be started.
    ///
    /// # Panics
    /// When `openers` is empty.
    pub fn open<E, F>(seed: u64, openers: Vec<F>) -> Result<Self, OpenError<E>>
    where
        E: Send + 'static,
        F: FnOnce() -> Result<D, E> + Send + 'static,
    {
        assert!(!openers.is_empty(), "a stimulus needs at least one worker");
        let mut workers = Vec::with_capacity(openers.len());
        let mut info = None;
        for (index, opener) in openers.into_iter().enumerate() {
            let (worker, opened) = start_worker(seed, index, opener).map_err(OpenError::Thread)?;
            workers.push(worker);
            info = Some(opened.map_err(OpenError::Device)?);
        }
        Ok(Self { workers, info: info.expect("at least one worker was opened"), cursors: Vec::new() })
    }

    /// Capacity and logical block of the drive.
    #[must_use]
    pub fn info(&self) -> DeviceInfo {
        self.info
    }

    /// Run `work` on the first worker's device, between sequences.
    ///
    /// # Errors
    /// [`SequenceError::DeviceLost`] when the worker's thread has ended.
    pub fn with_device<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut D) -> R + Send + 'static,
    ) -> Result<R, SequenceError> {
        ask(&self.workers[0], work)
    }

    /// Run `work` on every worker's device, between sequences.
    ///
    /// # Errors
    /// [`SequenceError::DeviceLost`] when a worker's thread has ended.
    pub fn with_devices<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut D) -> R + Clone + Send + 'static,
    ) -> Result<Vec<R>, SequenceError> {
        self.workers.iter().map(|worker| ask(worker, work.clone())).collect()
    }

    /// Run the steps without a gap between them and return one record per step that was begun.
    ///
    /// `watch` is called about every 50 ms of real time.
    ///
    /// # Errors
    /// [`SequenceError`] before anything was submitted. What goes wrong later is in [`StepRecord::ended`].
    pub fn run(
        &mut self,
        steps: &[StepSpec],
        limits: Limits,
        watch: impl FnMut(Progress) -> Decision,
    ) -> Result<Vec<StepRecord>, SequenceError> {
        self.run_attached(steps, limits, Attached::default(), watch)
    }

    /// The same, with what is attached: it is let go of when the sequence is over.
    ///
    /// # Errors
    /// See [`Self::run`].
    pub fn run_attached(
        &mut self,
        steps: &[StepSpec],
        limits: Limits,
        mut attached: Attached,
        mut watch: impl FnMut(Progress) -> Decision,
    ) -> Result<Vec<StepRecord>, SequenceError> {
        let (merged, (publish, published)) = (attached.seconds.take(), channel());
        let mut sequence = self.share(steps, limits, attached)?;
        sequence.seconds = merged.is_some().then_some(publish);
        let sequence = Arc::new(sequence);
        let mut merging = merged.map(|merged| Merging::new(&sequence, published, merged));
        // Both ends of a sequence are read while no worker has an I/O outstanding, so that it is accounted for to the byte.
        let counters_before = self.counters()?;
        // A worker that is gone is found here, before the others wait for it to be ready.
        self.with_devices(|_| ())?;
        let (sender, receiver) = channel();
        for (index, worker) in self.workers.iter().enumerate() {
            let (sequence, sender) = (Arc::clone(&sequence), sender.clone());
            worker.send(Box::new(move |worker| drop(sender.send((index, worker.run(&sequence))))))?;
        }
        drop(sender);
        let mut silence = SilenceWatch::new(&sequence, Duration::from_nanos(limits.io_time_limit.0));
        let mut records = collect(&receiver, self.workers.len(), |results| {
            merging.iter_mut().for_each(Merging::pass_on);
            if watch(progress(&sequence)) == Decision::Stop {
                sequence.halt(Ended::Interrupted);
            }
            D::VIRTUAL_TIME || silence.look(&sequence, Instant::now(), results) == Sign::Alive
        })?;
        merging.iter_mut().for_each(Merging::pass_on);
        if !D::VIRTUAL_TIME {
            silence.note(&mut records);
        }
        if let Some(first) = records.first_mut() {
            first.counters_before = counters_before;
        }
        if let Some(last) = records.last_mut() {
            last.counters_after = self.counters()?;
        }
        Ok(records)
    }

    fn counters(&self) -> Result<Option<Counters>, SequenceError> {
        Ok(self.with_device(|device| device.probe(true))?.counters)
    }

    fn share(
        &mut self,
        specs: &[StepSpec],
        limits: Limits,
        attached: Attached,
    ) -> Result<SharedSequence, SequenceError> {
        check_replay(specs, attached.recording.is_some())?;
        let mut data: Vec<DataPattern> = Vec::new();
        let mut steps = Vec::with_capacity(specs.len());
        let groups = groups(specs)?;
        let (mut opening_count, mut immediate, mut continued) = (0, Vec::new(), None);
        for (index, spec) in specs.iter().enumerate() {
            if !spec.beside {
                let before = steps.last().map(|step: &SharedStep| groups[step.group]);
                let own = groups[before.map_or(0, |_| steps[index - 1].group + 1)];
                continued = before.filter(|before| continues(&specs[own.steps()], &specs[before.steps()]));
                if continued.is_none() {
                    opening_count += 1;
                    immediate.push(before.is_none_or(|before| specs[before.first].demand == Demand::IDLE));
                }
            }
            let data_index = data.iter().position(|known| *known == spec.pattern.data).unwrap_or_else(|| {
                data.push(spec.pattern.data.clone());
                data.len() - 1
            });
            let group = groups.partition_point(|group| group.first <= index) - 1;
            let member = index - groups[group].first;
            let mut step = self.share_step(index, spec, member)?;
            if let Some(before) = continued {
                step.thread_cursors = Arc::clone(&steps[before.first + member].thread_cursors);
            }
            (step.group, step.opening, step.data_index) = (group, opening_count - 1, data_index as u32);
            step.is_plain &= groups[group].count == 1;
            step.threads_before = specs[groups[group].first..index].iter().map(|spec| spec.demand.thread_count).sum();
            steps.push(step);
        }
        let worker_count = self.workers.len();
        let works = |worker: &usize| steps.iter().any(|step: &SharedStep| step.slots(*worker, worker_count) > 0);
        let busy_count = (0..worker_count).filter(works).count();
        // What is trimmed needs no memory.
        let moving = specs.iter().filter(|spec| spec.pattern.operation.moves_data());
        let transfer = moving.flat_map(|spec| spec.pattern.transfers()).max().unwrap_or(0);
        Ok(SharedSequence {
            openings: immediate.into_iter().map(|immediate| Opening::new(busy_count, immediate)).collect(),
            steps,
            groups,
            data,
            transfer: Bytes(transfer),
            worker_count,
            busy_count,
            ready: Barrier::new(worker_count),
            prepare_failed: AtomicBool::new(false),
            start: AtomicU64::new(0),
            halt: AtomicU8::new(0),
            errors: AtomicU64::new(0),
            error_limit: limits.error_limit,
            io_time_limit: limits.io_time_limit,
            step_index: AtomicUsize::new(0),
            tap: attached.tap,
            seconds: None,
            recording: Mutex::new(attached.recording),
            allowed: Allowed {
                capacity: self.info.capacity,
                logical_block: self.info.logical_block,
                transfer: Bytes(transfer),
            },
            worker_totals: self.workers.iter().map(|_| WorkerTotal::default()).collect(),
        })
    }

    fn share_step(&mut self, index: usize, spec: &StepSpec, member: usize) -> Result<SharedStep, SequenceError> {
        let pattern = spec.compile(index, self.info)?;
        let cursor = self.cursor(&spec.range, member);
        let divided = pattern.cursor() == Cursor::Shared && spec.demand.thread_count.min(self.workers.len() as u32) > 1;
        let places = AskedPlaces::new(spec, divided);
        Ok(SharedStep {
            is_plain: pattern.is_random() && pattern.moves_data(),
            thread_cursors: Arc::new(pattern.thread_starts(u64::from(spec.demand.thread_count))),
            grid: places.as_ref().map_or(GridMask::ALL, AskedPlaces::mask),
            places,
            pattern,
            group: 0,
            threads_before: 0,
            opening: 0,
            demand: spec.demand,
            stop: spec.stop,
            data_index: 0,
            cursor,
            claimed: AtomicU64::new(0),
            end: AtomicU64::new(Nanos::NEVER.0),
        })
    }

    /// The shared sequential cursor of a range, which goes on from step to step and sequence to sequence. Each `member` of
    /// a group has its own.
    fn cursor(&mut self, range: &ActiveRange, member: usize) -> Arc<AtomicU64> {
        let found = self.cursors.iter().find(|(known, place, _)| known == range && *place == member);
        if let Some((_, _, cursor)) = found {
            return Arc::clone(cursor);
        }
        let cursor = Arc::new(AtomicU64::new(0));
        self.cursors.push((range.clone(), member, Arc::clone(&cursor)));
        cursor
    }
}

impl<D> WorkerThread<D> {
    fn send(&self, job: Job<D>) -> Result<(), SequenceError> {
        let jobs = self.jobs.as_ref().ok_or(SequenceError::DeviceLost)?;
        jobs.send(job).map_err(|_| SequenceError::DeviceLost)
    }
}

impl<D> Drop for WorkerThread<D> {
    fn drop(&mut self) {
        self.jobs = None;
        let gone = self.gone.get_mut().map(|gone| gone.recv_timeout(FAREWELL));
        let held = matches!(gone, Ok(Err(RecvTimeoutError::Timeout)));
        if let Some(thread) = self.thread.take().filter(|_| !held) {
            // A worker that panicked has already reported itself as lost.
            let _ = thread.join();
        }
    }
}

fn start_worker<D, E, F>(seed: u64, index: usize, opener: F) -> io::Result<(WorkerThread<D>, Opened<E>)>
where
    D: Device + 'static,
    E: Send + 'static,
    F: FnOnce() -> Result<D, E> + Send + 'static,
{
    let (jobs, queue) = channel::<Job<D>>();
    let (report, outcome) = channel();
    let (present, gone) = channel::<()>();
    let body = move || {
        // Let go of last, also in a panic.
        let _present = present;
        match opener() {
            Ok(device) => {
                drop(report.send(Ok(device.info())));
                let mut worker = Worker::new(device, seed, index);
                for job in queue {
                    job(&mut worker);
                }
            }
            Err(error) => drop(report.send(Err(error))),
        }
    };
    let thread = Builder::new().name(format!("worker-{index}")).spawn(body)?;
    let info = outcome.recv().expect("a worker says whether its device opened");
    Ok((WorkerThread { jobs: Some(jobs), thread: Some(thread), gone: Mutex::new(gone) }, info))
}

fn ask<D: 'static, R: Send + 'static>(
    worker: &WorkerThread<D>,
    work: impl FnOnce(&mut D) -> R + Send + 'static,
) -> Result<R, SequenceError> {
    let (sender, receiver) = channel();
    worker.send(Box::new(move |worker| drop(sender.send(work(&mut worker.device)))))?;
    receiver.recv().map_err(|_| SequenceError::DeviceLost)
}

fn progress(sequence: &SharedSequence) -> Progress {
    let start = sequence.start.load(Ordering::Relaxed);
    let clock = sequence.worker_totals.iter().map(|worker| worker.clock.load(Ordering::Relaxed)).max().unwrap_or(0);
    Progress {
        step_index: sequence.step_index.load(Ordering::Relaxed),
        io_count: sequence.worker_totals.iter().map(|worker| worker.io_count.load(Ordering::Relaxed)).sum(),
        latency_sum: Nanos(
            sequence.worker_totals.iter().map(|worker| worker.latency_sum_ns.load(Ordering::Relaxed)).sum(),
        ),
        elapsed: Nanos(clock.saturating_sub(start)),
    }
}

/// Wait for all workers; `poll` says whether there is still something to wait for.
fn collect(
    receiver: &Receiver<(usize, WorkerResult)>,
    worker_count: usize,
    mut poll: impl FnMut(&Returned) -> bool,
) -> Result<Vec<StepRecord>, SequenceError> {
    let mut results = Returned::new();
    while results.len() < worker_count {
        match receiver.recv_timeout(POLL) {
            Ok((index, result)) => drop(results.insert(index, result)),
            Err(RecvTimeoutError::Timeout) if poll(&results) => {}
            Err(RecvTimeoutError::Timeout) => return Err(SequenceError::Stuck),
            Err(RecvTimeoutError::Disconnected) => return Err(SequenceError::DeviceLost),
        }
    }
    merge(results.into_values())
}

/// Add up the workers step by step; a worker may have begun one step fewer when the sequence was halted.
fn merge(results: impl Iterator<Item = WorkerResult>) -> Result<Vec<StepRecord>, SequenceError> {
    let mut merged: BTreeMap<usize, StepRecord> = BTreeMap::new();
    for result in results {
        for (index, record) in result.map_err(SequenceError::Prepare)?.into_iter().enumerate() {
            match merged.get_mut(&index) {
                Some(total) => total.merge(&record),
                None => drop(merged.insert(index, record)),
            }
        }
    }
    Ok(merged.into_values().collect())
}

#[cfg(test)]
#[path = "stimulus_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "live_tests.rs"]
mod live_tests;

#[cfg(test)]
#[path = "addressed_tests.rs"]
mod addressed_tests;

#[cfg(test)]
#[path = "group_tests.rs"]
mod group_tests;

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod recorded_tests;

#[cfg(test)]
#[path = "lead_in_tests.rs"]
mod lead_in_tests;

#[cfg(test)]
#[path = "silence_tests.rs"]
mod silence_tests;
