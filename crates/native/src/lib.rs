//! The border to Python: converts values, releases the GIL, polls Ctrl-C, maps errors. Decides nothing.

#![forbid(unsafe_code)]

use pyo3::prelude::*;

mod errors;
mod faults;
mod gauge;
mod models;
mod openers;
mod paths;
mod positions;
mod read_back;
mod records;
mod replay;
mod specs;
mod state;
mod stimulus;
mod trace;
mod verify;
mod written;

/// The native half of Assay.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::faults::check_faults;
    #[pymodule_export]
    use crate::gauge::{NativeStallGauge, NativeStalls, clock_reads};
    #[pymodule_export]
    use crate::models::{drive_model_fault, drive_parameters, simulated_memory_bytes};
    #[pymodule_export]
    use crate::openers::open_descriptors;
    #[pymodule_export]
    use crate::paths::hands_to_workers;
    #[pymodule_export]
    use crate::positions::toml_positions;
    #[pymodule_export]
    use crate::read_back::NativeReadBack;
    #[pymodule_export]
    use crate::specs::place_segments;
    #[pymodule_export]
    use crate::stimulus::NativeStimulus;
    #[pymodule_export]
    use crate::verify::{NativeSectors, check_addressed};
    #[pymodule_export]
    use crate::written::{addressed_tags, fill_rate, written_data};

    /// A panic becomes a Python exception, which the command line words: its own text is printed on request only.
    #[pymodule_init]
    fn quiet_panics() {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::env::var_os("ASSAY_TRACEBACK").is_some() {
                shown(panic);
            }
        }));
    }
}
