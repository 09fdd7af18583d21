//! The ordering ledger: every ordering stronger than Relaxed carries a tag, every tag has a row in
//! ORDERINGS.md, every row names a model or an argument.
//!
//! - L1 A site with an ordering carries a tag for each end that it is: `// ORD(FM-LINK rel): text`.
//! - L2 An id has both ends in code, or its row says `one end: reason` in the other column.
//! - L3 Ids in code and rows are the same set, and the two site columns list exactly the tagged functions.
//! - L4 A model that a row names is a test function of that crate's loom tests.
//! - L5 A `Relaxed` has a comment with `Relaxed: reason`, unless it is what a tagged exchange does on failure.
//!
//! Next: `ledger/tags.rs` (code), `ledger/rows.rs` (ORDERINGS.md), `ledger/check.rs` (one against the other).

mod check;
mod rows;
mod tags;

use std::fmt;
use std::fs;

pub(crate) use rows::{Evidence, Model, Row};
pub(crate) use tags::{End, Use};

use crate::shell::Failure;
use crate::source::Source;
use crate::tree::Tree;

/// The file with the rows.
const FILE: &str = "ORDERINGS.md";

/// Something that the ledger objects to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    text: String,
}

impl Problem {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// The code and the rows, read but not yet compared.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) sources: Vec<Source>,
    /// One entry for each id at each end of each site.
    pub(crate) uses: Vec<Use>,
    pub(crate) rows: Vec<Row>,
    relaxed: usize,
    problems: Vec<Problem>,
}

impl Ledger {
    /// Reads the product crates of `tree` and its ORDERINGS.md.
    pub(crate) fn read(tree: &Tree) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        for krate in tree.product() {
            for path in tree.rust_files(&format!("{krate}/src"))? {
                let text = tree.read(&path)?;
                sources.push(Source::parse(&path, text)?);
            }
        }
        let tests: Vec<String> = sources
            .iter()
            .map(|source| source.path.clone())
            .filter(|path| sources.iter().any(|source| source.owns_test_file(path)))
            .collect();
        sources.retain(|source| !tests.contains(&source.path));
        let mut ledger =
            Self { sources, uses: Vec::new(), rows: Vec::new(), relaxed: 0, problems: Vec::new() };
        for (index, source) in ledger.sources.iter().enumerate() {
            let read = tags::read(index, source);
            ledger.uses.extend(read.uses);
            ledger.problems.extend(read.problems);
            ledger.relaxed += read.relaxed;
        }
        let (rows, problems) = rows::parse(FILE, &tree.read(FILE)?);
        ledger.rows = rows;
        ledger.problems.extend(problems);
        Ok(ledger)
    }

    /// Where a use stands, as rows name it: `flatmap/src/table.rs::insert`.
    pub(crate) fn place(&self, of: &Use) -> String {
        let source = &self.sources[of.source];
        format!("{}::{}", source.path, source.sites[of.site].function)
    }

    /// Everything that is wrong, in the order of the files.
    pub(crate) fn check(&self, tree: &Tree) -> Result<Vec<Problem>, Failure> {
        let mut problems = self.problems.clone();
        problems.extend(check::check(self, &check::models(tree)?));
        problems.sort();
        problems.dedup();
        Ok(problems)
    }
}

pub(crate) fn run(tree: &Tree, fix: bool) -> Result<(), Failure> {
    if fix {
        let ledger = Ledger::read(tree)?;
        let text = tree.read(FILE)?;
        let fixed = check::fix(&ledger, &text);
        if fixed != text {
            fs::write(tree.root.join(FILE), fixed)?;
            println!("ledger: {FILE} rewritten");
        }
    }
    let ledger = Ledger::read(tree)?;
    let problems = ledger.check(tree)?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        let (ids, uses) = (ledger.rows.len(), ledger.uses.len());
        println!("ledger: {ids} ids, {uses} tagged ends, {} relaxed accesses with a reason", ledger.relaxed);
        Ok(())
    } else {
        Err(Failure::new(format!("the ordering ledger has {} problems", problems.len())))
    }
}

#[cfg(test)]
mod tests;
