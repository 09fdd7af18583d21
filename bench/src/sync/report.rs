//! What `bench sync` prints: tables for people with the aims under them, or one JSON object a line.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::aims::{self, Aim};
use super::{Kind, Row, What};
use crate::output::human::{counted, grouped, machine, version};
use crate::rounds::Schedule;

/// Writes the rows to standard output, as JSON or as tables; beside JSON the aims go to standard error.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(rows: &[Row], schedule: Schedule, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        // A person who watches still wants to know what came out.
        let _ = writeln!(io::stderr(), "{}\n{}", aims(rows), facts());
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
    } else {
        for rows in rows.chunk_by(|a, b| (a.what, contended(a)) == (b.what, contended(b))) {
            writeln!(out, "{}\n{}\n", title(&rows[0]), table(rows))?;
        }
        writeln!(out, "aims:\n{}\n", aims(rows))?;
        writeln!(out, "{}\n{}", notes(schedule), facts())?;
    }
    out.flush()
}

/// The thread count of a contended row: each has a table of its own.
fn contended(row: &Row) -> Option<u32> {
    (row.what == What::Contended).then_some(row.threads)
}

fn title(row: &Row) -> String {
    match row.what {
        What::PairRead => "taking a free lock shared and letting go, 1 thread".to_owned(),
        What::PairWrite => "taking a free lock exclusively and letting go, 1 thread".to_owned(),
        What::Contended if row.threads == 1 => "1 thread under one reader-writer lock".to_owned(),
        What::Contended => format!("{} threads under one reader-writer lock", row.threads),
        What::CounterAdd => "adding to a counter".to_owned(),
        What::CounterRead => "reading a counter, with all other threads adding".to_owned(),
        What::SeqlockRead => "reading 32 bytes that nobody writes".to_owned(),
        What::SeqlockMixed => "reading 32 bytes that one thread publishes every 10 us".to_owned(),
    }
}

type Column = (&'static str, fn(&Row) -> Option<String>);

/// Each with what it shows of a row; a column that shows nothing of any row is left out.
const COLUMNS: [Column; 8] = [
    ("threads", |row| Some(row.threads.to_string())),
    ("read %", |row| row.read_pct.map(|pct| pct.to_string())),
    ("how", |row| row.kind.map(|kind| how(kind).to_owned())),
    ("ns", |row| Some(format!("{:.1}", row.ns_median))),
    ("M/s", |row| Some(format!("{:.2}", row.mops))),
    ("p99.9 ns", |row| row.p999_ns.map(grouped)),
    ("longest ns", |row| row.max_wait_ns.map(grouped)),
    ("fewest/most", |row| row.fairness.map(|share| format!("{share:.2}"))),
];

fn how(kind: Kind) -> &'static str {
    match kind {
        Kind::Approx => "approx",
        Kind::Exact => "exact",
        Kind::Loop => "loop",
        Kind::Chain => "chain",
    }
}

fn table(rows: &[Row]) -> Table {
    let shown: Vec<Column> =
        COLUMNS.into_iter().filter(|(_, show)| rows.iter().any(|row| show(row).is_some())).collect();
    let names = shown.iter().map(|(name, _)| *name);
    let mut table = markdown(["impl"].into_iter().chain(names).chain(["x best peer"]));
    for row in rows {
        let speed = row.best_peer(rows).map(|peer| row.trusted_speed_to(peer).to_string());
        let cells = shown.iter().map(|(_, show)| show(row)).chain([speed]);
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        table.add_row([row.name.to_owned()].into_iter().chain(cells).map(Cell::new));
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn aims(rows: &[Row]) -> Table {
    judged(aims::judge(rows))
}

/// A line for each aim.
pub(crate) fn judged(aims: Vec<Aim>) -> Table {
    let mut table = markdown(["aim", "verdict", "figure"]);
    for aim in aims {
        table.add_row([aim.text, aim.verdict.to_string(), aim.figure]);
    }
    table
}

pub(crate) fn markdown(header: impl IntoIterator<Item = &'static str>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.into_iter().collect::<Vec<_>>());
    table
}

/// How the figures came about.
fn notes(schedule: Schedule) -> String {
    let Schedule { rounds, clock_cost_ns } = schedule;
    let passes = Schedule { rounds, clock_cost_ns: Some(0) }.latency_passes();
    format!(
        "ns: wall time x threads / operations, M/s: operations of all threads; median of {}\n\
         1 thread: the median chunk of a round, which leaves out what the scheduler gives to others\n\
         x best peer: speed, median of each round's own ratio to the peer with the least ns\n\
         p99.9 and longest: acquisitions, each timed in {}, less the {} ns that reading the clock \
         takes; control: gaps from one operation's end to the next's\n\
         under one lock: 4 words, read and compared or each raised by 1; no other work; control: one atomic, no lock\n\
         mutex: parking_lot's; mutex-std: the standard library's; rwlock: parking_lot's; fastcounter: fast-counter's",
        counted(rounds, "round", "interleaved rounds"),
        counted(passes, "pass of its own", "passes of their own"),
        clock_cost_ns.unwrap_or_default(),
    )
}

/// The machine and the versions of the peers.
fn facts() -> String {
    let peers = ["parking_lot", "spin", "seqlock", "fast-counter"];
    let peers = peers.map(|name| format!("{name} {}", version(name)));
    format!("{}\npeers: {}", machine(), peers.join(", "))
}
