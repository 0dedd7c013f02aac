//! What a worker writes, without a drive: its bytes, and how fast this host makes them.

use std::hint::black_box;
use std::io;

use assay_core::contract::{Bytes, DataPattern, Direction, Io, Nanos};

use crate::buffers::{Buffers, Origin};
use crate::clock;
use crate::payload::Payload;

/// Slots that are filled in turn, as those of a worker at queue depth 32.
const SLOTS: u32 = 32;

/// Bytes per second that one thread makes for writes of one size, into 32 buffers in turn, over about `span`.
///
/// # Errors
/// When memory for the buffers cannot be had.
pub fn fill_rate(data: &DataPattern, transfer: Bytes, span: Nanos) -> io::Result<f64> {
    let mut worker = Worker::new(data, transfer)?;
    let begun = clock::monotonic();
    let (mut turns, mut elapsed) = (0, Nanos(0));
    while elapsed < span || turns == 0 {
        worker.fill(SLOTS);
        turns += 1;
        elapsed = clock::monotonic() - begun;
    }
    Ok((turns * u64::from(SLOTS) * transfer.0) as f64 / (elapsed.0.max(1) as f64 / 1e9))
}

/// How long one thread makes data for so many writes of one size, into 32 buffers in turn.
///
/// # Errors
/// When memory for the buffers cannot be had.
pub fn time_to_fill(data: &DataPattern, transfer: Bytes, count: u64) -> io::Result<Nanos> {
    let mut worker = Worker::new(data, transfer)?;
    let begun = clock::monotonic();
    for done in (0..count).step_by(SLOTS as usize) {
        worker.fill(SLOTS.min((count - done) as u32));
    }
    Ok(clock::monotonic() - begun)
}

/// The buffers of a worker that sends nothing.
struct Worker {
    buffers: Buffers,
    transfer: Bytes,
}

impl Worker {
    fn new(data: &DataPattern, transfer: Bytes) -> io::Result<Self> {
        let buffers = Buffers::new(Origin::default(), std::slice::from_ref(data), SLOTS, transfer.0 as usize)?;
        let mut worker = Self { buffers, transfer };
        // The first touch of the memory does not count.
        worker.fill(SLOTS);
        Ok(worker)
    }

    fn fill(&mut self, count: u32) {
        for slot in 0..count {
            let io = Io { slot, direction: Direction::Write, offset: Bytes(0), length: self.transfer, data_index: 0 };
            self.buffers.complete(black_box(&io));
        }
    }
}

/// What the writes from number `first` on hold, `count` of one size, one behind the other from a byte of the drive on.
#[must_use]
pub fn written(data: &DataPattern, seed: u64, transfer: Bytes, first: u64, count: u64, place: Bytes) -> Vec<u8> {
    let mut payload = Payload::new(data, seed);
    let mut content = vec![0; (transfer.0 * count) as usize];
    for (index, buffer) in (0..).zip(content.chunks_mut(transfer.0.max(1) as usize)) {
        payload.fill(buffer, 0);
        payload.refresh(first + index, place + Bytes(index * transfer.0), buffer);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_told_from_any_number_on() {
        let content = |first, count| written(&DataPattern::Random, 7, Bytes(4096), first, count, Bytes(0));
        assert_eq!(content(0, 8)[5 * 4096..], content(5, 3));
        assert!(written(&DataPattern::Random, 7, Bytes(4096), 0, 0, Bytes(0)).is_empty());
    }

    #[test]
    fn a_rate_is_measured_of_every_kind() {
        for data in [
            DataPattern::Random,
            DataPattern::Compressible { stored_share: 0.5 },
            DataPattern::Stamped,
            DataPattern::Addressed,
        ] {
            let rate = fill_rate(&data, Bytes(4096), Nanos(1_000_000)).expect("memory");
            assert!(rate.is_finite() && rate > 0.0, "{data:?}: {rate}");
        }
    }
}
