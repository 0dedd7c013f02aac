//! The state of a simulated drive, to be kept and taken up again, and its hash.
//!
//! It holds everything that later completions depend on. The drive must be at rest. Only the card that a state was kept
//! from takes it up again.

use std::io::{BufWriter, Read, Write};

use assay_core::contract::Nanos;
use sha2::{Digest, Sha256};

use crate::card::{Card, CardError};
use crate::collect::Collector;
use crate::drive::SimulatedDrive;
use crate::limits::{Heat, WriteLimit};
use crate::log::Log;
use crate::map_cache::MapCache;
use crate::timing::Timing;

/// What the bytes begin with; another number for another layout.
const MARK: &[u8; 16] = b"assay-ftl state1";
/// Room for the text of a card.
const TEXT_BYTES: usize = 16 << 10;

/// Why a state cannot be kept or taken up.
#[derive(Debug)]
pub enum StateError {
    /// These bytes are no state, or one of another version: name another file.
    NotAState,
    /// The state was kept from a drive with other parameters: use that card, capacity and seed.
    OtherCard,
    /// The card itself is wrong.
    Card(CardError),
    /// The bytes could not be written or read to their end.
    Io(String),
}

impl std::fmt::Display for StateError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAState => formatter.write_str("this is no state of a simulated drive, or one of another version"),
            Self::OtherCard => formatter.write_str("it was kept from a drive with other parameters"),
            Self::Card(error) => error.fmt(formatter),
            Self::Io(reason) => formatter.write_str(reason),
        }
    }
}

/// Everything but what the card gives.
pub(crate) struct Parts {
    pub(crate) clock: u64,
    pub(crate) idle_since: u64,
    pub(crate) since_stall: u64,
    pub(crate) flash: Collector,
    pub(crate) log: Option<Log>,
    pub(crate) timing: Timing,
    pub(crate) map_cache: MapCache,
    pub(crate) write_limit: WriteLimit,
    pub(crate) heat: Heat,
}

impl SimulatedDrive {
    /// Write the drive's state.
    ///
    /// # Errors
    /// [`StateError::Io`] when not all of it can be written.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    pub fn save(&self, mut out: impl Write) -> Result<(), StateError> {
        assert!(self.front.is_idle(), "a state is kept between programs");
        out.write_all(MARK).map_err(|error| StateError::Io(error.to_string()))?;
        let times = (self.clock.0, self.idle_since, self.since_stall);
        let limits = (&self.map_cache, &self.write_limit, &self.heat);
        let parts = (text_of(&self.card), times, &self.flash, &self.log, &self.timing, limits);
        postcard::to_io(&parts, &mut out).map_err(|error| StateError::Io(error.to_string()))?;
        out.flush().map_err(|error| StateError::Io(error.to_string()))
    }

    /// SHA-256 of what [`Self::save`] writes: two drives with the same hash answer alike from now on.
    ///
    /// # Panics
    /// When I/Os are outstanding.
    #[must_use]
    pub fn state_hash(&self) -> [u8; 32] {
        let mut out = BufWriter::new(Hashed(Sha256::new()));
        self.save(&mut out).expect("a hash takes any bytes");
        let Ok(hashed) = out.into_inner() else { unreachable!("a hash takes any bytes") };
        hashed.0.finalize().into()
    }

    /// The drive of `card` as it was when its state was kept; its clock goes on from there, at the wall-clock time `epoch`.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn load(card: Card, epoch: Nanos, mut input: impl Read) -> Result<Self, StateError> {
        let mut mark = [0; MARK.len()];
        input.read_exact(&mut mark).map_err(|_| StateError::NotAState)?;
        if mark != *MARK {
            return Err(StateError::NotAState);
        }
        let mut drive = Self::new(card, epoch).map_err(StateError::Card)?;
        let mut scratch = vec![0; TEXT_BYTES];
        // The text comes first and is looked at first: the rest of another card's state would make no sense.
        let (text, (rest, _)): (String, _) =
            postcard::from_io((input, &mut scratch)).map_err(|_| StateError::NotAState)?;
        if text != text_of(&drive.card) {
            return Err(StateError::OtherCard);
        }
        let ((times, flash, log, timing, limits), _) =
            postcard::from_io((rest, &mut scratch[..])).map_err(|error| StateError::Io(error.to_string()))?;
        let ((clock, idle_since, since_stall), (map_cache, write_limit, heat)) = (times, limits);
        drive.take_up(Parts { clock, idle_since, since_stall, flash, log, timing, map_cache, write_limit, heat });
        Ok(drive)
    }
}

struct Hashed(Sha256);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn text_of(card: &Card) -> String {
    format!("{card:?}")
}
