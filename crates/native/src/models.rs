//! Drive models: texts from Python, read and explained.

use assay_ftl::model::{DriveModel, Kind};
use pyo3::prelude::*;

use crate::errors::{assay_error, drive_model_error, refusal_error};

/// A simulated drive whose parameters are known and in range.
pub(crate) fn read_model(text: &str) -> PyResult<DriveModel> {
    DriveModel::read(text).map_err(|refusal| refusal_error("drive model", &refusal))
}

/// What is wrong with a drive model: the place of the parameter and the reason, or None.
///
/// `model` is the JSON text `{"kind": "flash", "parameters": {"capacity_bytes": 32000000000, ...}}`.
#[pyfunction]
pub(crate) fn drive_model_fault(model: &str) -> Option<(String, String)> {
    DriveModel::read(model).err().map(|refusal| (refusal.place, refusal.cause.to_string()))
}

/// Name, meaning and default, as JSON, of every parameter of a kind of drive, `flash` or `disk`; the default is None where
/// a drive model must state it.
#[pyfunction]
pub(crate) fn drive_parameters(kind: &str) -> PyResult<Vec<(&'static str, String, Option<String>)>> {
    let kind = match kind {
        "flash" => Kind::Flash,
        "disk" => Kind::Disk,
        _ => return Err(assay_error("ValueRangeError", "kind of drive", &format!("is {kind:?}"), "use flash or disk")),
    };
    let all = DriveModel::parameters(kind).into_iter();
    Ok(all.map(|one| (one.name, one.about, one.default.map(|value| value.to_string()))).collect())
}

/// Bytes of memory that a simulated drive takes, about. `model` is as for `drive_model_fault`.
///
/// Raises `ValueRangeError` where a parameter is outside its range or the capacity too small for the dies.
#[pyfunction]
pub(crate) fn simulated_memory_bytes(model: &str) -> PyResult<u64> {
    Ok(read_model(model)?.memory().map_err(|error| drive_model_error(&error))?.0)
}
