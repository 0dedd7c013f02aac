//! What holds a drive back by intent: a limit of its endurance and its temperature.

use serde::{Deserialize, Serialize};

use crate::flash_model::FlashModel;

/// Below this share of the limit a hot drive is cool again.
const COOL_SHARE: f64 = 0.8;

/// Host writes at a sustained rate after a burst.
#[derive(Serialize, Deserialize)]
pub(crate) struct WriteLimit {
    rate: u64,
    burst: u64,
    /// Time up to which the limit has been used.
    until: u64,
}

impl WriteLimit {
    pub(crate) fn new(model: &FlashModel) -> Self {
        let rate = model.write_limit_rate;
        let burst = if rate == 0 { 0 } else { span_of(model.write_limit_burst.0, rate) };
        Self { rate, burst, until: 0 }
    }

    /// When a write that is ready at `at` may go on.
    #[inline]
    pub(crate) fn obey(&mut self, at: u64, bytes: u64) -> u64 {
        if self.rate == 0 {
            return at;
        }
        let begun = at.max(self.until.saturating_sub(self.burst));
        self.until = self.until.max(begun) + span_of(bytes, self.rate);
        begun
    }
}

/// Heat in bytes moved, which drains at a steady rate; a drive that is too hot moves no more than it can stand.
#[derive(Serialize, Deserialize)]
pub(crate) struct Heat {
    limit: f64,
    /// Bytes per nanosecond.
    cooling: f64,
    throttled_rate: u64,
    stored: f64,
    at: u64,
    hot: bool,
    until: u64,
}

impl Heat {
    pub(crate) fn new(model: &FlashModel) -> Self {
        Self {
            limit: model.heat_limit.0 as f64,
            cooling: model.cooling_rate as f64 / 1e9,
            throttled_rate: model.throttled_rate,
            stored: 0.0,
            at: 0,
            hot: false,
            until: 0,
        }
    }

    /// When a transfer that is ready at `at` may go on.
    #[inline]
    pub(crate) fn obey(&mut self, at: u64, bytes: u64) -> u64 {
        if self.limit == 0.0 {
            return at;
        }
        self.cool(at);
        self.stored += bytes as f64;
        self.hot = self.stored > if self.hot { COOL_SHARE * self.limit } else { self.limit };
        if !self.hot {
            return at;
        }
        self.until = self.until.max(at) + span_of(bytes, self.throttled_rate);
        self.until
    }

    fn cool(&mut self, at: u64) {
        let span = at.saturating_sub(self.at);
        self.stored = (self.stored - span as f64 * self.cooling).max(0.0);
        self.at = self.at.max(at);
    }
}

/// Time that bytes take at a rate per second, to the nanosecond below.
pub(crate) fn span_of(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64
}
