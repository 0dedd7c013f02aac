//! Large tables in huge pages, and hints to fetch a line of them before it is needed.
//!
//! The map of a 256 GiB drive is 256 MiB: nearly every access to it misses all caches, and without huge pages the
//! translation of addresses, too. Hints change no result, only when it is there.

/// Tables below this size are not worth huge pages.
const HUGE_BYTES: usize = 2 << 20;

/// A table of `length` times `value`, in huge pages where the kernel has them.
pub(crate) fn table<T: Copy>(length: usize, value: T) -> Vec<T> {
    let mut table: Vec<T> = Vec::with_capacity(length);
    let bytes = length * size_of::<T>();
    let start = table.as_mut_ptr().cast::<u8>();
    let offset = start.align_offset(HUGE_BYTES);
    if offset + HUGE_BYTES <= bytes {
        let inside = (bytes - offset) / HUGE_BYTES * HUGE_BYTES;
        // SAFETY: advice on a range inside the table's own allocation; a kernel without huge pages refuses it harmlessly.
        unsafe { libc::madvise(start.add(offset).cast(), inside, libc::MADV_HUGEPAGE) };
    }
    table.resize(length, value);
    table
}

/// Fetch the line that holds `table[index]`; an index beyond the end is no access.
#[inline(always)]
pub(crate) fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(table.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
