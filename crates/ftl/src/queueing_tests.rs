//! Waiting times of reads against queueing theory, at low and at high use of dies and channels.
//!
//! Sources: Pollaczek and Khinchine for one server (M/D/1: wait = rho S / 2 (1 - rho)); Levy and Yechiali, 1975, for a server
//! that is away for a fixed time whenever nobody waits: half of that time comes on top.

use super::*;
use assay_core::contract::{Bytes, Nanos};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const READ: u64 = 50_000;
const PROGRAM: u64 = 1_300_000;

/// Host reads that come at random, and as many stripes of writes outstanding all the time.
struct Load {
    timing: Timing,
    dies: u32,
    page_transfer: u64,
    stripe_pages: u32,
    rng: Xoshiro256PlusPlus,
    /// When each outstanding write is accepted.
    writes: VecDeque<u64>,
    written: u32,
}

impl Load {
    fn new(channels: u32, dies_per_channel: u32, channel_rate: u64, writes: usize) -> Self {
        let model = FlashModel {
            capacity: Bytes(4_000_000_000),
            channel_count: channels,
            dies_per_channel,
            read: Nanos(READ),
            program: Nanos(PROGRAM),
            channel_rate,
            write_buffer: Bytes(4 << 20),
            ..FlashModel::plain()
        };
        Self::of(&model, writes)
    }

    fn of(model: &FlashModel, writes: usize) -> Self {
        let geometry = Geometry::new(model).expect("valid");
        let timing = Timing::new(model, &geometry);
        let rng = Xoshiro256PlusPlus::seed_from_u64(3);
        Self {
            page_transfer: timing.page_transfer,
            stripe_pages: geometry.stripe_pages,
            dies: geometry.die_count,
            timing,
            rng,
            writes: VecDeque::from(vec![0; writes]),
            written: 0,
        }
    }

    fn share(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Writes until a time; each that is accepted is followed by another.
    fn write_until(&mut self, time: u64) {
        while let Some(at) = self.writes.front().copied().filter(|at| *at <= time) {
            self.writes.pop_front();
            self.timing.command(at, 0);
            let accepted = self.timing.accept(at, self.stripe_pages);
            self.timing.program(self.written, self.stripe_pages, true);
            self.written += 1;
            self.writes.push_back(accepted);
        }
    }

    /// Mean time of so many reads of a page in nanoseconds, each of a die at random, `every` apart in the mean.
    fn mean_read(&mut self, count: u32, every: f64) -> f64 {
        let (mut time, mut total) = (0.0, 0.0);
        for _ in 0..count {
            time -= every * (1.0 - self.share()).ln();
            let (at, stripe) = (time as u64, (self.share() * f64::from(self.dies)) as u32);
            self.write_until(at);
            self.timing.command(at, 0);
            total += (self.timing.read_of_host(stripe, 4096, at) - at) as f64;
        }
        total / f64::from(count)
    }
}

/// Mean wait before a server that takes `span` for each of those that come `every` apart in the mean.
fn mean_wait(span: u64, every: f64) -> f64 {
    let used = span as f64 / every;
    used * span as f64 / (2.0 * (1.0 - used))
}

fn assert_close(name: &str, simulated: f64, theory: f64) {
    let error = simulated / theory - 1.0;
    assert!(error.abs() <= 0.02, "{name}: {simulated:.0} ns against {theory:.0} ({:+.1} %)", error * 100.0);
}

/// However many writes wait, a read waits for the rest of one program, and for reads of its die that came before it.
#[test]
fn reads_amid_saturated_writes_wait_for_half_a_program() {
    for outstanding in [1, 8, 32, 128] {
        for used in [0.02, 0.5, 0.8] {
            let mut load = Load::new(8, 1, 166_000_000, outstanding);
            let per_die = READ as f64 / used;
            let theory = (READ + load.page_transfer) as f64 + PROGRAM as f64 / 2.0 + mean_wait(READ, per_die);
            let simulated = load.mean_read(200_000, per_die / 8.0);
            assert_close(&format!("{outstanding} writes, dies used to {used}"), simulated, theory);
        }
    }
}

/// Many dies on one channel: it is the channel that reads wait for, each from when it is sensed.
#[test]
fn reads_wait_for_their_channel_as_theory_says() {
    for used in [0.05, 0.5, 0.8, 0.9] {
        let mut load = Load::new(1, 64, 166_000_000, 0);
        let every = load.page_transfer as f64 / used;
        let waits = mean_wait(load.page_transfer, every) + mean_wait(READ, every * 64.0);
        let theory = (READ + load.page_transfer) as f64 + waits;
        assert_close(&format!("channel used to {used}"), load.mean_read(2_000_000, every), theory);
    }
}

/// Transfers of programs take all that reads leave of a channel, and reads go before them.
#[test]
fn a_channel_that_writes_saturate_is_always_busy_and_holds_up_no_read() {
    let mut load = Load::new(1, 64, 20_000_000, 64);
    let (used, reads) = (0.2, 100_000);
    let every = load.page_transfer as f64 / used;
    let simulated = load.mean_read(reads, every);
    let span = f64::from(reads) * every;
    let of_writes = f64::from(load.written) * load.timing.stripe_transfer as f64 / span;
    assert!((of_writes + used - 1.0).abs() < 0.01, "{of_writes} of the channel's time for writes, {used} for reads");
    let waits = mean_wait(load.page_transfer, every);
    let programs = f64::from(load.written) / 64.0 * PROGRAM as f64 / span * PROGRAM as f64 / 2.0;
    assert_close("reads", simulated, (READ + load.page_transfer) as f64 + waits + programs);
}

/// No die begins a program while a read is in the drive: each loses the time of the read but for what its program in progress fills,
/// half a program in the mean, whatever die the read is of.
#[test]
fn reads_that_hold_programs_cost_every_die_the_time_they_take() {
    let (program, every, reads) = (10_000, 1_000_000.0, 100_000);
    let written = |reads_hold_programs| {
        let model = FlashModel {
            channel_count: 8,
            dies_per_channel: 1,
            read: Nanos(READ),
            program: Nanos(program),
            channel_rate: 10_000_000_000,
            reads_hold_programs,
            ..FlashModel::plain()
        };
        let mut load = Load::of(&model, 32);
        let mean = load.mean_read(reads, every);
        (mean, f64::from(load.written) / 8.0 * program as f64 / (f64::from(reads) * every))
    };
    let ((_, free), (mean, held)) = (written(false), written(true));
    assert_close("programs of all time, reads on one die in eight", free, 1.0 - READ as f64 / every / 8.0);
    assert_close("a read", mean, READ as f64 + 409.0 + program as f64 / 2.0);
    assert_close("programs of all time", held, 1.0 - (mean - program as f64 / 2.0) / every);
    assert!(free - held > 0.04, "{free} then {held}");
}
