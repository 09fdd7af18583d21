//! What `bench growth` prints: a table for people with the aims under it, or one JSON object a line.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table};

use super::{Plan, Row, aims};
use crate::output::human::{grouped, machine, version};
use crate::sync::report::{judged, markdown};

/// Writes the rows to standard output, as JSON or as tables; beside JSON the aims go to standard error.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(plan: &Plan, rows: &[Row], json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let aims = judged(aims::judge(rows));
    for row in rows.iter().filter(|row| !row.kept_up()) {
        let _ = writeln!(io::stderr(), "warning: {}", behind(row));
    }
    if json {
        // A person who watches still wants to know what came out.
        let _ = writeln!(io::stderr(), "aims:\n{aims}\n{}", facts());
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
        return out.flush();
    }
    let (entries, rate) = (grouped(plan.entries.into()), grouped(plan.rate.into()));
    writeln!(out, "from empty to {entries} entries and back, {rate} inserts and {rate} reads due a second")?;
    writeln!(out, "{}\n\nbytes\n{}\n", times(rows), bytes(rows))?;
    writeln!(out, "aims:\n{aims}\n\n{NOTES}")?;
    for row in rows {
        writeln!(out, "given back by {}: {}", row.table, gives_back(row.table))?;
    }
    writeln!(out, "{}", facts())?;
    out.flush()
}

/// What a row's figures then say: how far behind it fell, not what a single operation takes.
fn behind(row: &Row) -> String {
    format!(
        "{} could not keep up with {} inserts and reads a second: half of them were done {} and {} ns late; \
         its figures say how far it fell behind, so ask for a lower --rate",
        row.table,
        grouped(row.rate.into()),
        grouped(row.insert_p50_ns),
        grouped(row.read_p50_ns),
    )
}

fn times(rows: &[Row]) -> Table {
    let mut table = markdown([
        "table",
        "insert p50 ns",
        "p99",
        "p99.9",
        "p99.99",
        "max",
        "longest gap",
        "read p50 ns",
        "p99.9",
        "max",
    ]);
    for row in rows {
        let figures = [
            row.insert_p50_ns,
            row.insert_p99_ns,
            row.insert_p999_ns,
            row.insert_p9999_ns,
            row.insert_max_ns,
            row.longest_gap_ns,
            row.read_p50_ns,
            row.read_p999_ns,
            row.read_max_ns,
        ];
        let name = if row.kept_up() { row.table.to_owned() } else { format!("{} (behind)", row.table) };
        table.add_row([name].into_iter().chain(figures.map(grouped)).map(Cell::new));
    }
    right(table)
}

fn bytes(rows: &[Row]) -> Table {
    let mut table =
        markdown(["table", "start", "peak", "full", "peak / full", "emptied", "RSS before", "RSS after"]);
    let shown = |bytes: Option<i64>| bytes.map_or("-".to_owned(), |bytes| grouped(bytes.max(0) as u64));
    for row in rows {
        let ratio = row.peak_bytes.zip(row.final_bytes).map(|(peak, full)| peak as f64 / full as f64);
        let resident = |bytes: Option<u64>| bytes.map_or("-".to_owned(), grouped);
        table.add_row([
            row.table.to_owned(),
            shown(row.grown.bytes.start),
            shown(row.peak_bytes),
            shown(row.final_bytes),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
            shown(row.after_remove_bytes),
            resident(row.grown.rss_before_bytes),
            resident(row.rss_after_bytes),
        ]);
    }
    right(table)
}

fn right(mut table: Table) -> Table {
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// How a map is asked to give memory back.
#[must_use]
pub fn gives_back(table: &str) -> &'static str {
    match table {
        "lhash" => "shrink_to_fit, then pins until the collector is done",
        "papaya" => "no call for it; its table stays as long as it grew, and its collector is flushed",
        "scc" | "scc-index" => "by itself while entries are removed, then guards until the collector is done",
        "flurry" => "no call for it; its table stays as long as it grew, and its collector is flushed",
        "dashmap" | "rwlock-hashbrown" => "shrink_to_fit",
        _ => "unknown",
    }
}

/// How the figures came about.
const NOTES: &str = "times: from when an operation was due to when it ended (open loop), so a pause counts for all \
     that it delays; each is a percentile\n\
     longest gap: between the ends of two inserts that followed each other\n\
     inserts on one thread, reads of what is there on another; then all is removed at the same rate; threads pinned \
     to a core each where the system allows\n\
     pin, guard: taken for each operation by lhash, papaya, scc-index and flurry; the others have none\n\
     bytes: requested from the allocator, the bytes of the two threads included; full and peak as they are, emptied \
     after giving back\n\
     RSS: of the whole process, after malloc_trim on Linux with glibc, as it is elsewhere\n\
     a map that is behind was late with half of its operations: its figures say how far it fell behind";

/// The machine and the versions of the peers.
fn facts() -> String {
    let peers = ["papaya", "scc", "dashmap", "flurry", "hashbrown", "parking_lot", "foldhash"];
    let peers = peers.map(|name| format!("{name} {}", version(name)));
    format!("{}\npeers: {}", machine(), peers.join(", "))
}
