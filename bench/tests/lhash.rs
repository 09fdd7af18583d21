//! `bench lhash` as it is called: one line for each mistake, the rows of its JSON, the tables for people.

mod called;

use std::process::Output;

use called::text;
use serde_json::Value;

const TABLES: [&str; 7] = ["lhash", "papaya", "scc", "scc-index", "dashmap", "flurry", "rwlock-hashbrown"];

fn bench(args: &[&str]) -> Output {
    called::bench("lhash", args)
}

fn mistake(args: &[&str]) -> String {
    called::mistake("lhash", args)
}

#[test]
fn a_wrong_number_is_told_its_bounds() {
    for number in ["0", "-1", "x", "", "nan", "86401"] {
        let said = mistake(&["--seconds", number]);
        assert!(said.contains("--seconds") && said.contains("at most 86400"), "{said}");
    }
    for (option, max) in [("--threads", "1024"), ("--rounds", "10000"), ("--entries", "100000000")] {
        for number in ["0", "-1", "x", "1.5", "100000001"] {
            let said = mistake(&[option, number]);
            assert!(said.contains(option) && said.contains(&format!("1 to {max}")), "{said}");
        }
    }
}

#[test]
fn an_unknown_word_is_told_the_known_ones() {
    let said = mistake(&["--tables", "papaya,cuckoo"]);
    assert!(said.contains("'cuckoo'") && said.contains(&TABLES.join(", ")), "{said}");
    assert!(mistake(&["--dist", "normal"]).contains("uniform, zipf"));
    assert!(mistake(&["--key", "u32"]).contains("u64, string"));
    assert!(mistake(&["--policy", "never"]).contains("deferred, exact, quiet, sharded, overflow-signal"));
    assert!(mistake(&["papaya"]).contains("papaya"));
}

/// The lines of a short call with `--json`.
fn json(args: &[&str]) -> Vec<Value> {
    let output =
        bench(&[&["--json", "--entries", "1000", "--seconds", "0.1", "--rounds", "1"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("aims:"), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(line: &Value) {
    let mut expected = vec![
        "bytes_per_entry",
        "cmd",
        "dist",
        "entries",
        "key",
        "mops",
        "ns_median",
        "ns_min",
        "op",
        "table",
        "threads",
    ];
    if line["op"] == "get_hit" {
        expected.push("how");
    }
    expected.sort_unstable();
    let mut keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected, "{line}");
    assert_eq!(line["cmd"], "lhash");
    let figure = |name: &str| line[name].as_f64().unwrap();
    assert!(
        figure("ns_min") > 0.0 && figure("ns_min") <= figure("ns_median") && figure("mops") > 0.0,
        "{line}"
    );
    // An entry is two words at least.
    assert!((16.0..500.0).contains(&figure("bytes_per_entry")), "{line}");
}

#[test]
fn all_rows_are_printed_with_the_promised_fields() {
    let ops = [
        "insert",
        "remove",
        "get_hit",
        "get_hit",
        "get_miss",
        "update",
        "mix_98_1_1",
        "mix_50_25_25",
        "mix_10_40_40",
    ];
    for (dist, key) in [("uniform", "u64"), ("zipf", "string")] {
        let lines = json(&["--threads", "2", "--dist", dist, "--key", key]);
        assert_eq!(lines.len(), ops.len() * TABLES.len());
        for (index, line) in lines.iter().enumerate() {
            check(line);
            assert_eq!(line["op"], ops[index / TABLES.len()], "{line}");
            assert_eq!(line["table"], TABLES[index % TABLES.len()], "{line}");
            assert_eq!((&line["entries"], &line["threads"]), (&1000.into(), &2.into()), "{line}");
            assert_eq!((&line["dist"], &line["key"]), (&dist.into(), &key.into()), "{line}");
        }
    }
}

#[test]
fn tables_can_be_picked() {
    let lines = json(&["--threads", "1", "--tables", "papaya,lhash,lhash", "--policy", "sharded"]);
    lines.iter().for_each(check);
    assert!(lines.iter().take(2).map(|line| line["table"].as_str().unwrap()).eq(["lhash", "papaya"]));
    assert_eq!(lines.len(), 2 * 9);
}

#[test]
fn what_is_given_is_not_varied_and_inserts_are_not_repeated() {
    let lines = json(&["--all", "--threads", "2", "--tables", "lhash"]);
    lines.iter().for_each(check);
    let count = |key: &str, dist: &str| {
        lines.iter().filter(|line| line["key"] == key && line["dist"] == dist).count()
    };
    let counts = [("u64", "uniform"), ("u64", "zipf"), ("string", "uniform"), ("string", "zipf")];
    assert_eq!(counts.map(|(key, dist)| count(key, dist)), [9, 7, 9, 7]);
}

#[test]
fn the_tables_for_people_end_with_the_aims() {
    let output = bench(&["--entries", "1000", "--seconds", "0.1", "--rounds", "1"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in TABLES {
        assert!(said.lines().any(|line| line.starts_with(&format!("| {name} "))), "{name}: {said}");
    }
    assert!(said.contains("1,000 entries, keys of 8 bytes: bytes an entry"), "{said}");
    let aims: Vec<&str> = said.lines().skip_while(|line| *line != "aims:").collect();
    // They speak of a million entries.
    assert_eq!(aims.iter().filter(|line| line.contains("| not judged ")).count(), 10, "{said}");
    assert!(said.contains("peers: papaya 0."), "{said}");
}
