//! Where each key of a TOML text stands.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use toml_edit::{Document, Item, TableLike};

use crate::errors::assay_error;

/// Line and column, both from 1, of every key of a TOML text, by its dotted path with list indexes.
///
/// Raises `PlanError` naming line and column where the text is not TOML.
/// Worked: `toml_positions("a = 1\n[[b]]\nc = 2", "p")` is `{"a": (1, 1), "b": (2, 3), "b.0.c": (3, 1)}`
/// with `"b.0"` at its table's header.
#[pyfunction]
pub(crate) fn toml_positions(text: &str, name: &str) -> PyResult<BTreeMap<String, (usize, usize)>> {
    let document = Document::parse(text).map_err(|error| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        let thing = format!("{name}:{line}:{column}");
        assay_error("PlanError", &thing, error.message(), "correct the TOML syntax")
    })?;
    let mut positions = BTreeMap::new();
    walk_table(text, "", document.as_table(), &mut positions);
    Ok(positions)
}

type Positions = BTreeMap<String, (usize, usize)>;

fn walk_table(text: &str, path: &str, table: &dyn TableLike, positions: &mut Positions) {
    for (name, item) in table.iter() {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
        if let Some(span) = span {
            positions.insert(path.clone(), place(text, span.start));
        }
        walk_item(text, &path, item, positions);
    }
}

fn walk_item(text: &str, path: &str, item: &Item, positions: &mut Positions) {
    if let Some(table) = item.as_table_like() {
        walk_table(text, path, table, positions);
    } else if let Some(tables) = item.as_array_of_tables() {
        for (index, table) in tables.iter().enumerate() {
            note(text, &format!("{path}.{index}"), table.span(), positions);
            walk_table(text, &format!("{path}.{index}"), table, positions);
        }
    } else if let Some(values) = item.as_array() {
        for (index, value) in values.iter().enumerate() {
            let path = format!("{path}.{index}");
            note(text, &path, value.span(), positions);
            if let Some(table) = value.as_inline_table() {
                walk_table(text, &path, table, positions);
            }
        }
    }
}

fn note(text: &str, path: &str, span: Option<std::ops::Range<usize>>, positions: &mut Positions) {
    if let Some(span) = span {
        positions.insert(path.to_owned(), place(text, span.start));
    }
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
