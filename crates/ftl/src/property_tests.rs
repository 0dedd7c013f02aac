//! What holds for every drive and every load: Little's law, time that never runs back, a purge that forgets, scaling.

use super::tests::{drive_of, run};
use super::*;
use crate::flash_model::Victim;
use assay_core::active_range::ActiveRange;
use assay_core::pattern::AccessPattern;
use assay_core::step::{Demand, StepSpec, StopRule};

use proptest::prelude::*;
use std::io::Cursor;

const SMALL: u64 = 64 << 20;

fn any_model() -> impl Strategy<Value = FlashModel> {
    let flash = (0.05_f64..0.6, 0_u32..2, 12_u32..15, 20_000_u64..200_000, 100_000_u64..2_000_000, 0.0_f64..0.3);
    let controller = (1_000_u64..50_000, 1_000_u64..50_000, 1_u32..65, any::<[bool; 6]>(), 0_u64..3, 0_u64..100_000);
    (flash, controller, any::<u64>()).prop_map(|(flash, controller, seed)| {
        let (over_provisioning, dies, program_bits, read, program, jitter) = flash;
        let (read_command, write_command, queue_limit, switches, policy, protocol) = controller;
        FlashModel {
            capacity: Bytes(SMALL),
            over_provisioning,
            dies_per_channel: 1 << dies,
            program_unit: Bytes(1 << program_bits),
            erase_unit: Bytes(1 << 19),
            read: Nanos(read),
            program: Nanos(program),
            jitter,
            read_command: Nanos(read_command),
            write_command: Nanos(write_command),
            queue_limit,
            in_order: switches[0],
            reads_in_order: switches[5],
            full_duplex: switches[1],
            write_cache: switches[2],
            modify_reads_first: switches[3],
            shared_frontier: switches[4],
            victim: [Victim::Greedy, Victim::Random, Victim::Fifo][policy as usize],
            protocol: Nanos(protocol),
            write_buffer: Bytes(1 << 18),
            seed,
            ..FlashModel::plain()
        }
    })
}

/// A drive straight at its contract: a closed loop of `depth`.
struct Loop {
    drive: SimulatedDrive,
    state: u64,
    completions: Vec<Completion>,
}

/// What a closed loop saw.
#[derive(Debug, PartialEq)]
struct Seen {
    latency_sum: u64,
    span: u64,
    trace: u64,
}

impl Loop {
    fn new(model: FlashModel, seed: u64) -> Self {
        Self { drive: SimulatedDrive::new(model, Nanos(0)).expect("valid"), state: seed, completions: Vec::new() }
    }

    fn draw(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.state ^ (self.state >> 31)) * u128::from(limit)) >> 64) as u64
    }

    fn submit(&mut self, slot: u32, read_pct: u64, length: u64) {
        let direction = if self.draw(100) < read_pct { Direction::Read } else { Direction::Write };
        let offset = Bytes(self.draw(SMALL / length) * length);
        self.drive.submit(Io { slot, direction, offset, length: Bytes(length), data_index: 0 });
    }

    /// Keep `depth` outstanding for `count` completions, then let all come back.
    fn run(&mut self, depth: u32, count: u32, read_pct: u64, length: u64) -> Seen {
        self.drive.prepare(&[], depth, Bytes(length)).expect("ready");
        let begun = self.drive.now();
        let mut submitted = vec![begun; depth as usize];
        let mut seen = Seen { latency_sum: 0, span: 0, trace: 0 };
        (0..depth).for_each(|slot| self.submit(slot, read_pct, length));
        for nth in 0..count {
            let before = self.drive.now();
            self.completions.clear();
            self.drive.reap(&mut self.completions, Nanos::NEVER).expect("reaps");
            let Completion { slot, at, .. } = self.completions[0];
            assert!(at >= before && at >= submitted[slot as usize], "time ran back");
            seen.latency_sum += (at - submitted[slot as usize]).0;
            seen.span = (at - begun).0;
            seen.trace = seen.trace.rotate_left(7) ^ at.0 ^ u64::from(slot);
            submitted[slot as usize] = at;
            if nth + depth < count {
                self.submit(slot, read_pct, length);
            }
        }
        seen
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Through the measuring path: response times add up to what was outstanding, but for the tail behind the window.
    #[test]
    fn littles_law_holds_in_every_closed_loop(
        model in any_model(), depth in 1_u32..9, read_share in 0.0_f64..1.0, size in prop::sample::select(vec![512_u64, 4096, 8192, 65536])
    ) {
        let mut drive = drive_of(model);
        let mut asked = step(SMALL, size, read_share, 1.0, StopRule::Count(400 * u64::from(depth)));
        asked.demand.queue_depth = depth;
        let record = run(&mut drive, asked);
        let (held, depth) = (record.outstanding_ns, u64::from(depth));
        // A step of stated count ends one nanosecond behind its last submission.
        let full = depth * record.span.0;
        prop_assert!(held <= full && full - held <= depth, "{held} of {full}: the depth is held");
        let latencies = record.read.latency_sum_ns + record.write.latency_sum_ns;
        let largest = record.read.latency_max_ns.max(record.write.latency_max_ns).unwrap_or(0);
        prop_assert!(latencies >= held && latencies - held <= depth * largest, "{latencies} of {held}, largest {largest}");
        if largest * 200 < record.span.0 {
            let little = latencies as f64 / held as f64;
            prop_assert!((little - 1.0).abs() <= 0.005, "{little}");
        }
    }

    #[test]
    fn a_purge_restores_the_fresh_state(model in any_model(), seed: u64, count in 4_u32..400) {
        let fresh = Loop::new(model.clone(), 5).run(4, 100, 30, 4096);
        let mut used = Loop::new(model, seed);
        used.run(4, count, 30, 4096);
        used.drive.purge();
        used.state = 5;
        prop_assert_eq!(used.drive.statistics(), FlashStatistics::default());
        let again = used.run(4, 100, 30, 4096);
        prop_assert_eq!((again.latency_sum, again.span), (fresh.latency_sum, fresh.span));
    }
}

fn step(capacity: u64, size: u64, read_share: f64, random_share: f64, stop: StopRule) -> StepSpec {
    StepSpec {
        pattern: AccessPattern::uniform(size, read_share, random_share),
        demand: Demand { thread_count: 1, queue_depth: 32, arrival: None },
        range: ActiveRange::new(vec![0], capacity).expect("valid"),
        stop,
        beside: false,
    }
}

/// Steady random writes at a capacity, over one quarter of a fill.
fn steady_iops(capacity: u64) -> f64 {
    let model = FlashModel {
        capacity: Bytes(capacity),
        over_provisioning: 0.12,
        erase_unit: Bytes(256 << 10),
        ..FlashModel::plain()
    };
    let mut drive = drive_of(model);
    run(&mut drive, step(capacity, 131_072, 0.0, 0.0, StopRule::Amount(Bytes(capacity))));
    run(&mut drive, step(capacity, 4096, 0.0, 1.0, StopRule::Amount(Bytes(capacity))));
    let record = run(&mut drive, step(capacity, 4096, 0.0, 1.0, StopRule::Amount(Bytes(capacity / 4))));
    record.write.window_io_count as f64 / (record.span.0 as f64 / 1e9)
}

#[test]
fn the_rate_does_not_depend_on_the_capacity_when_durations_scale_along() {
    let (small, large) = (steady_iops(2 << 30), steady_iops(64 << 30));
    assert!((small / large - 1.0).abs() < 0.01, "2 GiB {small}, 64 GiB {large}");
}

#[test]
fn the_same_seed_gives_the_same_completions_on_any_number_of_threads() {
    let trace = || {
        Loop::new(FlashModel { capacity: Bytes(SMALL), jitter: 0.2, ..FlashModel::plain() }, 9)
            .run(16, 40_000, 40, 4096)
    };
    let alone = trace();
    let together: Vec<_> = (0..4).map(|_| std::thread::spawn(trace)).collect();
    for thread in together {
        assert_eq!(thread.join().expect("runs"), alone);
    }
}

/// A drive with every part in use.
fn full_model() -> FlashModel {
    FlashModel {
        capacity: Bytes(SMALL),
        over_provisioning: 0.2,
        erase_unit: Bytes(1 << 19),
        jitter: 0.2,
        idle_delay: Nanos(1_000),
        idle_target: 0.1,
        wear_levelling_every: 9,
        slc_cache: Bytes(4 << 20),
        slc_program: Nanos(200_000),
        slc_fold_rate: 1_000_000,
        map_cache: Bytes(8 << 10),
        write_limit_rate: 80_000_000,
        write_limit_burst: Bytes(4 << 20),
        heat_limit: Bytes(10 << 20),
        cooling_rate: 90_000_000,
        throttled_rate: 30_000_000,
        stall_every: Bytes(9 << 20),
        stall: Nanos(3_000_000),
        ..FlashModel::plain()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_kept_state_goes_on_as_if_it_had_never_stopped(
        plain in any_model(), special in 0_u32..3, seed: u64, count in 8_u32..20_000
    ) {
        let logged = FlashModel { log: Bytes(8 << 20), merge_unit: Bytes(64 << 10), ..full_model() };
        let model = [plain, full_model(), logged][special as usize].clone();
        let mut whole = Loop::new(model.clone(), seed);
        whole.run(8, count, 30, 4096);
        let mut kept = Vec::new();
        whole.drive.save(&mut kept).expect("memory takes all");
        let drive = SimulatedDrive::load(model, Nanos(5_000_000_000), Cursor::new(&kept)).expect("the same model");
        prop_assert_eq!((drive.state_hash(), drive.now()), (whole.drive.state_hash(), whole.drive.now()));
        let mut again = Loop { drive, state: whole.state, completions: Vec::new() };
        prop_assert_eq!(again.run(4, 2_000, 50, 8192), whole.run(4, 2_000, 50, 8192));
        prop_assert_eq!(again.drive.state_hash(), whole.drive.state_hash());
        again.drive.flash.mapping.check(again.drive.geometry.unit_count);
    }
}

#[test]
fn only_the_state_of_the_same_drive_model_is_taken_up() {
    let mut kept = Vec::new();
    Loop::new(full_model(), 1).drive.save(&mut kept).expect("memory takes all");
    let other = FlashModel { seed: 99, ..full_model() };
    let load = |model, bytes: &[u8]| {
        SimulatedDrive::load(model, Nanos(0), Cursor::new(bytes)).err().map(|error| error.to_string())
    };
    assert_eq!(load(other, &kept).as_deref(), Some("it was kept from a drive with other parameters"));
    assert!(load(full_model(), &kept[..kept.len() / 2]).is_some(), "cut short");
    assert!(load(full_model(), b"something else").expect("refused").contains("no state"));
    assert_eq!(load(full_model(), &kept), None);
}

/// A state with one byte changed, as bytes that end in a hash that fits them where `forged`.
fn changed(kept: &[u8], place: usize, value: u8, forged: bool) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut bytes = kept.to_vec();
    bytes[place] = value;
    if forged {
        let end = bytes.len() - 32;
        let hash = Sha256::digest(&bytes[..end]);
        bytes[end..].copy_from_slice(&hash);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_damaged_state_is_refused_and_a_forged_one_never_ends_the_program(
        place in any::<prop::sample::Index>(), value: u8, logged: bool
    ) {
        let model = if logged { FlashModel { log: Bytes(8 << 20), merge_unit: Bytes(64 << 10), ..full_model() } } else { full_model() };
        let mut whole = Loop::new(model.clone(), 1);
        whole.run(8, 4_000, 30, 4096);
        let mut kept = Vec::new();
        whole.drive.save(&mut kept).expect("memory takes all");
        let place = place.index(kept.len() - 32);
        let load = |bytes: &[u8]| SimulatedDrive::load(model.clone(), Nanos(0), Cursor::new(bytes));
        if kept[place] != value {
            prop_assert!(load(&changed(&kept, place, value, false)).is_err());
        }
        drop(load(&changed(&kept, place, value, true)));
    }
}
