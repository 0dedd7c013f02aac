//! What a drive with faults shows from outside: exact times, shares, and a drive without strikes that is the drive alone.

use assay_core::contract::{Bytes, DataPattern, Device, DeviceInfo, Direction, Errno, Io, Nanos};
use proptest::prelude::*;

use super::*;
use crate::disk::{DiskModel, SimulatedDisk};
use crate::drive::SimulatedDrive;
use crate::flash_model::FlashModel;

const CAPACITY: u64 = 64 << 20;
const BLOCKS: u64 = CAPACITY / 512;
const SECOND: u64 = 1_000_000_000;
const DEPTH: u32 = 4;

fn flash() -> SimulatedDrive {
    let model = FlashModel { capacity: Bytes(CAPACITY), erase_unit: Bytes(64 << 10), ..FlashModel::plain() };
    SimulatedDrive::new(model, Nanos(0)).expect("the model is valid")
}

fn ideal() -> SimulatedDrive {
    let model =
        FlashModel { capacity: Bytes(CAPACITY), erase_unit: Bytes(64 << 10), ideal: true, ..FlashModel::plain() };
    SimulatedDrive::new(model, Nanos(0)).expect("the model is valid")
}

fn disk() -> SimulatedDisk {
    SimulatedDisk::new(DiskModel::plain(), Nanos(0)).expect("the model is valid")
}

fn faults(text: &str) -> Vec<Fault> {
    read_faults(text, DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) })
        .expect("the faults are valid")
}

fn faulty(text: &str) -> Faulty<SimulatedDrive> {
    Faulty::new(ideal(), &faults(text), 1).expect("the faults are valid")
}

fn io(direction: Direction, lba: u64) -> Io {
    Io { slot: 0, direction, offset: Bytes(lba * 512), length: Bytes(4096), data_index: 0 }
}

fn reads(count: u64) -> Vec<Io> {
    (0..count).map(|index| io(Direction::Read, index * 8 % (BLOCKS - 8))).collect()
}

fn pattern(places: &[(bool, u64)]) -> Vec<Io> {
    places.iter().map(|(reads, lba)| io(if *reads { Direction::Read } else { Direction::Write }, *lba)).collect()
}

/// What became of one command.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Done {
    submitted: u64,
    at: u64,
    result: Result<Bytes, Errno>,
}

/// Keep so many commands outstanding until all are over; what became of each, in the order they were submitted.
fn drive<D: Device>(device: &mut D, depth: u32, commands: &[Io]) -> Vec<Done> {
    device.prepare(&[DataPattern::Random], depth, Bytes(4096)).expect("prepared");
    let mut free: Vec<u32> = (0..depth).rev().collect();
    let mut owners = vec![0; depth as usize];
    let (mut done, mut over, mut completions): (Vec<Done>, usize, Vec<_>) = (Vec::new(), 0, Vec::new());
    while over < commands.len() {
        while done.len() < commands.len() {
            let Some(slot) = free.pop() else { break };
            owners[slot as usize] = done.len();
            let submitted = device.now().0;
            device.submit(Io { slot, ..commands[done.len()] });
            done.push(Done { submitted, at: u64::MAX, result: Err(Errno::TIMED_OUT) });
        }
        let deadline = Nanos(device.now().0 + 50_000_000);
        device.reap(&mut completions, deadline).expect("a simulated queue does not fail");
        for completion in completions.drain(..) {
            let one = &mut done[owners[completion.slot as usize]];
            (one.at, one.result) = (completion.at.0, completion.result);
            free.push(completion.slot);
            over += 1;
        }
    }
    done
}

fn failed(done: &[Done]) -> Vec<usize> {
    (0..done.len()).filter(|index| done[*index].result.is_err()).collect()
}

fn texts(device: &mut Faulty<SimulatedDrive>) -> Vec<(u64, u8, String)> {
    device.take_events().0.into_iter().map(|event| (event.at.0, event.level, event.text)).collect()
}

/// `at` of a drive that stands still for a second from the 2 ms on.
fn behind_a_stall(at: u64) -> u64 {
    if at <= 2_000_000 { at } else { at + SECOND }
}

fn stalls_alike<D: Device>(mut alone: D, inside: D, stall: &[Fault], commands: &[Io]) -> Result<(), TestCaseError> {
    let plain = drive(&mut alone, DEPTH, commands);
    let mut stalled = Faulty::new(inside, stall, 1).expect("valid");
    let found = drive(&mut stalled, DEPTH, commands);
    let expected: Vec<Done> = plain
        .iter()
        .map(|one| Done { submitted: behind_a_stall(one.submitted), at: behind_a_stall(one.at), ..*one })
        .collect();
    prop_assert_eq!(found, expected);
    Ok(())
}

fn unlike_nothing<D: Device>(mut alone: D, inside: D, commands: &[Io]) -> Result<(), TestCaseError> {
    let later = faults(r#"[{"kind": "gone", "at_s": 1e9}, {"kind": "media-error", "rate": 0.0}]"#);
    let mut wrapped = Faulty::new(inside, &later, 1).expect("valid");
    prop_assert_eq!(drive(&mut alone, DEPTH, commands), drive(&mut wrapped, DEPTH, commands));
    prop_assert_eq!(alone.probe(true).counters, wrapped.probe(true).counters);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_drive_that_no_fault_strikes_answers_as_the_drive_alone(
        places in prop::collection::vec((any::<bool>(), 0..BLOCKS - 8), 1..200)
    ) {
        let commands = pattern(&places);
        unlike_nothing(flash(), flash(), &commands)?;
        unlike_nothing(ideal(), ideal(), &commands)?;
        unlike_nothing(disk(), disk(), &commands)?;
    }

    #[test]
    fn a_stall_makes_what_comes_later_later_by_its_length(
        places in prop::collection::vec((any::<bool>(), 0..BLOCKS - 8), 1..400)
    ) {
        let (stall, commands) = (faults(r#"[{"kind": "stall", "at_s": 0.002, "duration_s": 1}]"#), pattern(&places));
        stalls_alike(flash(), flash(), &stall, &commands)?;
        stalls_alike(ideal(), ideal(), &stall, &commands)?;
        stalls_alike(disk(), disk(), &stall, &commands)?;
    }

    #[test]
    fn stalls_that_overlap_are_one(first in 1_u64..2_000, second in 1_u64..2_000, lengths in (1_u64..2_000, 1_u64..2_000)) {
        let text = format!(
            r#"[{{"kind": "stall", "at_s": {}, "duration_s": {}}}, {{"kind": "stall", "at_s": {}, "duration_s": {}}}]"#,
            first as f64 / 1e3, lengths.0 as f64 / 1e3, second as f64 / 1e3, lengths.1 as f64 / 1e3,
        );
        let mut device = faulty(&text);
        let last = drive(&mut device, 1, &reads(400_000 / 2)).last().expect("there are some").at;
        let (one, other) = (first..first + lengths.0, second..second + lengths.1);
        let shared = one.end.min(other.end).saturating_sub(one.start.max(other.start));
        let plain = drive(&mut ideal(), 1, &reads(400_000 / 2)).last().expect("there are some").at;
        prop_assert_eq!(last, plain + (lengths.0 + lengths.1 - shared) * 1_000_000);
    }
}

#[test]
fn a_silence_lasts_as_long_as_the_stall_and_the_command_that_it_held_up() {
    let service = drive(&mut ideal(), 1, &reads(1))[0].at;
    let mut device = faulty(r#"[{"kind": "stall", "after_commands": 3, "duration_s": 5}]"#);
    assert_eq!(device.stall_max(), Some(Nanos(0)));
    let done = drive(&mut device, 1, &reads(6));
    assert_eq!(done[2].at - done[2].submitted, 5 * SECOND + service);
    assert_eq!(device.stall_max(), Some(Nanos(5 * SECOND + service)));
    assert_eq!(device.stall_max(), Some(Nanos(0)), "it is asked for once");
    assert!(texts(&mut device).is_empty(), "a kernel does not see a stall");
}

#[test]
fn a_stall_at_a_time_of_the_clock_begins_at_that_time() {
    let service = drive(&mut ideal(), 1, &reads(1))[0].at;
    let mut device = faulty(r#"[{"kind": "stall", "at_s": 0.001, "duration_s": 0.5}]"#);
    let slow: Vec<Done> =
        drive(&mut device, 1, &reads(400)).into_iter().filter(|one| one.at - one.submitted > service).collect();
    assert_eq!(slow.len(), 1);
    assert_eq!(slow[0].at - slow[0].submitted, SECOND / 2 + service);
    assert!((slow[0].submitted..slow[0].submitted + service).contains(&1_000_000));
}

#[test]
fn a_media_error_takes_its_time_and_is_told_by_block_and_direction() {
    let plain = drive(&mut ideal(), 1, &reads(4));
    let text = r#"[{"kind": "media-error", "after_commands": 1, "first_lba": 16, "lba_count": 1, "duration_s": 7.5}]"#;
    let mut device = faulty(text);
    let done = drive(&mut device, 1, &reads(4));
    assert_eq!(done[2].result, Err(Errno(61)));
    assert_eq!(done[2].at, plain[2].at + 7_500_000_000);
    assert_eq!(failed(&done), [2], "it strikes once unless more is said");
    assert_eq!(texts(&mut device), [(done[2].at, 3, "critical medium error, read of LBA 16".to_owned())]);
}

#[test]
fn errors_by_chance_lie_within_binomial_bounds_in_their_range_and_direction() {
    let text = r#"[{"kind": "media-error", "rate": 0.02, "direction": "read", "first_lba": 8000, "lba_count": 40000}]"#;
    let commands: Vec<Io> = (0..60_000_u64)
        .map(|index| {
            let direction = if index % 2 == 0 { Direction::Read } else { Direction::Write };
            io(direction, index.wrapping_mul(7_919) % (BLOCKS / 8 - 1) * 8)
        })
        .collect();
    let inside = |one: &Io| one.direction == Direction::Read && (8_000..48_000).contains(&(one.offset.0 / 512));
    let trials = commands.iter().filter(|one| inside(one)).count() as f64;
    let hits = |seed| {
        let mut device = Faulty::new(ideal(), &faults(text), seed).expect("valid");
        failed(&drive(&mut device, DEPTH, &commands))
    };
    let found = hits(1);
    assert!(found.iter().all(|index| inside(&commands[*index])));
    let (mean, deviation) = (0.02 * trials, (trials * 0.02 * 0.98).sqrt());
    assert!((found.len() as f64 - mean).abs() < 4.0 * deviation, "{} of {trials}", found.len());
    assert_eq!(found, hits(1), "the same seed hits the same commands");
    assert_ne!(found, hits(2));
}

#[test]
fn the_draws_of_a_fault_are_its_own() {
    let rate = r#"{"kind": "media-error", "rate": 0.05, "errno": "EIO"}"#;
    let second = |first: &str| {
        let mut device = faulty(&format!("[{first}, {rate}]"));
        let done = drive(&mut device, DEPTH, &reads(2_000));
        (0..done.len()).filter(|index| done[*index].result == Err(Errno(5))).collect::<Vec<_>>()
    };
    let alone = second(r#"{"kind": "gone", "at_s": 1e9}"#);
    let beside = second(r#"{"kind": "media-error", "rate": 0.5}"#);
    assert!(alone.len() > 60 && beside.len() > 20);
    assert!(beside.iter().all(|index| alone.contains(index)));
}

#[test]
fn a_count_ends_a_fault_and_a_rate_of_one_hits_every_command() {
    let mut device = faulty(r#"[{"kind": "media-error", "rate": 1.0, "count": 3, "errno": "EREMOTEIO"}]"#);
    let done = drive(&mut device, 1, &reads(10));
    assert_eq!(failed(&done), [0, 1, 2]);
    assert_eq!(done[0].result, Err(Errno(121)));
}

#[test]
fn a_bad_range_fails_until_each_of_its_blocks_was_written() {
    let text = r#"[{"kind": "media-error", "at_s": 0, "first_lba": 8, "lba_count": 16, "until_written": true}]"#;
    let mut device = faulty(text);
    let (read, write) = (Direction::Read, Direction::Write);
    let commands =
        [io(read, 0), io(read, 1), io(read, 16), io(write, 4), io(read, 4), io(read, 5), io(write, 12), io(read, 5)];
    assert_eq!(failed(&drive(&mut device, 1, &commands)), [1, 2, 5]);
    assert_eq!(failed(&drive(&mut device, 1, &[io(read, 12), io(read, 16), io(read, 20)])), [1, 2]);
    device.trim(Bytes(20 * 512), Bytes(32 * 512));
    assert!(failed(&drive(&mut device, 1, &[io(read, 20)])).is_empty());
    let mut purged = faulty(text);
    assert_eq!(failed(&drive(&mut purged, 1, &[io(read, 8)])), [0]);
    purged.purge(SimulatedDrive::purge);
    assert!(failed(&drive(&mut purged, 1, &[io(read, 8)])).is_empty());
}

#[test]
fn a_block_that_failed_by_chance_goes_on_failing_until_it_is_written() {
    let text = r#"[{"kind": "media-error", "rate": 0.5, "until_written": true, "count": 4}]"#;
    let mut device = faulty(text);
    let bad = failed(&drive(&mut device, 1, &reads(40)));
    assert_eq!(bad.len(), 4);
    assert_eq!(failed(&drive(&mut device, 1, &reads(40))), bad);
    let writes: Vec<Io> = reads(40).iter().map(|one| Io { direction: Direction::Write, ..*one }).collect();
    drive(&mut device, 1, &writes);
    assert!(failed(&drive(&mut device, 1, &reads(40))).is_empty());
}

#[test]
fn a_lost_command_ends_at_its_time_limit_with_an_error_or_is_sent_again() {
    let service = drive(&mut ideal(), 1, &reads(1))[0].at;
    let mut device = faulty(r#"[{"kind": "timeout", "after_commands": 2, "duration_s": 10}]"#);
    let done = drive(&mut device, 1, &reads(4));
    assert_eq!((done[2].result, done[2].at), (Err(Errno(110)), done[2].submitted + 10 * SECOND));
    assert_eq!(failed(&done), [2]);
    assert_eq!(
        texts(&mut device),
        [(done[2].at, 4, "command timed out after 10 s, read of LBA 16, aborted".to_owned())]
    );
    let mut device = faulty(r#"[{"kind": "timeout", "after_commands": 2, "outcome": "retry"}]"#);
    let done = drive(&mut device, 1, &reads(4));
    assert_eq!((done[2].result, done[2].at), (Ok(Bytes(4096)), done[2].submitted + 30 * SECOND + service));
}

#[test]
fn other_commands_go_on_while_one_is_lost() {
    let mut device = faulty(r#"[{"kind": "timeout", "after_commands": 2, "duration_s": 1}]"#);
    let done = drive(&mut device, DEPTH, &reads(200_000));
    assert_eq!(failed(&done), [2]);
    assert!(done.iter().enumerate().all(|(index, one)| index == 2 || one.at - one.submitted < SECOND / 100));
    assert!(done.last().expect("there are some").at > SECOND, "it lasted beyond the time limit");
}

#[test]
fn a_reset_holds_up_what_is_outstanding_or_fails_it_at_once() {
    let reset = |more: &str| faulty(&format!(r#"[{{"kind": "reset", "at_s": 0.001, "duration_s": 0.4{more}}}]"#));
    let plain = drive(&mut ideal(), DEPTH, &reads(400));
    let mut device = reset("");
    let done = drive(&mut device, DEPTH, &reads(400));
    let late = |at: u64| if at <= 1_000_000 { at } else { at + 400_000_000 };
    assert!(done.iter().zip(&plain).all(|(one, plain)| one.at == late(plain.at) && one.result.is_ok()));
    assert_eq!(texts(&mut device), [(1_000_000, 4, "controller reset, 4 outstanding commands sent again".to_owned())]);

    let mut device = reset(r#", "outcome": "error", "errno": "ENOLINK""#);
    let done = drive(&mut device, DEPTH, &reads(400));
    let lost = failed(&done);
    assert_eq!(lost.len(), DEPTH as usize);
    assert!(lost.iter().all(|index| done[*index].at == 1_000_000 && done[*index].result == Err(Errno(67))));
    let first = done.iter().filter(|one| one.at > 1_000_000).map(|one| one.at).min().expect("it goes on");
    let service = drive(&mut ideal(), 1, &reads(1))[0].at;
    assert_eq!(first, 401_000_000 + service);
    assert_eq!(texts(&mut device)[0].2, "controller reset, 4 outstanding commands failed");
}

#[test]
fn a_reset_that_fails_its_commands_leaves_every_kind_of_drive_at_work() {
    fn goes_on<D: Device>(inside: D) {
        let text =
            r#"[{"kind": "reset", "every_s": 0.005, "jitter_s": 0.002, "duration_s": 0.001, "outcome": "error"}]"#;
        let mut device = Faulty::new(inside, &faults(text), 1).expect("valid");
        let commands: Vec<Io> = (0..4_000_u64)
            .map(|index| {
                io([Direction::Read, Direction::Write][(index % 2) as usize], index * 7_919 % (BLOCKS / 8) * 8)
            })
            .collect();
        let done = drive(&mut device, 32, &commands);
        let resets = device.take_events().0.len();
        assert!(resets > 1 && failed(&done).len() <= 32 * resets && failed(&done).len() > resets);
        assert!(done.iter().all(|one| one.at >= one.submitted));
    }
    goes_on(flash());
    goes_on(ideal());
    goes_on(disk());
}

#[test]
fn what_comes_every_so_often_comes_in_its_periods_later_by_the_jitter_at_most() {
    let text = r#"[{"kind": "reset", "every_s": 0.1, "jitter_s": 0.02, "duration_s": 0.001, "count": 7}]"#;
    let times = |seed| {
        let mut device = Faulty::new(ideal(), &faults(text), seed).expect("valid");
        drive(&mut device, 1, &reads(100_000));
        texts(&mut device).into_iter().map(|event| event.0).collect::<Vec<_>>()
    };
    let found = times(1);
    assert_eq!(found.len(), 7);
    for (period, at) in (1_u64..).zip(&found) {
        assert!((period * 100_000_000..period * 100_000_000 + 20_000_000).contains(at), "{period}: {at}");
    }
    assert_eq!(found, times(1));
    assert_ne!(found, times(2));
}

#[test]
fn what_befalls_the_drive_by_chance_lies_within_binomial_bounds() {
    let times = |seed| {
        let text = r#"[{"kind": "reset", "rate": 0.05, "duration_s": 0.001}]"#;
        let mut device = Faulty::new(ideal(), &faults(text), seed).expect("valid");
        assert!(failed(&drive(&mut device, DEPTH, &reads(2_000))).is_empty());
        texts(&mut device).len() as f64
    };
    for seed in 1..6 {
        // 2,000 draws at 0.05: 100, with a deviation of 9.7.
        assert!((times(seed) - 100.0).abs() < 4.0 * 9.7, "{} resets", times(seed));
    }
}

#[test]
fn a_smaller_drive_turns_away_what_lies_beyond_and_serves_the_rest() {
    let mut device = faulty(r#"[{"kind": "shrink", "after_written_bytes": 8192, "capacity_bytes": 8192}]"#);
    let (read, write) = (Direction::Read, Direction::Write);
    let done =
        drive(&mut device, 1, &[io(write, 0), io(read, 64), io(write, 8), io(read, 8), io(read, 9), io(write, 64)]);
    assert_eq!(failed(&done), [4, 5]);
    assert_eq!((done[4].result, done[5].result), (Err(Errno(5)), Err(Errno(28))));
    assert_eq!(done[4].at, done[4].submitted, "it is turned away at once");
    assert_eq!(device.present(), Some(Bytes(8192)));
    assert_eq!(device.info().capacity, Bytes(8192));
    assert_eq!(texts(&mut device)[0].2, "detected capacity change from 67108864 to 8192 bytes");
}

#[test]
fn a_drive_that_is_gone_fails_everything_from_that_instant_on() {
    let mut device = faulty(r#"[{"kind": "gone", "at_s": 0.001}]"#);
    assert_eq!(device.present(), Some(Bytes(CAPACITY)));
    let done = drive(&mut device, DEPTH, &reads(600));
    assert!(done.iter().all(|one| one.result.is_ok() == (one.at <= 1_000_000 && one.result != Err(Errno(19)))));
    assert_eq!(done.iter().filter(|one| one.submitted < 1_000_000 && one.result.is_err()).count(), DEPTH as usize);
    assert_eq!(done.iter().map(|one| one.at).max(), Some(1_000_000));
    assert_eq!(device.present(), None);
    assert_eq!(texts(&mut device), [(1_000_000, 4, "device removed, 4 outstanding commands failed".to_owned())]);
    assert_eq!(device.purge(SimulatedDrive::purge), Nanos(0));
    assert_eq!(failed(&drive(&mut device, 1, &reads(3))), [0, 1, 2]);
}

#[test]
fn a_fault_whose_time_comes_in_a_purge_strikes_as_soon_as_it_is_over() {
    let span = flash().purge().0;
    let text = format!(r#"[{{"kind": "gone", "at_s": {}}}]"#, span as f64 / 2e9);
    let mut device = Faulty::new(flash(), &faults(&text), 1).expect("valid");
    assert_eq!(device.purge(SimulatedDrive::purge), Nanos(span));
    assert_eq!(device.present(), None);
}

#[test]
fn a_fault_that_cannot_be_meant_is_named_by_its_number_key_and_cause() {
    let outside = |least, most| Cause::Outside { least, most };
    let cases = [
        (r#""kind": "stall", "at_s": 1"#, "duration_s", Cause::Missing),
        (r#""kind": "stall", "at_s": 1, "duration_s": 3601"#, "duration_s", outside(0.001, 3600.0)),
        (r#""kind": "stall", "duration_s": 1"#, "trigger", Cause::Triggers(0)),
        (r#""kind": "stall", "duration_s": 1, "at_s": 1, "rate": 0.5"#, "trigger", Cause::Triggers(2)),
        (r#""kind": "stall", "duration_s": 1, "at_s": 1, "count": 2"#, "count", Cause::Once),
        (r#""kind": "stall", "duration_s": 1, "at_s": 1, "errno": "EIO""#, "errno", Cause::Unused),
        (r#""kind": "gone", "at_s": -1"#, "at_s", outside(0.0, 1e9)),
        (r#""kind": "gone", "rate": 1, "count": 1"#, "count", Cause::Once),
        (r#""kind": "gone", "every_s": 1, "jitter_s": 1"#, "jitter_s", outside(0.0, 1.0)),
        (r#""kind": "gone", "at_s": 1, "jitter_s": 1"#, "jitter_s", Cause::Unused),
        (r#""kind": "gone", "after_commands": 0"#, "after_commands", outside(1.0, (1_u64 << 60) as f64)),
        (r#""kind": "media-error", "rate": 1.5"#, "rate", outside(0.0, 1.0)),
        (
            r#""kind": "media-error", "rate": 1, "first_lba": 131072"#,
            "first_lba",
            Cause::Beyond { block_count: BLOCKS },
        ),
        (r#""kind": "media-error", "rate": 1, "lba_count": 0"#, "lba_count", Cause::Beyond { block_count: BLOCKS }),
        (
            r#""kind": "media-error", "rate": 1, "until_written": true, "direction": "write""#,
            "direction",
            Cause::Written,
        ),
        (r#""kind": "timeout", "rate": 1, "outcome": "retry", "errno": "EIO""#, "errno", Cause::Unused),
        (r#""kind": "timeout", "rate": 1, "until_written": false"#, "until_written", Cause::Unused),
        (r#""kind": "shrink", "at_s": 1"#, "capacity_bytes", Cause::Missing),
        (
            r#""kind": "shrink", "at_s": 1, "capacity_bytes": 1000"#,
            "capacity_bytes",
            Cause::NoSmaller { block: 512, capacity: CAPACITY },
        ),
        (r#""kind": "reset", "at_s": 1, "duration_s": 1, "first_lba": 1"#, "first_lba", Cause::Unused),
    ];
    let info = DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(512) };
    for (text, key, cause) in cases {
        let list = format!(r#"[{{"kind": "gone", "at_s": 1}}, {{{text}}}]"#);
        assert_eq!(read_faults(&list, info), Err(FaultError::Key { number: 2, key, cause }), "{text}");
    }
    for text in [r#"[{"kind": "gone", "at": 1}]"#, r#"[{"kind": "stal", "at_s": 1}]"#, "[{}]", "nonsense"] {
        assert!(matches!(read_faults(text, info), Err(FaultError::Text(_))), "{text}");
    }
}
