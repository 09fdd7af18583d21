//! `bench scaling` as it is called: what is counted of tables whose writes are known, one line for each mistake, and the
//! tables for people. Where the system lets nobody trace a process, the command says so, and there is nothing to check.

mod called;

use std::process::Output;

use called::{mistake, text};
use serde_json::Value;

/// The exit status where the system can't do it.
const CANNOT: i32 = 3;

/// What a call comes to, unless nobody may trace here.
fn bench(args: &[&str]) -> Option<Output> {
    let output = called::bench("scaling", args);
    let said = text(&output.stderr);
    if output.status.code() == Some(CANNOT) {
        assert!(said.contains("ptrace") || said.contains("on Linux on x86-64 only"), "{said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(output)
}

/// The rows of those tables.
fn rows(tables: &str) -> Option<Vec<Value>> {
    let output = bench(&["--json", "--ops", "4", "--tables", tables])?;
    Some(text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn figure(rows: &[Value], family: &str, op: &str, name: &str) -> f64 {
    let row = rows.iter().find(|row| (&row["family"], &row["op"]) == (&family.into(), &op.into()));
    row.and_then(|row| row[name].as_f64()).unwrap_or_else(|| panic!("{family} {op} has no {name}"))
}

#[test]
fn lookups_of_flatmap_write_nothing_at_all() {
    let Some(rows) = rows("flatmap") else { return };
    for op in ["hit", "miss"] {
        for name in ["shared_writes", "own_writes", "allocations", "in_the_way"] {
            assert_eq!(figure(&rows, "flatmap", op, name), 0.0, "{op} {name}");
        }
    }
    for op in ["insert", "remove"] {
        assert!(figure(&rows, "flatmap", op, "locks") >= 1.0, "{op} takes the partition's lock");
        assert!(figure(&rows, "flatmap", op, "same_line") < 0.5, "{op} on different keys seldom meets");
    }
}

#[test]
fn lookups_of_lhash_write_nothing_besides_the_pin() {
    let Some(rows) = rows("lhash") else { return };
    // Some pins try to raise the epoch that all threads share.
    let pin = |name| figure(&rows, "lhash", "pin", name);
    assert!(pin("own_writes") >= 1.0 && pin("shared_writes") < 1.0, "{rows:?}");
    for op in ["hit", "miss"] {
        for name in ["shared_writes", "own_writes", "own_rmws", "allocations"] {
            assert_eq!(figure(&rows, "lhash", op, name), pin(name), "{op} {name}");
        }
    }
}

#[test]
fn a_lock_for_all_is_a_line_for_all() {
    let Some(rows) = rows("rwlock-hashbrown") else { return };
    for family in ["flatmap", "lhash"] {
        for (op, locks) in [("hit", 1.0), ("miss", 1.0), ("insert", 1.0), ("remove", 1.0)] {
            assert_eq!(figure(&rows, family, op, "locks"), locks, "{family} {op}");
            assert_eq!(figure(&rows, family, op, "shared_rmws"), 2.0, "{family} {op}");
            assert_eq!(figure(&rows, family, op, "same_line"), 1.0, "{family} {op}");
            assert_eq!(figure(&rows, family, op, "in_the_way"), 63.0, "{family} {op}");
        }
    }
}

#[test]
fn memory_that_an_operation_allocates_is_its_own() {
    let Some(rows) = rows("papaya") else { return };
    assert_eq!(figure(&rows, "lhash", "insert", "allocations"), 1.0, "papaya allocates each entry");
    assert!(figure(&rows, "lhash", "insert", "shared_writes") < 3.0, "and publishes it by a write or two");
}

#[test]
fn every_row_has_the_promised_fields() {
    let Some(rows) = rows("dynahash,scc-index") else { return };
    assert_eq!(rows.len(), 4 + 6);
    let mut expected = [
        "cmd",
        "family",
        "table",
        "op",
        "ops",
        "shared_writes",
        "shared_rmws",
        "locks",
        "shared_lines",
        "own_writes",
        "own_rmws",
        "allocations",
        "same_line",
        "in_the_way",
    ];
    expected.sort_unstable();
    for row in rows {
        let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!((&row["cmd"], &row["ops"]), (&"scaling".into(), &4.into()));
    }
}

#[test]
fn people_get_a_table_for_each_operation_and_the_aims() {
    let Some(output) = bench(&["--ops", "2", "--tables", "flatmap,lhash"]) else { return };
    let shown = text(&output.stdout);
    for part in ["tables of page tags: lookup", "maps of words: a pin", "| lhash ", "reached", "in the way:"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("not reached"), "{shown}");
}

#[test]
fn mistakes_are_told_in_a_line() {
    for number in ["0", "1", "-1", "x", "4097"] {
        assert!(mistake("scaling", &["--ops", number]).contains("2 to 4096"), "{number}");
    }
    assert!(mistake("scaling", &["--tables", "cuckoo"]).contains("known are dashmap, dynahash, "));
}
