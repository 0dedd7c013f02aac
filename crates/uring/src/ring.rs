//! A ring of one thread: how it is built, how I/Os go in, and how their completions are waited for.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::thread::{self, ThreadId};

use assay_core::contract::Nanos;
use io_uring::cqueue::{self, CompletionQueue};
use io_uring::types::Timespec;
use io_uring::{IoUring, Submitter, squeue};

use crate::clock;
use crate::path::Path;

/// The kernel's thread sleeps after so long without an I/O, in ms.
const KERNEL_THREAD_IDLE_MS: u32 = 50;

// From linux/io_uring.h.
const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// A ring for so many I/Os at a time; used by the thread that made it.
pub(crate) struct Ring<S: squeue::EntryMarker = squeue::Entry, C: cqueue::EntryMarker = cqueue::Entry> {
    inner: IoUring<S, C>,
    path: Path,
    /// Entries that the kernel has not been told of.
    queued: u32,
    /// The kernel runs completions only when this thread asks (since Linux 6.1).
    pub(crate) deferred_completions: bool,
    /// What it is entered by.
    handle: Handle,
}

/// The ring by its descriptor, or by its place among those that its thread has registered, which spares the kernel the
/// look-up (since Linux 5.18).
#[derive(Clone, Copy)]
struct Handle {
    number: RawFd,
    registered_by: Option<ThreadId>,
    flags: u32,
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    pub(crate) fn new(slot_count: u32, path: Path) -> io::Result<Self> {
        let (ring, deferred_completions) = build(slot_count, path)?;
        let handle = Handle::new(ring.as_raw_fd());
        Ok(Self { inner: ring, path, queued: 0, deferred_completions, handle })
    }

    #[cfg(test)]
    pub(crate) fn is_registered(&self) -> bool {
        self.handle.registered_by.is_some()
    }

    pub(crate) fn submitter(&self) -> Submitter<'_> {
        self.inner.submitter()
    }

    pub(crate) fn register_file(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        self.inner.submitter().register_files(&[file.as_raw_fd()])
    }

    /// Enter it with nothing to send, to see that it can be. Apart from `wait`, which I/Os pass and which stays inlined there.
    #[cold]
    pub(crate) fn try_enter(&self) -> io::Result<()> {
        self.inner.submit().map(|_| ()).or_else(pass)
    }

    /// Queue an I/O; no more at a time than there are slots.
    ///
    /// # Safety
    /// What the entry points to lives until its completion.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &S) {
        // SAFETY: as the caller says.
        let pushed = unsafe { self.inner.submission().push(entry) };
        assert!(pushed.is_ok(), "the ring has an entry for every slot");
        self.queued += 1;
    }

    /// Send what is queued and wait for one completion or the deadline.
    #[inline]
    pub(crate) fn wait(&mut self, deadline: Nanos) -> io::Result<()> {
        match self.path {
            Path::Polled => self.poll(deadline),
            Path::KernelThread => self.wait_for_kernel_thread(deadline),
            Path::Interrupt | Path::Synchronous | Path::Passthrough => self.enter_until(deadline),
        }
    }

    #[inline]
    pub(crate) fn completions(&mut self) -> CompletionQueue<'_, C> {
        self.inner.completion()
    }

    /// The kernel knows no time limit here and would look for a completion without end: it is asked to look once, again
    /// and again.
    fn poll(&mut self, deadline: Nanos) -> io::Result<()> {
        loop {
            self.enter::<()>(0, ENTER_GETEVENTS, None)?;
            if !self.inner.completion().is_empty() || clock::monotonic() >= deadline {
                return Ok(());
            }
        }
    }

    /// The kernel's thread takes what is queued by itself, unless it sleeps.
    #[inline(never)]
    fn wait_for_kernel_thread(&mut self, deadline: Nanos) -> io::Result<()> {
        self.queued = 0;
        self.inner.submit().map(|_| ()).or_else(pass)?;
        if self.inner.completion().is_empty() { self.enter_until(deadline) } else { Ok(()) }
    }

    #[inline]
    fn enter_until(&mut self, deadline: Nanos) -> io::Result<()> {
        let left = deadline.0.saturating_sub(clock::monotonic().0);
        let (seconds, rest) =
            if left < Nanos::SECOND.0 { (0, left) } else { (left / Nanos::SECOND.0, left % Nanos::SECOND.0) };
        let timeout = Timespec::new().sec(seconds).nsec(rest as u32);
        let wait = Wait { signals: 0, signals_bytes: 0, least_us: 0, timeout: &raw const timeout };
        self.enter(1, ENTER_GETEVENTS | ENTER_EXT_ARG, Some(&wait))
    }

    #[inline]
    fn enter<A>(&mut self, least: u32, flags: u32, argument: Option<&A>) -> io::Result<()> {
        let (pointer, bytes) =
            argument.map_or((std::ptr::null(), 0), |argument| (&raw const *argument, size_of::<A>()));
        let flags = flags | self.handle.flags;
        // SAFETY: the argument and what it points to outlive the call, and queued entries are sound as `push` demands.
        let entered = unsafe {
            libc::syscall(libc::SYS_io_uring_enter, self.handle.number, self.queued, least, flags, pointer, bytes)
        };
        if entered >= 0 {
            self.queued -= entered as u32;
            return Ok(());
        }
        pass(io::Error::last_os_error())
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Drop for Ring<S, C> {
    fn drop(&mut self) {
        // A registered ring would live on; those of another thread go with it.
        if self.handle.registered_by == Some(thread::current().id()) {
            let _ = register(
                self.inner.as_raw_fd(),
                UNREGISTER_RING_FDS,
                &mut RingPlace { index: self.handle.number.cast_unsigned(), ..RingPlace::default() },
            );
        }
    }
}

impl Handle {
    /// Where registering is refused, the descriptor serves.
    fn new(descriptor: RawFd) -> Self {
        let mut place = RingPlace { index: u32::MAX, reserved: 0, descriptor: descriptor as u64 };
        if register(descriptor, REGISTER_RING_FDS, &mut place) {
            let registered_by = Some(thread::current().id());
            Self { number: place.index.cast_signed(), registered_by, flags: ENTER_REGISTERED_RING }
        } else {
            Self { number: descriptor, registered_by: None, flags: 0 }
        }
    }
}

/// `io_uring_getevents_arg` of the kernel.
#[repr(C)]
struct Wait {
    signals: u64,
    signals_bytes: u32,
    least_us: u32,
    timeout: *const Timespec,
}

/// `io_uring_rsrc_update` of the kernel.
#[derive(Default)]
#[repr(C)]
struct RingPlace {
    index: u32,
    reserved: u32,
    descriptor: u64,
}

fn register(descriptor: RawFd, operation: u32, place: &mut RingPlace) -> bool {
    // SAFETY: one entry of the form that both operations demand, which outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_io_uring_register, descriptor, operation, &raw mut *place, 1) };
    done == 1
}

/// Submissions that a ring for so many I/Os at a time holds.
pub(crate) fn entries(slot_count: u32, path: Path) -> u32 {
    let entries = slot_count.next_power_of_two().max(8);
    // A thread of the kernel gives them back in batches, by when all of them may have completed and been followed by others.
    if path == Path::KernelThread { entries * 2 } else { entries }
}

/// A ring, and whether its completions are deferred.
fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    slot_count: u32,
    path: Path,
) -> io::Result<(IoUring<S, C>, bool)> {
    let entries = entries(slot_count, path);
    if path == Path::KernelThread {
        return Ok((IoUring::<S, C>::builder().setup_sqpoll(KERNEL_THREAD_IDLE_MS).build(entries)?, false));
    }
    let mut plain = IoUring::<S, C>::builder();
    if path == Path::Polled {
        plain.setup_iopoll();
    }
    let deferred = plain.clone().setup_single_issuer().setup_defer_taskrun().build(entries);
    match deferred {
        Ok(ring) => Ok((ring, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok((plain.build(entries)?, false)),
        Err(error) => Err(error),
    }
}

/// Out of time, interrupted, or short of resources for a moment: what has completed is reaped, the rest retried.
#[cold]
fn pass(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
        _ => Err(error),
    }
}
