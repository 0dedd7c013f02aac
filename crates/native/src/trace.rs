//! Writes what a sequence's tap gives to a file, on a thread of its own.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use assay_core::capture::{Chunks, Tap, tap};
use assay_trace::TraceFile;
use pyo3::prelude::*;

use crate::errors::assay_error;

/// Rows written and completions that were lost, or why the file could not be written.
type Outcome = Result<(u64, u64), String>;

/// A trace that is being written while a sequence runs.
pub(crate) struct Tracer {
    path: PathBuf,
    writer: JoinHandle<Outcome>,
}

impl Tracer {
    /// Begin a file and give the tap that fills it. `waits`: see [`assay_core::capture::tap`].
    pub(crate) fn start(path: &Path, addresses: bool, waits: bool) -> PyResult<(Self, Tap)> {
        let file = TraceFile::create(path, addresses).map_err(|error| trace_error(path, &error.to_string()))?;
        let (tap, chunks) = tap(waits);
        let writer = std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || write(file, chunks))
            .map_err(|error| trace_error(path, &error.to_string()))?;
        Ok((Self { path: path.to_owned(), writer }, tap))
    }

    /// Wait until all is written; (rows, completions lost).
    pub(crate) fn finish(self) -> PyResult<(u64, u64)> {
        let outcome = self.writer.join().unwrap_or_else(|_| Err("the writer ended early".to_owned()));
        outcome.map_err(|reason| trace_error(&self.path, &reason))
    }
}

fn write(mut file: TraceFile, chunks: Chunks) -> Outcome {
    let lost = chunks.drain(|chunk| file.write(chunk)).map_err(|error| error.to_string())?;
    let rows = file.close().map_err(|error| error.to_string())?;
    Ok((rows, lost))
}

fn trace_error(path: &Path, reason: &str) -> PyErr {
    let remedy = "free space or name another run folder, or run without --capture";
    assay_error("StoreError", &path.display().to_string(), reason, remedy)
}
