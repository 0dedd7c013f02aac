//! Blocks of a file that was written over every path, and then changed by somebody else.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

use assay_core::active_range::ActiveRange;
use assay_core::contract::{DataPattern, DeviceInfo};
use assay_core::pattern::AccessPattern;
use assay_core::sampled::Sampling;
use assay_core::step::{Demand, StepSpec, StopRule};
use assay_core::stimulus::{Decision, Limits, Stimulus};

use super::*;
use crate::device::{Target, duplicate};
use crate::path::Path;

const CAPACITY: u64 = 32 << 20;
const INFO: DeviceInfo = DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) };

struct Trial {
    file: File,
    stimulus: Stimulus<UringDevice>,
}

impl Trial {
    fn new(path: Path, workers: u64) -> Self {
        // Two tests may try the same path with as many workers at the same time.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = std::env::temp_dir().join(format!("assay-read-back-{}-{number}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&name).expect("new");
        std::fs::remove_file(&name).expect("ours");
        file.set_len(CAPACITY).expect("room");
        let opener = |worker: u64| {
            let target = Target {
                descriptor: duplicate(std::os::fd::AsRawFd::as_raw_fd(&file)).expect("open"),
                info: INFO,
                counters: None,
                data_origin: 9 ^ (worker << 48),
                sampling: Sampling::new(INFO, INFO.capacity, 3),
                transfer: Bytes(131_072),
                path,
                ring_beyond: true,
                locked_max: None,
                cpu: None,
            };
            move || UringDevice::new(target)
        };
        let stimulus = Stimulus::open(1, (0..workers).map(opener).collect()).expect("opens");
        Self { file, stimulus }
    }

    fn write(&mut self, data: &DataPattern, bytes: u64, random: f64, queue_depth: u32) {
        let step = StepSpec {
            pattern: AccessPattern::uniform(bytes, 0.0, random).with_data(data.clone()),
            demand: Demand { thread_count: 2, queue_depth, arrival: None },
            range: ActiveRange::new(vec![0], CAPACITY).expect("valid"),
            stop: StopRule::Amount(Bytes(CAPACITY)),
            beside: false,
        };
        self.stimulus.run(&[step], Limits::default(), |_| Decision::Continue).expect("runs");
    }

    fn check(&self, count: usize, turn: usize) -> Outcome {
        let workers = self.stimulus.with_devices(|device| device.remembered()).expect("alive");
        let check = Check::new(workers, INFO.logical_block);
        self.stimulus.with_device(move |device| check.run(device, count, turn, Nanos::SECOND)).expect("alive")
    }
}

#[test]
fn an_honest_file_holds_what_was_written_over_every_path_with_every_kind_of_data() {
    for path in [Path::Interrupt, Path::Synchronous] {
        for data in [
            DataPattern::Random,
            DataPattern::Compressible { stored_share: 0.5 },
            DataPattern::Stamped,
            DataPattern::Addressed,
        ] {
            let mut trial = Trial::new(path, 2);
            let depth = if path == Path::Synchronous { 1 } else { 8 };
            trial.write(&data, 131_072, 0.0, depth);
            let filled = trial.check(usize::MAX, 0);
            assert!(filled.known_count >= 1000 && filled.unknown_count == 0, "{filled:?}");
            for bytes in [512, 4096] {
                trial.write(&data, bytes, 1.0, depth);
            }
            let outcome = trial.check(usize::MAX, 0);
            assert_eq!((outcome.wrong_count, outcome.failed), (0, None), "{path:?} {data:?} {outcome:?}");
            assert_eq!(outcome.checked_count, outcome.known_count);
            assert!(outcome.known_count >= 1000, "{outcome:?}");
        }
    }
}

#[test]
fn what_somebody_else_changed_is_named_by_its_kind() {
    let mut trial = Trial::new(Path::Interrupt, 1);
    trial.write(&DataPattern::Random, 131_072, 0.0, 4);
    let mut before = vec![0; CAPACITY as usize];
    trial.file.read_exact_at(&mut before, 0).expect("reads");
    trial.write(&DataPattern::Random, 131_072, 0.0, 4);
    assert_eq!(trial.check(usize::MAX, 0).wrong_count, 0);
    let quarter = (CAPACITY / 4) as usize;
    let mut after = vec![0; CAPACITY as usize];
    trial.file.read_exact_at(&mut after, 0).expect("reads");
    for (nth, content) in [vec![0; quarter], before[quarter..2 * quarter].to_vec(), vec![1; quarter]].iter().enumerate()
    {
        trial.file.write_all_at(content, (nth * quarter) as u64).expect("room");
    }
    let outcome = trial.check(usize::MAX, 0);
    assert!(outcome.wrong_count > outcome.known_count / 2, "{outcome:?}");
    assert!(outcome.wrong.iter().all(|wrong| wrong.1 == Wrong::Zeros), "the first quarter has enough of them");
    // The other kinds, once the first quarter is right again.
    trial.file.write_all_at(&after[..quarter], 0).expect("room");
    assert!(trial.check(usize::MAX, 0).wrong.iter().all(|wrong| wrong.1 == Wrong::Stale));
    trial.file.write_all_at(&after[quarter..2 * quarter], quarter as u64).expect("room");
    assert!(trial.check(usize::MAX, 0).wrong.iter().all(|wrong| wrong.1 == Wrong::Other));
    // Each sampled block with the content of another.
    trial.file.write_all_at(&after[2 * quarter..], 2 * quarter as u64).expect("room");
    let sampled: Vec<u64> =
        trial.stimulus.with_devices(|device| device.remembered()).expect("alive")[0].blocks.keys().copied().collect();
    for pair in sampled.windows(2).take(8) {
        trial.file.write_all_at(&after[pair[1] as usize..][..512], pair[0]).expect("room");
    }
    let moved = trial.check(usize::MAX, 0);
    assert_eq!((moved.wrong_count, moved.wrong[0].1), (8, Wrong::Elsewhere));
}

#[test]
fn data_of_any_write_of_the_run_are_known_as_such() {
    for data in [DataPattern::Random, DataPattern::Compressible { stored_share: 0.25 }, DataPattern::Stamped] {
        let mut trial = Trial::new(Path::Interrupt, 2);
        trial.write(&data, 131_072, 0.0, 4);
        let mut content = vec![0; CAPACITY as usize];
        trial.file.read_exact_at(&mut content, 0).expect("reads");
        // Everything a quarter further on: what was written there belongs to no sampled block, or hardly ever.
        content.rotate_right((CAPACITY / 4) as usize + 512);
        trial.file.write_all_at(&content, 0).expect("room");
        let outcome = trial.check(usize::MAX, 0);
        assert!(outcome.wrong_count > 1000, "{outcome:?}");
        let strange = outcome.wrong.iter().filter(|wrong| wrong.1 == Wrong::Other).count();
        assert_eq!(strange, 0, "{data:?} {:?}", outcome.wrong);
        for byte in &mut content {
            *byte = !*byte;
        }
        trial.file.write_all_at(&content, 0).expect("room");
        assert!(trial.check(usize::MAX, 0).wrong.iter().all(|wrong| wrong.1 == Wrong::Other), "{data:?}");
    }
}

#[test]
fn data_that_repeat_are_not_compared_and_what_is_forgotten_is_not_read() {
    let mut trial = Trial::new(Path::Interrupt, 1);
    trial.write(&DataPattern::Repeating { pool: Bytes(4096) }, 131_072, 0.0, 4);
    let outcome = trial.check(usize::MAX, 0);
    assert_eq!((outcome.checked_count, outcome.known_count), (0, 0));
    assert!(outcome.given_count >= 1000, "{outcome:?}");
    trial.write(&DataPattern::Random, 131_072, 0.0, 4);
    assert!(trial.check(64, 1).checked_count.abs_diff(64) < 8);
    trial.stimulus.with_devices(|device| device.forget(Bytes(0), INFO.capacity)).expect("alive");
    assert_eq!(trial.check(usize::MAX, 0).known_count, 0);
}

#[test]
fn turns_choose_every_block_once() {
    let mut all: Vec<_> = (0..16).flat_map(|turn| chosen(1000, 64, turn)).collect();
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
    assert_eq!((chosen(10, 64, 3).len(), chosen(0, 64, 3).len(), chosen(1000, usize::MAX, 5).len()), (10, 0, 1000));
}
