//! Which descriptors of all processes are of block and character devices, or of given files.
//!
//! A look costs some 10 us a descriptor. A file system that hangs must not hang it: `stat` is called on mounts that are
//! known to be local; on mounts that no namespace lists (a detached one, or one of the kernel's own) by a thread that is
//! left behind after 3 s; on all others never.

#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longest wait for a mount that nobody lists.
const PATIENCE: Duration = Duration::from_secs(3);
/// `O_PATH`: such a descriptor names a file and has not opened it. Source: Linux `open(2)`.
const O_PATH: u32 = 0o10_000_000;

/// What a descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block device.
    Block,
    /// A character device.
    Character,
    /// One of the files that were asked for.
    File,
}

/// One descriptor of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The process by its number, and the descriptor by its.
    pub process: u32,
    /// Number of the descriptor within the process.
    pub descriptor: u32,
    /// Flags of `open(2)`.
    pub flags: u32,
    /// What it is of.
    pub kind: Kind,
    /// `st_rdev` of a device, `st_dev` of a file.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
}

/// What one look at all processes gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Every descriptor that was looked for.
    pub opened: Vec<Opened>,
    /// Processes that have, or may have, descriptors that could not be looked at.
    pub hidden: Vec<u32>,
}

/// What a look is for, by the identifiers of `mountinfo` and by `stat`.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Mounts whose file system answers from this host alone.
    pub local_mounts: HashSet<u64>,
    /// Mounts whose file system may wait for others: never looked at.
    pub foreign_mounts: HashSet<u64>,
    /// Files by (`st_dev`, `st_ino`).
    pub files: HashSet<(u64, u64)>,
}

/// Look at the descriptors of every process below `proc`, those of this one included.
///
/// A process that ends meanwhile is left out. Source: Linux `proc_pid_fd(5)`, `proc_pid_fdinfo(5)`.
///
/// # Errors
///
/// `proc` itself cannot be listed.
pub fn look(proc: &Path, wanted: &Wanted) -> io::Result<Look> {
    let mut found = Look::default();
    let mut hung = HashSet::new();
    for process in numbered(proc)? {
        let folder = proc.join(process.to_string());
        match tables(&folder, process) {
            Ok(tables) => {
                for (folder, descriptors) in tables {
                    for descriptor in descriptors {
                        add(&mut found, &mut hung, wanted, &folder, (process, descriptor));
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => found.hidden.push(process),
            Err(_) => {}
        }
    }
    found.hidden.dedup();
    Ok(found)
}

/// The tables of descriptors of a process: that of its first thread, and those of threads that list other numbers.
///
/// A first thread that has ended has none, whatever the others hold; a thread may have a table of its own.
/// Source: Linux `unshare(2)`, `CLONE_FILES`; `proc_pid_task(5)`.
fn tables(folder: &Path, process: u32) -> io::Result<Vec<(PathBuf, Vec<u32>)>> {
    let mut found = vec![(folder.to_owned(), numbered(&folder.join("fd"))?)];
    let tasks = folder.join("task");
    // A folder has two links, and one for each folder in it.
    if fs::metadata(&tasks).is_ok_and(|status| status.nlink() <= 3) {
        return Ok(found);
    }
    for thread in numbered(&tasks).unwrap_or_default() {
        let folder = tasks.join(thread.to_string());
        let Ok(descriptors) = numbered(&folder.join("fd")) else { continue };
        if thread != process && found.iter().all(|(_, known)| *known != descriptors) {
            found.push((folder, descriptors));
        }
    }
    Ok(found)
}

/// The entries of a folder that are whole numbers.
fn numbered(folder: &Path) -> io::Result<Vec<u32>> {
    let names = fs::read_dir(folder)?.filter_map(Result::ok);
    Ok(names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn add(found: &mut Look, hung: &mut HashSet<u64>, wanted: &Wanted, folder: &Path, (process, descriptor): (u32, u32)) {
    let link = folder.join("fd").join(descriptor.to_string());
    let is_path = |name: PathBuf| name.as_os_str().as_bytes().starts_with(b"/");
    if !fs::read_link(&link).is_ok_and(is_path) {
        return;
    }
    let Some((flags, mount)) = facts(&folder.join("fdinfo").join(descriptor.to_string())) else { return };
    if flags & O_PATH != 0 || wanted.foreign_mounts.contains(&mount) {
        return;
    }
    let status = if wanted.local_mounts.contains(&mount) {
        fs::metadata(&link).ok()
    } else if hung.contains(&mount) || is_kernels_own(&link) {
        None
    } else {
        guarded(link).unwrap_or_else(|()| {
            hung.insert(mount);
            found.hidden.push(process);
            None
        })
    };
    let Some((kind, status)) = status.and_then(|status| Some((kind_of(&status, wanted)?, status))) else { return };
    let device = if kind == Kind::File { status.dev() } else { status.rdev() };
    found.opened.push(Opened { process, descriptor, flags, kind, device, inode: status.ino() });
}

/// Whether a link of a mount that nobody lists is of memory that processes share, which no file system has.
fn is_kernels_own(link: &Path) -> bool {
    const NAMES: [&[u8]; 3] = [b"/memfd:", b"/SYSV", b"/dmabuf:"];
    fs::read_link(link).is_ok_and(|name| NAMES.iter().any(|start| name.as_os_str().as_bytes().starts_with(start)))
}

/// Flags and mount of a descriptor.
fn facts(path: &Path) -> Option<(u32, u64)> {
    let text = fs::read_to_string(path).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let flags = u32::from_str_radix(value("flags:")?, 8).ok()?;
    Some((flags, value("mnt_id:")?.parse().ok()?))
}

fn kind_of(status: &Metadata, wanted: &Wanted) -> Option<Kind> {
    let kind = status.file_type();
    let is_wanted = || wanted.files.contains(&(status.dev(), status.ino()));
    match () {
        () if kind.is_block_device() => Some(Kind::Block),
        () if kind.is_char_device() => Some(Kind::Character),
        () if is_wanted() => Some(Kind::File),
        () => None,
    }
}

/// The status of what a link leads to, asked by a thread of its own. Errors: it does not answer in time.
fn guarded(link: PathBuf) -> Result<Option<Metadata>, ()> {
    let (answer, answered) = mpsc::channel();
    let asked = thread::Builder::new().spawn(move || drop(answer.send(fs::metadata(&link).ok())));
    if asked.is_err() {
        return Err(());
    }
    answered.recv_timeout(PATIENCE).map_err(drop)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    /// Flags and mount of a file of the test itself; the root of a chroot is in no list of mounts.
    fn own_facts(file: &File) -> (u32, u64) {
        facts(&Path::new("/proc/self/fdinfo").join(file.as_raw_fd().to_string())).expect("it is open")
    }

    fn seen(wanted: &Wanted, file: &File) -> Option<Opened> {
        let (own, descriptor) = (std::process::id(), file.as_raw_fd().unsigned_abs());
        let found = look(Path::new("/proc"), wanted).expect("/proc can be listed");
        found.opened.into_iter().find(|one| one.process == own && one.descriptor == descriptor)
    }

    #[test]
    fn a_device_is_seen_by_its_number_whatever_its_mount_and_a_file_where_it_is_wanted() {
        let device = File::open("/dev/null").expect("there is a null device");
        let file = File::open("Cargo.toml").expect("the test runs in its crate");
        let status = file.metadata().expect("an open file");
        let mounts = HashSet::from([&device, &file].map(|one| own_facts(one).1));
        let wanted = Wanted {
            local_mounts: mounts.clone(),
            files: HashSet::from([(status.dev(), status.ino())]),
            ..Wanted::default()
        };
        let null = seen(&wanted, &device).expect("seen");
        assert_eq!((null.kind, null.device, null.flags & 3), (Kind::Character, 0x103, 0));
        assert_eq!(seen(&wanted, &file).expect("seen").kind, Kind::File);
        // By a thread where no mount is known, and not at all where it is foreign.
        assert_eq!(seen(&Wanted::default(), &device).map(|one| one.kind), Some(Kind::Character));
        assert_eq!(seen(&Wanted::default(), &file), None);
        assert_eq!(seen(&Wanted { foreign_mounts: mounts, ..Wanted::default() }, &device), None);
    }

    #[test]
    fn flags_are_octal_and_the_mount_is_a_number() {
        let open = |path: &str| own_facts(&File::open(path).expect("there is this file"));
        let (flags, mount) = open("Cargo.toml");
        // Closed in children (O_CLOEXEC), read only, and large where the kernel says so.
        assert_eq!(flags & !0o100_000, 0o2_000_000);
        assert_eq!(mount, open("src/lib.rs").1);
        assert_ne!(mount, open("/proc/self/status").1);
    }
}
