//! What the steps of a sequence did, as the text that Python reads.

use assay_core::record::StepRecord;
use serde::Serialize;

/// A record with the label that its step was asked for under.
#[derive(Serialize)]
struct Labelled<'r> {
    label: &'r str,
    #[serde(flatten)]
    record: &'r StepRecord,
}

/// The JSON text of the records, in the form of `assay.engine.records.StepRecord`.
pub(crate) fn records_text(records: &[StepRecord], labels: &[String]) -> String {
    let labelled: Vec<Labelled<'_>> =
        labels.iter().zip(records).map(|(label, record)| Labelled { label, record }).collect();
    serde_json::to_string(&labelled).expect("numbers and words under names that are texts")
}
