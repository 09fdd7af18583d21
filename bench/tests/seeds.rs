//! `bench seeds` as it is called: one line for each mistake, the lines of its JSON, the tables for people.

mod called;

use std::process::Output;

use called::text;
use serde_json::{Value, json};

fn bench(args: &[&str]) -> Output {
    called::bench("seeds", args)
}

fn mistake(args: &[&str]) -> String {
    called::mistake("seeds", args)
}

#[test]
fn a_mistyped_command_line_is_one_line() {
    let said = mistake(&["--scenarios", "one_key,two_keys"]);
    assert!(
        said.contains("'two_keys'") && said.contains("one_key, high_duplicate, delete_heavy_vacuum"),
        "{said}"
    );
    let said = mistake(&["--policies", "eager"]);
    assert!(
        said.contains("'eager'") && said.contains("exact, overflow_signal, deferred, quiet, sharded"),
        "{said}"
    );
    for number in ["0", "-1", "x", "", "1001"] {
        let said = mistake(&["--divide", number]);
        assert!(said.contains("--divide") && said.contains("1 to 1000"), "{said}");
    }
    assert!(mistake(&["--contended"]).contains("--contended"));
    assert!(mistake(&["trace.zst"]).contains("trace.zst"));
}

/// The lines of a call with `--json`.
fn json(args: &[&str]) -> Vec<Value> {
    let output = bench(&[&["--json"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(line: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const SCENARIOS: [&str; 6] =
    ["one_key", "high_duplicate", "delete_heavy_vacuum", "delete_heavy", "short_sessions", "mixed"];
const POLICIES: [&str; 5] = ["exact", "overflow_signal", "deferred", "quiet", "sharded"];

/// Sorted.
const FIELDS: [&str; 11] = [
    "buckets",
    "cmd",
    "exact",
    "expected",
    "file_pages",
    "max_bucket",
    "ntuples",
    "overflow_pages",
    "policy",
    "primary_pages",
    "scenario",
];

#[test]
fn every_load_has_a_line_for_every_policy() {
    let lines = json(&["--divide", "1000"]);
    let names: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["scenario"].as_str().unwrap(), line["policy"].as_str().unwrap()))
        .collect();
    let all = SCENARIOS.iter().flat_map(|&scenario| POLICIES.map(|policy| (scenario, policy)));
    assert!(names.into_iter().eq(all), "{lines:?}");
    for line in &lines {
        assert_eq!(keys(line), FIELDS, "{line}");
        assert_eq!(
            (&line["cmd"], &line["expected"], &line["exact"]),
            (&"seeds".into(), &Value::Null, &Value::Null)
        );
        let number = |key: &str| line[key].as_u64().unwrap();
        assert_eq!(number("buckets"), number("max_bucket") + 1, "{line}");
        assert!(number("primary_pages") >= number("buckets"), "{line}");
        // A metapage and a bitmap page.
        assert!(number("file_pages") >= number("primary_pages") + number("overflow_pages") + 2, "{line}");
    }
}

#[test]
fn what_is_known_is_set_beside_what_was_found() {
    let lines = json(&["--scenarios", "one_key", "--policies", "sharded,overflow_signal,exact,deferred"]);
    let found: Vec<(&str, Value, Value)> = lines
        .iter()
        .map(|line| (line["policy"].as_str().unwrap(), line["expected"].clone(), line["exact"].clone()))
        .collect();
    let of = |max_bucket: u32| json!({ "max_bucket": max_bucket });
    let known = [
        ("exact", of(1628), true.into()),
        ("overflow_signal", of(1229), true.into()),
        ("deferred", of(1628), true.into()),
        ("sharded", Value::Null, Value::Null),
    ];
    assert_eq!(found, known);
    assert_eq!((&lines[0]["ntuples"], &lines[0]["primary_pages"]), (&500_000.into(), &1792.into()));
}

#[test]
fn contention_adds_sessions_and_clients() {
    let lines = json(&["--divide", "1000", "--contention", "--scenarios", "one_key", "--policies", "exact"]);
    let of = |scenario: &str| lines.iter().filter(|line| line["scenario"] == scenario).collect::<Vec<_>>();
    let sessions = of("sessions_64");
    assert_eq!((lines.len(), of("one_key").len(), sessions.len()), (1 + 5 + 30, 1, 5));
    for line in &sessions {
        assert_eq!(line["ntuples"] == line["rows"], line["policy"] != "overflow_signal", "{line}");
        assert!(line["ns_per_probe"].as_f64().unwrap() > 0.0, "{line}");
    }
    for (index, line) in of("clients").into_iter().enumerate() {
        assert_eq!(
            (&line["policy"], &line["threads"]),
            (&POLICIES[index % 5].into(), &[1, 2, 4, 8, 16, 64][index / 5].into())
        );
        assert!(line["inserts_per_s"].as_u64().unwrap() > 0, "{line}");
        assert!(line["lost"] == 0 || line["policy"] == "overflow_signal", "{line}");
        for key in ["lock_waits", "deferrals", "folds", "forced", "final_lag"] {
            assert!(line[key].is_number(), "{line}");
        }
        assert!(line["common_lines"].as_f64().unwrap() < 4.0, "{line}");
    }
}

#[test]
fn the_tables_for_people_have_a_line_for_each_load() {
    let output = bench(&["--divide", "1000", "--contention", "--policies", "exact,deferred"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in SCENARIOS {
        let lines = said.lines().filter(|line| line.starts_with(&format!("| {name} "))).count();
        // One load and one policy each, and the eight writers.
        assert_eq!(lines, if matches!(name, "short_sessions" | "mixed") { 2 } else { 3 }, "{name}: {said}");
    }
    for title in [
        "expected and found",
        "8 writers that defer",
        "64 at a time",
        "what an insert touches",
        "lock always busy",
    ] {
        assert!(said.contains(title), "{title}: {said}");
    }
}
