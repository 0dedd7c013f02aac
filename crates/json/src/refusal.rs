//! Why a value is refused, and where it stands.

use std::fmt::{Display, Formatter};

use serde::de::{Error, Expected, Unexpected};

use crate::words::nearest;

/// A value that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where it stands: keys and indexes from 0, outermost first, such as `steps.3.demand.queue_depth`; empty for the whole.
    pub place: String,
    /// Why.
    pub cause: Cause,
}

/// Why a value is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is no such key: the place names it. Use the nearest, or one of those known.
    UnknownKey {
        /// The known key that it looks like.
        nearest: Option<&'static str>,
        /// All that are known here.
        known: &'static [&'static str],
    },
    /// A key without a default is absent: the place names it. State it.
    MissingKey,
    /// None of the words that may stand here: use the nearest, or one of those known.
    UnknownWord {
        /// The word.
        word: String,
        /// The known word that it looks like.
        nearest: Option<&'static str>,
        /// All that are known here.
        known: &'static [&'static str],
    },
    /// Exactly one of these keys is to be set.
    NotOneOf(&'static [&'static str]),
    /// A value of another type or size.
    Other {
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// Any other reason, such as a text that is no JSON.
    Text(String),
}

impl Cause {
    /// The keys or words of which one is to be chosen; none where there is no such choice.
    #[must_use]
    pub fn known(&self) -> &'static [&'static str] {
        match self {
            Self::UnknownKey { known, .. } | Self::UnknownWord { known, .. } | Self::NotOneOf(known) => known,
            Self::MissingKey | Self::Other { .. } | Self::Text(_) => &[],
        }
    }
}

impl Display for Cause {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let meant = |nearest: Option<&str>| nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
        match self {
            Self::UnknownKey { nearest, .. } => write!(formatter, "there is no key of this name{}", meant(*nearest)),
            Self::MissingKey => formatter.write_str("is missing"),
            Self::UnknownWord { word, nearest, .. } => {
                write!(formatter, "there is none of the name {word:?}{}", meant(*nearest))
            }
            Self::NotOneOf(known) => write!(formatter, "needs exactly one of {}", known.join(", ")),
            Self::Other { found, expected } => write!(formatter, "is {found}, not {expected}"),
            Self::Text(reason) => formatter.write_str(reason),
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        if self.place.is_empty() {
            self.cause.fmt(formatter)
        } else {
            write!(formatter, "{}: {}", self.place, self.cause)
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(crate) fn of(cause: Cause) -> Self {
        Self { place: String::new(), cause }
    }

    fn at(key: &str, cause: Cause) -> Self {
        Self { place: key.to_owned(), cause }
    }

    /// The same, seen from what holds the value under `key`.
    pub(crate) fn within(mut self, key: &dyn Display) -> Self {
        self.place = if self.place.is_empty() { key.to_string() } else { format!("{key}.{}", self.place) };
        self
    }
}

impl Error for Refusal {
    fn custom<T: Display>(reason: T) -> Self {
        Self::of(Cause::Text(reason.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::of(Cause::Other { found: plain(found), expected: named(expected) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::of(Cause::UnknownWord { word: word.to_owned(), nearest: nearest(word, known), known })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::at(key, Cause::UnknownKey { nearest: nearest(key, known), known })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::at(key, Cause::MissingKey)
    }
}

/// The value as it was written.
fn plain(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(value) => format!("{value:?}"),
        Unexpected::Unit => "null".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// What may stand there, in words of those who write plans.
fn named(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u64" | "usize" => "a whole number of 0 to 2^64 - 1".to_owned(),
        "u32" => "a whole number of 0 to 2^32 - 1".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}
