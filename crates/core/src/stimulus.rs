//! Runs programs of steps on the lanes of one drive and adds up what they did.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::active_range::ActiveRange;
use crate::capture::Tap;
use crate::contract::{Bytes, Counters, DataPattern, Device, DeviceInfo, Nanos};
use crate::lane::Lane;
use crate::program::{LaneTotal, Opening, SharedProgram, SharedStep};
use crate::record::{Ended, StepRecord};
use crate::silence::{Sign, SilenceWatch};
use crate::step::{Demand, ProgramError, StepSpec};

/// How often the caller is asked whether to go on.
const POLL: Duration = Duration::from_millis(50);
/// A lane is waited for at most so long at its end: a drive that hangs may hold it for ever.
const FAREWELL: Duration = Duration::from_secs(2);

/// When a program is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Failed I/Os after which a program ends, at least 1.
    pub error_limit: u64,
    /// Longest time without any completion while I/Os are outstanding.
    pub io_time_limit: Nanos,
}

impl Default for Limits {
    /// 100 failed I/Os; 35 s, so that the kernel's own time limit of 30 s acts first.
    fn default() -> Self {
        Self { error_limit: 100, io_time_limit: Nanos(35_000_000_000) }
    }
}

/// How far a running program has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Index of the step that runs.
    pub step_index: usize,
    /// Completed I/Os of the program so far.
    pub io_count: u64,
    /// Sum of their response times.
    pub latency_sum: Nanos,
    /// Time since the program began, on the device's clock.
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

type Job<D> = Box<dyn FnOnce(&mut Lane<D>) + Send>;

struct LaneThread<D> {
    jobs: Option<Sender<Job<D>>>,
    thread: Option<JoinHandle<()>>,
    /// Closed by the lane when it has let go of its device; locked for nobody, which makes it fit to be shared.
    gone: Mutex<Receiver<()>>,
}

/// The stimulus of one drive: its lanes, alive for the whole run, with random streams and sequential
/// cursors that go on from program to program.
pub struct Stimulus<D> {
    lanes: Vec<LaneThread<D>>,
    info: DeviceInfo,
    cursors: Vec<(ActiveRange, Arc<AtomicU64>)>,
}

impl<D: Device + 'static> Stimulus<D> {
    /// Start one thread per opener and open its device there.
    ///
    /// A real drive has one opener per thread of the largest demand; a simulated one has a single opener,
    /// whatever the demand.
    ///
    /// # Errors
    /// The first error of an opener.
    ///
    /// # Panics
    /// When `openers` is empty or the system cannot start a thread.
    pub fn open<E, F>(seed: u64, openers: Vec<F>) -> Result<Self, E>
    where
        E: Send + 'static,
        F: FnOnce() -> Result<D, E> + Send + 'static,
    {
        assert!(!openers.is_empty(), "a stimulus needs at least one lane");
        let mut lanes = Vec::with_capacity(openers.len());
        let mut info = None;
        for (index, opener) in openers.into_iter().enumerate() {
            let (lane, opened) = start_lane(seed, index, opener);
            lanes.push(lane);
            info = Some(opened?);
        }
        Ok(Self { lanes, info: info.expect("at least one lane was opened"), cursors: Vec::new() })
    }

    /// Capacity and logical block of the drive.
    #[must_use]
    pub fn info(&self) -> DeviceInfo {
        self.info
    }

    /// Run `work` on the first lane's device, between programs.
    ///
    /// # Errors
    /// [`ProgramError::DeviceLost`] when the lane's thread has ended.
    pub fn with_device<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut D) -> R + Send + 'static,
    ) -> Result<R, ProgramError> {
        ask(&self.lanes[0], work)
    }

    /// Run `work` on every lane's device, between programs.
    ///
    /// # Errors
    /// [`ProgramError::DeviceLost`] when a lane's thread has ended.
    pub fn with_devices<R: Send + 'static>(&self, work: fn(&D) -> R) -> Result<Vec<R>, ProgramError> {
        self.lanes.iter().map(|lane| ask(lane, move |device: &mut D| work(device))).collect()
    }

    /// Run the steps without a gap between them and return one record per step that was begun.
    ///
    /// `watch` is called about every 50 ms of real time.
    ///
    /// # Errors
    /// [`ProgramError`] before anything was submitted. What goes wrong later is in [`StepRecord::ended`].
    pub fn run(
        &mut self,
        steps: &[StepSpec],
        limits: Limits,
        watch: impl FnMut(Progress) -> Decision,
    ) -> Result<Vec<StepRecord>, ProgramError> {
        self.run_captured(steps, limits, None, watch)
    }

    /// The same, with every completion handed to a tap, which is let go of when the program is over.
    ///
    /// # Errors
    /// See [`Self::run`].
    pub fn run_captured(
        &mut self,
        steps: &[StepSpec],
        limits: Limits,
        tap: Option<Tap>,
        mut watch: impl FnMut(Progress) -> Decision,
    ) -> Result<Vec<StepRecord>, ProgramError> {
        let program = Arc::new(self.share(steps, limits, tap)?);
        // Both ends of a program are read while no lane has an I/O outstanding, so that it is accounted for to the byte.
        let counters_before = self.counters()?;
        // A lane that is gone is found here, before the others wait for it to be ready.
        self.with_devices(|_| ())?;
        let (sender, receiver) = channel();
        for (index, lane) in self.lanes.iter().enumerate() {
            let (program, sender) = (Arc::clone(&program), sender.clone());
            lane.send(Box::new(move |lane| drop(sender.send((index, lane.run(&program))))))?;
        }
        drop(sender);
        let mut silence = SilenceWatch::new(&program, Duration::from_nanos(limits.io_time_limit.0));
        let mut records = collect(&receiver, self.lanes.len(), |results| {
            if watch(progress(&program)) == Decision::Stop {
                program.halt(Ended::Interrupted);
            }
            D::VIRTUAL_TIME || silence.look(&program, Instant::now(), results) == Sign::Alive
        })?;
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

    fn counters(&self) -> Result<Option<Counters>, ProgramError> {
        Ok(self.with_device(|device| device.probe(true))?.counters)
    }

    fn share(&mut self, specs: &[StepSpec], limits: Limits, tap: Option<Tap>) -> Result<SharedProgram, ProgramError> {
        let mut data: Vec<DataPattern> = Vec::new();
        let mut steps = Vec::with_capacity(specs.len());
        let (mut opening_count, mut immediate) = (0, Vec::new());
        for (index, spec) in specs.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &specs[before]);
            if before.is_none_or(|before| !spec.continues(before)) {
                opening_count += 1;
                immediate.push(before.is_none_or(|before| before.demand == Demand::IDLE));
            }
            let data_index = data.iter().position(|known| *known == spec.pattern.data).unwrap_or_else(|| {
                data.push(spec.pattern.data.clone());
                data.len() - 1
            });
            steps.push(self.share_step(index, spec, opening_count - 1, data_index as u32)?);
        }
        let lane_count = self.lanes.len();
        let works = |lane: &usize| steps.iter().any(|step: &SharedStep| step.slots(*lane, lane_count) > 0);
        let worker_count = (0..lane_count).filter(works).count();
        let transfer = specs.iter().flat_map(|spec| &spec.pattern.sizes).map(|size| size.0).max().unwrap_or(0);
        Ok(SharedProgram {
            openings: immediate.into_iter().map(|immediate| Opening::new(worker_count, immediate)).collect(),
            steps,
            data,
            transfer: Bytes(transfer),
            lane_count,
            worker_count,
            ready: Barrier::new(lane_count),
            prepare_failed: AtomicBool::new(false),
            start: AtomicU64::new(0),
            halt: AtomicU8::new(0),
            errors: AtomicU64::new(0),
            error_limit: limits.error_limit,
            io_time_limit: limits.io_time_limit,
            step_index: AtomicUsize::new(0),
            tap,
            lane_totals: self.lanes.iter().map(|_| LaneTotal::default()).collect(),
        })
    }

    fn share_step(
        &mut self,
        index: usize,
        spec: &StepSpec,
        opening: usize,
        data_index: u32,
    ) -> Result<SharedStep, ProgramError> {
        let pattern = spec.compile(index, self.info)?;
        let threads = u64::from(spec.demand.thread_count);
        let thread_cursors = (0..threads).map(|thread| AtomicU64::new(pattern.thread_start(thread, threads))).collect();
        Ok(SharedStep {
            pattern,
            opening,
            demand: spec.demand,
            stop: spec.stop,
            data_index,
            cursor: self.cursor(&spec.range),
            thread_cursors,
            claimed: AtomicU64::new(0),
            end: AtomicU64::new(Nanos::NEVER.0),
        })
    }

    /// The shared sequential cursor of a range, which goes on from step to step and program to program.
    fn cursor(&mut self, range: &ActiveRange) -> Arc<AtomicU64> {
        if let Some((_, cursor)) = self.cursors.iter().find(|(known, _)| known == range) {
            return Arc::clone(cursor);
        }
        let cursor = Arc::new(AtomicU64::new(0));
        self.cursors.push((range.clone(), Arc::clone(&cursor)));
        cursor
    }
}

impl<D> LaneThread<D> {
    fn send(&self, job: Job<D>) -> Result<(), ProgramError> {
        let jobs = self.jobs.as_ref().ok_or(ProgramError::DeviceLost)?;
        jobs.send(job).map_err(|_| ProgramError::DeviceLost)
    }
}

impl<D> Drop for LaneThread<D> {
    fn drop(&mut self) {
        self.jobs = None;
        let gone = self.gone.get_mut().map(|gone| gone.recv_timeout(FAREWELL));
        let held = matches!(gone, Ok(Err(RecvTimeoutError::Timeout)));
        if let Some(thread) = self.thread.take().filter(|_| !held) {
            // A lane that panicked has already reported itself as lost.
            let _ = thread.join();
        }
    }
}

fn start_lane<D, E, F>(seed: u64, index: usize, opener: F) -> (LaneThread<D>, Result<DeviceInfo, E>)
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
                let mut lane = Lane::new(device, seed, index);
                for job in queue {
                    job(&mut lane);
                }
            }
            Err(error) => drop(report.send(Err(error))),
        }
    };
    let thread = Builder::new().name(format!("lane-{index}")).spawn(body).expect("the system starts a thread");
    let info = outcome.recv().expect("a lane says whether its device opened");
    (LaneThread { jobs: Some(jobs), thread: Some(thread), gone: Mutex::new(gone) }, info)
}

fn ask<D: 'static, R: Send + 'static>(
    lane: &LaneThread<D>,
    work: impl FnOnce(&mut D) -> R + Send + 'static,
) -> Result<R, ProgramError> {
    let (sender, receiver) = channel();
    lane.send(Box::new(move |lane| drop(sender.send(work(&mut lane.device)))))?;
    receiver.recv().map_err(|_| ProgramError::DeviceLost)
}

fn progress(program: &SharedProgram) -> Progress {
    let start = program.start.load(Ordering::Relaxed);
    let clock = program.lane_totals.iter().map(|lane| lane.clock.load(Ordering::Relaxed)).max().unwrap_or(0);
    Progress {
        step_index: program.step_index.load(Ordering::Relaxed),
        io_count: program.lane_totals.iter().map(|lane| lane.io_count.load(Ordering::Relaxed)).sum(),
        latency_sum: Nanos(program.lane_totals.iter().map(|lane| lane.latency_sum_ns.load(Ordering::Relaxed)).sum()),
        elapsed: Nanos(clock.saturating_sub(start)),
    }
}

type LaneResult = Result<Vec<StepRecord>, crate::contract::Errno>;
/// What the lanes have returned so far.
pub(crate) type Returned = BTreeMap<usize, LaneResult>;

/// Wait for all lanes; `poll` says whether there is still something to wait for.
fn collect(
    receiver: &Receiver<(usize, LaneResult)>,
    lane_count: usize,
    mut poll: impl FnMut(&Returned) -> bool,
) -> Result<Vec<StepRecord>, ProgramError> {
    let mut results = Returned::new();
    while results.len() < lane_count {
        match receiver.recv_timeout(POLL) {
            Ok((index, result)) => drop(results.insert(index, result)),
            Err(RecvTimeoutError::Timeout) if poll(&results) => {}
            Err(RecvTimeoutError::Timeout) => return Err(ProgramError::Stuck),
            Err(RecvTimeoutError::Disconnected) => return Err(ProgramError::DeviceLost),
        }
    }
    merge(results.into_values())
}

/// Add up the lanes step by step; a lane may have begun one step fewer when the program was halted.
fn merge(results: impl Iterator<Item = LaneResult>) -> Result<Vec<StepRecord>, ProgramError> {
    let mut merged: BTreeMap<usize, StepRecord> = BTreeMap::new();
    for result in results {
        for (index, record) in result.map_err(ProgramError::Prepare)?.into_iter().enumerate() {
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
#[path = "lead_in_tests.rs"]
mod lead_in_tests;

#[cfg(test)]
#[path = "silence_tests.rs"]
mod silence_tests;
