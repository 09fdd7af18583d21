//! Rows of JSON as a table with columns.

use serde_json::{Map, Value};

/// A row, whose fields have no others in them.
pub type Row = Map<String, Value>;

/// Rows, and the columns that any of them has.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The names, in the order in which they were met; those that say what a row is about come first.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// The columns that say what a row is about.
const FIRST: [&str; 23] = [
    "cmd", "family", "table", "impl", "mode", "trace", "op", "how", "what", "kind", "scenario", "policy",
    "phase", "batch", "resizing", "ops", "slots", "entries", "threads", "read_pct", "dist", "key", "rate",
];

impl Rows {
    /// Takes the fields of fields out, as `outer.inner`.
    #[must_use]
    pub fn new(rows: Vec<Row>) -> Self {
        let rows: Vec<Row> = rows.into_iter().map(flat).collect();
        let mut columns: Vec<String> = Vec::new();
        for name in rows.iter().flat_map(Map::keys) {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        columns.sort_by_key(|name| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
        Self { columns, rows }
    }

    /// As CSV with a header.
    #[must_use]
    pub fn csv(&self) -> Vec<u8> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        // Writing to memory does not fail, and every record has as many fields as the header.
        let _ = csv.write_record(&self.columns);
        for row in &self.rows {
            let _ = csv.write_record(self.columns.iter().map(|name| text(row, name)));
        }
        csv.into_inner().unwrap_or_default()
    }
}

fn flat(row: Row) -> Row {
    let mut flat = Row::new();
    for (name, value) in row {
        match value {
            Value::Object(inner) => {
                flat.extend(inner.into_iter().map(|(inner, value)| (format!("{name}.{inner}"), value)));
            }
            value => {
                flat.insert(name, value);
            }
        }
    }
    flat
}

/// A field as text; nothing, where there is none.
#[must_use]
pub fn text(row: &Row, name: &str) -> String {
    match row.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// A field that is a number.
#[must_use]
pub fn number(row: &Row, name: &str) -> Option<f64> {
    row.get(name)?.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Row, Rows};

    fn row(value: serde_json::Value) -> Row {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn csv_has_every_field_of_every_row() {
        let rows = vec![
            row(json!({ "ns": 1.5, "table": "a,b", "known": { "max": 3 } })),
            row(json!({ "table": "c", "p50": 7, "known": null })),
        ];
        let csv = String::from_utf8(Rows::new(rows).csv()).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].starts_with("table,"), "{csv}");
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].starts_with("\"a,b\",") && lines[1].contains("1.5") && lines[0].contains("known.max"),
            "{csv}"
        );
    }
}
