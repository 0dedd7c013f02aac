//! Everything that the workers of a run take of this host, taken for a moment without a drive.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

use io_uring::{cqueue, squeue};

use crate::lack::{Lack, Resource};
use crate::memory::Memory;
use crate::path::Path;
use crate::ring::Ring;

/// What one worker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// I/Os that it keeps outstanding; 0 for a thread that only waits.
    pub slot_count: u32,
    /// Its transfer buffers.
    pub buffer_bytes: u64,
    /// Open files beside that of its ring.
    pub file_count: u32,
}

/// Take what the workers do, all of it at the same time, and let go of it.
///
/// The memory is mapped and not touched. `spare_file_count` and `spare_thread_count` are taken on top, for the rest of the program.
///
/// # Errors
/// The first resource that is refused.
pub fn try_host(path: Path, shares: &[Share], spare_file_count: u32, spare_thread_count: u32) -> Result<(), Lack> {
    let null = File::open("/dev/null").map_err(Lack::of(Resource::File))?;
    let _spare = duplicates(&null, spare_file_count)?;
    let idle = Share { slot_count: 0, buffer_bytes: 0, file_count: 0 };
    let hold = Mutex::new(());
    std::thread::scope(|scope| {
        // Let go of before the scope waits for its threads, however it is left.
        let closed = lock(&hold);
        let spare = std::iter::repeat_n(idle, spare_thread_count as usize);
        for share in shares.iter().copied().chain(spare) {
            take_beside(scope, path, share, &null, &hold)?;
        }
        drop(closed);
        Ok(())
    })?;
    try_twice(path, shares, &null)
}

/// A ring that a larger one replaces is counted for a moment longer: rings alone are had twice.
fn try_twice(path: Path, shares: &[Share], null: &File) -> Result<(), Lack> {
    let both = shares.iter().chain(shares).filter(|share| share.slot_count > 0);
    let rings = both.map(|share| ring(path, share.slot_count, null)).collect::<Result<Vec<_>, _>>();
    match rings {
        // The files are those that the first trial had.
        Err(lack) if lack.resource != Resource::File => Err(lack),
        _ => Ok(()),
    }
}

/// Start a thread that takes its share and keeps it until `hold` is free.
fn take_beside<'scope>(
    scope: &'scope Scope<'scope, '_>,
    path: Path,
    share: Share,
    null: &'scope File,
    hold: &'scope Mutex<()>,
) -> Result<(), Lack> {
    let (report, outcome) = channel();
    let body = move || {
        let taken = take(path, share, null);
        let kept = taken.map(|kept| (report.send(Ok(())), kept)).map_err(|lack| report.send(Err(lack)));
        drop(lock(hold));
        drop(kept);
    };
    Builder::new().spawn_scoped(scope, body).map_err(Lack::of(Resource::Thread))?;
    outcome.recv().unwrap_or_else(|_| Err(Lack::of(Resource::Thread)(io::ErrorKind::Other.into())))
}

struct Kept {
    _files: Vec<File>,
    _memory: Option<Memory>,
    _ring: Option<AnyRing>,
}

enum AnyRing {
    Narrow { _ring: Ring },
    Wide { _ring: Ring<squeue::Entry128, cqueue::Entry32> },
}

fn take(path: Path, share: Share, null: &File) -> Result<Kept, Lack> {
    let files = duplicates(null, share.file_count)?;
    if share.slot_count == 0 {
        return Ok(Kept { _files: files, _memory: None, _ring: None });
    }
    let memory = Memory::new(share.buffer_bytes as usize).map_err(Lack::of(Resource::Memory))?;
    Ok(Kept { _files: files, _memory: Some(memory), _ring: ring(path, share.slot_count, null)? })
}

/// The ring of a worker, entered once; none where system calls carry its I/Os.
fn ring(path: Path, slot_count: u32, null: &File) -> Result<Option<AnyRing>, Lack> {
    let refused = Lack::of(Resource::Ring);
    match path {
        Path::Synchronous => Ok(None),
        Path::Passthrough => {
            let ring = Ring::new(slot_count, path).map_err(&refused)?;
            ring.try_enter().map_err(refused)?;
            Ok(Some(AnyRing::Wide { _ring: ring }))
        }
        Path::Interrupt | Path::Polled | Path::KernelThread => {
            let ring: Ring = Ring::new(slot_count, path).map_err(&refused)?;
            ring.register_file(null.as_fd()).map_err(&refused)?;
            ring.try_enter().map_err(refused)?;
            Ok(Some(AnyRing::Narrow { _ring: ring }))
        }
    }
}

fn duplicates(null: &File, count: u32) -> Result<Vec<File>, Lack> {
    (0..count).map(|_| null.try_clone().map_err(Lack::of(Resource::File))).collect()
}

fn lock(hold: &Mutex<()>) -> MutexGuard<'_, ()> {
    hold.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Share = Share { slot_count: 4, buffer_bytes: 1 << 20, file_count: 2 };

    #[test]
    fn what_the_host_has_is_had_on_every_path_without_a_drive() {
        for path in [Path::Interrupt, Path::Synchronous, Path::Polled, Path::KernelThread, Path::Passthrough] {
            try_host(path, &[SHARE; 3], 5, 2).expect("the host has it");
        }
    }

    #[test]
    fn memory_that_no_host_has_is_named() {
        let share = Share { buffer_bytes: 1 << 60, ..SHARE };
        let lack = try_host(Path::Interrupt, &[SHARE, share], 0, 0).expect_err("no host has it");
        assert_eq!((lack.resource, lack.error.raw_os_error()), (Resource::Memory, Some(libc::ENOMEM)));
    }
}
