//! Counting completions of one step in one worker; sealed into a record once the last of them is in.

use std::collections::BTreeMap;

use crate::contract::{Bytes, Direction, Errno, Nanos};
use crate::histogram::Histogram;
use crate::record::{DirectionRecord, LatencyRecord, SeriesPoint, StepRecord};

/// The counts of one step in one worker. Memory is kept and reused from step to step.
#[derive(Default)]
pub(crate) struct Tally {
    read: DirectionTally,
    write: DirectionTally,
    other: DirectionTally,
}

#[derive(Default)]
struct DirectionTally {
    counts: Counts,
    /// Of I/Os that were submitted in the window, and of those that were submitted before it opened.
    latency: Latencies,
    lead_in_latency: Option<Box<Latencies>>,
    intended: Option<Box<Latencies>>,
    late: Option<Box<Latencies>>,
    errors: BTreeMap<i32, u64>,
    series: Vec<SeriesPoint>,
    /// The second of the series that completions fall into now, its place, and where it ends.
    second: SeriesPoint,
    second_index: usize,
    second_end: Nanos,
}

#[derive(Default)]
struct Counts {
    lead_in: Amount,
    window: Amount,
    tail: Amount,
    carried_in: Amount,
    carried_in_latency_sum_ns: u64,
    failed_ns: u64,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    io_count: u64,
    bytes: u64,
}

struct Latencies {
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    histogram: Histogram,
}

/// Where in its own step an I/O completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the window opened.
    LeadIn,
    /// Within (0, T].
    Window,
    /// After T.
    Tail,
}

/// A completed I/O.
pub(crate) struct Completed {
    pub(crate) direction: Direction,
    pub(crate) at: Nanos,
    pub(crate) latency: Nanos,
    /// From when it was due to its completion; `None` where it was due when it was submitted.
    pub(crate) intended: Option<Nanos>,
    pub(crate) bytes: Bytes,
}

impl Tally {
    /// Count an I/O that was submitted in the window, which opened at `opened`, and is complete before its end.
    #[inline]
    pub(crate) fn count(&mut self, io: &Completed, opened: Nanos) {
        let tally = self.direction(io.direction);
        tally.count_latency(io);
        tally.counts.window.add(io.bytes);
        tally.count_second(io, opened);
    }

    /// Count an I/O of this step that was submitted or completed outside of the window.
    pub(crate) fn count_crossing(&mut self, io: &Completed, place: Place, in_window: bool) {
        let tally = self.direction(io.direction);
        match place {
            Place::LeadIn => tally.counts.lead_in.add(io.bytes),
            Place::Window => tally.counts.window.add(io.bytes),
            Place::Tail => tally.counts.tail.add(io.bytes),
        }
        if in_window {
            tally.count_latency(io);
        } else {
            tally.lead_in_latency.get_or_insert_default().record(io.latency.0);
        }
    }

    /// Count an I/O of an earlier, equal step that is complete in this one's window.
    pub(crate) fn count_carried_in(&mut self, io: &Completed) {
        let tally = self.direction(io.direction);
        tally.counts.carried_in.add(io.bytes);
        tally.counts.carried_in_latency_sum_ns += io.latency.0;
    }

    /// Count a completion in the window's series, whichever step submitted it.
    pub(crate) fn count_in_series(&mut self, io: &Completed, opened: Nanos) {
        self.direction(io.direction).count_second(io, opened);
    }

    /// A failed I/O; `in_window` where it was submitted there, after which it took `latency`.
    pub(crate) fn count_error(&mut self, direction: Direction, errno: Errno, in_window: bool, latency: Nanos) {
        let tally = self.direction(direction);
        *tally.errors.entry(errno.0).or_default() += 1;
        if in_window {
            tally.counts.failed_ns += latency.0;
        }
    }

    /// Move the counts into `record`, whose span is known, and start again from zero.
    pub(crate) fn seal(&mut self, record: &mut StepRecord) {
        record.read = self.read.seal(record.span);
        record.write = self.write.seal(record.span);
        record.other = self.other.seal(record.span);
    }

    /// A second of the window's series as it stands, by direction: reads, writes and others.
    pub(crate) fn second(&self, index: usize) -> [SeriesPoint; 3] {
        [&self.read, &self.write, &self.other].map(|side| side.point(index))
    }

    #[inline]
    fn direction(&mut self, direction: Direction) -> &mut DirectionTally {
        if direction == Direction::Read {
            &mut self.read
        } else if direction == Direction::Write {
            &mut self.write
        } else {
            &mut self.other
        }
    }
}

impl Amount {
    #[inline]
    fn add(&mut self, bytes: Bytes) {
        self.io_count += 1;
        self.bytes += bytes.0;
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self { sum_ns: 0, min_ns: u64::MAX, max_ns: 0, histogram: Histogram::new() }
    }
}

impl Latencies {
    #[inline]
    fn record(&mut self, latency_ns: u64) {
        self.sum_ns += latency_ns;
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.record(latency_ns);
    }

    /// What was recorded, `None` where nothing was; starts again from zero.
    fn take(&mut self) -> Option<LatencyRecord> {
        let Self { sum_ns, min_ns, max_ns, .. } = *self;
        if min_ns > max_ns {
            return None;
        }
        let histogram = self.histogram.sparse();
        self.histogram.clear();
        (self.sum_ns, self.min_ns, self.max_ns) = (0, u64::MAX, 0);
        Some(LatencyRecord { sum_ns, min_ns, max_ns, histogram })
    }
}

impl DirectionTally {
    #[inline]
    fn count_latency(&mut self, io: &Completed) {
        self.latency.record(io.latency.0);
        if let Some(intended) = io.intended {
            self.intended.get_or_insert_default().record(intended.0);
            self.late.get_or_insert_default().record(intended.0 - io.latency.0);
        }
    }

    #[inline]
    fn count_second(&mut self, io: &Completed, opened: Nanos) {
        if io.at >= self.second_end {
            self.open_second(io.at, opened);
        }
        let point = &mut self.second;
        point.io_count += 1;
        point.bytes += io.bytes.0;
        point.latency_sum_ns += io.latency.0;
        point.latency_max_ns = point.latency_max_ns.max(io.latency.0);
    }

    fn point(&self, index: usize) -> SeriesPoint {
        let open = if index == self.second_index { self.second } else { SeriesPoint::default() };
        self.series.get(index).copied().unwrap_or(open)
    }

    /// Completions come in order of time, so the seconds do too.
    #[cold]
    fn open_second(&mut self, at: Nanos, opened: Nanos) {
        self.close_second();
        self.second_index = ((at - opened).0 / Nanos::SECOND.0) as usize;
        self.second_end = Nanos(opened.0 + (self.second_index as u64 + 1) * Nanos::SECOND.0);
    }

    fn close_second(&mut self) {
        if self.second.io_count > 0 {
            self.series.resize(self.second_index + 1, SeriesPoint::default());
            self.series[self.second_index] = std::mem::take(&mut self.second);
        }
    }

    /// T itself belongs to the last second of the window: a window of 60 s has no 61st.
    fn close_series(&mut self, span: Nanos) {
        self.close_second();
        let seconds = span.0.div_ceil(Nanos::SECOND.0) as usize;
        if self.series.len() > seconds.max(1) {
            let beyond = self.series.split_off(seconds);
            for point in &beyond {
                self.series[seconds - 1].add(point);
            }
        }
    }

    fn seal(&mut self, span: Nanos) -> DirectionRecord {
        self.close_series(span);
        (self.second_index, self.second_end) = (0, Nanos(0));
        let counts = std::mem::take(&mut self.counts);
        let latency = self.latency.take();
        DirectionRecord {
            lead_in_io_count: counts.lead_in.io_count,
            lead_in_bytes: Bytes(counts.lead_in.bytes),
            window_io_count: counts.window.io_count,
            window_bytes: Bytes(counts.window.bytes),
            tail_io_count: counts.tail.io_count,
            tail_bytes: Bytes(counts.tail.bytes),
            carried_in_io_count: counts.carried_in.io_count,
            carried_in_bytes: Bytes(counts.carried_in.bytes),
            carried_in_latency_sum_ns: counts.carried_in_latency_sum_ns,
            latency_io_count: latency.iter().flat_map(|latency| &latency.histogram).map(|bucket| bucket.1).sum(),
            latency_sum_ns: latency.as_ref().map_or(0, |latency| latency.sum_ns),
            latency_min_ns: latency.as_ref().map(|latency| latency.min_ns),
            latency_max_ns: latency.as_ref().map(|latency| latency.max_ns),
            histogram: latency.map(|latency| latency.histogram).unwrap_or_default(),
            lead_in_latency: self.lead_in_latency.take().and_then(|mut latency| latency.take()),
            errors: std::mem::take(&mut self.errors),
            failed_ns: counts.failed_ns,
            series: std::mem::take(&mut self.series),
            intended: self.intended.take().and_then(|mut intended| intended.take()),
            late: self.late.take().and_then(|mut late| late.take()),
        }
    }
}
