//! What is changed: one ordering made weaker, or one fence taken out.
//!
//! Next: `scratch.rs`.

use std::fmt;
use std::ops::Range;

use crate::ledger::{End, Evidence, Ledger, Model, Row, Use};
use crate::source::{Memory, Site};

/// One weakened ordering.
#[derive(Debug, Clone)]
pub(crate) struct Mutant {
    pub(crate) id: String,
    /// Which of the ledger's sources is changed.
    pub(crate) source: usize,
    pub(crate) path: String,
    pub(crate) line: usize,
    /// `AcqRel -> Acquire`.
    pub(crate) label: String,
    /// The part of the text that is replaced.
    range: Range<usize>,
    replacement: String,
    pub(crate) plan: Plan,
}

/// What has to show that the ordering was needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// One of these must fail.
    Models(Vec<Model>),
    /// Nothing can run, for this reason.
    Argument(String),
    /// The row says nothing about this site.
    Nothing,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Models(models) => {
                f.write_str(&models.iter().map(Model::to_string).collect::<Vec<_>>().join(", "))
            }
            Self::Argument(why) => write!(f, "argument: {why}"),
            Self::Nothing => f.write_str("no evidence"),
        }
    }
}

impl Mutant {
    /// The text of the file with the change.
    pub(crate) fn apply(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.range.start], self.replacement, &text[self.range.end..])
    }
}

/// Every mutant of the tagged orderings, in the order of the code.
pub(crate) fn all(ledger: &Ledger) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for one in &ledger.uses {
        let source = &ledger.sources[one.source];
        let site = &source.sites[one.site];
        let (label, range, replacement) = change(site, one.end);
        let row = ledger.rows.iter().find(|row| row.id == one.id);
        let plan = row.map_or(Plan::Nothing, |row| plan(row, one, &ledger.place(one)));
        let mutant = Mutant {
            id: one.id.clone(),
            source: one.source,
            path: source.path.clone(),
            line: site.line,
            label,
            range,
            replacement,
            plan,
        };
        // A SeqCst site with both ends under one id weakens in one way only.
        if !mutants.iter().any(|other| other.id == mutant.id && same_change(other, &mutant)) {
            mutants.push(mutant);
        }
    }
    mutants
}

fn same_change(a: &Mutant, b: &Mutant) -> bool {
    a.source == b.source && a.range == b.range && a.replacement == b.replacement
}

/// How `site` looks without `end`: a label, what is replaced, and by what.
fn change(site: &Site, end: End) -> (String, Range<usize>, String) {
    let from = site.memory.name();
    let to = match (site.memory, end) {
        (Memory::AcqRel, End::Rel) => Memory::Acquire,
        (Memory::AcqRel, End::Acq) => Memory::Release,
        _ => Memory::Relaxed,
    };
    match &site.fence {
        Some(call) if to == Memory::Relaxed => {
            (format!("fence {from} -> none"), call.clone(), "()".to_owned())
        }
        fence => {
            let kind = if fence.is_some() { "fence " } else { "" };
            // A bare name was imported; the weaker one may not be.
            let path = if site.bare { "::core::sync::atomic::Ordering::" } else { "" };
            (format!("{kind}{from} -> {}", to.name()), site.name.clone(), format!("{path}{}", to.name()))
        }
    }
}

/// What a row says about one use: a narrow argument first, then the models, then a general argument.
fn plan(row: &Row, one: &Use, place: &str) -> Plan {
    let covering: Vec<_> = row.evidence.iter().filter(|(scope, _)| scope.covers(place, one.end)).collect();
    let argument = |narrow: bool| {
        covering.iter().find_map(|(scope, evidence)| match evidence {
            Evidence::Argument(why) if scope.is_narrow() == narrow => Some(Plan::Argument(why.clone())),
            _ => None,
        })
    };
    let mut models: Vec<Model> = Vec::new();
    for (_, evidence) in &covering {
        if let Evidence::Models(named) = evidence {
            models.extend(named.iter().cloned());
        }
    }
    let by_models = (!models.is_empty()).then_some(Plan::Models(models));
    argument(true).or(by_models).or_else(|| argument(false)).unwrap_or(Plan::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    fn mutants(code: &str, row: &str) -> Vec<Mutant> {
        let sample = Sample::new("mutant").file("sync/src/lib.rs", code).file("ORDERINGS.md", row);
        all(&Ledger::read(&sample.tree).expect("the sample can be read"))
    }

    fn changes(code: &str) -> Vec<(String, String)> {
        mutants(code, "").iter().map(|m| (m.label.clone(), m.apply(code))).collect()
    }

    #[test]
    fn an_access_becomes_relaxed() {
        let code = "fn f(a: &A) {\n    // ORD(SY-A acq): x.\n    a.load(Ordering::Acquire);\n}\n";
        let changed = code.replace("Ordering::Acquire", "Ordering::Relaxed");
        assert_eq!(changes(code), [("Acquire -> Relaxed".to_owned(), changed)]);
    }

    #[test]
    fn an_imported_name_is_replaced_by_a_full_path() {
        let code = "use core::sync::atomic::Ordering::Acquire;\nfn f(a: &A) {\n    a.load(Acquire); // ORD(SY-A acq): x.\n}\n";
        let changed = code.replace("load(Acquire)", "load(::core::sync::atomic::Ordering::Relaxed)");
        assert_eq!(changes(code), [("Acquire -> Relaxed".to_owned(), changed)]);
    }

    #[test]
    fn both_halves_of_an_exchange_are_weakened_one_at_a_time() {
        let code = "fn f(a: &A) {\n    // ORD(SY-A acqrel): x.\n    a.swap(1, Ordering::AcqRel);\n}\n";
        let labels: Vec<_> = changes(code).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["AcqRel -> Acquire", "AcqRel -> Release"]);
    }

    #[test]
    fn a_fence_is_taken_out_whole_and_once() {
        let code = "fn f() {\n    // ORD(SY-A acqrel): x.\n    crate::prim::fence(Ordering::SeqCst);\n}\n";
        let changed = code.replace("crate::prim::fence(Ordering::SeqCst)", "()");
        assert_eq!(changes(code), [("fence SeqCst -> none".to_owned(), changed)]);
    }

    #[test]
    fn two_ids_at_one_site_make_two_mutants() {
        let code =
            "fn f(a: &A) {\n    // ORD(SY-A rel), ORD(SY-B rel): x.\n    a.store(1, Ordering::Release);\n}\n";
        let ids: Vec<_> = mutants(code, "").into_iter().map(|mutant| mutant.id).collect();
        assert_eq!(ids, ["SY-A", "SY-B"]);
    }

    #[test]
    fn a_narrow_argument_goes_before_a_model_and_a_model_before_a_general_argument() {
        let code = "fn f(a: &A) {\n    // ORD(SY-A acqrel): x.\n    a.swap(1, Ordering::AcqRel);\n}\n";
        let plans = |evidence: &str| {
            let row = format!("| SY-A | | | v | b | {evidence} |\n");
            mutants(code, &row).iter().map(|mutant| mutant.plan.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(plans("model: sync m; argument acq: why"), ["sync m", "argument: why"]);
        assert_eq!(plans("argument: why; model acq: sync m, sync n"), ["argument: why", "sync m, sync n"]);
        assert_eq!(plans("model rel: sync m"), ["sync m", "no evidence"]);
    }
}
