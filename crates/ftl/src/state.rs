//! The state of a simulated drive, to be kept and taken up again, and its hash.
//!
//! It holds everything that later completions depend on. The drive must be at rest. Only the drive model that a state was kept
//! from takes it up again. Its own hash stands at the end, so that what was damaged is refused before any of it is used.

use std::io::{BufWriter, Read, Seek, SeekFrom, Write};

use assay_core::contract::Nanos;
use sha2::{Digest, Sha256};

use crate::drive::{Parts, SimulatedDrive};
use crate::flash_model::FlashModel;
use crate::model_error::DriveModelError;

/// What the bytes begin with; another number for another layout.
const MARK: &[u8; 16] = b"assay-ftl state3";
/// A state's hash behind it.
const HASH_BYTES: u64 = 32;
/// Room for the text of a drive model.
const TEXT_BYTES: usize = 16 << 10;

/// Why a state cannot be kept or taken up.
#[derive(Debug)]
pub enum StateError {
    /// These bytes are no state, or one of another version: name another file.
    NotAState,
    /// The state was kept from a drive with other parameters: use that drive model, capacity and seed.
    OtherDriveModel,
    /// These bytes are not those that were kept: take a copy of the file, or another one.
    Damaged,
    /// The drive model itself is wrong.
    FlashModel(DriveModelError),
    /// The bytes could not be written or read to their end.
    Io(String),
}

impl std::fmt::Display for StateError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAState => formatter.write_str("this is no state of a simulated drive, or one of another version"),
            Self::OtherDriveModel => formatter.write_str("it was kept from a drive with other parameters"),
            Self::Damaged => formatter.write_str("it is not what was kept, but damaged or changed"),
            Self::FlashModel(error) => error.fmt(formatter),
            Self::Io(reason) => formatter.write_str(reason),
        }
    }
}

impl SimulatedDrive {
    /// Write the drive's state and its hash.
    ///
    /// # Errors
    /// [`StateError::Io`] when not all of it can be written.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    pub fn save(&self, mut out: impl Write) -> Result<(), StateError> {
        let mut hashed = Hashed { hash: Sha256::new(), out: &mut out };
        self.write_state(&mut hashed)?;
        let hash = hashed.hash.finalize();
        out.write_all(&hash).and_then(|()| out.flush()).map_err(io)
    }

    /// SHA-256 of the state that [`Self::save`] writes: two drives with the same hash answer alike from now on.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    #[must_use]
    pub fn state_hash(&self) -> [u8; 32] {
        let mut out = BufWriter::new(Hashed { hash: Sha256::new(), out: std::io::sink() });
        self.write_state(&mut out).expect("a hash takes any bytes");
        let Ok(hashed) = out.into_inner() else { unreachable!("a hash takes any bytes") };
        hashed.hash.finalize().into()
    }

    fn write_state(&self, mut out: impl Write) -> Result<(), StateError> {
        assert!(self.front.is_idle(), "a state is kept between programs");
        out.write_all(MARK).map_err(io)?;
        let times = (self.clock.0, self.idle_since, self.since_stall);
        let limits = (&self.map_cache, &self.write_limit, &self.heat);
        let parts = (text_of(&self.model), times, &self.flash, &self.log, &self.timing, limits);
        postcard::to_io(&parts, &mut out).map_err(|error| StateError::Io(error.to_string()))?;
        out.flush().map_err(io)
    }

    /// The drive of `model` as it was when its state was kept; its clock goes on from there, at the wall-clock time `epoch`.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn load(model: FlashModel, epoch: Nanos, mut input: impl Read + Seek) -> Result<Self, StateError> {
        let input = checked(&mut input)?;
        let mut drive = Self::new(model, epoch).map_err(StateError::FlashModel)?;
        let mut scratch = vec![0; TEXT_BYTES];
        // The text comes first and is looked at first: the rest of another drive model's state would make no sense.
        let (text, (rest, _)): (String, _) =
            postcard::from_io((input, &mut scratch)).map_err(|_| StateError::NotAState)?;
        if text != text_of(&drive.model) {
            return Err(StateError::OtherDriveModel);
        }
        let ((times, flash, log, timing, limits), _) =
            postcard::from_io((rest, &mut scratch[..])).map_err(|_| StateError::Damaged)?;
        let ((clock, idle_since, since_stall), (map_cache, write_limit, heat)) = (times, limits);
        let parts = Parts { clock, idle_since, since_stall, flash, log, timing, map_cache, write_limit, heat };
        if drive.take_up(parts) { Ok(drive) } else { Err(StateError::Damaged) }
    }
}

/// The state between mark and hash, once it is known to be what was kept.
fn checked<T: Read + Seek>(input: &mut T) -> Result<impl Read + use<'_, T>, StateError> {
    let mut mark = [0; MARK.len()];
    input.read_exact(&mut mark).map_err(|_| StateError::NotAState)?;
    if mark != *MARK {
        return Err(StateError::NotAState);
    }
    let length = input.seek(SeekFrom::End(0)).map_err(io)?;
    let end = length.checked_sub(HASH_BYTES).filter(|end| *end >= MARK.len() as u64).ok_or(StateError::Damaged)?;
    input.rewind().map_err(io)?;
    let mut hash = Hashed { hash: Sha256::new(), out: std::io::sink() };
    std::io::copy(&mut input.by_ref().take(end), &mut hash).map_err(io)?;
    let mut kept = [0; HASH_BYTES as usize];
    input.read_exact(&mut kept).map_err(io)?;
    if kept[..] != hash.hash.finalize()[..] {
        return Err(StateError::Damaged);
    }
    input.seek(SeekFrom::Start(MARK.len() as u64)).map_err(io)?;
    Ok(input.take(end - MARK.len() as u64))
}

/// Hashes what it passes on.
struct Hashed<W> {
    hash: Sha256,
    out: W,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[allow(clippy::needless_pass_by_value, reason = "what map_err hands over")]
fn io(error: std::io::Error) -> StateError {
    StateError::Io(error.to_string())
}

fn text_of(model: &FlashModel) -> String {
    format!("{model:?}")
}
