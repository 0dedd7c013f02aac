//! One case of the instruction count: so many I/Os on a device, and how long they took by the guest's clock.
//!
//! Goal: in a guest whose clock counts instructions (`benches/instructions.py`), elapsed nanoseconds are instructions, so
//! that this prints what the engine and the kernel spend on an I/O. Non-goal: a time on real hardware.
//!
//! `instructions DEVICE [--loop engine|bare|bare-nop|nop|nop-untimed|data] [--depth N] [--write] [--capture]
//! [--bytes B] [--count N] [--path PATH] [--data avx2|baseline|stamped]`
//!
//! `engine` is the hot path of the tool itself: `Stimulus` over `UringDevice`. `bare` is a ring with registered file and
//! buffers and nothing else, which tells what the kernel costs; `bare-nop` is the same without a drive. `nop` is the loop
//! of the stimulus over a ring of no-operations, with or without time stamps. `data` makes what writes hold and writes it
//! nowhere, with code of one width or, `stamped`, the old way. `--capture` hands on every completion as for
//! a trace; a thread takes the chunks and writes them nowhere.
//!
//! DEVICE is written to with `--write`. This example does not ask first: it is for drives that a guest made itself.

#![allow(clippy::print_stdout, reason = "its output is the benchmark")]

mod bare;
mod data;
mod nop;
mod request;

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

use assay_core::active_range::ActiveRange;
use assay_core::capture::tap;
use assay_core::contract::{Bytes, Device, DeviceInfo, Nanos};
use assay_core::pattern::AccessPattern;
use assay_core::record::{Ended, StepRecord};
use assay_core::sampled::Sampling;
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_core::stimulus::{Attached, Decision, Limits, Stimulus};
use assay_uring::device::{Target, UringDevice};

use crate::nop::NopDevice;
use crate::request::{Loop, Request};

/// I/Os that bring code, tables and the kernel's caches into use before the count begins, as a share of the count.
const WARM_UP_SHARE: u64 = 8;

/// What every loop tells.
struct Outcome {
    io_count: u64,
    elapsed: Nanos,
    /// Mean response time in ns and time integral of the outstanding I/Os; zero where nothing was timed.
    latency_ns_mean: f64,
    effective_depth: f64,
}

fn main() {
    let request = Request::from_arguments().unwrap_or_else(|fault| panic!("{fault}"));
    let transfer = Bytes(request.bytes);
    let outcome = match request.kind {
        Loop::Engine => engine(&request),
        Loop::Bare => open(&request).and_then(|drive| bare::run(Some(&drive), &request)),
        Loop::BareNop => bare::run(None, &request),
        Loop::Nop => on_stimulus(&request, move || NopDevice::<true>::new(transfer)),
        Loop::NopUntimed => on_stimulus(&request, move || NopDevice::<false>::new(transfer)),
        Loop::Data => data::run(&request),
    };
    let Outcome { io_count, elapsed, latency_ns_mean, effective_depth } =
        outcome.unwrap_or_else(|error| panic!("{}: {error}", request.device));
    println!(
        "io_count={io_count} elapsed_ns={} latency_ns_mean={latency_ns_mean:.0} effective_depth={effective_depth:.3}",
        elapsed.0
    );
}

fn open(request: &Request) -> io::Result<(OwnedFd, DeviceInfo)> {
    let mut options = OpenOptions::new();
    options.read(true).write(request.write).custom_flags(libc::O_DIRECT);
    let mut file = options.open(&request.device)?;
    let capacity = Bytes(file.seek(SeekFrom::End(0))?);
    Ok((file.into(), DeviceInfo { capacity, logical_block: Bytes(512) }))
}

fn engine(request: &Request) -> io::Result<Outcome> {
    let (descriptor, info) = open(request)?;
    let transfer = Bytes(request.bytes);
    let target = Target {
        descriptor,
        info,
        counters: None,
        data_origin: 1,
        sampling: Sampling::new(info, info.capacity, 1),
        transfer,
        path: request.path,
        ring_beyond: true,
        locked_max: None,
        cpu: None,
    };
    on_stimulus(request, move || UringDevice::new(target))
}

/// A warm-up and the counted step in one sequence, so that there is no gap between them. The warm-up has two steps: their
/// counts are kept in memory of their own, and the third takes that of the first.
fn on_stimulus<D, F>(request: &Request, opener: F) -> io::Result<Outcome>
where
    D: Device + 'static,
    F: FnOnce() -> io::Result<D> + Send + 'static,
{
    let mut stimulus = Stimulus::open(1, vec![opener]).map_err(|error| error.into_device(|error| error))?;
    let capacity = stimulus.info().capacity.0;
    let warm_up = step(request, capacity, request.count / WARM_UP_SHARE);
    let steps = [warm_up.clone(), warm_up, step(request, capacity, request.count)];
    let (tap, chunks) = request.capture.then(|| tap(true)).unzip();
    let reader = chunks.map(|chunks| std::thread::spawn(move || chunks.drain(|_| Ok::<(), ()>(()))));
    let records = stimulus
        .run_attached(&steps, Limits::default(), Attached { tap, ..Attached::default() }, |_| Decision::Continue);
    let records = records.map_err(|error| io::Error::other(error.to_string()))?;
    reader.map(std::thread::JoinHandle::join).transpose().map_err(|_| io::Error::other("the capture ended early"))?;
    outcome(records.last().expect("the sequence has three steps"))
}

fn step(request: &Request, capacity: u64, count: u64) -> StepSpec {
    let pattern = AccessPattern::uniform(request.bytes, if request.write { 0.0 } else { 1.0 }, 1.0);
    let range = ActiveRange::new(vec![0], capacity / request.bytes * request.bytes).expect("one segment");
    let demand = Demand { thread_count: 1, queue_depth: request.depth, arrival: None };
    StepSpec { pattern, demand, range, stop: StopRule::Count(count.max(1)), beside: false }
}

fn outcome(record: &StepRecord) -> io::Result<Outcome> {
    let errors = record.read.error_count() + record.write.error_count();
    if errors > 0 || record.ended != Ended::StopRule {
        return Err(io::Error::other(format!("{errors} I/Os failed, ended by {:?}", record.ended)));
    }
    let sides = [&record.read, &record.write];
    let window: u64 = sides.iter().map(|side| side.window_io_count).sum();
    let all: u64 = sides.iter().map(|side| side.window_io_count + side.tail_io_count).sum();
    let latency_ns: u64 = sides.iter().map(|side| side.latency_sum_ns).sum();
    Ok(Outcome {
        io_count: window,
        elapsed: record.span,
        latency_ns_mean: latency_ns as f64 / all as f64,
        effective_depth: record.outstanding_ns as f64 / record.span.0 as f64,
    })
}
