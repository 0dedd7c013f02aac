//! How much memory a simulated drive takes, so that one that does not fit is refused before anything is allocated.

use assay_core::contract::Bytes;

use crate::flash_model::FlashModel;
use crate::geometry::Geometry;
use crate::model_error::DriveModelError;

/// Per unit: its count, its place, and entries of the lists of free units and victims, with room to grow.
const UNIT_BYTES: u64 = 96;
/// A list of victims with nothing in it; there is one for every count of valid pages.
const LIST_BYTES: u64 = 24;
/// Per page of the write buffer: when its slot is free, and what its die has still to do, with room to grow.
const SLOT_BYTES: u64 = 64;
/// Everything that does not grow with the capacity.
const OTHER_BYTES: u64 = 64 << 20;

impl FlashModel {
    /// Bytes of memory that the drive takes, about: 10 to 12 for each mapped page.
    ///
    /// # Errors
    /// [`DriveModelError`] when a parameter is outside its range or the capacity too small for the dies.
    pub fn memory(&self) -> Result<Bytes, DriveModelError> {
        let geometry = Geometry::new(self)?;
        let units = u64::from(geometry.unit_count);
        let (logical, physical) = (u64::from(geometry.user_pages), units * u64::from(geometry.unit_slots));
        let map = 4 * logical + 4 * physical + physical / 8;
        let log = if self.log.0 > 0 { logical / 8 + 8 * (logical / (self.merge_unit.0 / self.map_unit.0)) } else { 0 };
        let lists = LIST_BYTES * (u64::from(geometry.unit_pages) + 1) + UNIT_BYTES * units;
        let buffer = SLOT_BYTES * (self.write_buffer.0 / self.map_unit.0);
        Ok(Bytes(map + log + lists + buffer + self.map_cache.0 / 1024 + OTHER_BYTES))
    }
}

/// Raise where the memory that a drive takes cannot be had at once.
pub(crate) fn check_memory(model: &FlashModel) -> Result<(), DriveModelError> {
    let needed = model.memory()?.0;
    match Vec::<u8>::new().try_reserve_exact(usize::try_from(needed).unwrap_or(usize::MAX)) {
        Ok(()) => Ok(()),
        Err(_) => Err(DriveModelError::Memory { needed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_takes_about_ten_bytes_per_page() {
        let model = FlashModel { capacity: Bytes(256_000_000_000), ..FlashModel::plain() };
        let pages = 256_000_000_000 / 4096;
        let memory = model.memory().map(|bytes| (bytes.0 - OTHER_BYTES) / pages);
        assert_eq!(memory, Ok(8));
    }

    #[test]
    fn a_cache_of_the_map_that_is_larger_than_the_drive_is_refused_by_name() {
        let model = FlashModel { map_cache: Bytes(1 << 62), ..FlashModel::plain() };
        assert_eq!(model.memory(), Err(DriveModelError::Parameter("map_cache_bytes")));
    }

    #[test]
    fn sizes_near_the_end_of_numbers_are_refused_and_do_not_wrap() {
        for size in [1 << 62, 1 << 63, u64::MAX - 4095] {
            let model = FlashModel { program_unit: Bytes(size), write_buffer: Bytes(size), ..FlashModel::plain() };
            assert!(matches!(model.memory(), Err(DriveModelError::Parameter(_))));
        }
    }
}
