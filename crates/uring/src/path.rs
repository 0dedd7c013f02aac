//! The ways an I/O can take into the kernel and back.

/// How the I/Os of a drive are carried out.
///
/// [`Path::Synchronous`] serves sequences with one I/O at a time per thread; what becomes of others the caller says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Path {
    /// Over a ring; the drive's interrupts tell of completions.
    #[default]
    Interrupt,
    /// One system call per I/O, for devices that hand I/Os of a ring to worker threads.
    Synchronous,
    /// Over a ring whose thread looks for completions itself, on a drive with queues for that.
    Polled,
    /// Over a ring that a thread of the kernel watches, which takes a processor of its own.
    KernelThread,
    /// `NVMe` commands over a ring, on the namespace's character device; the block layer neither sees nor counts them.
    Passthrough,
}

impl Path {
    /// All of them with the names they have in options and reports.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("interrupt", Self::Interrupt),
        ("synchronous", Self::Synchronous),
        ("polled", Self::Polled),
        ("kernel-thread", Self::KernelThread),
        ("passthrough", Self::Passthrough),
    ];

    /// The path of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, path)| *path)
    }

    /// The name of a path.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, path)| *path == self).map_or("", |(name, _)| *name)
    }
}
