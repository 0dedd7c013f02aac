//! The memory against a model of an honest drive.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::contract::{DeviceInfo, Errno};

const BLOCK: u64 = 4096;
const CAPACITY: u64 = 1 << 20;

fn sampling() -> Sampling {
    Sampling::new(DeviceInfo { capacity: Bytes(CAPACITY), logical_block: Bytes(BLOCK) }, Bytes(CAPACITY), 5)
}

fn io(slot: u32, direction: Direction, offset: u64, length: u64) -> Io {
    Io { slot, direction, offset: Bytes(offset), length: Bytes(length), data_index: 0 }
}

/// What a block of the honest drive holds: worker and number of the write, `None` where nobody can tell.
type Held = HashMap<u64, Option<(usize, u64)>>;

/// An I/O that the drive carries out at some instant while it is outstanding.
struct Pending {
    worker: usize,
    io: Io,
    number: u64,
    done: bool,
    fails: bool,
}

/// Workers that submit to an honest drive in a random order; time goes on by a step with each event.
struct Trial {
    draws: Xoshiro256PlusPlus,
    workers: Vec<Memory>,
    numbers: Vec<u64>,
    pending: Vec<Pending>,
    held: Held,
    now: u64,
    depth: u32,
    failing: bool,
    span: u64,
}

impl Trial {
    fn new(seed: u64) -> Self {
        let mut draws = Xoshiro256PlusPlus::seed_from_u64(seed);
        let workers = 1 + draws.next_u64() as usize % 4;
        Self {
            workers: vec![Memory::new(sampling()); workers],
            numbers: vec![0; workers],
            pending: Vec::new(),
            held: Held::new(),
            now: 1,
            depth: 1 + draws.next_u32() % 4,
            failing: draws.next_u64().is_multiple_of(4),
            // From a single region, where nearly all writes meet, to the whole drive.
            span: (1 << 16) << (draws.next_u64() % 5),
            draws,
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.draws.next_u64() % end
    }

    fn submit(&mut self) {
        let worker = self.below(self.workers.len() as u64) as usize;
        let taken: Vec<u32> = self.pending.iter().filter(|own| own.worker == worker).map(|own| own.io.slot).collect();
        let Some(slot) = (0..self.depth).find(|slot| !taken.contains(slot)) else {
            return;
        };
        let length = BLOCK << self.below(5);
        let offset = self.below((self.span - length) / BLOCK + 1) * BLOCK;
        let direction = match self.below(10) {
            0 => Direction::Read,
            1 if self.failing => Direction::Trim,
            _ => Direction::Write,
        };
        let (io, number) = (io(slot, direction, offset, length), self.numbers[worker]);
        self.numbers[worker] += u64::from(direction == Direction::Write);
        if self.workers[worker].concerns(&io) {
            self.workers[worker].submitted(&io, Some((0, number)), Nanos(self.now));
        }
        let fails = self.failing && self.below(8) == 0;
        self.pending.push(Pending { worker, io, number, done: false, fails });
    }

    /// The drive carries out one of what is outstanding.
    fn carry_out(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let index = self.below(self.pending.len() as u64) as usize;
        let own = &mut self.pending[index];
        if !std::mem::replace(&mut own.done, true) && own.io.direction != Direction::Read {
            let holds = (own.io.direction == Direction::Write && !own.fails).then_some((own.worker, own.number));
            for place in (own.io.offset.0..own.io.offset.0 + own.io.length.0).step_by(BLOCK as usize) {
                self.held.insert(place, holds);
            }
        }
    }

    fn complete(&mut self) {
        let Some(index) = self.pending.iter().position(|own| own.done) else {
            return;
        };
        let own = self.pending.swap_remove(index);
        let result = if own.fails { Err(Errno(5)) } else { Ok(own.io.length) };
        let memory = &mut self.workers[own.worker];
        if memory.waits() {
            memory.completed(&Completion { slot: own.io.slot, at: Nanos(self.now), result });
        }
    }

    /// Run and hold every block against the drive; blocks that are known and those that nobody can tell.
    fn run(mut self, events: u64) -> (usize, usize) {
        for _ in 0..events {
            self.now += 10_000;
            match self.below(3) {
                0 => self.submit(),
                1 => self.carry_out(),
                _ => self.complete(),
            }
        }
        while !self.pending.is_empty() {
            self.now += 10_000;
            self.carry_out();
            self.complete();
        }
        let blocks: Vec<Blocks> = self.workers.iter().map(|memory| memory.blocks().clone()).collect();
        let known = resolve(&blocks);
        for block in &known {
            self.hold(block);
        }
        let told = known.iter().filter(|block| matches!(block.right, Right::AnyOf(_))).count();
        (told, known.len() - told)
    }

    fn hold(&self, block: &Known) {
        let Right::AnyOf(right) = &block.right else {
            return;
        };
        let held = self.held[&block.offset.0].expect("a block that is known was written last");
        let holds =
            |made: &(usize, Content)| matches!(made.1, Content::Made { number, .. } if (made.0, number) == held);
        assert!(right.iter().any(holds), "{block:?} holds {held:?}");
        assert!(!block.stale.iter().any(holds), "{block:?}: what it holds is not stale");
    }
}

#[test]
fn an_honest_drive_is_never_accused() {
    let (mut told, mut untold) = (0, 0);
    for seed in 0..3_000 {
        let (known, unknown) = Trial::new(seed).run(400);
        (told, untold) = (told + known, untold + unknown);
    }
    // The trials are worth something only where most blocks are compared, and some cannot be.
    assert!(told > 4 * untold && untold > 100, "{told} {untold}");
}

fn place() -> u64 {
    sampling().covered(0, 1 << 16).next().expect("every region has a block")
}

fn done(memory: &mut Memory, write: (u32, u64), at: (u64, u64), result: Result<Bytes, Errno>) {
    let (slot, number) = write;
    memory.submitted(&io(slot, Direction::Write, place(), BLOCK), Some((0, number)), Nanos(at.0));
    memory.completed(&Completion { slot, at: Nanos(at.1), result });
}

fn numbers(right: &Right) -> Option<Vec<u64>> {
    let Right::AnyOf(writes) = right else {
        return None;
    };
    let number = |made: &(usize, Content)| if let Content::Made { number, .. } = made.1 { number } else { u64::MAX };
    Some(writes.iter().map(number).collect())
}

#[test]
fn the_last_of_two_writes_is_known_and_the_one_before_is_stale() {
    let mut memory = Memory::new(sampling());
    done(&mut memory, (0, 1), (10_000, 20_000), Ok(Bytes(BLOCK)));
    done(&mut memory, (0, 2), (30_000, 40_000), Ok(Bytes(BLOCK)));
    let known = resolve(&[memory.blocks().clone()]).remove(0);
    assert_eq!((known.offset, numbers(&known.right)), (Bytes(place()), Some(vec![2])));
    assert_eq!(numbers(&Right::AnyOf(known.stale)), Some(vec![1]));
}

#[test]
fn of_two_writes_of_two_workers_that_were_outstanding_together_either_is_right() {
    let of = |at: (u64, u64), number| {
        let mut memory = Memory::new(sampling());
        done(&mut memory, (0, number), at, Ok(Bytes(BLOCK)));
        memory.blocks().clone()
    };
    let together = [of((10_000, 40_000), 1), of((30_000, 60_000), 2)];
    assert_eq!(numbers(&resolve(&together)[0].right), Some(vec![1, 2]));
    let apart = [of((50_000, 60_000), 1), of((10_000, 30_000), 2)];
    assert_eq!(numbers(&resolve(&apart)[0].right), Some(vec![1]));
    let three = [of((10_000, 40_000), 1), of((30_000, 60_000), 2), of((20_000, 50_000), 3)];
    assert_eq!(resolve(&three)[0].right, Right::Unknown);
}

#[test]
fn a_failed_or_short_write_leaves_a_block_unknown_and_a_trim_until_the_next_write() {
    for result in [Err(Errno(5)), Ok(Bytes(512))] {
        let mut memory = Memory::new(sampling());
        done(&mut memory, (0, 1), (10_000, 20_000), result);
        done(&mut memory, (0, 2), (30_000, 40_000), Ok(Bytes(BLOCK)));
        assert_eq!(resolve(&[memory.blocks().clone()])[0].right, Right::Unknown);
    }
    let mut memory = Memory::new(sampling());
    memory.submitted(&io(3, Direction::Trim, 0, 1 << 16), None, Nanos(10_000));
    memory.completed(&Completion { slot: 3, at: Nanos(20_000), result: Ok(Bytes(1 << 16)) });
    assert_eq!(resolve(&[memory.blocks().clone()])[0].right, Right::Unknown);
    done(&mut memory, (0, 2), (30_000, 40_000), Ok(Bytes(BLOCK)));
    assert_eq!(numbers(&resolve(&[memory.blocks().clone()])[0].right), Some(vec![2]));
}

#[test]
fn data_that_are_not_compared_and_what_is_forgotten_accuse_nobody() {
    let mut memory = Memory::new(sampling());
    memory.submitted(&io(0, Direction::Write, place(), BLOCK), None, Nanos(10_000));
    memory.completed(&Completion { slot: 0, at: Nanos(20_000), result: Ok(Bytes(BLOCK)) });
    assert_eq!(resolve(&[memory.blocks().clone()])[0].right, Right::Given);
    memory.forget(Bytes(place() + BLOCK), Bytes(CAPACITY));
    assert_eq!(memory.blocks().len(), 1);
    memory.forget(Bytes(0), Bytes(CAPACITY));
    assert!(memory.blocks().is_empty() && !memory.waits());
}
