//! Reads JSON texts into structs that derive `Deserialize`, and says of what it refuses where it stands and what is wrong.
//!
//! `serde_json` alone tells neither the place of a value nor which known word an unknown one looks like. Structs state
//! `#[serde(deny_unknown_fields)]`; names, types and defaults stand there and nowhere else.

#![forbid(unsafe_code)]

mod refusal;
mod words;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use serde::de::{IntoDeserializer, Unexpected, VariantAccess};
use serde::forward_to_deserialize_any;
pub use serde_json::{Map, Value};

pub use refusal::{Cause, Refusal};

/// Read a JSON text.
///
/// # Errors
/// [`Refusal`] where the text is no JSON, or `T` has no such key, word, type or size.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| Refusal::of(Cause::Text(format!("is no JSON: {error}"))))?;
    read_value(&value)
}

/// The same of JSON that was read before.
///
/// # Errors
/// [`Refusal`] where `T` has no such key, word, type or size.
pub fn read_value<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    T::deserialize(At(value))
}

/// A value to be read.
#[derive(Clone, Copy)]
struct At<'de>(&'de Value);

impl<'de> Deserializer<'de> for At<'de> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::String(value) => visitor.visit_borrowed_str(value),
            Value::Array(values) => visitor.visit_seq(Items(values.iter().enumerate())),
            Value::Object(entries) => visitor.visit_map(Entries { left: entries.iter(), value: None }),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    /// A word, or a table in which of several words one is set.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(Variant { word, value: &Value::Null }),
            Value::Object(entries) => {
                if let Some(key) = entries.keys().find(|key| !words.contains(&key.as_str())) {
                    return Err(Refusal::unknown_field(key, words));
                }
                let mut set = entries.iter().filter(|(_, value)| !value.is_null());
                match (set.next(), set.next()) {
                    (Some((word, value)), None) => visitor.visit_enum(Variant { word, value }),
                    _ => Err(Refusal::of(Cause::NotOneOf(words))),
                }
            }
            _ => self.deserialize_any(Word(words)).map(|never| match never {}),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Takes no value; its errors name the words that are taken instead.
struct Word(&'static [&'static str]);

enum Never {}

impl Visitor<'_> for Word {
    type Value = Never;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "one of {}", self.0.join(", "))
    }
}

struct Items<'de>(std::iter::Enumerate<std::slice::Iter<'de, Value>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Refusal;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refusal> {
        let next = self.0.next();
        next.map(|(index, value)| seed.deserialize(At(value)).map_err(|refusal| refusal.within(&index))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    left: serde_json::map::Iter<'de>,
    value: Option<(&'de String, &'de Value)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refusal> {
        self.value = self.left.next();
        self.value.map(|(key, _)| seed.deserialize(StrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refusal> {
        let (key, value) = self.value.take().ok_or_else(|| Refusal::custom("a value is read before its key"))?;
        seed.deserialize(At(value)).map_err(|refusal| refusal.within(key))
    }
}

/// One of several, with what belongs to it.
struct Variant<'de> {
    word: &'de str,
    value: &'de Value,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Refusal;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Refusal> {
        Ok((seed.deserialize(self.word.into_deserializer())?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        if self.value.is_null() { Ok(()) } else { Err(Refusal::invalid_type(Unexpected::Map, &"a word")) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refusal> {
        seed.deserialize(At(self.value)).map_err(|refusal| refusal.within(&self.word))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refusal> {
        At(self.value).deserialize_any(visitor).map_err(|refusal| refusal.within(&self.word))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Refusal> {
        At(self.value).deserialize_any(visitor).map_err(|refusal| refusal.within(&self.word))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::read;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        parts: Vec<Part>,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        limit: Option<u32>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Part {
        word: Word,
        stop: Stop,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Greedy,
        Fifo,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Stop {
        TimeNs(u64),
        IoCount(u64),
    }

    fn refused(text: &str) -> String {
        read::<Whole>(text).expect_err(text).to_string()
    }

    #[test]
    fn a_text_is_read_with_its_defaults_and_every_bit_of_a_number() {
        let text = r#"{"parts": [{"word": "fifo", "stop": {"time_ns": 18446744073709551615, "io_count": null}}], "share": 0.30000000000000004}"#;
        let stop = Stop::TimeNs(u64::MAX);
        let expected = Whole { parts: vec![Part { word: Word::Fifo, stop }], share: 0.1 + 0.2, limit: None };
        assert_eq!(read(text), Ok(expected));
        let whole: Whole = read(r#"{"parts": [], "share": 1, "limit": 7}"#).expect("whole numbers are numbers");
        assert_eq!((whole.share, whole.limit), (1.0, Some(7)));
    }

    #[test]
    fn what_is_refused_is_named_with_its_place() {
        for (text, expected) in [
            (r#"{"parts": [], "shore": 1}"#, r#"shore: there is no key of this name; did you mean "share"?"#),
            (r#"{"parts": [], "zzzzzz": 1}"#, "zzzzzz: there is no key of this name"),
            (r#"{"share": 1}"#, "parts: is missing"),
            (r#"{"parts": [], "share": "x"}"#, r#"share: is "x", not a number"#),
            (r#"{"parts": [], "share": null}"#, "share: is null, not a number"),
            (r#"{"parts": [], "limit": -1}"#, "limit: is -1, not a whole number of 0 to 2^32 - 1"),
            (r#"{"parts": [], "limit": 4294967296}"#, "limit: is 4294967296, not a whole number of 0 to 2^32 - 1"),
            (r#"{"parts": [], "limit": 1.5}"#, "limit: is 1.5, not a whole number of 0 to 2^32 - 1"),
            (
                r#"{"parts": [{"word": "gredy", "stop": {"io_count": 1}}]}"#,
                r#"parts.0.word: there is none of the name "gredy"; did you mean "greedy"?"#,
            ),
            (r#"{"parts": [{"word": 5, "stop": {"io_count": 1}}]}"#, "parts.0.word: is 5, not one of greedy, fifo"),
            (r#"{"parts": [{"word": "fifo", "stop": {}}]}"#, "parts.0.stop: needs exactly one of time_ns, io_count"),
            (
                r#"{"parts": [{"word": "fifo", "stop": {"io_count": 1, "time_ns": 2}}]}"#,
                "parts.0.stop: needs exactly one of time_ns, io_count",
            ),
            (
                r#"{"parts": [{"word": "fifo", "stop": {"io_count": 1, "zzzz": null}}]}"#,
                "parts.0.stop.zzzz: there is no key of this name",
            ),
            (
                r#"{"parts": [{"word": "fifo", "stop": {"io_count": true}}]}"#,
                "parts.0.stop.io_count: is true, not a whole number of 0 to 2^64 - 1",
            ),
        ] {
            assert_eq!(refused(text), expected, "{text}");
        }
        assert!(refused("{").starts_with("is no JSON: "));
    }
}
