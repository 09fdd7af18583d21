//! What `bench flatmap` prints: tables for people with the aims under them, or one JSON object a line.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};

use super::{BASELINE, Op, Row, aims};
use crate::output::human::{counted, grouped, machine, version};
use crate::rounds::Schedule;
use crate::sync::report::{judged, markdown};

/// Writes the rows to standard output, as JSON or as tables; beside JSON the aims go to standard error.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(rows: &[Row], schedule: Schedule, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let aims = judged(aims::judge(rows));
    if json {
        // A person who watches still wants to know what came out.
        let _ = writeln!(io::stderr(), "aims:\n{aims}\n{}", facts());
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
        return out.flush();
    }
    for rows in rows.chunk_by(|a, b| a.is_in_group_of(b)) {
        writeln!(out, "{}\n{}\n", title(&rows[0]), table(rows))?;
    }
    for rows in rows.chunk_by(|a, b| a.head.slots == b.head.slots) {
        writeln!(out, "bytes a slot, {} slots\n{}\n", grouped(rows[0].head.slots.into()), memory(rows))?;
    }
    writeln!(out, "aims:\n{aims}\n\n{}\n{}", notes(schedule), facts())?;
    out.flush()
}

/// An operation as the aims call it.
#[must_use]
pub fn name(op: Op) -> &'static str {
    match op {
        Op::Hit => "hit",
        Op::HitChain => "hit_chain",
        Op::HitBatch => "hit_batch",
        Op::Miss => "miss",
        Op::Insert => "insert",
        Op::Remove => "remove",
        Op::Mix => "mix_95_5",
        Op::Hot => "hot",
    }
}

fn title(row: &Row) -> String {
    let what = match row.head.op {
        Op::Hit | Op::HitBatch => "looking up keys that are there",
        Op::HitChain => "looking up keys that are there, each dependent on the answer before",
        Op::Miss => "looking up keys that are not there",
        Op::Insert | Op::Remove => "removing keys and inserting them again, up to 65,536 of a thread",
        Op::Mix => "95 % hits, 5 % slots that get another key",
        Op::Hot => "looking up one key",
    };
    let head = row.head;
    format!("{what}: {} slots, {}", grouped(head.slots.into()), counted(head.threads, "thread", "threads"))
}

fn table(rows: &[Row]) -> Table {
    let mut table = markdown(["table", "op", "ns", "least ns", "x dynahash"]);
    for row in rows {
        let head = row.head;
        let mut op = name(head.op).to_owned();
        if head.op == Op::HitBatch {
            op = format!("{op} {}", head.batch);
        }
        if head.resizing {
            op.push_str(", resizing");
        }
        let is_change = matches!(head.op, Op::Insert | Op::Remove);
        let baseline = rows.iter().find(|other| {
            other.head.table == BASELINE && !other.head.resizing && (!is_change || other.head.op == head.op)
        });
        let speed = baseline.map_or_else(|| "-".to_owned(), |other| row.trusted_speed_to(other).to_string());
        table.add_row([
            head.table.to_owned(),
            op,
            format!("{:.1}", row.ns_median),
            format!("{:.1}", row.ns_min),
            speed,
        ]);
    }
    right(table, 2)
}

fn memory(rows: &[Row]) -> Table {
    let mut table = markdown(["table", "bytes"]);
    let mut shown: Vec<&str> = Vec::new();
    for row in rows {
        if let Some(bytes) = row.bytes_per_slot.filter(|_| !shown.contains(&row.head.table)) {
            shown.push(row.head.table);
            table.add_row([row.head.table.to_owned(), format!("{bytes:.2}")].map(Cell::new));
        }
    }
    right(table, 1)
}

pub(super) fn right(mut table: Table, from: usize) -> Table {
    table.column_iter_mut().skip(from).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// How the figures came about.
fn notes(schedule: Schedule) -> String {
    format!(
        "ns: wall time x threads / operations; median of {}, and the fastest\n\
         1 thread: the median chunk of a round, which leaves out what the scheduler gives to others; inserts and \
         removes: the whole\n\
         x dynahash: speed, median of each round's own ratio to PostgreSQL's present table, modelled, at the same \
         operation; hit_batch: to its hit\n\
         hit_chain: each key depends on the answer before: latency; the others don't: throughput\n\
         resizing: another thread splits and merges buckets, between two a slot and one\n\
         memory_chain, memory_independent: one load of a random cache line out of 40 bytes a slot\n\
         hashbrown: no lock, one thread only; hash: foldhash, in dynahash PostgreSQL's",
        counted(schedule.rounds, "round", "interleaved rounds"),
    )
}

/// The machine and the versions of the peers.
pub(super) fn facts() -> String {
    let peers = ["dashmap", "papaya", "scc", "hashbrown", "parking_lot", "foldhash"];
    let peers = peers.map(|name| format!("{name} {}", version(name)));
    format!("{}\npeers: {}", machine(), peers.join(", "))
}
