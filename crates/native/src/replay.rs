//! Reads the I/Os that a sequence issues again, on a thread of its own.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use assay_core::recorded::{Feed, Recording, recording};
use assay_trace::replay::ReplayFile;
use pyo3::prelude::*;

use crate::errors::assay_error;

/// Chunks that are read before the sequence begins.
const READ_AHEAD: usize = 8;

/// A file of I/Os that is being read while a sequence runs.
pub(crate) struct Replayer {
    path: PathBuf,
    reader: JoinHandle<Result<(), String>>,
}

impl Replayer {
    /// Open the file, read its beginning, and go on behind it as the sequence takes what was read.
    pub(crate) fn start(path: &Path) -> PyResult<(Self, Recording)> {
        let fault = |reason: String| replay_error(path, &reason);
        let mut file = ReplayFile::open(path).map_err(|error| fault(error.to_string()))?;
        let (feed, recording) = recording();
        for _ in 0..READ_AHEAD {
            let chunk = file.next_chunk().map_err(|error| fault(error.to_string()))?;
            // Fewer than it has room for.
            let _ = feed.try_give(chunk);
        }
        let reader = std::thread::Builder::new()
            .name("replay".to_owned())
            .spawn(move || feed_all(file, &feed))
            .map_err(|error| fault(error.to_string()))?;
        Ok((Self { path: path.to_owned(), reader }, recording))
    }

    /// Wait until the file is read, or nobody asks for more.
    pub(crate) fn finish(self) -> PyResult<()> {
        let outcome = self.reader.join().unwrap_or_else(|_| Err("its reader ended early".to_owned()));
        outcome.map_err(|reason| replay_error(&self.path, &reason))
    }
}

fn feed_all(mut file: ReplayFile, feed: &Feed) -> Result<(), String> {
    loop {
        let chunk = file.next_chunk().map_err(|error| error.to_string())?;
        if chunk.is_empty() || !feed.give(chunk) {
            return Ok(());
        }
    }
}

fn replay_error(path: &Path, reason: &str) -> PyErr {
    let reason = format!("cannot be replayed: {reason}");
    assay_error("StoreError", &path.display().to_string(), &reason, "run again; check the disk of the run folder")
}
