//! Why a stimulus could not be opened.

use std::io;

use crate::contract::DeviceInfo;

/// What a worker says of its device.
pub(crate) type Opened<E> = Result<DeviceInfo, E>;

/// Why a stimulus could not be opened.
#[derive(Debug)]
pub enum OpenError<E> {
    /// The system starts no further thread.
    Thread(io::Error),
    /// What an opener answered.
    Device(E),
}

impl<E> OpenError<E> {
    /// The error of an opener, with one of the system turned into it.
    pub fn into_device(self, of: impl FnOnce(io::Error) -> E) -> E {
        match self {
            Self::Thread(error) => of(error),
            Self::Device(error) => error,
        }
    }
}
