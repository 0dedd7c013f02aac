//! Every way carries every I/O whole, and none waits beyond its deadline.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use assay_core::active_range::ActiveRange;
use assay_core::contract::{Bytes, DeviceInfo, Errno, Nanos};
use assay_core::pattern::AccessPattern;
use assay_core::record::StepRecord;
use assay_core::sampled::Sampling;
use assay_core::step::{Demand, SequenceError, StepSpec, StopRule};
use assay_core::stimulus::{Decision, Limits, Stimulus};

use crate::clock;
use crate::device::{Target, UringDevice};
use crate::path::Path;
use crate::ring::Ring;

const CAPACITY: u64 = 4 << 20;
const COUNT: u64 = 600;
const INFO: DeviceInfo = DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) };

/// A file without a name, and what half reads and half writes on it did.
fn run(path: Path, queue_depth: u32) -> StepRecord {
    let target = target(path, false);
    let step = step(queue_depth);
    let mut stimulus = Stimulus::open(1, vec![move || UringDevice::new(target)]).expect("opens");
    let record = stimulus.run(&[step], Limits::default(), |_| Decision::Continue).expect("runs").remove(0);
    let taken = stimulus.with_device(|device| device.disclosure()).expect("alive").expect("has run").path;
    assert_eq!(taken, path);
    record
}

fn target(path: Path, ring_beyond: bool) -> Target {
    Target {
        descriptor: file(),
        info: INFO,
        counters: None,
        data_origin: 1,
        sampling: Sampling::new(INFO, INFO.capacity, 1),
        transfer: Bytes(4096),
        path,
        ring_beyond,
        locked_max: None,
        cpu: None,
    }
}

fn step(queue_depth: u32) -> StepSpec {
    StepSpec {
        pattern: AccessPattern::uniform(4096, 0.5, 1.0),
        demand: Demand { thread_count: 1, queue_depth, arrival: None },
        range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
        stop: StopRule::Count(COUNT),
        beside: false,
    }
}

/// Whether the buffers of one worker are registered that may lock so much.
fn registers(locked_max: Option<Bytes>) -> bool {
    let target = Target { locked_max, ..target(Path::Interrupt, false) };
    let mut stimulus = Stimulus::open(1, vec![move || UringDevice::new(target)]).expect("opens");
    stimulus.run(&[step(4)], Limits::default(), |_| Decision::Continue).expect("runs");
    let how = stimulus.with_device(|device| device.disclosure()).expect("alive").expect("has run");
    how.registration_refused.is_none()
}

fn file() -> OwnedFd {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("assay-path-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path).expect("a file to test on");
    std::fs::remove_file(&path).expect("it is ours");
    file.set_len(CAPACITY).expect("room for it");
    file.into()
}

fn assert_whole(path: Path, queue_depth: u32) {
    let record = run(path, queue_depth);
    let sides = [&record.read, &record.write];
    assert_eq!(sides.iter().map(|side| side.error_count()).sum::<u64>(), 0);
    assert_eq!(sides.iter().map(|side| side.window_io_count + side.tail_io_count).sum::<u64>(), COUNT);
    let bytes: u64 = sides.iter().map(|side| side.window_bytes.0 + side.tail_bytes.0).sum();
    assert_eq!(bytes, COUNT * 4096);
}

#[test]
fn a_ring_carries_every_io_whole() {
    assert_whole(Path::Interrupt, 1);
    assert_whole(Path::Interrupt, 32);
}

#[test]
fn system_calls_carry_every_io_whole() {
    assert_whole(Path::Synchronous, 1);
}

#[test]
fn system_calls_alone_refuse_what_they_cannot_carry() {
    let asked = |ring_beyond| {
        let target = target(Path::Synchronous, ring_beyond);
        let mut stimulus = Stimulus::open(1, vec![move || UringDevice::new(target)]).expect("opens");
        stimulus.run(&[step(2)], Limits::default(), |_| Decision::Continue).map(|_| ())
    };
    assert_eq!(asked(false), Err(SequenceError::Prepare(Errno(libc::EOPNOTSUPP))));
    assert_eq!(asked(true), Ok(()));
}

#[test]
fn a_worker_locks_no_more_than_its_share() {
    // Two buffers of 4 KiB for each of four I/Os, and the two pages of the ring.
    assert!(registers(None));
    assert!(registers(Some(Bytes(10 * 4096))));
    assert!(!registers(Some(Bytes(10 * 4096 - 1))));
}

/// More outstanding than the smallest ring has entries for, so that they are used while the kernel's thread still holds
/// them.
#[test]
fn a_thread_of_the_kernel_carries_every_io_whole() {
    assert_whole(Path::KernelThread, 1);
    assert_whole(Path::KernelThread, 32);
}

#[test]
fn a_ring_that_nothing_comes_back_from_is_left_at_the_deadline() {
    for path in [Path::Interrupt, Path::Polled, Path::KernelThread] {
        let mut ring = Ring::<io_uring::squeue::Entry>::new(4, path).expect("a ring");
        let deadline = Nanos(clock::monotonic().0 + 20_000_000);
        while clock::monotonic() < deadline {
            ring.wait(deadline).expect("waits");
        }
        assert_eq!(ring.completions().len(), 0);
        let late = clock::monotonic() - deadline;
        assert!(late < Nanos::SECOND, "{path:?} was left {late:?} after the deadline");
    }
}

/// A thread registers at most 16 rings; one that is dropped gives its place back.
#[test]
fn rings_that_are_gone_leave_no_place_taken() {
    for _ in 0..64 {
        let ring = Ring::<io_uring::squeue::Entry>::new(4, Path::Interrupt).expect("a ring");
        assert!(ring.is_registered(), "the kernel is too old for this test, or a place was not given back");
    }
}
