//! One place that turns Rust errors into the Python error tree.

use assay_core::active_range::RangeError;
use assay_core::contract::Errno;
use assay_core::open_error::OpenError;
use assay_core::step::SequenceError;
use assay_ftl::model_error::DriveModelError;
use assay_json::Refusal;
use assay_uring::lack::is_of_host;
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
        SequenceError::Prepare(Errno::NOT_SUPPORTED) => {
            let reason = "carries one I/O at a time, and the sequence has more";
            assay_error("ValueRangeError", "I/O path synchronous", reason, "choose --io-path auto or --queue-depth 1")
        }
        SequenceError::Prepare(errno) if is_of_host(errno.0) => host_limit_error("stimulus", &reason),
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

/// A fault of this host, which leaves nothing to check at the drive.
pub(crate) fn host_limit_error(thing: &str, reason: &str) -> PyErr {
    assay_error("HostLimitError", thing, reason, "run assay check DRIVE, which names the limit and what it takes")
}

/// A worker that could not be opened.
pub(crate) fn not_opened<E>(error: OpenError<E>, device: impl FnOnce(E) -> PyErr) -> PyErr {
    match error {
        OpenError::Thread(error) => host_limit_error("threads", &error.to_string()),
        OpenError::Device(error) => device(error),
    }
}

pub(crate) fn io_error(error: &std::io::Error) -> PyErr {
    if error.raw_os_error().is_some_and(is_of_host) {
        return host_limit_error("this host", &error.to_string());
    }
    assay_error("DeviceFailureError", "drive", &error.to_string(), "check that it is still connected")
}
