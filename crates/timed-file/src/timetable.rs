//! When each request is done: servers with known service times, in order of arrival.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What the servers are like. Times in ns, above zero where they are used.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) usual_ns: u64,
    pub(crate) server_count: usize,
    /// Service time of a share of the requests, in [0, 1], drawn independently.
    pub(crate) slow_ns: u64,
    pub(crate) slow_share: f64,
    pub(crate) seed: u64,
    /// No service while the clock modulo `stall_every_ns` is below `stall_ns`; never where that is zero.
    pub(crate) stall_every_ns: u64,
    pub(crate) stall_ns: u64,
}

impl Default for Service {
    fn default() -> Self {
        Self { usual_ns: 0, server_count: 1, slow_ns: 0, slow_share: 0.0, seed: 0, stall_every_ns: 0, stall_ns: 0 }
    }
}

/// The servers and until when each is busy.
///
/// Ends are computed from ends, not from when an answer went out: a late answer delays no other, and a server that is never
/// idle completes exactly one request per service time.
pub(crate) struct Timetable {
    service: Service,
    /// On the clock that stands still in stalls.
    free_at: Vec<u64>,
    draws: Xoshiro256PlusPlus,
}

impl Timetable {
    pub(crate) fn new(service: Service) -> Self {
        let draws = Xoshiro256PlusPlus::seed_from_u64(service.seed);
        Self { free_at: vec![0; service.server_count], service, draws }
    }

    /// The instant at which a request is done that arrives now; arrivals come in order.
    ///
    /// Worked: one server of 2 ms, arrivals at 0, 1 and 10 ms -> done at 2, 4 and 12 ms.
    pub(crate) fn done_at(&mut self, arrival: u64) -> u64 {
        let arrival = self.working(arrival);
        let service = self.draw();
        // A file has at least one server.
        let first = self.free_at.iter_mut().min();
        let end = first.map_or(arrival, |free_at| {
            *free_at = arrival.max(*free_at) + service;
            *free_at
        });
        self.instant(end)
    }

    fn draw(&mut self) -> u64 {
        if self.service.slow_share == 0.0 {
            return self.service.usual_ns;
        }
        let drawn = (self.draws.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        if drawn < self.service.slow_share { self.service.slow_ns } else { self.service.usual_ns }
    }

    /// How long the servers have worked at an instant, since the clock was zero.
    fn working(&self, instant: u64) -> u64 {
        let Service { stall_every_ns: every, stall_ns: stall, .. } = self.service;
        if stall == 0 {
            return instant;
        }
        instant / every * (every - stall) + (instant % every).saturating_sub(stall)
    }

    /// The first instant at which the servers have worked so long.
    fn instant(&self, working: u64) -> u64 {
        let Service { stall_every_ns: every, stall_ns: stall, .. } = self.service;
        if stall == 0 || working == 0 {
            return working;
        }
        // What ends together with a period of work is answered before the stall.
        let last = working - 1;
        last / (every - stall) * every + stall + last % (every - stall) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ends(service: Service, arrivals_ms: &[u64]) -> Vec<u64> {
        let mut timetable = Timetable::new(service);
        arrivals_ms.iter().map(|arrival| timetable.done_at(arrival * MS) / MS).collect()
    }

    #[test]
    fn a_server_takes_one_after_the_other_and_waits_for_none() {
        let service = Service { usual_ns: 2 * MS, ..Service::default() };
        assert_eq!(ends(service, &[0, 1, 1, 10]), [2, 4, 6, 12]);
    }

    #[test]
    fn several_servers_work_beside_each_other() {
        let service = Service { usual_ns: 2 * MS, server_count: 3, ..Service::default() };
        assert_eq!(ends(service, &[0, 0, 0, 0, 1, 5]), [2, 2, 2, 4, 4, 7]);
    }

    #[test]
    fn work_stands_still_in_a_stall_and_nothing_ends_within_one() {
        // Stalled in [0, 20), [100, 120) and so on.
        let stalls = Service { usual_ns: 10 * MS, stall_every_ns: 100 * MS, stall_ns: 20 * MS, ..Service::default() };
        assert_eq!(ends(stalls.clone(), &[5]), [30]);
        assert_eq!(ends(stalls.clone(), &[90, 91, 92]), [100, 130, 140]);
        assert_eq!(ends(stalls.clone(), &[95]), [125]);
        let mut timetable = Timetable::new(stalls);
        for arrival in (0..5_000).map(|nth| nth * 7 * MS / 3) {
            let end = timetable.done_at(arrival) % (100 * MS);
            assert!(end == 0 || end > 20 * MS, "{arrival}");
        }
    }

    #[test]
    fn a_mixture_has_its_shares_and_repeats_with_its_seed() {
        let mixture = Service {
            usual_ns: MS,
            slow_ns: 20 * MS,
            slow_share: 0.01,
            server_count: 100_000,
            seed: 7,
            ..Service::default()
        };
        let slow_of = |service: &Service| {
            let mut timetable = Timetable::new(service.clone());
            (0..100_000).filter(|_| timetable.draw() == 20 * MS).count()
        };
        let slow = slow_of(&mixture);
        // 1,000 expected, standard deviation 31.5.
        assert!((874..=1126).contains(&slow), "{slow}");
        assert_eq!(slow_of(&mixture), slow);
        assert_ne!(ends(Service { server_count: 1, ..mixture.clone() }, &[0; 300]).last(), Some(&300));
    }
}
