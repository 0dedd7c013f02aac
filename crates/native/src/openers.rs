//! Who has devices and files open.

use std::collections::HashSet;
use std::path::PathBuf;

use assay_openers::{Kind, Wanted, look};
use pyo3::prelude::*;

use crate::errors::io_error;

/// (process, descriptor, flags of `open(2)`, kind, device number, inode).
type Opened = (u32, u32, u32, &'static str, u64, u64);

/// Every descriptor of all processes below `proc` that is of a `block` or `character` device or of one of `files`, and
/// the processes that have others which cannot be looked at. The GIL is released.
///
/// Mounts are identifiers of `mountinfo`: `local_mounts` answer from this host alone, `foreign_mounts` are left out.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive owned")]
pub(crate) fn open_descriptors(
    py: Python<'_>,
    proc: PathBuf,
    local_mounts: HashSet<u64>,
    foreign_mounts: HashSet<u64>,
    files: HashSet<(u64, u64)>,
) -> PyResult<(Vec<Opened>, Vec<u32>)> {
    let wanted = Wanted { local_mounts, foreign_mounts, files };
    let found = py.detach(|| look(&proc, &wanted)).map_err(|error| io_error(&error))?;
    let opened = found.opened.into_iter();
    let listed = opened.map(|one| (one.process, one.descriptor, one.flags, word(one.kind), one.device, one.inode));
    Ok((listed.collect(), found.hidden))
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Block => "block",
        Kind::Character => "character",
        Kind::File => "file",
    }
}
