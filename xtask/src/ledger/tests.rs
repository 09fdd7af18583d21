//! The ledger on small workspaces, good and bad.

use super::*;
use crate::testing::Sample;

const GOOD_CODE: &str = "\
fn put(a: &A) {
    // ORD(SY-PUT rel): the value before the flag that shows it.
    a.store(1, Ordering::Release);
}

fn take(a: &A) -> u32 {
    // Relaxed: a hint, looked at again below.
    a.load(Ordering::Relaxed);
    a.load(Ordering::Acquire) // ORD(SY-PUT acq): the flag before the value.
}
";

const GOOD_ROW: &str = "| `SY-PUT` | `sync/src/lib.rs::put` | `sync/src/lib.rs::take` | the value | torn read \
                        | model: sync handed_over |\n";

const MODELS: &str = "#[test]\nfn handed_over() {}\nmod slow {\n    #[test]\n    fn handed_back() {}\n}\n";

fn sample(code: &str, rows: &str) -> Sample {
    Sample::new("ledger").file("sync/src/lib.rs", code).file("sync/tests/loom.rs", MODELS).file(
        "ORDERINGS.md",
        &format!("# Orderings\n\n| id | r | a | v | b | e |\n|---|---|---|---|---|---|\n{rows}"),
    )
}

fn problems(code: &str, rows: &str) -> Vec<String> {
    let sample = sample(code, rows);
    let ledger = Ledger::read(&sample.tree).expect("the sample can be read");
    let problems = ledger.check(&sample.tree).expect("the sample can be read");
    problems.iter().map(Problem::to_string).collect()
}

/// Asserts that exactly one problem is found and that it says `expected`.
#[track_caller]
fn one_problem(code: &str, rows: &str, expected: &str) {
    let found = problems(code, rows);
    assert!(found.len() == 1 && found[0].contains(expected), "expected {expected:?}, found {found:#?}");
}

#[test]
fn a_tagged_pair_with_its_row_and_model_is_good() {
    assert_eq!(problems(GOOD_CODE, GOOD_ROW), Vec::<String>::new());
    run(&sample(GOOD_CODE, GOOD_ROW).tree, false).expect("nothing is wrong");
}

#[test]
fn an_untagged_ordering_is_found() {
    let code = format!("{GOOD_CODE}fn more(a: &A) {{\n    a.load(Ordering::Acquire);\n}}\n");
    one_problem(&code, GOOD_ROW, "sync/src/lib.rs:12: Acquire ordering without a tag `// ORD(ID acq): text`");
}

#[test]
fn an_untagged_fence_is_found() {
    let code = format!("{GOOD_CODE}fn more() {{\n    fence(Ordering::SeqCst);\n}}\n");
    one_problem(&code, GOOD_ROW, "SeqCst fence without a tag `// ORD(ID acqrel): text`");
    let code = format!("{GOOD_CODE}fn more(o: Ordering) {{\n    fence(o);\n}}\n");
    one_problem(&code, GOOD_ROW, "a fence whose ordering is not written at the call");
}

#[test]
fn half_a_tag_on_an_exchange_is_found() {
    let code = GOOD_CODE.replace("a.store(1, Ordering::Release)", "a.swap(1, Ordering::AcqRel)");
    one_problem(&code, GOOD_ROW, "AcqRel ordering without a tag `// ORD(ID acq): text`");
}

#[test]
fn several_tags_share_a_comment_and_an_exchange() {
    let code = "\
fn swap(a: &A) {
    // ORD(SY-PUT rel): the value before the flag.
    // ORD(SY-GET acq): and theirs before ours.
    let _ = a.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
}

fn other(a: &A) {
    let _ = a.compare_exchange(
        0,
        1,
        Ordering::AcqRel, // ORD(SY-PUT acq) and ORD(SY-GET rel): the other way round.
        Ordering::Relaxed,
    );
}
";
    let row = |id: &str, rel: &str, acq: &str| {
        format!("| {id} | sync/src/lib.rs::{rel} | sync/src/lib.rs::{acq} | v | b | argument: none |\n")
    };
    let rows = row("SY-PUT", "swap", "other") + &row("SY-GET", "other", "swap");
    assert_eq!(problems(code, &rows), Vec::<String>::new());
}

#[test]
fn a_tag_above_a_long_statement_reaches_its_last_line() {
    let code =
        GOOD_CODE.replace("a.store(1, Ordering::Release)", "a\n        .store(\n1,\nOrdering::Release,\n)");
    assert_eq!(problems(&code, GOOD_ROW), Vec::<String>::new());
}

#[test]
fn a_tag_does_not_reach_the_next_statement() {
    let code = GOOD_CODE.replace("    a.store(1", "    a.touch();\n    a.store(1");
    let found = problems(&code, GOOD_ROW);
    assert!(found.iter().any(|p| p.contains("Release ordering without a tag")), "{found:#?}");
    assert!(found.iter().any(|p| p.contains("ORD(SY-PUT rel) speaks for no rel ordering")), "{found:#?}");
}

#[test]
fn a_tag_that_says_more_than_its_ordering_is_found() {
    let code = GOOD_CODE.replace("ORD(SY-PUT rel)", "ORD(SY-PUT acqrel)");
    one_problem(&code, GOOD_ROW, "ORD(SY-PUT acq) speaks for no acq ordering below it");
}

#[test]
fn malformed_tags_are_found_and_references_are_not_tags() {
    for (tag, expected) in [
        ("ORD(SY-PUT release): x.", "the end is `rel`, `acq` or `acqrel`"),
        ("ORD(put rel): x.", "is not `ORD(ID end)`"),
        ("ORD(SY-PUT rel):", "needs `: text` after it"),
    ] {
        let code = format!("{GOOD_CODE}// {tag}\nfn more() {{}}\n");
        let found = problems(&code, GOOD_ROW);
        assert!(found.iter().any(|p| p.contains(expected)), "{tag}: {found:#?}");
    }
    let code = format!("{GOOD_CODE}// See ORD(SY-PUT) above.\nfn more() {{}}\n");
    assert_eq!(problems(&code, GOOD_ROW), Vec::<String>::new());
}

#[test]
fn an_id_with_one_end_is_found_unless_the_row_says_why() {
    let code = &GOOD_CODE[..GOOD_CODE.find("\nfn take").expect("the sample has it")];
    let row = "| SY-PUT | sync/src/lib.rs::put | | v | b | model: sync handed_over |\n";
    one_problem(code, row, "SY-PUT: no code is its acq end");
    let row = row.replace("::put | |", "::put | one end: the reader is the kernel |");
    assert_eq!(problems(code, &row), Vec::<String>::new());
    let row = row.replace("one end: the reader is the kernel", "one end:");
    let found = problems(code, &row);
    assert!(found.iter().any(|p| p.contains("`one end:` needs a reason")), "{found:#?}");
}

#[test]
fn saying_one_end_where_there_are_two_is_found() {
    let row = GOOD_ROW.replace("`sync/src/lib.rs::take`", "one end: nobody reads it");
    one_problem(GOOD_CODE, &row, "says one end, but there is code with acq");
}

#[test]
fn ids_and_rows_have_to_match() {
    one_problem(GOOD_CODE, "", "sync/src/lib.rs:3: SY-PUT has no row in ORDERINGS.md");
    let spare = GOOD_ROW.replace("SY-PUT", "SY-OLD");
    one_problem(GOOD_CODE, &format!("{GOOD_ROW}{spare}"), "SY-OLD: no code carries this id");
    one_problem(GOOD_CODE, &format!("{GOOD_ROW}{GOOD_ROW}"), "SY-PUT has two rows");
}

#[test]
fn the_site_columns_are_checked_and_filled_in() {
    let stale = GOOD_ROW.replace("lib.rs::put", "lib.rs::gone");
    let found = problems(GOOD_CODE, &stale);
    assert_eq!(found.len(), 2, "{found:#?}");
    let sample = sample(GOOD_CODE, &stale);
    run(&sample.tree, true).expect("the columns are filled in");
    assert!(sample.tree.read("ORDERINGS.md").expect("readable").contains("sync/src/lib.rs::put"));
    let bare = self::sample(GOOD_CODE, "");
    run(&bare.tree, true).expect_err("the other cells are still to be written");
    let text = bare.tree.read("ORDERINGS.md").expect("readable");
    assert!(
        text.ends_with("| `SY-PUT` | `sync/src/lib.rs::put` | `sync/src/lib.rs::take` |  |  |  |\n"),
        "{text}"
    );
}

#[test]
fn a_model_that_does_not_exist_is_found() {
    let rows = GOOD_ROW.replace("handed_over", "handed_overt");
    one_problem(GOOD_CODE, &rows, "there is no loom test `sync handed_overt`");
    let rows = GOOD_ROW.replace("sync handed_over", "flatmap handed_over");
    one_problem(GOOD_CODE, &rows, "there is no loom test `flatmap handed_over`");
    let rows = GOOD_ROW.replace("handed_over", "slow::handed_back, latchfree-sync handed_over");
    assert_eq!(problems(GOOD_CODE, &rows), Vec::<String>::new());
}

#[test]
fn a_relaxed_without_a_reason_is_found() {
    let code = GOOD_CODE.replace("// Relaxed: a hint, looked at again below.", "// A hint.");
    one_problem(&code, GOOD_ROW, "sync/src/lib.rs:8: Relaxed without a reason");
    let far = "    a.touch();\n".repeat(7);
    let code =
        GOOD_CODE.replace("    a.load(Ordering::Relaxed)", &format!("{far}    a.load(Ordering::Relaxed)"));
    one_problem(&code, GOOD_ROW, "Relaxed without a reason");
}

#[test]
fn a_reason_for_several_reaches_to_the_end_of_the_function() {
    let far = "    a.touch();\n".repeat(9);
    let load = format!("{far}    a.load(Ordering::Relaxed);\n");
    let code = format!("{GOOD_CODE}fn f(a: &A) {{\n    // Relaxed, both: counters.\n{load}{load}}}\n");
    assert_eq!(problems(&code, GOOD_ROW), Vec::<String>::new());
    one_problem(&format!("{code}fn g(a: &A) {{\n{load}}}\n"), GOOD_ROW, "Relaxed without a reason");
    let prose = code.replace("Relaxed, both: counters.", "Relaxed, though. Why: counters.");
    assert_eq!(problems(&prose, GOOD_ROW).len(), 2);
}

#[test]
fn a_reason_does_not_reach_into_the_next_function() {
    let code = format!(
        "{GOOD_CODE}fn f(a: &A) {{\n    // Relaxed: one.\n    a.load(Ordering::Relaxed);\n}}\n\
                        fn g(a: &A) {{\n    a.load(Ordering::Relaxed);\n}}\n"
    );
    one_problem(&code, GOOD_ROW, "sync/src/lib.rs:16: Relaxed without a reason");
}

#[test]
fn evidence_can_be_for_a_part_of_the_sites() {
    let split = "model rel: sync handed_over; argument acq: taken; only where it was put";
    let rows = GOOD_ROW.replace("model: sync handed_over", split);
    assert_eq!(problems(GOOD_CODE, &rows), Vec::<String>::new());
    let half = GOOD_ROW.replace("model:", "model rel:");
    one_problem(GOOD_CODE, &half, "no evidence covers sync/src/lib.rs::take acq");
    let placed = "model sync/src/lib.rs::put: sync handed_over; argument sync/src/lib.rs::take acq: once";
    let rows = GOOD_ROW.replace("model: sync handed_over", placed);
    assert_eq!(problems(GOOD_CODE, &rows), Vec::<String>::new());
    let nowhere = placed.replace("lib.rs::take", "lib.rs::gone");
    let found = problems(GOOD_CODE, &GOOD_ROW.replace("model: sync handed_over", &nowhere));
    assert!(found.iter().any(|p| p.contains("which is no site of it")), "{found:#?}");
}

#[test]
fn rows_of_the_wrong_form_are_found() {
    one_problem("", "| SY-A | x |\n", "SY-A: 2 cells, a row has 6");
    one_problem("", "| SY-A | | | v |  | argument: x |\n", "the cell \"what breaks\" is empty");
    one_problem("", "| SY-A | | | v | b | trust me |\n", "`trust me` is neither");
    one_problem("", "| SY-A | | | v | b | model: handed_over |\n", "is not `crate test_name`");
    one_problem("", "| SY-A | | | v | b | model often: sync handed_over |\n", "`often` is no scope");
    assert_eq!(problems("", "```\n| SY-A | an example |\n```\n"), Vec::<String>::new());
}

#[test]
fn test_modules_in_their_own_files_are_no_sites() {
    let code = format!("{GOOD_CODE}#[cfg(test)]\nmod checks;\n");
    let sample =
        sample(&code, GOOD_ROW).file("sync/src/checks.rs", "fn f(a: &A) { a.load(Ordering::Acquire); }\n");
    let ledger = Ledger::read(&sample.tree).expect("the sample can be read");
    assert_eq!(ledger.check(&sample.tree).expect("the sample can be read"), []);
}
