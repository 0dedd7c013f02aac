//! Where a block lies on a disk, and when it passes under the head.
//!
//! Blocks go along a track, then over the heads of a cylinder, then to the next cylinder inwards. Tracks are skewed by
//! what a change to the next one takes, so that a stream never waits for a revolution:
//!
//! ```text
//! stream time  |--- track 0 ---|skew|--- track 1 ---|skew|--- ...
//! angle        = stream time modulo the revolution
//! ```

use super::model::DiskModel;

/// Tracks of one length.
struct Zone {
    first_block: u64,
    first_track: u64,
    /// Blocks of a track.
    sectors: u64,
}

/// A place on the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) cylinder: u32,
    pub(super) head: u32,
}

/// A run of blocks: where it begins and ends, and the times of both ends in a stream that began with block zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) first: Place,
    pub(super) last: Place,
    pub(super) from: u64,
    pub(super) to: u64,
}

pub(super) struct Geometry {
    zones: Vec<Zone>,
    heads: u64,
    block_shift: u32,
    block_count: u64,
    pub(super) revolution: u64,
    /// Skew between the tracks of a cylinder and from its last track to the next cylinder, ns.
    head_skew: u64,
    pub(super) cylinder_skew: u64,
}

impl Geometry {
    pub(super) fn new(model: &DiskModel) -> Self {
        let block_shift = model.logical_block.0.trailing_zeros();
        let slack = model.write_settle.0 + model.settle_spread.0;
        Self {
            zones: zones(model),
            heads: u64::from(model.head_count),
            block_shift,
            block_count: model.capacity.0 >> block_shift,
            revolution: model.revolution_ns(),
            head_skew: model.head_switch.0 + slack,
            cylinder_skew: model.track_seek.max(model.head_switch).0 + slack,
        }
    }

    /// The run of blocks of `length` bytes, at least one block, from the byte `offset` on.
    pub(super) fn extent(&self, offset: u64, length: u64) -> Extent {
        let (first, from, _) = self.pass(offset >> self.block_shift);
        let (last, _, to) = self.pass((offset + length - 1) >> self.block_shift);
        Extent { first, last, from, to }
    }

    /// Cylinders in use.
    pub(super) fn cylinder_count(&self) -> u32 {
        self.pass(self.block_count - 1).0.cylinder + 1
    }

    /// Time in which all blocks pass under the heads.
    pub(super) fn pass_span(&self) -> u64 {
        self.pass(self.block_count - 1).2
    }

    /// The place of a block, and when it begins and ends in a stream from block zero on.
    fn pass(&self, block: u64) -> (Place, u64, u64) {
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_block <= block) - 1];
        let within = block - zone.first_block;
        let (track, sector) = (zone.first_track + within / zone.sectors, within % zone.sectors);
        let (cylinder, head) = (track / self.heads, track % self.heads);
        let skew = cylinder * ((self.heads - 1) * self.head_skew + self.cylinder_skew) + head * self.head_skew;
        let begin = track * self.revolution + skew;
        let at = |sector: u64| begin + sector * self.revolution / zone.sectors;
        (Place { cylinder: cylinder as u32, head: head as u32 }, at(sector), at(sector + 1))
    }
}

/// Zones of the same number of cylinders, as many as the capacity needs.
fn zones(model: &DiskModel) -> Vec<Zone> {
    let (heads, count) = (u64::from(model.head_count), u64::from(model.zone_count));
    let (outer, inner) = (model.outer_track.0, model.inner_track.0);
    let sectors = |zone: u64| (outer - (outer - inner) * zone / (count - 1).max(1)) / model.logical_block.0;
    let row: u64 = (0..count).map(|zone| heads * sectors(zone)).sum();
    let tracks = (model.capacity.0 / model.logical_block.0).div_ceil(row) * heads;
    let mut first_block = 0;
    (0..count)
        .map(|zone| {
            let made = Zone { first_block, first_track: zone * tracks, sectors: sectors(zone) };
            first_block += tracks * made.sectors;
            made
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_passes_each_block_once_and_loses_no_more_than_a_skew(block in 1_u64..1_953_125) {
            let geometry = Geometry::new(&DiskModel::plain());
            let (before, after) = (geometry.pass(block - 1), geometry.pass(block));
            let skew = if before.0 == after.0 {
                0
            } else if before.0.cylinder == after.0.cylinder {
                geometry.head_skew
            } else {
                geometry.cylinder_skew
            };
            prop_assert_eq!(after.1 - before.2, skew);
            prop_assert!(after.0.cylinder < geometry.cylinder_count() && after.2 <= geometry.pass_span());
        }
    }

    #[test]
    fn outer_tracks_hold_more_than_inner_ones() {
        let geometry = Geometry::new(&DiskModel::plain());
        let sectors: Vec<u64> = geometry.zones.iter().map(|zone| zone.sectors).collect();
        assert_eq!(sectors, [1367, 1236, 1106, 976]);
    }
}
