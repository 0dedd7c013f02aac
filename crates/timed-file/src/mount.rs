//! A FUSE file system over a folder, from its mount to its end.

use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by a signal that asks for the end.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The connection to the kernel; unmounts when dropped.
pub(crate) struct Mount {
    pub(crate) device: File,
    folder: CString,
}

impl Mount {
    /// Mount over an existing folder; the device gives one request per read, and none at once where there is none.
    pub(crate) fn over(folder: &Path) -> io::Result<Self> {
        let device = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/fuse")?;
        let folder = CString::new(folder.as_os_str().as_bytes())?;
        let options = format!("fd={},rootmode=40755,user_id=0,group_id=0,allow_other", device.as_raw_fd());
        mount(&folder, &CString::new(options)?)?;
        let mount = Self { device, folder };
        end_by_signals()?;
        Ok(mount)
    }

    /// Whether the end was asked for.
    pub(crate) fn is_ended() -> bool {
        ENDED.load(Ordering::Relaxed)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // SAFETY: the path is a string that lives through the call. It fails where somebody else has unmounted it.
        unsafe { libc::umount2(self.folder.as_ptr(), libc::MNT_DETACH) };
    }
}

fn mount(folder: &CStr, options: &CStr) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: all strings live through the call.
    let result = unsafe {
        libc::mount(c"assay-timed-file".as_ptr(), folder.as_ptr(), c"fuse".as_ptr(), flags, options.as_ptr().cast())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// SIGTERM and SIGINT ask for the end, and so does the end of the process that started this one.
fn end_by_signals() -> io::Result<()> {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        // SAFETY: the handler only stores to an atomic.
        let result = unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
        if result == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: takes no pointers.
    let result = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

extern "C" fn on_signal(_: libc::c_int) {
    ENDED.store(true, Ordering::Relaxed);
}
