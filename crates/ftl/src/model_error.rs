//! Why a drive model cannot be built.

/// Why a drive model cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum DriveModelError {
    /// A parameter outside its range: see the parameter's documentation.
    Parameter(&'static str),
    /// The capacity is too small for the geometry: raise it, or lower the number of dies.
    TooSmall {
        /// Smallest capacity in bytes.
        needed: u64,
    },
    /// The drive's tables do not fit into memory: lower the capacity.
    Memory {
        /// Bytes that they take, about.
        needed: u64,
    },
}

impl std::fmt::Display for DriveModelError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Parameter(name) => write!(formatter, "{name} is outside its range"),
            Self::TooSmall { needed } => write!(formatter, "the capacity is below the {needed} bytes its dies need"),
            Self::Memory { needed } => {
                write!(formatter, "its tables need {needed} bytes of memory, which are not there")
            }
        }
    }
}
