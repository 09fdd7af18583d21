//! The command as it is called: exit status, one line for each mistake, the fields of its JSON.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{DELETE, INSERT, LOOKUP, Parts, file};
use serde_json::Value;

fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The one line on standard error of a call that must end with status 2.
fn mistake(args: &[&str]) -> String {
    let output = bench(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    assert!(said.starts_with("error: ") && output.stdout.is_empty(), "{args:?}: {said}");
    said.trim_end().to_owned()
}

#[test]
fn a_wrong_number_is_told_its_bounds() {
    for (option, max) in [("--frames", "16777216"), ("--threads", "1024"), ("--rounds", "10000")] {
        for number in ["0", "-1", "x", "", "1.5", "99999999999", "16777217"] {
            let said = mistake(&["replay", option, number]);
            assert!(said.contains(option) && said.contains(&format!("1 to {max}")), "{said}");
        }
    }
}

#[test]
fn an_unknown_table_is_told_the_known_ones() {
    let said = mistake(&["replay", "--tables", "dynahash,hopscotch"]);
    let known = "flatmap, flatmap-locked-miss, dynahash, rwlock-hashbrown, dashmap, papaya, scc";
    assert!(said.contains("'hopscotch'") && said.contains(known), "{said}");
    assert!(mistake(&["replay", "--tables", ""]).contains(known));
}

#[test]
fn what_ops_mode_has_not_is_told() {
    let said = mistake(&["replay", "--mode", "ops", "--threads", "2"]);
    assert!(said.contains("--threads must be 1, not 2"), "{said}");
    let said = mistake(&["replay", "--mode", "ops", "--tables", "flatmap-locked-miss"]);
    assert!(said.contains("'flatmap-locked-miss'") && said.contains("--mode pool"), "{said}");
}

#[test]
fn a_mistyped_command_line_is_one_line() {
    assert!(mistake(&[]).contains("replay"));
    assert!(mistake(&["replya"]).contains("replay"));
    assert!(mistake(&["replay", "--mode", "both"]).contains("ops, pool"));
    assert!(mistake(&["replay", "--treads", "1"]).contains("--threads"));
    assert!(mistake(&["replay", "one", "two"]).contains("two"));
}

#[test]
fn a_bad_trace_is_named_with_what_is_wrong() {
    let whole = Parts::small();
    let packed = whole.packed();
    let cut = file("cli-cut.zst", &packed[..packed.len() - 3]);
    let mut parts = whole.clone();
    parts.magic = b"PGBX0001".to_vec();
    let magic = file("cli-magic.zst", &parts.packed());
    let plain = file("cli-plain.zst", &whole.bytes());
    let mut parts = whole.clone();
    parts.insert_slots[0] = 4;
    let slot = file("cli-slot.zst", &parts.packed());
    let mut parts = whole;
    parts.relation_indices[0] = 9;
    let relation = file("cli-relation.zst", &parts.packed());
    let empty = file("cli-empty.zst", &Parts::new(1, &[]).packed());
    let cases: [(&Path, &str); 7] = [
        (&cut, "truncated"),
        (&magic, "PGBX0001"),
        (&plain, "not a zstd file"),
        (&slot, "record 1 inserts into slot 4"),
        (&relation, "record 0 names relation 9"),
        (&empty, "nothing to replay"),
        (Path::new("no/such.zst"), "can't be read"),
    ];
    for (path, wrong) in cases {
        for mode in ["ops", "pool"] {
            let said = mistake(&["replay", "--mode", mode, path.to_str().unwrap()]);
            assert!(said.contains(path.to_str().unwrap()) && said.contains(wrong), "{said}");
        }
    }
}

#[test]
fn a_trace_that_no_table_can_replay_is_told_the_record() {
    let parts = Parts::new(2, &[(LOOKUP, 1, 0), (INSERT, 1, 0), (INSERT, 2, 0), (DELETE, 1, 0)]);
    let twice = file("cli-twice.zst", &parts.packed());
    let said = mistake(&["replay", "--mode", "ops", twice.to_str().unwrap()]);
    assert!(said.contains("record 2 inserts into slot 0"), "{said}");
    // Its lookups are as good as any.
    assert!(bench(&["replay", "--rounds", "1", twice.to_str().unwrap()]).status.success());
}

/// The lines of a call with `--json`, each with its keys.
fn json(args: &[&str]) -> Vec<Value> {
    let output = bench(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(line: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys
}

const COMMON: [&str; 14] = [
    "cmd",
    "mode",
    "table",
    "trace",
    "threads",
    "records",
    "lookups",
    "hits",
    "misses",
    "mapped",
    "ns_per_op",
    "p50_ns",
    "p99_ns",
    "p999_ns",
];

#[test]
fn ops_mode_prints_the_promised_fields() {
    let trace = file("cli-ops.zst", &Parts::small().packed());
    let lines = json(&["replay", "--json", "--mode", "ops", "--rounds", "2", trace.to_str().unwrap()]);
    assert_eq!(lines.len(), 6);
    let ops = ["inserts", "deletes", "insert_exists", "delete_absent", "crc32", "max_ns"];
    let settled = ["optimistic", "retried", "fallback"];
    assert_eq!(keys(&lines[0]), sorted(&[&COMMON[..], &ops, &settled].concat()));
    assert_eq!(keys(&lines[1]), sorted(&[&COMMON[..], &ops].concat()));
    let line = &lines[0];
    assert_eq!(
        (&line["cmd"], &line["mode"], &line["table"]),
        (&"replay".into(), &"ops".into(), &"flatmap".into())
    );
    assert_eq!((&line["trace"], &line["threads"]), (&"cli-ops.zst".into(), &1.into()));
    assert_eq!(
        (&line["records"], &line["lookups"], &line["inserts"], &line["deletes"]),
        (&8.into(), &3.into(), &3.into(), &2.into())
    );
    assert_eq!((&line["hits"], &line["misses"]), (&2.into(), &1.into()));
    assert_eq!(
        (&line["insert_exists"], &line["delete_absent"], &line["mapped"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!((&line["optimistic"], &line["retried"], &line["fallback"]), (&3.into(), &0.into(), &0.into()));
    let crc32 = line["crc32"].as_str().unwrap();
    assert!(crc32.len() == 8 && crc32.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{crc32}");
}

#[test]
fn pool_mode_prints_the_promised_fields() {
    let records: Vec<(u8, u32, u32)> = (0..3000).map(|i| (LOOKUP, i % 11, 0)).collect();
    let trace = file("cli-pool.zst", &Parts::new(4, &records).packed());
    let path = trace.to_str().unwrap();
    let lines = json(&["replay", "--json", "--frames", "8", "--threads", "3", "--rounds", "1", path]);
    assert_eq!(lines.len(), 7);
    let pool = ["frames", "evictions", "max_ns"];
    let settled = ["optimistic", "retried", "fallback"];
    assert_eq!(keys(&lines[0]), sorted(&[&COMMON[..], &pool, &settled].concat()));
    assert_eq!(keys(&lines[2]), sorted(&[&COMMON[..], &pool].concat()));
    for line in &lines {
        let number = |key: &str| line[key].as_u64().unwrap();
        assert_eq!((number("threads"), number("frames"), number("records")), (3, 8, 3000), "{line}");
        assert_eq!(number("hits") + number("misses"), number("lookups"), "{line}");
        assert_eq!(number("mapped") + number("evictions"), number("misses"), "{line}");
        assert!(line["ns_per_op"].as_f64().unwrap() > 0.0, "{line}");
    }
    let lines =
        json(&["replay", "--json", "--tables", "scc,flatmap,scc", "--threads", "1", "--rounds", "1", path]);
    assert_eq!(
        lines.iter().map(|line| line["table"].as_str().unwrap()).collect::<Vec<_>>(),
        ["scc", "flatmap"]
    );
    assert!(lines.iter().all(|line| line["crc32"] == lines[0]["crc32"] && line["crc32"].is_string()));
}

#[test]
fn the_table_for_people_has_a_line_for_each_table() {
    let trace = file("cli-human.zst", &Parts::small().packed());
    let output = bench(&["replay", "--threads", "1", "--rounds", "1", trace.to_str().unwrap()]);
    let said = text(&output.stdout);
    assert!(output.status.success() && said.contains("2 misses"), "{said}");
    for table in
        ["flatmap", "flatmap-locked-miss", "dynahash", "rwlock-hashbrown", "dashmap", "papaya", "scc"]
    {
        assert!(said.lines().any(|line| line.starts_with(&format!("| {table} "))), "{table}: {said}");
    }
    assert!(said.contains("cores") && said.contains("papaya 0.2"), "{said}");
}

#[test]
fn intervals_are_added_where_they_are_asked_for() {
    for args in [
        &["replay", "--rounds", "1", "--threads", "1", "--tables", "flatmap"][..],
        &["sync", "--rounds", "1", "--threads", "2", "--seconds", "0.1", "--tables", "std"],
        &["lhash", "--rounds", "1", "--threads", "1", "--seconds", "0.1", "--entries", "100"],
        &["flatmap", "--rounds", "1", "--threads", "1", "--seconds", "0.1", "--slots", "64"],
    ] {
        let call = |more: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_bench")).args(args).args(more).output().unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (status, lines) = call(&["--json", "--intervals"]);
        assert_eq!(status, Some(0), "{args:?}");
        for line in lines.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let figures = ["ns_low", "ns_q1", "ns_q3", "ns_high"].map(|name| row[name].as_f64().unwrap());
            let median = row["ns_median"].as_f64().or(row["ns_per_op"].as_f64()).unwrap();
            assert!(
                figures.iter().all(|ns| (ns - median).abs() <= 0.02),
                "one round is all there is: {line}"
            );
        }
        assert!(!lines.is_empty(), "{args:?}");
        assert_eq!(call(&["--intervals"]).0, Some(2), "there are no intervals without --json: {args:?}");
    }
}
