//! Counting completions of one step in one lane; sealed into a record once the last of them is in.

use std::collections::BTreeMap;

use crate::contract::{Bytes, Direction, Errno, Nanos};
use crate::histogram::Histogram;
use crate::record::{DirectionRecord, LatencyRecord, SeriesPoint, StepRecord};

/// The counts of one step in one lane. Memory is kept and reused from step to step.
#[derive(Default)]
pub(crate) struct Tally {
    read: DirectionTally,
    write: DirectionTally,
}

#[derive(Default)]
struct DirectionTally {
    window_io_count: u64,
    window_bytes: u64,
    tail_io_count: u64,
    tail_bytes: u64,
    latency_sum_ns: u64,
    latency_min_ns: Option<u64>,
    latency_max_ns: u64,
    errors: BTreeMap<i32, u64>,
    histogram: Histogram,
    series: Vec<SeriesPoint>,
    intended: Option<Box<Intended>>,
    /// The second of the series that completions fall into now, its place, and where it ends.
    second: SeriesPoint,
    second_index: usize,
    second_end: Nanos,
}

/// Response times from when the I/Os were due.
#[derive(Default)]
struct Intended {
    sum_ns: u64,
    min_ns: Option<u64>,
    max_ns: u64,
    histogram: Histogram,
}

/// A completed I/O with the instants that place it in its step.
pub(crate) struct Completed {
    pub(crate) direction: Direction,
    pub(crate) submitted: Nanos,
    /// When it was due; `None` where it was due when it was submitted.
    pub(crate) due: Option<Nanos>,
    pub(crate) at: Nanos,
    pub(crate) bytes: Bytes,
}

impl Tally {
    #[inline]
    pub(crate) fn count(&mut self, io: &Completed, start: Nanos, end: Nanos) {
        let tally = self.direction(io.direction);
        let latency_ns = io.at.0 - io.submitted.0;
        tally.latency_sum_ns += latency_ns;
        tally.latency_min_ns = Some(tally.latency_min_ns.map_or(latency_ns, |min| min.min(latency_ns)));
        tally.latency_max_ns = tally.latency_max_ns.max(latency_ns);
        tally.histogram.record(latency_ns);
        if let Some(due) = io.due {
            tally.intended.get_or_insert_default().count(io.at.0 - due.0);
        }
        if io.at <= end {
            tally.window_io_count += 1;
            tally.window_bytes += io.bytes.0;
            if io.at >= tally.second_end {
                tally.open_second(io.at, start, end);
            }
            let point = &mut tally.second;
            point.io_count += 1;
            point.bytes += io.bytes.0;
            point.latency_sum_ns += latency_ns;
            point.latency_max_ns = point.latency_max_ns.max(latency_ns);
        } else {
            tally.tail_io_count += 1;
            tally.tail_bytes += io.bytes.0;
        }
    }

    pub(crate) fn count_error(&mut self, direction: Direction, errno: Errno) {
        *self.direction(direction).errors.entry(errno.0).or_default() += 1;
    }

    /// Move the counts into `record` and start again from zero.
    pub(crate) fn seal(&mut self, record: &mut StepRecord) {
        record.read = self.read.seal();
        record.write = self.write.seal();
    }

    fn direction(&mut self, direction: Direction) -> &mut DirectionTally {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }
}

impl Intended {
    fn count(&mut self, latency_ns: u64) {
        self.sum_ns += latency_ns;
        self.min_ns = Some(self.min_ns.map_or(latency_ns, |min| min.min(latency_ns)));
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.record(latency_ns);
    }

    fn record(&self) -> Option<LatencyRecord> {
        let min_ns = self.min_ns?;
        Some(LatencyRecord { sum_ns: self.sum_ns, min_ns, max_ns: self.max_ns, histogram: self.histogram.sparse() })
    }
}

impl DirectionTally {
    /// Completions come in order of time, so the seconds do too.
    #[cold]
    fn open_second(&mut self, at: Nanos, start: Nanos, end: Nanos) {
        self.close_second();
        self.second_index = second_of(at, start, end);
        let next = start.0 + (self.second_index as u64 + 1) * Nanos::SECOND.0;
        // T itself belongs to the last second.
        self.second_end = Nanos(if next == end.0 { next + 1 } else { next });
    }

    fn close_second(&mut self) {
        if self.second.io_count > 0 {
            self.series.resize(self.second_index + 1, SeriesPoint::default());
            self.series[self.second_index] = std::mem::take(&mut self.second);
        }
    }

    fn seal(&mut self) -> DirectionRecord {
        self.close_second();
        let record = DirectionRecord {
            window_io_count: self.window_io_count,
            window_bytes: Bytes(self.window_bytes),
            tail_io_count: self.tail_io_count,
            tail_bytes: Bytes(self.tail_bytes),
            latency_sum_ns: self.latency_sum_ns,
            latency_min_ns: self.latency_min_ns,
            latency_max_ns: self.latency_min_ns.map(|_| self.latency_max_ns),
            errors: std::mem::take(&mut self.errors),
            histogram: if self.latency_min_ns.is_some() { self.histogram.sparse() } else { Vec::new() },
            series: std::mem::take(&mut self.series),
            intended: self.intended.take().and_then(|intended| intended.record()),
        };
        self.histogram.clear();
        let histogram = std::mem::take(&mut self.histogram);
        *self = Self { histogram, ..Self::default() };
        record
    }
}

/// The second of the window that an instant lies in; T itself belongs to the last one.
fn second_of(at: Nanos, start: Nanos, end: Nanos) -> usize {
    let inside = if at == end { (at - start).0.saturating_sub(1) } else { (at - start).0 };
    (inside / Nanos::SECOND.0) as usize
}
