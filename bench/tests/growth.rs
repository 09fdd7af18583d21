//! `bench growth` as it is called: one line for each mistake, the rows of its JSON, the series, the tables for people.

mod called;

use std::path::PathBuf;
use std::process::Output;

use called::text;
use serde_json::Value;

const TABLES: [&str; 7] = ["lhash", "papaya", "scc", "scc-index", "dashmap", "flurry", "rwlock-hashbrown"];

fn bench(args: &[&str]) -> Output {
    called::bench("growth", args)
}

fn mistake(args: &[&str]) -> String {
    called::mistake("growth", args)
}

/// The lines of a short call with `--json`.
fn json(args: &[&str]) -> Vec<Value> {
    let output = bench(&[&["--json", "--entries", "20000", "--rate", "50000"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("aims:"), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn a_wrong_number_is_told_its_bounds() {
    for option in ["--entries", "--rate"] {
        for number in ["0", "-1", "x", "1.5", "100000001"] {
            let said = mistake(&[option, number]);
            assert!(said.contains(option) && said.contains("1 to 100000000"), "{said}");
        }
    }
    let said = mistake(&["--tables", "papaya,cuckoo"]);
    assert!(said.contains("'cuckoo'") && said.contains(&TABLES.join(", ")), "{said}");
}

#[test]
fn every_table_has_a_row_with_the_promised_fields() {
    let lines = json(&[]);
    assert!(lines.iter().map(|line| line["table"].as_str().unwrap()).eq(TABLES));
    for line in &lines {
        let mut keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        let mut expected = [
            "cmd",
            "table",
            "entries",
            "rate",
            "insert_p50_ns",
            "insert_p99_ns",
            "insert_p999_ns",
            "insert_p9999_ns",
            "insert_max_ns",
            "read_p50_ns",
            "read_p999_ns",
            "read_max_ns",
            "longest_gap_ns",
            "peak_bytes",
            "final_bytes",
            "after_remove_bytes",
            "rss_after_bytes",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected, "{line}");
        assert_eq!(
            (&line["cmd"], &line["entries"], &line["rate"]),
            (&"growth".into(), &20_000.into(), &50_000.into())
        );
        let figure = |name: &str| line[name].as_u64().unwrap();
        let rising = ["insert_p50_ns", "insert_p99_ns", "insert_p999_ns", "insert_p9999_ns", "insert_max_ns"];
        assert!(rising.map(figure).is_sorted() && figure("insert_p50_ns") > 0, "{line}");
        assert!(["read_p50_ns", "read_p999_ns", "read_max_ns"].map(figure).is_sorted(), "{line}");
        // An entry is two words at least.
        assert!(
            figure("final_bytes") >= 20_000 * 16 && figure("peak_bytes") >= figure("final_bytes"),
            "{line}"
        );
        assert!(figure("longest_gap_ns") >= 20_000, "inserts are due every 20 us: {line}");
        assert_eq!(line["rss_after_bytes"].is_u64(), cfg!(target_os = "linux"), "{line}");
    }
}

#[test]
fn the_series_has_every_slice_of_every_phase() {
    let path = file("growth-series.csv");
    let lines = json(&["--tables", "lhash,dashmap", "--series", path.to_str().unwrap()]);
    assert_eq!(lines.len(), 2);
    let csv = std::fs::read_to_string(path).unwrap();
    let mut series = csv.lines();
    assert_eq!(series.next(), Some("table,phase,at_ms,max_ns,bytes"));
    let count = |start: &str| csv.lines().filter(|line| line.starts_with(start)).count();
    // 20,000 operations at 50,000 a second are 400 ms.
    for phase in ["insert", "read", "remove"] {
        for table in ["lhash", "dashmap"] {
            assert_eq!(count(&format!("{table},{phase},")), 8, "{csv}");
        }
    }
}

#[test]
fn a_series_that_cannot_be_written_is_told_at_once() {
    let path = file("no-such-folder/series.csv");
    let output = bench(&["--series", path.to_str().unwrap()]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no-such-folder/series.csv can't be written: No such file"), "{said}");
}

#[test]
fn the_tables_for_people_end_with_the_aims() {
    let output = bench(&["--entries", "5000", "--rate", "50000"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in TABLES {
        assert!(
            said.lines().filter(|line| line.starts_with(&format!("| {name} "))).count() >= 1,
            "{name}: {said}"
        );
        assert!(said.contains(&format!("given back by {name}: ")), "{said}");
    }
    // They speak of ten million entries.
    assert_eq!(said.lines().filter(|line| line.contains("| not judged ")).count(), 7, "{said}");
}

#[test]
fn a_table_that_cannot_keep_up_is_said_to_be_behind() {
    let output = bench(&["--entries", "200000", "--rate", "100000000", "--tables", "scc"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("warning: scc could not keep up"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("| scc (behind) "), "{}", text(&output.stdout));
}
