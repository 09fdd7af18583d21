//! `bench redo` and `bench redo-dump` as they are called: the rows of the JSON, the lines of a dump, damaged files.

mod called;

use std::fs;
use std::path::{Path, PathBuf};

use called::text;
use lhash::redo::{LoggedMap, Options};
use serde_json::Value;

fn json(command: &str, args: &[&str]) -> Vec<Value> {
    let output = called::bench(command, &[&["--json"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn all_rows_are_printed_with_the_promised_fields() {
    let args = ["--seconds", "0.3", "--rounds", "1", "--threads", "2", "--records", "2000"];
    let lines = json("redo", &args);
    let count = |what: &str| lines.iter().filter(|line| line["what"] == what).count();
    assert_eq!((count("insert"), count("recover"), count("standby"), lines.len()), (8, 2, 2, 12));
    for line in &lines {
        assert_eq!(line["cmd"], "redo");
        let durability = line["durability"].as_str().unwrap();
        let has = |field: &str| line.get(field).is_some();
        match line["what"].as_str().unwrap() {
            "insert" => {
                assert!(line["ops_per_s"].as_f64().unwrap() > 0.0 && has("p99_ns"), "{line}");
                let logs = durability != "off";
                assert_eq!((has("fsyncs_per_1000"), has("bytes_per_insert")), (logs, logs), "{line}");
                if durability == "fsync_each" {
                    assert_eq!(line["fsyncs_per_1000"], 1000.0);
                }
            }
            "recover" => assert!(line["records_per_s"].as_f64().unwrap() > 0.0, "{line}"),
            _ => assert!(has("lag_records") && has("records_per_s"), "{line}"),
        }
    }
}

/// A log of 50 inserts and a remove; its folder and its one segment.
fn log(dir: &Path) -> PathBuf {
    let map: LoggedMap<u64, u64> = Options::new().create(dir).unwrap();
    for n in 0..50 {
        map.pin().insert(n, n).unwrap();
    }
    map.pin().remove(&7).unwrap();
    map.flush().unwrap();
    drop(map);
    dir.join("0000000000000000.redo")
}

#[test]
fn a_wrong_number_is_told_its_bounds() {
    for (option, max) in [("--threads", "1024"), ("--rounds", "10000"), ("--records", "100000000")] {
        let said = called::mistake("redo", &[option, "0"]);
        assert!(said.contains(option) && said.contains(&format!("1 to {max}")), "{said}");
    }
}

#[test]
fn a_dump_has_a_line_a_record_and_totals() {
    let dir = tempfile::tempdir().unwrap();
    let segment = log(dir.path());
    for path in [dir.path(), &segment] {
        let lines = json("redo-dump", &[path.to_str().unwrap()]);
        let (total, records) = lines.split_last().unwrap();
        assert_eq!((total["kind"].as_str(), total["torn_bytes"].as_u64()), (Some("total"), Some(0)));
        assert_eq!(total["records"].as_u64().unwrap(), records.len() as u64);
        assert_eq!(total["kinds"]["insert"]["records"], 50);
        assert_eq!(records.iter().filter(|line| line["kind"] == "remove").count(), 1);
        assert!(records.iter().all(|line| line["lsn"].is_u64() && line["bytes"].as_u64().unwrap() % 8 == 0));
    }
    let output = called::bench("redo-dump", &[segment.to_str().unwrap()]);
    let told = text(&output.stdout).to_owned();
    assert!(output.status.success() && told.contains("insert") && told.contains("split"), "{told}");
}

/// The one line on standard error of a dump that ends with status 2, perhaps after some records.
fn complaint(path: &str) -> String {
    let output = called::bench("redo-dump", &[path]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
    said.to_owned()
}

#[test]
fn a_damaged_file_gets_a_clear_line_and_status_2() {
    let dir = tempfile::tempdir().unwrap();
    let segment = log(dir.path());
    let whole = fs::read(&segment).unwrap();
    let mut damaged = whole.clone();
    damaged[64 + 100] ^= 1;
    fs::write(&segment, damaged).unwrap();
    let name = segment.to_str().unwrap();
    let said = complaint(name);
    assert!(
        said.contains(name) && said.contains("checksum") && said.contains("valid records follow"),
        "{said}"
    );
    fs::write(&segment, b"no log at all").unwrap();
    let said = complaint(name);
    assert!(said.contains(name) && said.contains("13 bytes"), "{said}");
    assert!(complaint("/nowhere/at/all").contains("/nowhere/at/all"));
}
