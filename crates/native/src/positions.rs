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
    let mut offsets = BTreeMap::new();
    walk_table("", document.as_table(), &mut offsets);
    Ok(places(text, offsets))
}

/// The byte at which each key begins, by its dotted path.
type Offsets = BTreeMap<String, usize>;

/// Longer paths are left out: their messages would not be read, and those of many keys take all memory.
const PATH_BYTES_MAX: usize = 1000;

/// Line and column of every offset, in one pass over the text.
fn places(text: &str, offsets: Offsets) -> BTreeMap<String, (usize, usize)> {
    let mut sorted: Vec<(String, usize)> = offsets.into_iter().collect();
    sorted.sort_unstable_by_key(|(_, offset)| *offset);
    let mut found = BTreeMap::new();
    let (mut at, mut line, mut column) = (0, 1, 1);
    for (path, offset) in sorted {
        for character in text[at..offset.min(text.len())].chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = at.max(offset.min(text.len()));
        found.insert(path, (line, column));
    }
    found
}

fn walk_table(path: &str, table: &dyn TableLike, offsets: &mut Offsets) {
    for (name, item) in table.iter() {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if path.len() > PATH_BYTES_MAX {
            continue;
        }
        let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
        if let Some(span) = span {
            offsets.insert(path.clone(), span.start);
        }
        walk_item(&path, item, offsets);
    }
}

fn walk_item(path: &str, item: &Item, offsets: &mut Offsets) {
    if let Some(table) = item.as_table_like() {
        walk_table(path, table, offsets);
    } else if let Some(tables) = item.as_array_of_tables() {
        for (index, table) in tables.iter().enumerate() {
            note(&format!("{path}.{index}"), table.span(), offsets);
            walk_table(&format!("{path}.{index}"), table, offsets);
        }
    } else if let Some(values) = item.as_array() {
        for (index, value) in values.iter().enumerate() {
            let path = format!("{path}.{index}");
            note(&path, value.span(), offsets);
            if let Some(table) = value.as_inline_table() {
                walk_table(&path, table, offsets);
            }
        }
    }
}

fn note(path: &str, span: Option<std::ops::Range<usize>>, offsets: &mut Offsets) {
    if let Some(span) = span {
        offsets.insert(path.to_owned(), span.start);
    }
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
