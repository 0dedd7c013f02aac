//! The loop: requests in, answers out, each at its instant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::AsRawFd;

use crate::answer::{self, Fields};
use crate::clock;
use crate::log::{Entry, Log};
use crate::mount::Mount;
use crate::protocol::{FILE_NODE, IO_DATA_AT, Operation, REQUEST_BYTES_MAX, Request, TRANSFER_BYTES_MAX};
use crate::store::Store;
use crate::timetable::Timetable;

/// The last part of a wait is not slept through: waking up takes some time, more in a guest.
const AWAKE_NS: u64 = 50_000;
/// The longest wait, so that a signal between two waits is seen.
const WAIT_NS_MAX: u64 = 100_000_000;

/// A request that waits for its instant: ordered by that, then by arrival.
type Due = Reverse<(u64, u64, Entry)>;

/// One file system in use. A single thread does everything, so that no other one has to be woken up before an answer.
pub(crate) struct Session<'m> {
    mount: &'m Mount,
    size_bytes: u64,
    timetable: Timetable,
    log: Log,
    due: BinaryHeap<Due>,
    store: Store,
    /// What a read gives.
    content: Vec<u8>,
}

impl<'m> Session<'m> {
    pub(crate) fn new(mount: &'m Mount, size_bytes: u64, timetable: Timetable, store: Store, log: Log) -> Self {
        let content = vec![0; TRANSFER_BYTES_MAX];
        Self { mount, size_bytes, timetable, log, due: BinaryHeap::new(), store, content }
    }

    /// Serve until it is unmounted or a signal asks for the end.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut buffer = vec![0; REQUEST_BYTES_MAX];
        while !Mount::is_ended() {
            self.answer_due()?;
            match (&self.mount.device).read(&mut buffer) {
                Ok(length) => self.take(&buffer[..length], clock::now())?,
                Err(error) => match error.raw_os_error() {
                    Some(libc::ENODEV) => break,
                    Some(libc::EAGAIN) => self.wait()?,
                    // ENOENT: the request was withdrawn before it could be read.
                    Some(libc::EINTR | libc::ENOENT) => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Answer what is due by now, in order.
    fn answer_due(&mut self) -> io::Result<()> {
        while let Some(Reverse((due_ns, number, entry))) = self.due.peek().copied() {
            let now = clock::now();
            if now < due_ns {
                break;
            }
            self.due.pop();
            self.log.add(&entry, now)?;
            if entry.write {
                self.answer(number, &answer::written(entry.length_bytes))?;
            } else {
                let length = entry.length_bytes as usize;
                self.store.read(entry.offset_bytes, &mut self.content[..length]);
                self.send(&answer::header(number, 0, length), &self.content[..length])?;
            }
        }
        Ok(())
    }

    /// Sleep until shortly before the next answer is due, or until a request comes in.
    fn wait(&self) -> io::Result<()> {
        let due_ns = self.due.peek().map_or(u64::MAX, |Reverse((due_ns, ..))| *due_ns);
        let left = due_ns.saturating_sub(clock::now()).saturating_sub(AWAKE_NS).min(WAIT_NS_MAX);
        if left == 0 {
            std::hint::spin_loop();
            return Ok(());
        }
        let time = libc::timespec { tv_sec: 0, tv_nsec: left.cast_signed() };
        let mut wanted = libc::pollfd { fd: self.mount.device.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: both structures live through the call.
        let result = unsafe { libc::ppoll(&raw mut wanted, 1, &raw const time, std::ptr::null()) };
        let error = io::Error::last_os_error();
        if result < 0 && error.kind() != io::ErrorKind::Interrupted { Err(error) } else { Ok(()) }
    }

    /// Put a read or write on the timetable; answer anything else at once.
    fn take(&mut self, bytes: &[u8], arrival_ns: u64) -> io::Result<()> {
        let request = Request::parse(bytes).ok_or_else(|| io::Error::from_raw_os_error(libc::EPROTO))?;
        let Request { number, node, operation } = request;
        match operation {
            Operation::Io { write, offset_bytes, length_bytes } => {
                let left = self.size_bytes.saturating_sub(offset_bytes).min(TRANSFER_BYTES_MAX as u64);
                let length_bytes = u64::from(length_bytes).min(left) as u32;
                if write {
                    self.store.write(offset_bytes, data_of(bytes, length_bytes)?);
                }
                let due_ns = self.timetable.done_at(arrival_ns);
                let entry = Entry { arrival_ns, due_ns, offset_bytes, length_bytes, write };
                self.due.push(Reverse((due_ns, number, entry)));
                Ok(())
            }
            Operation::Begin { read_ahead_bytes } => self.answer(number, &answer::begin(read_ahead_bytes)),
            Operation::Find { is_file: true } => self.answer(number, &answer::found(self.size_bytes)),
            Operation::Find { is_file: false } => self.refuse(number, libc::ENOENT),
            Operation::Attributes => self.answer(number, &answer::attributes(node, self.size_bytes)),
            Operation::Open if node == FILE_NODE => self.answer(number, &answer::opened()),
            Operation::Space => self.answer(number, &answer::space(self.size_bytes)),
            Operation::Agree => self.answer(number, &Fields::default()),
            Operation::Notice => Ok(()),
            Operation::Open | Operation::Unknown => self.refuse(number, libc::ENOSYS),
        }
    }

    fn answer(&self, number: u64, body: &Fields) -> io::Result<()> {
        self.send(&answer::header(number, 0, body.bytes().len()), body.bytes())
    }

    fn refuse(&self, number: u64, error: i32) -> io::Result<()> {
        self.send(&answer::header(number, error, 0), &[])
    }

    fn send(&self, header: &Fields, body: &[u8]) -> io::Result<()> {
        let parts = [IoSlice::new(header.bytes()), IoSlice::new(body)];
        match (&self.mount.device).write_vectored(&parts) {
            // ENOENT: nobody waits for it any more. ENODEV: unmounted, which the next read tells.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV)) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }
}

/// The data of a write.
fn data_of(request: &[u8], length_bytes: u32) -> io::Result<&[u8]> {
    let data = request.get(IO_DATA_AT..IO_DATA_AT + length_bytes as usize);
    data.ok_or_else(|| io::Error::from_raw_os_error(libc::EPROTO))
}
