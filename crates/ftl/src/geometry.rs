//! Sizes in mapped pages, derived from the drive model.
//!
//! A garbage-collection unit is one erase unit of every die. Its pages are laid out stripe by stripe: a stripe
//! is what one die programs at once, and successive stripes lie on successive dies. Where the drive compresses, a stripe
//! holds more pages than fit into it as they are: a unit has `slots` for them and is filled at one density.

use serde::{Deserialize, Serialize};

use crate::flash_model::FlashModel;
use crate::model_error::DriveModelError;

/// With fewer units write amplification falls below that of a large drive by more than 1 %.
const UNIT_COUNT_AIM: u64 = 1024;
/// Units beyond the over-provisioning: two open frontiers, the victim, and the free reserve.
pub(crate) const RESERVE_UNITS: u32 = 8;
/// Smallest number of units that user data may fill.
const UNIT_COUNT_MIN: u64 = 16;

/// Division of 32-bit numbers by one that stays the same, as a multiplication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Divisor {
    /// 2^64 over the divisor, rounded up; 0 stands for a divisor of 1.
    magic: u64,
    by: u32,
}

impl Divisor {
    pub(crate) fn new(by: u32) -> Self {
        Self { magic: (u64::MAX / u64::from(by)).wrapping_add(1), by }
    }

    #[inline]
    pub(crate) fn quotient(self, number: u32) -> u32 {
        if self.by == 1 { number } else { ((u128::from(self.magic) * u128::from(number)) >> 64) as u32 }
    }

    #[inline]
    pub(crate) fn remainder(self, number: u32) -> u32 {
        number - self.quotient(number) * self.by
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Geometry {
    /// A mapped page is 2 to this power in bytes.
    pub(crate) page_shift: u32,
    pub(crate) user_pages: u32,
    pub(crate) unit_count: u32,
    pub(crate) unit_pages: u32,
    pub(crate) stripe_pages: u32,
    /// Places for pages in a unit, as many as it holds at the highest density.
    pub(crate) unit_slots: u32,
    /// Pages to stripes, where the drive does not compress.
    stripes: Divisor,
    pub(crate) die_count: u32,
    pub(crate) channel_count: u32,
    /// Time to erase a unit: in proportion to its size, so that erasing costs the same per page at any capacity.
    pub(crate) erase_ns: u64,
}

impl Geometry {
    /// Small capacities get smaller erase units, so that at least 1,024 units remain where the dies allow it.
    pub(crate) fn new(model: &FlashModel) -> Result<Self, DriveModelError> {
        model.check()?;
        let page_bytes = model.map_unit.0;
        let user_pages = model.capacity.0.div_ceil(page_bytes);
        let die_count = u64::from(model.channel_count * model.dies_per_channel);
        let stripe_pages = model.program_unit.0 / page_bytes;
        let mut stripes_per_die = model.erase_unit.0 / model.program_unit.0;
        while stripes_per_die > 1 && user_pages / (stripes_per_die * stripe_pages * die_count) < UNIT_COUNT_AIM {
            stripes_per_die /= 2;
        }
        let unit_pages = stripes_per_die * stripe_pages * die_count;
        if user_pages / unit_pages < UNIT_COUNT_MIN {
            return Err(DriveModelError::TooSmall { needed: UNIT_COUNT_MIN * unit_pages * page_bytes });
        }
        let data_pages = (user_pages as f64 * (1.0 + model.over_provisioning)).ceil() as u64;
        let unit_slots = unit_pages * model.density_max();
        let unit_count = data_pages.div_ceil(unit_pages) + u64::from(RESERVE_UNITS);
        if unit_count * unit_slots >= u64::from(u32::MAX) {
            return Err(DriveModelError::Parameter("capacity_bytes"));
        }
        Ok(Self {
            page_shift: page_bytes.trailing_zeros(),
            user_pages: user_pages as u32,
            unit_count: unit_count as u32,
            unit_slots: unit_slots as u32,
            unit_pages: unit_pages as u32,
            stripe_pages: stripe_pages as u32,
            stripes: Divisor::new(stripe_pages as u32),
            die_count: die_count as u32,
            channel_count: model.channel_count,
            erase_ns: model.erase.0 * stripes_per_die / (model.erase_unit.0 / model.program_unit.0),
        })
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        1 << self.page_shift
    }

    /// The stripe that a page lies in, where the drive does not compress.
    #[inline]
    pub(crate) fn stripe_of(&self, page: u32) -> u32 {
        self.stripes.quotient(page)
    }

    /// Stripes of a unit.
    pub(crate) fn unit_stripes(&self) -> u32 {
        self.unit_pages / self.stripe_pages
    }

    /// Pages that a stripe holds of data that is stored in this share of its size, in whole pages.
    pub(crate) fn stripe_pages_at(&self, stored_share: f64) -> u32 {
        let most = self.stripe_pages * (self.unit_slots / self.unit_pages);
        (f64::from(self.stripe_pages) / stored_share.max(1e-3)).round().min(f64::from(most)) as u32
    }

    /// A timeless one for tests of the map: four dies, stripes of four pages, units of any size.
    #[cfg(test)]
    pub(crate) fn bare(user_pages: u32, unit_pages: u32, data_units: u32) -> Self {
        Self {
            page_shift: 12,
            user_pages,
            unit_count: data_units + RESERVE_UNITS,
            unit_pages,
            unit_slots: unit_pages,
            stripe_pages: 4,
            stripes: Divisor::new(4),
            die_count: 4,
            channel_count: 2,
            erase_ns: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn a_divisor_divides(number: u32, by in 1_u32..) {
            let divisor = Divisor::new(by);
            prop_assert_eq!((divisor.quotient(number), divisor.remainder(number)), (number / by, number % by));
        }
    }
}
