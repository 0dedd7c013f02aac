//! One place that turns Rust errors into the Python error tree.

use assay_core::active_range::RangeError;
use assay_core::step::SequenceError;
use assay_ftl::flash_model::DriveModelError;
use assay_json::Refusal;
use pyo3::prelude::*;

/// Raise a class of `assay.errors` with its three parts.
pub(crate) fn assay_error(class: &str, thing: &str, reason: &str, remedy: &str) -> PyErr {
    Python::attach(|py| {
        let raised = py
            .import("assay.errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((thing, reason, remedy)));
        match raised {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    })
}

pub(crate) fn sequence_error(error: &SequenceError) -> PyErr {
    let reason = error.to_string();
    match error {
        SequenceError::Prepare(_) | SequenceError::DeviceLost => {
            assay_error("DeviceFailureError", "stimulus", &reason, "check the drive and the memory of this host")
        }
        SequenceError::Stuck => {
            assay_error("DeviceFailureError", "drive", &reason, "check the drive and the kernel log")
        }
        _ => assay_error("ValueRangeError", "sequence", &reason, "correct the plan"),
    }
}

pub(crate) fn range_error(error: &RangeError) -> PyErr {
    let remedy = "use a larger drive or a smaller active range";
    let class = if matches!(error, RangeError::TooLarge { .. }) { "TooSmallError" } else { "ValueRangeError" };
    assay_error(class, "active range", &error.to_string(), remedy)
}

/// What Python asked for and cannot be: the whole, the place in it, the reason.
pub(crate) fn refusal_error(whole: &str, refusal: &Refusal) -> PyErr {
    let known = refusal.cause.known();
    // More than a line holds would not be read.
    let remedy = match known.len() {
        1..=8 => format!("choose one of {}", known.join(", ")),
        _ => format!("correct the {whole}"),
    };
    let thing = if refusal.place.is_empty() { whole.to_owned() } else { format!("{whole}: {}", refusal.place) };
    assay_error("ValueRangeError", &thing, &refusal.cause.to_string(), &remedy)
}

pub(crate) fn drive_model_error(error: &DriveModelError) -> PyErr {
    assay_error("ValueRangeError", "simulated drive", &error.to_string(), "correct the drive model or the capacity")
}

pub(crate) fn io_error(error: &std::io::Error) -> PyErr {
    assay_error("DeviceFailureError", "drive", &error.to_string(), "check that it is still connected")
}
