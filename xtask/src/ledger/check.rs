//! The code's tags against the rows, both ways.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{self, Column, Evidence, Row};
use super::tags::{End, Use};
use super::{FILE, Ledger, Problem};
use crate::models::LOOM;
use crate::shell::Failure;
use crate::source::test_functions;
use crate::tree::Tree;

/// The loom tests of each crate, with their modules.
pub(super) type Models = BTreeMap<String, Vec<String>>;

/// Finds the loom tests of every crate.
pub(super) fn models(tree: &Tree) -> Result<Models, Failure> {
    let mut models = Models::new();
    for krate in tree.product() {
        let mut names = Vec::new();
        for path in LOOM.model_files(tree, krate)? {
            let module = module_of(&path);
            let functions = test_functions(&path, &tree.read(&path)?)?;
            names.extend(functions.into_iter().map(|name| format!("{module}{name}")));
        }
        models.insert(krate.to_owned(), names);
    }
    Ok(models)
}

/// The module path of a file under `tests/`: `tests/loom/chain.rs` is `chain::`.
fn module_of(path: &str) -> String {
    let inside = path.split_once("/tests/").map_or(path, |(_, inside)| inside);
    let stem = inside.trim_end_matches(".rs");
    let mut parts: Vec<&str> = stem.split('/').skip(1).collect();
    if matches!(parts.last(), Some(&("main" | "mod"))) {
        parts.pop();
    }
    parts.iter().map(|part| format!("{part}::")).collect()
}

/// Everything that is wrong between the tags and the rows.
pub(super) fn check(ledger: &Ledger, models: &Models) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut uses: BTreeMap<&str, Vec<&Use>> = BTreeMap::new();
    for one in &ledger.uses {
        uses.entry(&one.id).or_default().push(one);
    }
    for (id, of_id) in &uses {
        if ledger.rows.iter().all(|row| row.id != *id) {
            let source = &ledger.sources[of_id[0].source];
            let line = source.sites[of_id[0].site].line;
            problems.push(Problem::new(&source.path, line, format!("{id} has no row in {FILE}")));
        }
    }
    for row in &ledger.rows {
        let mut object = |text: String| problems.push(Problem::new(FILE, row.line, text));
        match uses.get(row.id.as_str()) {
            None => object(format!("{}: no code carries this id", row.id)),
            Some(of_id) => columns(ledger, row, of_id, &mut object),
        }
        named_models(row, models, &mut object);
    }
    problems
}

/// The functions with `end` of an id, as a row lists them.
fn places(ledger: &Ledger, uses: &[&Use], end: End) -> BTreeSet<String> {
    uses.iter().filter(|one| one.end == end).map(|one| ledger.place(one)).collect()
}

fn columns(ledger: &Ledger, row: &Row, uses: &[&Use], object: &mut dyn FnMut(String)) {
    for (end, column) in [(End::Rel, &row.release), (End::Acq, &row.acquire)] {
        let id = &row.id;
        let found = places(ledger, uses, end);
        match column {
            Column::OneEnd(_) if found.is_empty() => {}
            Column::OneEnd(_) => {
                object(format!("{id}: says one end, but there is code with {end}: {found:?}"))
            }
            Column::Sites(_) if found.is_empty() => {
                object(format!("{id}: no code is its {end} end; if none can be, write `one end: reason`"));
            }
            Column::Sites(listed) => {
                let listed: BTreeSet<String> = listed.iter().cloned().collect();
                for place in found.difference(&listed) {
                    object(format!(
                        "{id}: the {end} site {place} is not listed (`cargo xtask ledger --fix`)"
                    ));
                }
                for place in listed.difference(&found) {
                    object(format!(
                        "{id}: {place} is listed but has no {end} site (`cargo xtask ledger --fix`)"
                    ));
                }
            }
        }
    }
    for (scope, _) in &row.evidence {
        if !uses.iter().any(|one| scope.covers(&ledger.place(one), one.end)) {
            object(format!("{}: evidence for {scope:?}, which is no site of it", row.id));
        }
    }
    for one in uses {
        let place = ledger.place(one);
        if !row.evidence.iter().any(|(scope, _)| scope.covers(&place, one.end)) {
            object(format!("{}: no evidence covers {place} {}", row.id, one.end));
        }
    }
}

fn named_models(row: &Row, models: &Models, object: &mut dyn FnMut(String)) {
    for (_, evidence) in &row.evidence {
        let Evidence::Models(named) = evidence else { continue };
        for model in named {
            let tests = models.get(&model.krate).map_or(&[][..], Vec::as_slice);
            match tests.iter().filter(|test| model.is(test)).count() {
                1 => {}
                0 => object(format!("{}: there is no loom test `{model}`", row.id)),
                n => object(format!("{}: {n} loom tests are called `{model}`; add the module", row.id)),
            }
        }
    }
}

/// The text of ORDERINGS.md with the site columns filled from the code, and an empty row for each new id.
pub(super) fn fix(ledger: &Ledger, text: &str) -> String {
    let rows = rows::table_rows(text);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let uses_of = |id: &str| ledger.uses.iter().filter(|one| one.id == id).collect::<Vec<_>>();
    for (number, cells) in &rows {
        let mut cells = cells.clone();
        let uses = uses_of(cells[0].trim_matches('`'));
        for (at, end) in [(1, End::Rel), (2, End::Acq)] {
            let Some(cell) = cells.get_mut(at) else { continue };
            if !matches!(rows::column(cell), Ok(Column::OneEnd(_))) {
                *cell = listed(&places(ledger, &uses, end));
            }
        }
        lines[number - 1] = line(&cells);
    }
    let known: BTreeSet<String> = rows.iter().map(|(_, cells)| cells[0].replace('`', "")).collect();
    let new: BTreeSet<&str> =
        ledger.uses.iter().map(|one| one.id.as_str()).filter(|id| !known.contains(*id)).collect();
    let end = lines.iter().rposition(|line| line.starts_with('|')).map_or(lines.len(), |last| last + 1);
    let added = new.into_iter().map(|id| {
        let uses = uses_of(id);
        let [rel, acq] = End::BOTH.map(|end| listed(&places(ledger, &uses, end)));
        line(&[format!("`{id}`"), rel, acq, String::new(), String::new(), String::new()])
    });
    lines.splice(end..end, added);
    lines.join("\n") + "\n"
}

fn listed(places: &BTreeSet<String>) -> String {
    places.iter().map(|place| format!("`{place}`")).collect::<Vec<_>>().join(", ")
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}
