//! Requests of the kernel as linux/fuse.h lays them out, in the part that a file system of one file needs.

/// What precedes each request: length, opcode, number, node and who asks.
pub(crate) const HEADER_BYTES: usize = 40;
/// What precedes the data of a write.
const IO_BYTES: usize = 40;
/// Where the data of a write begin in its request.
pub(crate) const IO_DATA_AT: usize = HEADER_BYTES + IO_BYTES;
/// The largest read or write that the kernel hands on whole; a page is 4 KiB.
pub(crate) const TRANSFER_BYTES_MAX: usize = PAGES_MAX as usize * 4096;
pub(crate) const PAGES_MAX: u16 = 256;
/// The largest request; the kernel wants room for it in every read.
pub(crate) const REQUEST_BYTES_MAX: usize = IO_DATA_AT + TRANSFER_BYTES_MAX;

/// The folder, which the kernel knows by this number.
pub(crate) const FOLDER_NODE: u64 = 1;
pub(crate) const FILE_NODE: u64 = 2;
pub(crate) const FILE_NAME: &[u8] = b"drive";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The first request; the kernel's own limit of its read-ahead.
    Begin {
        read_ahead_bytes: u32,
    },
    /// Whether it is the file of this file system.
    Find {
        is_file: bool,
    },
    Attributes,
    Open,
    Io {
        write: bool,
        offset_bytes: u64,
        length_bytes: u32,
    },
    Space,
    /// Nothing is to be done, but the kernel waits for an answer.
    Agree,
    /// The kernel waits for none.
    Notice,
    Unknown,
}

/// One request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What the answer names.
    pub(crate) number: u64,
    pub(crate) node: u64,
    pub(crate) operation: Operation,
}

impl Request {
    /// Read a request; None where it is shorter than its kind.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let body = bytes.get(HEADER_BYTES..)?;
        let operation = match word(bytes, 4)? {
            // Readers of linux/fuse.h know these by name: LOOKUP, GETATTR, OPEN, READ, WRITE, STATFS, INIT.
            1 => Operation::Find { is_file: body.strip_suffix(b"\0") == Some(FILE_NAME) },
            3 => Operation::Attributes,
            14 => Operation::Open,
            15 => io(false, body)?,
            16 => io(true, body)?,
            17 => Operation::Space,
            26 => Operation::Begin { read_ahead_bytes: word(body, 8)? },
            // RELEASE, FSYNC, RELEASEDIR, ACCESS.
            18 | 20 | 29 | 34 => Operation::Agree,
            // FORGET, INTERRUPT, DESTROY, BATCH_FORGET. What is interrupted is answered in its time all the same.
            2 | 36 | 38 | 42 => Operation::Notice,
            _ => Operation::Unknown,
        };
        Some(Self { number: long_word(bytes, 8)?, node: long_word(bytes, 16)?, operation })
    }
}

fn io(write: bool, body: &[u8]) -> Option<Operation> {
    Some(Operation::Io { write, offset_bytes: long_word(body, 8)?, length_bytes: word(body, 16)? })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long_word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request of an opcode with 32-bit words behind its header.
    fn request(opcode: u32, body: &[u32]) -> Vec<u8> {
        let header = [0, opcode, 7, 0, 2, 0, 0, 0, 0, 0];
        header.iter().chain(body).flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_write_is_read_from_its_places_and_a_short_request_is_none() {
        let bytes = request(16, &[9, 0, 4096, 1, 8192, 0, 0, 0, 0, 0]);
        let expected = Operation::Io { write: true, offset_bytes: 4096 + (1 << 32), length_bytes: 8192 };
        assert_eq!(Request::parse(&bytes), Some(Request { number: 7, node: 2, operation: expected }));
        assert_eq!(Request::parse(&bytes[..50]), None);
        assert_eq!(Request::parse(&bytes[..20]), None);
    }

    #[test]
    fn only_the_name_of_the_file_is_found() {
        for (name, is_file) in [(&b"drive\0"[..], true), (b"drives\0", false), (b"drive", false)] {
            let bytes = [&request(1, &[]), name].concat();
            let found = Request::parse(&bytes).expect("whole");
            assert_eq!(found.operation, Operation::Find { is_file });
        }
        assert_eq!(Request::parse(&request(43, &[])).expect("whole").operation, Operation::Unknown);
    }
}
