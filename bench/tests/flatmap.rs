//! `bench flatmap` as it is called: one line for each mistake, the rows of its JSON, the tables for people.

mod called;

use std::process::Output;

use called::text;
use serde_json::Value;

const TABLES: [&str; 8] =
    ["flatmap", "flatmap-huge", "dynahash", "rwlock-hashbrown", "dashmap", "papaya", "scc", "hashbrown"];
const FIELDS: [&str; 10] =
    ["batch", "bytes_per_slot", "cmd", "ns_median", "ns_min", "op", "resizing", "slots", "table", "threads"];

fn bench(args: &[&str]) -> Output {
    called::bench("flatmap", args)
}

fn mistake(args: &[&str]) -> String {
    called::mistake("flatmap", args)
}

/// A short call with some more arguments.
fn short(args: &[&str]) -> Output {
    let output = bench(&[&["--slots", "1000", "--seconds", "0.1", "--rounds", "1"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn json(args: &[&str]) -> Vec<Value> {
    let output = short(&[&["--json"], args].concat());
    assert!(text(&output.stderr).contains("aims:"), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_wrong_number_is_told_its_bounds() {
    for number in ["0", "-1", "x", "", "nan", "86401"] {
        let said = mistake(&["--seconds", number]);
        assert!(said.contains("--seconds") && said.contains("at most 86400"), "{said}");
    }
    for (option, max) in [("--threads", "1024"), ("--rounds", "10000"), ("--slots", "16777216")] {
        for number in ["0", "-1", "x", "1.5", "4294967296"] {
            let said = mistake(&[option, number]);
            assert!(said.contains(option) && said.contains(&format!("1 to {max}")), "{said}");
        }
    }
}

#[test]
fn an_unknown_table_is_told_the_known_ones() {
    let said = mistake(&["--tables", "flatmap,cuckoo"]);
    assert!(said.contains("'cuckoo'") && said.contains(&TABLES.join(", ")), "{said}");
    assert!(mistake(&["--waits", "--tables", "flatmap"]).contains("--tables"));
}

#[test]
fn all_rows_are_printed_with_the_promised_fields() {
    for threads in ["1", "2"] {
        let lines = json(&["--threads", threads]);
        for line in &lines {
            check(line);
            assert_eq!(line["threads"].to_string(), threads, "{line}");
        }
        let of_table = |op: &str, table: &str| {
            lines.iter().filter(|line| line["op"] == op && line["table"] == table).count()
        };
        for table in TABLES {
            for op in ["hit", "hit_chain", "miss", "insert", "remove", "mix_95_5", "hot"] {
                let while_resizing = usize::from(table == "flatmap" && ["hit", "miss"].contains(&op));
                let there = usize::from(threads == "1" || table != "hashbrown");
                assert_eq!(of_table(op, table), there + while_resizing, "{op} {table}");
            }
        }
        for table in ["flatmap", "flatmap-huge"] {
            let batches = |batch: u32| {
                let is_it = |line: &&Value| line["table"] == table && line["batch"] == batch;
                lines.iter().filter(|line| line["op"] == "hit_batch").filter(is_it).count()
            };
            assert_eq!([8, 16, 32, 64].map(batches), [1; 4]);
        }
        assert_eq!(
            [("hit", "memory_independent"), ("hit_chain", "memory_chain")]
                .map(|(op, limit)| of_table(op, limit)),
            [1; 2]
        );
    }
}

fn check(line: &Value) {
    let mut keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, FIELDS, "{line}");
    assert_eq!((&line["cmd"], &line["slots"]), (&"flatmap".into(), &1000.into()));
    let figure = |name: &str| line[name].as_f64().unwrap();
    assert!(figure("ns_min") > 0.0 && figure("ns_min") <= figure("ns_median"), "{line}");
    let is_limit = line["table"].as_str().unwrap().starts_with("memory_");
    // A tag and a slot take 24 bytes at least.
    assert_eq!(line["bytes_per_slot"].as_f64().is_some_and(|bytes| bytes >= 24.0), !is_limit, "{line}");
    assert_eq!(line["batch"] == 1, line["op"] != "hit_batch", "{line}");
}

#[test]
fn tables_can_be_picked() {
    let lines = json(&["--threads", "1", "--tables", "scc,dashmap,dashmap"]);
    lines.iter().for_each(check);
    let names: Vec<&str> = lines.iter().take(3).map(|line| line["table"].as_str().unwrap()).collect();
    assert_eq!(names, ["dashmap", "scc", "memory_independent"]);
    assert_eq!(lines.len(), 2 * 7 + 2);
}

#[test]
fn the_tables_for_people_end_with_the_aims() {
    let output = short(&["--threads", "1"]);
    let said = text(&output.stdout);
    for name in TABLES {
        assert!(said.lines().any(|line| line.starts_with(&format!("| {name} "))), "{name}: {said}");
    }
    let aims: Vec<&str> = said.lines().skip_while(|line| *line != "aims:").collect();
    // They speak of more slots.
    assert_eq!(aims.iter().filter(|line| line.contains("| not judged ")).count(), 16, "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn waits_tell_calls_that_slept_from_calls_that_did_not() {
    let output = bench(&["--waits", "--slots", "1000", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |key: &str, value: &str| lines.iter().filter(|line| line[key] == value).count();
    for op in ["hit", "miss", "insert", "delete", "lock"] {
        assert!(named("op", op) >= 2, "{op}: {lines:?}");
    }
    assert!(named("table", "flatmap") >= 8 && named("table", "dynahash") >= 8, "{lines:?}");
}
