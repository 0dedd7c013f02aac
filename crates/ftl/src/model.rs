//! The text of a drive model: the kind of drive, and its parameters by name.

use assay_core::contract::Bytes;
use assay_json::{Map, Refusal, Value, read};
use serde::Deserialize;

use crate::disk::DiskModel;
use crate::flash_model::FlashModel;
use crate::model_error::DriveModelError;
use crate::parameters::{Parameter, parameters, read_parameters};

/// A simulated drive as its model describes it.
#[allow(clippy::large_enum_variant, reason = "one is made for each run")]
#[derive(Clone, Debug, PartialEq)]
pub enum DriveModel {
    /// Flash behind a translation layer.
    Flash(FlashModel),
    /// A hard disk.
    Disk(DiskModel),
}

/// The kinds of simulated drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Flash behind a translation layer.
    Flash,
    /// A hard disk.
    Disk,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    kind: Kind,
    parameters: Map<String, Value>,
}

impl DriveModel {
    /// Read a model: `{"kind": "flash", "parameters": {"capacity_bytes": 32000000000, ...}}`.
    ///
    /// # Errors
    /// [`Refusal`] whose place is the parameter, such as `parameters.read_ns`: one that there is not, one that must be
    /// stated, or a value of another type or outside its range.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let Text { kind, parameters } = read(text)?;
        let model = match kind {
            Kind::Flash => read_parameters(&parameters).map(Self::Flash),
            Kind::Disk => read_parameters(&parameters).map(Self::Disk),
        };
        model.map_err(|refusal| Refusal { place: format!("parameters.{}", refusal.place), ..refusal })
    }

    /// All parameters of a kind of drive.
    #[must_use]
    pub fn parameters(kind: Kind) -> Vec<Parameter> {
        match kind {
            Kind::Flash => parameters::<FlashModel>(),
            Kind::Disk => parameters::<DiskModel>(),
        }
    }

    /// Bytes of memory that the drive takes, about.
    ///
    /// # Errors
    /// [`DriveModelError`] when a parameter is outside its range or the capacity too small for the dies.
    pub fn memory(&self) -> Result<Bytes, DriveModelError> {
        match self {
            Self::Flash(model) => model.memory(),
            Self::Disk(model) => model.memory(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DriveModel, Kind};
    use crate::disk::DiskModel;
    use crate::flash_model::FlashModel;

    fn text(kind: &str, changes: &Value) -> String {
        let plain = match kind {
            "disk" => serde_json::to_value(DiskModel::plain()),
            _ => serde_json::to_value(FlashModel::plain()),
        };
        let mut parameters = plain.expect("plain values");
        for (name, value) in changes.as_object().expect("a table") {
            parameters[name] = value.clone();
        }
        json!({"kind": kind, "parameters": parameters}).to_string()
    }

    #[test]
    fn a_model_is_read_by_the_names_of_its_parameters() {
        assert_eq!(DriveModel::read(&text("flash", &json!({}))), Ok(DriveModel::Flash(FlashModel::plain())));
        assert_eq!(DriveModel::read(&text("disk", &json!({}))), Ok(DriveModel::Disk(DiskModel::plain())));
    }

    #[test]
    fn a_parameter_that_cannot_be_is_refused_with_its_value_and_range() {
        for (kind, changes, expected) in [
            (
                "flash",
                json!({"reed_ns": 1}),
                r#"parameters.reed_ns: there is no key of this name; did you mean "read_ns"?"#,
            ),
            ("disk", json!({"zone_cont": 1}), r#"zone_cont: there is no key of this name; did you mean "zone_count"?"#),
            (
                "flash",
                json!({"victim": "gredy"}),
                r#"victim: there is none of the name "gredy"; did you mean "greedy"?"#,
            ),
            (
                "flash",
                json!({"read_ns": 0}),
                "read_ns: is 0, not in its range: Time to read a page from the array (tR), 1 ns to 1 s",
            ),
            (
                "flash",
                json!({"read_ns": -1}),
                "read_ns: is -1, not a whole number of 0 to 2^64 - 1: Time to read a page",
            ),
            ("flash", json!({"trim": 1}), "trim: is 1, not true or false: The drive frees"),
            ("flash", json!({"over_provisioning": 5.5}), "over_provisioning: is 5.5, not in its range: Flash beyond"),
            ("flash", json!({"idle_delay_ns": 1_u64 << 63}), "idle_delay_ns: is 9223372036854775808, not in its range"),
            ("flash", json!({"victim": "choices", "victim_choices": 1}), "victim_choices: is 1, not in its range"),
            ("disk", json!({"queue_limit": 257}), "queue_limit: is 257, not in its range: Commands that the scheduler"),
            ("disk", json!({"average_seek_ns": 1_000_000}), "average_seek_ns: is 1000000, not in its range"),
        ] {
            let refusal = DriveModel::read(&text(kind, &changes)).expect_err(expected).to_string();
            assert!(refusal.contains(expected), "{refusal}");
        }
        assert!(
            DriveModel::read(r#"{"kind": "flash", "parameters": {}}"#)
                .is_err_and(|it| it.to_string().contains("is missing"))
        );
        assert!(
            DriveModel::read(r#"{"kind": "disc", "parameters": {}}"#)
                .is_err_and(|it| it.to_string().contains(r#""disk""#))
        );
    }

    #[test]
    fn every_parameter_has_a_name_a_meaning_and_a_default_unless_it_must_be_stated() {
        for (kind, count, stated) in [(Kind::Flash, 58, 15), (Kind::Disk, 24, 15)] {
            let parameters = DriveModel::parameters(kind);
            assert_eq!(parameters.len(), count);
            assert_eq!(parameters.iter().filter(|one| one.default.is_none()).count(), stated);
            assert!(parameters.iter().all(|one| one.about.len() > 5), "{parameters:?}");
        }
        let flash = DriveModel::parameters(Kind::Flash);
        let default = |name: &str| flash.iter().find(|one| one.name == name).and_then(|one| one.default.clone());
        assert_eq!(default("queue_limit"), Some(json!(65536)));
        assert_eq!(default("victim"), Some(json!("greedy")));
        assert_eq!(default("read_ns"), None);
    }
}
