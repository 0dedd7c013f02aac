//! One second of a running sequence, for those who watch.

use crate::contract::Nanos;
use crate::record::SeriesPoint;

/// Reads, writes and others of one second.
pub type Sides = [SeriesPoint; 3];

/// One second of a step, or of steps that run side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Second {
    /// Index of the step, the first of those side by side.
    pub step: usize,
    /// Which second of the window, from 0.
    pub index: usize,
    /// What of it belongs to the window: a second, or less where the step ends inside it.
    pub covered: Nanos,
    /// Completions of each of the steps.
    pub sides: Vec<Sides>,
}

/// Seconds of one step in one worker.
pub(crate) struct WorkerSeconds {
    pub(crate) worker: usize,
    pub(crate) step: usize,
    /// The first of them.
    pub(crate) from: usize,
    pub(crate) points: Vec<Sides>,
    /// Of the window, where these are its last.
    pub(crate) span: Option<Nanos>,
}
