//! When the I/Os of an open loop are due, whatever the drive does.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::contract::Nanos;
use crate::pattern::Access;
use crate::recorded::Playback;

/// How the times between arrivals are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// All the same.
    Fixed,
    /// Exponential: arrivals know nothing of each other.
    Poisson,
    /// As a recording says, whose mean rate is stated.
    Recorded,
}

/// A stated arrival rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// I/Os per second over all threads, above 0 to 10^9.
    pub per_second: f64,
    /// How they are spread.
    pub process: ArrivalProcess,
    /// The rate changes evenly over the step, which is of stated time, to this many times its first value.
    pub end_factor: f64,
}

/// The arrivals of one worker, in order: drawn by a rate, or those of a recording.
pub(crate) enum Arrivals {
    Drawn(Drawn),
    Recorded(Playback),
}

impl Arrivals {
    /// When the next is due.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        match self {
            Self::Drawn(drawn) => drawn.due(),
            Self::Recorded(playback) => playback.due(),
        }
    }

    /// Take the next one; returns when it was due, `None` where a recording is issued as fast as possible.
    #[inline]
    pub(crate) fn take(&mut self, rng: &mut Xoshiro256PlusPlus) -> Option<Nanos> {
        match self {
            Self::Drawn(drawn) => Some(drawn.take(rng)),
            Self::Recorded(playback) => playback.take(),
        }
    }

    /// Arrivals that were due before `end`, those that were never taken among them.
    pub(crate) fn offered(&mut self, end: Nanos, rng: &mut Xoshiro256PlusPlus) -> Option<u64> {
        match self {
            Self::Drawn(drawn) => Some(drawn.offered(end, rng)),
            Self::Recorded(playback) => playback.offered(end),
        }
    }

    /// What the next I/O of a recording does; `None` at its end, and where I/Os are drawn.
    pub(crate) fn access(&self) -> Option<Access> {
        match self {
            Self::Drawn(_) => None,
            Self::Recorded(playback) => playback.access(),
        }
    }
}

/// Arrivals at a rate.
pub(crate) struct Drawn {
    start: Nanos,
    /// Mean time between two of this worker, and when the next is due, in ns from the start.
    gap: f64,
    next: f64,
    process: ArrivalProcess,
    taken: u64,
    ramp: Option<Ramp>,
}

/// A rate that changes evenly from the first value to `1 + growth` times it over `span` ns.
#[derive(Clone, Copy)]
struct Ramp {
    growth: f64,
    span: f64,
}

impl Ramp {
    /// When so many ns' worth of arrivals at the first rate have come: the root of `t + growth t^2 / (2 span) = worth`,
    /// infinite where so many never come.
    fn time_of(self, worth: f64) -> f64 {
        let under = 1.0 + 2.0 * self.growth * worth / self.span;
        if under < 0.0 { f64::INFINITY } else { 2.0 * worth / (1.0 + under.sqrt()) }
    }
}

impl Drawn {
    /// Worker `worker` of `workers` takes every `workers`-th arrival of a fixed rate, or its share of a Poisson process.
    pub(crate) fn new(
        arrival: Arrival,
        worker: usize,
        workers: usize,
        start: Nanos,
        span: Option<Nanos>,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let growth = arrival.end_factor - 1.0;
        let ramp = span.filter(|_| growth.abs() >= f64::EPSILON).map(|span| Ramp { growth, span: span.0 as f64 });
        let gap = 1e9 / arrival.per_second * workers as f64;
        let mut arrivals = Self { start, gap, next: 0.0, process: arrival.process, taken: 0, ramp };
        arrivals.next = match arrival.process {
            ArrivalProcess::Poisson => arrivals.draw(rng),
            _ => gap * worker as f64 / workers as f64,
        };
        arrivals
    }

    /// When the next is due.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        let after = self.ramp.map_or(self.next, |ramp| ramp.time_of(self.next));
        Nanos(self.start.0.saturating_add(after as u64))
    }

    /// Take the next one; returns when it was due.
    #[inline]
    pub(crate) fn take(&mut self, rng: &mut Xoshiro256PlusPlus) -> Nanos {
        let due = self.due();
        self.next += match self.process {
            ArrivalProcess::Poisson => self.draw(rng),
            _ => self.gap,
        };
        self.taken += 1;
        due
    }

    /// Arrivals that were due before `end`, those that were never taken among them.
    pub(crate) fn offered(&mut self, end: Nanos, rng: &mut Xoshiro256PlusPlus) -> u64 {
        while self.due() < end {
            self.take(rng);
        }
        self.taken
    }

    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        // 53 bits in (0, 1]: the logarithm is finite.
        let uniform = ((rng.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
        -uniform.ln() * self.gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    fn gaps(process: ArrivalProcess, count: usize) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut arrivals =
            Drawn::new(Arrival { per_second: 10_000.0, process, end_factor: 1.0 }, 0, 1, Nanos(5), None, &mut rng);
        let times: Vec<u64> = (0..=count).map(|_| arrivals.take(&mut rng).0).collect();
        times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    }

    #[test]
    fn fixed_arrivals_are_evenly_apart() {
        assert!(gaps(ArrivalProcess::Fixed, 1000).iter().all(|gap| (gap - 100_000.0).abs() <= 1.0));
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps() {
        let gaps = gaps(ArrivalProcess::Poisson, 200_000);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let beyond = |limit: f64| gaps.iter().filter(|gap| **gap > limit).count() as f64 / gaps.len() as f64;
        assert!((mean / 100_000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((beyond(100_000.0) - (-1.0_f64).exp()).abs() < 0.005);
        assert!((beyond(300_000.0) - (-3.0_f64).exp()).abs() < 0.005);
    }

    #[test]
    fn the_workers_of_a_fixed_rate_take_turns() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let arrival = Arrival { per_second: 1e6, process: ArrivalProcess::Fixed, end_factor: 1.0 };
        let mut times: Vec<u64> = Vec::new();
        for worker in 0..4 {
            let mut arrivals = Drawn::new(arrival, worker, 4, Nanos(0), None, &mut rng);
            times.extend((0..5).map(|_| arrivals.take(&mut rng).0));
        }
        times.sort_unstable();
        assert_eq!(times, (0..20).map(|nth| nth * 1000).collect::<Vec<_>>());
        let mut late = Drawn::new(arrival, 0, 1, Nanos(0), None, &mut rng);
        assert_eq!(late.offered(Nanos(9_999), &mut rng), 10);
    }

    #[test]
    fn a_ramp_doubles_the_rate_over_its_step() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let arrival = Arrival { per_second: 1000.0, process: ArrivalProcess::Fixed, end_factor: 2.0 };
        let span = Some(Nanos(10 * Nanos::SECOND.0));
        let mut arrivals = Drawn::new(arrival, 0, 1, Nanos(0), span, &mut rng);
        let mut first_half = arrivals.offered(Nanos(5 * Nanos::SECOND.0), &mut rng);
        // 1000 + 1500 a second over two on the mean: 5 x 1250, and 10 x 1500 in all.
        assert_eq!(first_half, 6250);
        first_half = arrivals.offered(Nanos(10 * Nanos::SECOND.0), &mut rng);
        assert_eq!(first_half, 15_000);
        let falling = Arrival { end_factor: 0.5, ..arrival };
        let mut arrivals = Drawn::new(falling, 0, 1, Nanos(0), span, &mut rng);
        assert_eq!(arrivals.offered(Nanos(10 * Nanos::SECOND.0), &mut rng), 7500);
    }
}
