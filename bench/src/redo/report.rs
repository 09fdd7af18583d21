//! What `bench redo` prints: a table for people with the aims under it, or one JSON object a line.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};

use super::{Durability, Policy, Row, What, aims};
use crate::output::human::{counted, grouped, machine};
use crate::sync::report::{judged, markdown};

/// Writes the rows to standard output, as JSON or as a table; beside JSON the aims go to standard error.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(rows: &[Row], rounds: u32, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let aims = judged(aims::judge(rows));
    if json {
        // A person who watches still wants to know what came out.
        let _ = writeln!(io::stderr(), "aims:\n{aims}\n{}", machine());
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
    } else {
        writeln!(out, "{}\n\naims:\n{aims}\n\n{}\n{}", table(rows), notes(rounds), machine())?;
    }
    out.flush()
}

fn table(rows: &[Row]) -> Table {
    let header = [
        "what",
        "policy",
        "durability",
        "threads",
        "ops/s",
        "p99 ns",
        "fsyncs/1000",
        "bytes/insert",
        "records/s",
        "lag records",
    ];
    let mut table = markdown(header);
    for row in rows {
        let whole = |x: Option<f64>| x.map(|x| grouped(x as u64));
        let exact = |x: Option<f64>| x.map(|x| format!("{x:.2}"));
        let cells = [
            Some(what(row.what).to_owned()),
            Some(policy(row.policy).to_owned()),
            Some(durability(row.durability).to_owned()),
            Some(row.threads.to_string()),
            whole(row.ops_per_s),
            row.p99_ns.map(grouped),
            exact(row.fsyncs_per_1000),
            exact(row.bytes_per_insert),
            whole(row.records_per_s),
            row.lag_records.map(grouped),
        ];
        table.add_row(cells.map(|cell| Cell::new(cell.unwrap_or_else(|| "-".to_owned()))));
    }
    table.column_iter_mut().skip(3).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn what(what: What) -> &'static str {
    match what {
        What::Insert => "insert",
        What::Recover => "recover",
        What::Standby => "standby",
    }
}

fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Exact => "exact",
        Policy::Deferred => "deferred",
    }
}

fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::Off => "off",
        Durability::Buffered => "buffered",
        Durability::Sync => "sync",
        Durability::FsyncEach => "fsync_each",
    }
}

/// How the figures came about.
fn notes(rounds: u32) -> String {
    format!(
        "words as keys and values; ops/s and records/s: the median of {}; p99: of all rounds, each insert timed\n\
         bytes/insert: with the records of splits and overflow pages; the published hash index logged 215.9 (exact)\n\
         and 204.5 (deferred) bytes an insert, with its pages' headers\n\
         fsync_each: one lock, and under it a write and an fsync for each insert\n\
         lag records: the most that the standby was behind at a look, every 2 ms; the median of the rounds",
        counted(rounds, "round", "interleaved rounds"),
    )
}
