//! Page-aligned memory for transfers.

use std::io;
use std::ptr::NonNull;

/// Huge pages keep a large transfer physically contiguous, so that the block layer does not split it.
const ALIGNMENT: usize = 2 << 20;
/// The smallest that there is.
const PAGE: usize = 4096;

/// An anonymous mapping, zeroed, aligned for huge pages.
pub(crate) struct Memory {
    base: NonNull<u8>,
    mapped: NonNull<u8>,
    mapped_bytes: usize,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Memory {}

impl Memory {
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let mapped_bytes = bytes.max(1) + ALIGNMENT;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no other memory.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapped = NonNull::new(mapped.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let offset = mapped.as_ptr().align_offset(ALIGNMENT);
        // SAFETY: `offset` is below ALIGNMENT, and the mapping is that much longer than asked for.
        let base = unsafe { mapped.add(offset) };
        // SAFETY: advice on a range inside the mapping; a kernel without huge pages refuses it harmlessly.
        unsafe { libc::madvise(base.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        Ok(Self { base, mapped, mapped_bytes, bytes })
    }

    /// Bring every page into being.
    pub(crate) fn touch(&mut self) {
        let bytes = self.bytes;
        self.slice_mut(0, bytes).iter_mut().step_by(PAGE).for_each(|byte| *byte = 0);
    }

    #[inline]
    pub(crate) fn slice_mut(&mut self, offset: usize, length: usize) -> &mut [u8] {
        assert!(offset + length <= self.bytes, "the slice lies inside the mapping");
        // SAFETY: inside the mapping by the assertion, and borrowed from its only owner.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(offset), length) }
    }

    pub(crate) fn slice(&self, offset: usize, length: usize) -> &[u8] {
        assert!(offset + length <= self.bytes, "the slice lies inside the mapping");
        // SAFETY: inside the mapping by the assertion, and shared with nobody who writes to it for as long.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(offset), length) }
    }

    #[inline]
    pub(crate) fn pointer(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.bytes, "the pointer lies inside the mapping");
        // SAFETY: inside the mapping by the assertion.
        unsafe { self.base.as_ptr().add(offset) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; the kernel keeps pages of I/Os in flight pinned by itself.
        unsafe { libc::munmap(self.mapped.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pages of the memory are there.
    fn resident(memory: &Memory) -> usize {
        let mut pages = vec![0_u8; memory.bytes.div_ceil(PAGE)];
        // SAFETY: the range is mapped, and the kernel writes one byte per page of it.
        let result = unsafe { libc::mincore(memory.base.as_ptr().cast(), memory.bytes, pages.as_mut_ptr()) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn a_touch_brings_every_page_into_being() {
        let mut memory = Memory::new(3 * ALIGNMENT + 5 * PAGE).expect("memory is had");
        assert_eq!(resident(&memory), 0);
        memory.touch();
        assert_eq!(resident(&memory), 3 * ALIGNMENT / PAGE + 5);
    }
}
