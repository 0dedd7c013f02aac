//! What a drive model may state: names, meanings and defaults, taken from the struct that holds the values.

use assay_json::{Cause, Map, Refusal, Value, read_value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model_error::DriveModelError;

/// No time, size or rate is as large: sums of two still fit into 64 bits.
const INTEGER_MAX: u64 = (1 << 63) - 1;

/// Declares a struct and keeps the name that serde gives each field, with what its documentation says.
macro_rules! with_parameters {
    (
        $(#[$($attribute:tt)*])*
        pub struct $name:ident { $( $(#[$($of_field:tt)*])* pub $field:ident: $kind:ty, )* }
    ) => {
        $(#[$($attribute)*])*
        pub struct $name { $( $(#[$($of_field)*])* pub $field: $kind, )* }

        impl $name {
            /// Name and meaning of each parameter, in the order of the struct.
            const PARAMETERS: &[(&str, &str)] = &[$({
                const RENAMED: &str = concat!($(with_parameters!(@renamed $($of_field)*)),*);
                const ABOUT: &str = concat!($(with_parameters!(@about $($of_field)*)),*);
                (if RENAMED.is_empty() { stringify!($field) } else { RENAMED }, ABOUT)
            }),*];
        }
    };
    (@about doc = $text:literal) => { $text };
    (@about $($other:tt)*) => { "" };
    (@renamed serde(rename = $name:literal $($rest:tt)*)) => { $name };
    (@renamed $($other:tt)*) => { "" };
}
pub(crate) use with_parameters;

/// One parameter of a drive model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As drive models spell it, its unit last.
    pub name: &'static str,
    /// What it is, with its range.
    pub about: String,
    /// What a drive has that does not state it; none where it must be stated.
    pub default: Option<Value>,
}

/// The values of a drive model.
pub(crate) trait Parameters: DeserializeOwned + Serialize {
    const PARAMETERS: &[(&str, &str)];

    fn plain() -> Self;
    fn check(&self) -> Result<(), DriveModelError>;
}

/// The values that a drive model states, each checked.
pub(crate) fn read_parameters<P: Parameters>(stated: &Map<String, Value>) -> Result<P, Refusal> {
    if let Some((name, value)) = stated.iter().find(|(_, value)| value.as_u64() > Some(INTEGER_MAX)) {
        return Err(refused::<P>(name, value));
    }
    let parameters: P = read_value(&Value::Object(stated.clone())).map_err(explained::<P>)?;
    match parameters.check() {
        Err(DriveModelError::Parameter(name)) => Err(refused::<P>(name, &values(&parameters)[name])),
        Ok(()) | Err(_) => Ok(parameters),
    }
}

/// All that a drive model may state.
pub(crate) fn parameters<P: Parameters>() -> Vec<Parameter> {
    let plain = values(&P::plain());
    let described = P::PARAMETERS.iter().map(|(name, text)| {
        let mut without = plain.clone();
        without.remove(*name);
        let default =
            read_value::<P>(&Value::Object(without)).ok().map(|parameters| values(&parameters)[*name].clone());
        Parameter { name, about: meaning(text).to_owned(), default }
    });
    described.collect()
}

fn values<P: Parameters>(parameters: &P) -> Map<String, Value> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(values)) => values,
        other => unreachable!("parameters are a table of plain values: {other:?}"),
    }
}

fn about<P: Parameters>(name: &str) -> &'static str {
    P::PARAMETERS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| meaning(text))
}

/// The documentation of a field, as a part of a sentence.
fn meaning(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

fn refused<P: Parameters>(name: &str, value: &Value) -> Refusal {
    let expected = format!("in its range: {}", about::<P>(name));
    Refusal { place: name.to_owned(), cause: Cause::Other { found: value.to_string(), expected } }
}

/// A value of another type with what its parameter is.
fn explained<P: Parameters>(mut refusal: Refusal) -> Refusal {
    let text = about::<P>(&refusal.place);
    if let Cause::Other { expected, .. } = &mut refusal.cause {
        *expected = format!("{expected}: {text}");
    }
    refusal
}
