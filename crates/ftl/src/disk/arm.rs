//! The arm with its heads over turning discs: how long until a run of blocks is under the head.

use super::geometry::{Extent, Geometry, Place};
use super::model::DiskModel;
use crate::stream::Stream;

/// When the medium begins and ends to serve a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Service {
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// What is read beyond the last read: all from `low` to `from` in stream time, and since the clock's `since` the head
/// goes on from there until the buffer is full at `limit`.
#[derive(Clone, Copy)]
struct Ahead {
    low: u64,
    from: u64,
    since: u64,
    limit: u64,
}

impl Ahead {
    /// How far the stream would have come at `at` if the buffer had no end.
    #[inline]
    fn passed(&self, at: u64) -> u64 {
        self.from + at.saturating_sub(self.since)
    }
}

pub(super) struct Arm {
    track_seek: u64,
    root: f64,
    linear: f64,
    /// Cylinders of a full stroke beyond the first.
    stroke: f64,
    head_switch: u64,
    write_settle: u64,
    spread: f64,
    margin: u64,
    revolution: u64,
    /// Longest gap in a stream.
    skew: u64,
    /// Angle at the clock's zero, in ns.
    phase: u64,
    ahead_span: u64,
    draws: Stream,
    place: Place,
    writing: bool,
    ahead: Option<Ahead>,
    /// The arm serves a command until then.
    pub(super) free_at: u64,
}

impl Arm {
    pub(super) fn new(model: &DiskModel, geometry: &Geometry) -> Self {
        let (root, linear) = model.seek_curve();
        let mut draws = Stream::new(model.seed);
        let revolution = geometry.revolution;
        Self {
            track_seek: model.track_seek.0,
            root,
            linear,
            stroke: f64::from(geometry.cylinder_count().max(3) - 2),
            head_switch: model.head_switch.0,
            write_settle: model.write_settle.0,
            spread: model.settle_spread.0 as f64,
            margin: model.settle_margin.0,
            revolution,
            skew: geometry.cylinder_skew,
            phase: draws.below(revolution),
            ahead_span: model.read_ahead.0 * revolution / model.outer_track.0,
            draws,
            place: Place::default(),
            writing: false,
            ahead: None,
            free_at: 0,
        }
    }

    /// What the scheduler expects of a command that it begins at `at`.
    #[inline]
    pub(super) fn plan(&self, extent: &Extent, writes: bool, at: u64) -> Service {
        if let Some(service) = self.buffered(extent, writes, at) {
            return service;
        }
        match self.settled(extent.first, writes) {
            0 => self.pass(extent, at),
            moved => self.pass(extent, at + moved + self.margin),
        }
    }

    /// Serve a command from `at` on.
    pub(super) fn serve(&mut self, extent: &Extent, writes: bool, at: u64) -> Service {
        let service = match self.buffered(extent, writes, at) {
            Some(service) => service,
            None => self.position(extent, writes, at),
        };
        self.place = extent.last;
        self.writing = writes;
        self.free_at = service.end;
        if writes {
            self.ahead = None;
        } else if service.begin < service.end {
            let limit = extent.to + self.ahead_span;
            self.ahead = Some(Ahead { low: extent.to, from: extent.to, since: service.end, limit });
        } else {
            self.refill(extent.to, at);
        }
        service
    }

    /// Back to the first track, with nothing read ahead.
    pub(super) fn reset(&mut self, at: u64) {
        self.place = Place::default();
        self.writing = false;
        self.ahead = None;
        self.free_at = at;
    }

    /// A full buffer that has been emptied by half is read into again, from where its end next passes under the head.
    fn refill(&mut self, low: u64, at: u64) {
        let span = self.ahead_span;
        let half = self.ahead.filter(|ahead| ahead.passed(at) > ahead.limit && ahead.limit < low + span / 2);
        if let Some(Ahead { limit: from, .. }) = half {
            self.ahead = Some(Ahead { low, from, since: at + self.turn(from, at), limit: low + span });
        }
    }

    fn position(&mut self, extent: &Extent, writes: bool, at: u64) -> Service {
        match self.settled(extent.first, writes) {
            0 => self.pass(extent, at),
            moved => {
                let deviation = if self.spread > 0.0 { self.draws.around_zero() * self.spread } else { 0.0 };
                self.pass(extent, (at + moved).saturating_add_signed(deviation as i64))
            }
        }
    }

    /// A read that begins in what has been read ahead: it is there when the head has passed its end.
    #[inline]
    fn buffered(&self, extent: &Extent, writes: bool, at: u64) -> Option<Service> {
        let ahead = self.ahead.filter(|_| !writes)?;
        let passed = ahead.passed(at);
        // A full buffer has stopped the stream; one under way also comes to the next track.
        let stopped = passed > ahead.limit;
        let reached = passed.min(ahead.limit) + self.skew;
        if extent.from < ahead.low || extent.from > reached || (stopped && extent.to > ahead.limit) {
            return None;
        }
        let end = if extent.to <= ahead.from { at } else { at.max(ahead.since + (extent.to - ahead.from)) };
        Some(Service { begin: end - (extent.to - extent.from).min(end - at), end })
    }

    /// Wait at the track until the run begins, then pass along it.
    #[inline]
    fn pass(&self, extent: &Extent, at: u64) -> Service {
        let begin = at + self.turn(extent.from, at);
        Service { begin, end: begin + extent.to - extent.from }
    }

    /// From `at` until a point of the stream passes under the head.
    #[inline]
    fn turn(&self, point: u64, at: u64) -> u64 {
        let (angle, wanted) = ((at + self.phase) % self.revolution, point % self.revolution);
        if wanted >= angle { wanted - angle } else { wanted + self.revolution - angle }
    }

    /// Mean time until the head has settled on a track; zero where it is there already.
    #[inline]
    fn settled(&self, to: Place, writes: bool) -> u64 {
        let distance = to.cylinder.abs_diff(self.place.cylinder);
        let moved = match distance {
            0 if to.head == self.place.head => 0,
            0 => self.head_switch,
            _ => self.seek(distance),
        };
        if writes && (moved > 0 || !self.writing) { moved + self.write_settle } else { moved }
    }

    /// Seek over at least one cylinder before a read.
    #[inline]
    fn seek(&self, distance: u32) -> u64 {
        let share = f64::from(distance - 1) / self.stroke;
        self.track_seek + (self.root * share.sqrt() + self.linear * share) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seek_curve_meets_track_average_and_full_stroke() {
        let model = DiskModel { capacity: assay_core::contract::Bytes(20_000_000_000), ..DiskModel::plain() };
        let geometry = Geometry::new(&model);
        let arm = Arm::new(&model, &geometry);
        let count = geometry.cylinder_count();
        // As data sheets define it: the weighted average of all possible seeks.
        let pairs = (1..count).map(|distance| f64::from(count - distance));
        let sum: f64 = pairs.clone().zip(1..).map(|(pairs, distance)| pairs * arm.seek(distance) as f64).sum();
        let average = sum / pairs.sum::<f64>();
        assert_eq!((arm.seek(1), arm.seek(count - 1)), (model.track_seek.0, model.full_seek.0));
        assert!((average / model.average_seek.0 as f64 - 1.0).abs() < 0.002, "average {average}");
    }

    #[test]
    fn the_curve_of_its_documentation() {
        let (root, linear) = DiskModel::plain().seek_curve();
        assert_eq!(((root / 1e4).round(), (linear / 1e4).round()), (383.0, 182.0));
    }
}
