//! `bench sync` as it is called: one line for each mistake, the rows of its JSON, the tables for people.

mod called;

use std::collections::BTreeMap;
use std::process::Output;

use called::text;
use serde_json::Value;

fn bench(args: &[&str]) -> Output {
    called::bench("sync", args)
}

fn mistake(args: &[&str]) -> String {
    called::mistake("sync", args)
}

#[test]
fn a_wrong_number_is_told_its_bounds() {
    for number in ["0", "-1", "x", "", "nan", "inf", "86401"] {
        let said = mistake(&["--seconds", number]);
        assert!(said.contains("--seconds") && said.contains("at most 86400"), "{said}");
    }
    for (option, max) in [("--threads", "1024"), ("--rounds", "10000")] {
        for number in ["0", "-1", "x", "1.5", "10001"] {
            let said = mistake(&[option, number]);
            assert!(said.contains(option) && said.contains(&format!("1 to {max}")), "{said}");
        }
    }
}

#[test]
fn an_unknown_implementation_is_told_the_known_ones() {
    let known = "latchfree, std, parking_lot, spin, control, latchfree-deferred, latchfree-cond, \
                 latchfree-cond-quiet, latchfree-sharded, atomic, mutex, mutex-std, fastcounter, seqlock, rwlock";
    for option in ["--tables", "--impls"] {
        let said = mistake(&[option, "std,futex"]);
        assert!(said.contains("'futex'") && said.contains(known), "{said}");
    }
    assert!(mistake(&["trace.zst"]).contains("trace.zst"));
}

/// The lines of a short call with `--json`.
fn json(args: &[&str]) -> Vec<Value> {
    let output = bench(&[&["--json", "--seconds", "0.2", "--rounds", "1"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The keys beside `cmd`, `what`, `impl` and `threads`, which all rows have.
fn own_keys(what: &str) -> Vec<&'static str> {
    match what {
        "contended" => vec!["read_pct", "ns_median", "mops", "p999_ns", "max_wait_ns", "fairness"],
        "counter_read" | "seqlock_read" => vec!["kind", "ns_median", "mops"],
        _ => vec!["ns_median", "mops"],
    }
}

fn check(line: &Value) {
    let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    let what = line["what"].as_str().unwrap();
    let mut expected = [&["cmd", "what", "impl", "threads"][..], &own_keys(what)].concat();
    expected.sort_unstable();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected, "{line}");
    assert_eq!(line["cmd"], "sync");
    assert!(line["ns_median"].as_f64().unwrap() > 0.0, "{line}");
    if what == "contended" {
        assert!(line["p999_ns"].as_u64().unwrap() <= line["max_wait_ns"].as_u64().unwrap(), "{line}");
        assert!((0.0..=1.0).contains(&line["fairness"].as_f64().unwrap()), "{line}");
    }
}

#[test]
fn all_rows_are_printed_with_the_promised_fields() {
    let lines = json(&[]);
    let mut counts = BTreeMap::new();
    for line in &lines {
        check(line);
        *counts.entry(line["what"].as_str().unwrap()).or_insert(0) += 1;
    }
    let expected = [
        ("pair_read", 5),
        ("pair_write", 5),
        ("contended", 5 * 4 * 5),
        ("counter_add", 8 * 4),
        ("counter_read", 10 * 2),
        ("seqlock_read", 3 * 2),
        ("seqlock_mixed", 3 * 2),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
    let contended: Vec<_> = lines.iter().filter(|line| line["what"] == "contended").collect();
    for (index, threads) in [2, 4, 8, 16].into_iter().enumerate() {
        for (mix, read_pct) in [0, 50, 90, 99, 100].into_iter().enumerate() {
            let rows = &contended[(index * 5 + mix) * 5..][..5];
            let fits = |row: &&Value| row["threads"] == threads && row["read_pct"] == read_pct;
            assert!(rows.iter().all(fits), "{rows:?}");
            let names = ["latchfree", "std", "parking_lot", "spin", "control"];
            assert!(rows.iter().map(|row| row["impl"].as_str().unwrap()).eq(names), "{rows:?}");
        }
    }
}

#[test]
fn threads_and_implementations_can_be_picked() {
    let lines = json(&["--threads", "3", "--tables", "parking_lot,latchfree,latchfree"]);
    lines.iter().for_each(check);
    let many = |what: &str| !what.starts_with("pair") && what != "seqlock_read";
    for line in &lines {
        let threads = if many(line["what"].as_str().unwrap()) { 3 } else { 1 };
        assert_eq!(line["threads"], threads, "{line}");
        assert!(["latchfree", "parking_lot"].contains(&line["impl"].as_str().unwrap()), "{line}");
    }
    // Two locks in two pairs and five mixes, one sequence lock in three groups.
    assert_eq!(lines.len(), 2 * 7 + 3);
}

#[test]
fn the_tables_for_people_end_with_the_aims() {
    let output = bench(&["--threads", "2", "--seconds", "0.2", "--rounds", "1"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in ["latchfree", "parking_lot", "control", "latchfree-cond", "fastcounter", "rwlock"] {
        assert!(said.lines().any(|line| line.starts_with(&format!("| {name} "))), "{name}: {said}");
    }
    assert!(said.contains("2 threads under one reader-writer lock"), "{said}");
    let aims: Vec<&str> = said.lines().skip_while(|line| *line != "aims:").collect();
    let with = |verdict: &str| aims.iter().filter(|line| line.contains(&format!("| {verdict} "))).count();
    // Nothing was measured on 16 threads.
    assert_eq!(with("not judged"), 2, "{said}");
    assert_eq!(with("reached") + with("not reached"), 8, "{said}");
    assert!(said.contains("peers: parking_lot 0.13"), "{said}");
}
