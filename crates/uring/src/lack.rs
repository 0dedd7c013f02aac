//! What a host does not give to a queue.

use std::io;

/// What a worker takes of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A thread.
    Thread,
    /// An open file.
    File,
    /// Memory of its addresses.
    Memory,
    /// A ring, which takes locked memory, too.
    Ring,
}

impl Resource {
    /// The name that crosses to Python.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::File => "file",
            Self::Memory => "memory",
            Self::Ring => "ring",
        }
    }
}

/// A resource that was refused, and why.
#[derive(Debug)]
pub struct Lack {
    /// What was asked for.
    pub resource: Resource,
    /// What the kernel answered.
    pub error: io::Error,
}

impl Lack {
    /// For `map_err`: an answer of the kernel about this resource. A table of files that is full is about files.
    pub(crate) fn of(resource: Resource) -> impl Fn(io::Error) -> Self {
        move |error| {
            let files = matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
            Self { resource: if files { Resource::File } else { resource }, error }
        }
    }
}

impl From<Lack> for io::Error {
    fn from(lack: Lack) -> Self {
        lack.error
    }
}

/// Whether an error that met a worker outside its I/Os is a limit of this host, and no fault of the drive.
#[must_use]
pub fn is_of_host(error: i32) -> bool {
    let limits = [libc::ENOMEM, libc::EMFILE, libc::ENFILE, libc::EAGAIN];
    let forbidden = [libc::EPERM, libc::EACCES, libc::ENOSYS];
    limits.contains(&error) || forbidden.contains(&error)
}
