//! What `bench lhash` prints: tables for people with the aims under them, or one JSON object a line.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};

use super::{BATCH, Dist, How, KeyKind, Op, Row, aims, life_rounds};
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
    for rows in rows.chunk_by(|a, b| (a.entries, a.key) == (b.entries, b.key)) {
        writeln!(out, "{}, {}: bytes an entry\n{}\n", entries(&rows[0]), keys(&rows[0]), memory(rows))?;
        for case in rows.chunk_by(|a, b| (a.dist, a.threads) == (b.dist, b.threads)) {
            for rows in case.chunk_by(|a, b| a.op == b.op) {
                writeln!(out, "{}\n{}\n", title(&rows[0]), table(rows))?;
            }
        }
    }
    let fewer = rows.iter().map(|row| life_rounds(row.entries, schedule)).min();
    writeln!(out, "aims:\n{aims}\n\n{}\n{}", notes(schedule.rounds, fewer), facts())?;
    out.flush()
}

fn entries(row: &Row) -> String {
    format!("{} entries", grouped(row.entries.into()))
}

fn keys(row: &Row) -> &'static str {
    match row.key {
        KeyKind::U64 => "keys of 8 bytes",
        KeyKind::String => "keys that are strings of 16 bytes",
    }
}

fn title(row: &Row) -> String {
    let what = match row.op {
        Op::GetHit => "looking up keys that are there",
        Op::GetMiss => "looking up keys that are not there",
        Op::Insert => "inserting, from empty to full",
        Op::Remove => "removing, from full to empty",
        Op::Update => "updating keys that are there",
        Op::Mix98 => "98 % lookups, 1 % inserts, 1 % removes",
        Op::Mix50 => "50 % lookups, 25 % inserts, 25 % removes",
        Op::Mix10 => "10 % lookups, 40 % inserts, 40 % removes, 10 % updates",
    };
    let drawn = match (row.op, row.dist) {
        (Op::Insert | Op::Remove, _) => "each once",
        (_, Dist::Uniform) => "uniformly drawn",
        (_, Dist::Zipf) => "drawn by zipf 0.99",
    };
    let threads = counted(row.threads, "thread", "threads");
    format!("{what}: {}, {}, {drawn}, {threads}", entries(row), keys(row))
}

fn table(rows: &[Row]) -> Table {
    let with_how = rows.iter().any(|row| row.how.is_some());
    let mut header = vec!["table", "how", "ns", "least ns", "M/s", "x best peer"];
    header.retain(|name| with_how || *name != "how");
    let mut table = markdown(header);
    for row in rows {
        let how = match row.how {
            Some(How::Loop) => "loop",
            Some(How::Chain) => "chain",
            None => "-",
        };
        let speed = row.best_peer(rows).map(|peer| row.trusted_speed_to(peer).to_string());
        let mut cells = vec![row.table.to_owned()];
        cells.extend(with_how.then(|| how.to_owned()));
        cells.extend([
            format!("{:.1}", row.ns_median),
            format!("{:.1}", row.ns_min),
            format!("{:.2}", row.mops),
            speed.unwrap_or_else(|| "-".to_owned()),
        ]);
        table.add_row(cells.into_iter().map(Cell::new));
    }
    right(table)
}

/// The bytes of each map of a group, whose rows all know them.
fn memory(rows: &[Row]) -> Table {
    let mut table = markdown(["table", "full", "emptied"]);
    let mut shown: Vec<&str> = Vec::new();
    for row in rows {
        if !shown.contains(&row.table) {
            shown.push(row.table);
            let figure = |bytes: Option<f64>| bytes.map_or("-".to_owned(), |bytes| format!("{bytes:.1}"));
            let memory = row.memory;
            let figures = [memory.bytes_per_entry, memory.left_per_entry];
            table.add_row([row.table.to_owned()].into_iter().chain(figures.map(figure)).map(Cell::new));
        }
    }
    right(table)
}

fn right(mut table: Table) -> Table {
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// How the figures came about.
fn notes(rounds: u32, fewer: Option<u32>) -> String {
    let fewer = fewer.filter(|fewer| *fewer < rounds);
    let fewer = fewer.map(|fewer| format!(" ({fewer} for many inserts and removes)")).unwrap_or_default();
    format!(
        "ns: wall time x threads / operations, M/s: operations of all threads; median of {}{fewer}, and the fastest\n\
         1 thread: the median chunk of a round, which leaves out what the scheduler gives to others; inserts and \
         removes: the whole\n\
         x best peer: speed, median of each round's own ratio to the concurrent peer with the least ns\n\
         loop: lookups that don't depend on each other; chain: each key depends on the value read before\n\
         pin, guard: kept for {BATCH} operations by lhash, papaya, scc-index and flurry; the others have none\n\
         insert: unless the key is there; update: one atomic change of the value; mixes: keys drawn from twice as \
         many, half of them there\n\
         hash: each its own default: foldhash in lhash and rwlock-hashbrown, ahash in flurry, SipHash in papaya, scc, \
         scc-index and dashmap\n\
         bytes: requested from the allocator, grown by inserts on one thread, strings included; emptied: still held \
         after removing all, giving back what the map can and letting the collector run\n\
         values: 8 bytes",
        counted(rounds, "round", "interleaved rounds"),
    )
}

/// The machine and the versions of the peers.
fn facts() -> String {
    let peers = ["papaya", "scc", "dashmap", "flurry", "hashbrown", "parking_lot", "foldhash"];
    let peers = peers.map(|name| format!("{name} {}", version(name)));
    format!("{}\npeers: {}", machine(), peers.join(", "))
}
