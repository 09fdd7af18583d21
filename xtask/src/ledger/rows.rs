//! The rows of ORDERINGS.md. The head of that file defines the format for people; this is the same in code.
//!
//! Next: `check.rs`.

use std::fmt;

use super::Problem;
use super::tags::{End, is_id};

/// One row: an id and what is said about it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) release: Column,
    pub(crate) acquire: Column,
    pub(crate) evidence: Vec<(Scope, Evidence)>,
}

/// A column of sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Column {
    /// `flatmap/src/table.rs::insert`, ..
    Sites(Vec<String>),
    /// `one end: reason`.
    OneEnd(String),
}

/// Which uses of an id a piece of evidence is about. An empty scope is about all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) end: Option<End>,
    pub(crate) place: Option<String>,
}

impl Scope {
    pub(crate) fn covers(&self, place: &str, end: End) -> bool {
        self.end.is_none_or(|own| own == end) && self.place.as_deref().is_none_or(|own| own == place)
    }

    /// Whether it speaks of some uses only.
    pub(crate) fn is_narrow(&self) -> bool {
        *self != Self::default()
    }
}

/// Why one believes that an ordering is needed and is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Models that fail when it is weakened; one failing is enough.
    Models(Vec<Model>),
    /// Why no model can show it, and what argues for it.
    Argument(String),
}

/// A loom test of a crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Model {
    /// The crate's folder.
    pub(crate) krate: String,
    /// The test's name, with as much of its module path as it takes to tell it from others.
    pub(crate) name: String,
}

impl Model {
    /// Whether this is what the test with the full path `test` is called.
    pub(crate) fn is(&self, test: &str) -> bool {
        test.strip_suffix(self.name.as_str()).is_some_and(|path| path.is_empty() || path.ends_with("::"))
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.krate, self.name)
    }
}

/// Reads every row of the file `path` with the content `text`.
pub(super) fn parse(path: &str, text: &str) -> (Vec<Row>, Vec<Problem>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut problems = Vec::new();
    for (number, cells) in table_rows(text) {
        match row(number, &cells) {
            Ok(row) if rows.iter().any(|other| other.id == row.id) => {
                problems.push(Problem::new(path, number, format!("{} has two rows", row.id)));
            }
            Ok(row) => rows.push(row),
            Err(text) => problems.push(Problem::new(path, number, format!("{}: {text}", plain(&cells[0])))),
        }
    }
    (rows, problems)
}

/// The lines that are rows of an id, with their cells.
pub(super) fn table_rows(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut fenced = false;
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let cells = cells(line);
        if !fenced && cells.first().is_some_and(|first| is_id(&plain(first))) {
            rows.push((index + 1, cells));
        }
    }
    rows
}

/// The cells of a line of a table; `\|` is a bar inside a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let Some(inside) = line.strip_prefix('|') else { return Vec::new() };
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in inside.chars() {
        if c == '|' && !escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
        escaped = c == '\\';
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// A cell without the marks of code.
fn plain(cell: &str) -> String {
    cell.replace('`', "").trim().to_owned()
}

fn row(line: usize, cells: &[String]) -> Result<Row, String> {
    let [id, release, acquire, visible, breaks, evidence] = cells else {
        return Err(format!("{} cells, a row has 6", cells.len()));
    };
    for (name, cell) in [("what becomes visible", visible), ("what breaks", breaks), ("evidence", evidence)] {
        if cell.is_empty() {
            return Err(format!("the cell \"{name}\" is empty"));
        }
    }
    Ok(Row {
        id: plain(id),
        line,
        release: column(release)?,
        acquire: column(acquire)?,
        evidence: parse_evidence(&plain(evidence))?,
    })
}

/// Reads a column of sites.
pub(super) fn column(cell: &str) -> Result<Column, String> {
    let cell = plain(cell);
    if let Some(reason) = cell.strip_prefix("one end:") {
        return match reason.trim() {
            "" => Err("`one end:` needs a reason".to_owned()),
            reason => Ok(Column::OneEnd(reason.to_owned())),
        };
    }
    let sites = cell.split(',').map(str::trim).filter(|site| !site.is_empty());
    Ok(Column::Sites(sites.map(str::to_owned).collect()))
}

/// Reads `model [scope]: krate test, ..; argument [scope]: text`.
fn parse_evidence(cell: &str) -> Result<Vec<(Scope, Evidence)>, String> {
    let mut parts: Vec<String> = Vec::new();
    for part in cell.split(';') {
        let begins = ["model", "argument"].iter().any(|kind| part.trim_start().starts_with(kind));
        match parts.last_mut() {
            Some(last) if !begins => {
                last.push(';');
                last.push_str(part);
            }
            _ => parts.push(part.trim().to_owned()),
        }
    }
    parts.iter().map(|part| piece(part)).collect()
}

fn piece(part: &str) -> Result<(Scope, Evidence), String> {
    let form = || format!("`{part}` is neither `model [scope]: crate test` nor `argument [scope]: why`");
    // The colons of a path belong to the scope: the one that ends it is followed by a space.
    let (head, text) = part.split_once(": ").ok_or_else(form)?;
    let (kind, scope) = head.split_once(' ').unwrap_or((head, ""));
    let scope = parse_scope(scope)?;
    let text = text.trim();
    match kind {
        "model" => Ok((scope, Evidence::Models(parse_models(text)?))),
        "argument" if !text.is_empty() => Ok((scope, Evidence::Argument(text.to_owned()))),
        _ => Err(form()),
    }
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    let mut scope = Scope::default();
    for word in text.split_whitespace() {
        match word {
            "rel" => scope.end = Some(End::Rel),
            "acq" => scope.end = Some(End::Acq),
            place if place.contains("::") => scope.place = Some(place.to_owned()),
            other => {
                return Err(format!("`{other}` is no scope: `rel`, `acq` or `crate/src/file.rs::function`"));
            }
        }
    }
    Ok(scope)
}

fn parse_models(text: &str) -> Result<Vec<Model>, String> {
    let mut models = Vec::new();
    for item in text.split(',') {
        let words: Vec<_> = item.split_whitespace().collect();
        let [krate, name] = words[..] else {
            return Err(format!("`{}` is not `crate test_name`", item.trim()));
        };
        let krate = krate.strip_prefix("latchfree-").unwrap_or(krate);
        models.push(Model { krate: krate.to_owned(), name: name.to_owned() });
    }
    Ok(models)
}
