//! What `bench scaling` prints: a table for each operation with the aims under them, or one JSON object a line.

use std::io::{self, Write};

use clap::ValueEnum;
use comfy_table::{Cell, CellAlignment, Table};

use super::{CORES, Family, Op, Row};
use crate::output::human::version;
use crate::sync::aims::Aim;
use crate::sync::report::{judged, markdown};

/// Writes the rows to standard output, as JSON or as tables; beside JSON the aims go to standard error.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(rows: &[Row], json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let aims = judged(judge(rows));
    if json {
        // A person who watches still wants to know what came out.
        let _ = writeln!(io::stderr(), "aims:\n{aims}\n{}", facts());
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
        return out.flush();
    }
    for family in [Family::Flatmap, Family::Lhash] {
        for op in Op::value_variants() {
            let rows: Vec<&Row> = rows.iter().filter(|row| (row.family, row.op) == (family, *op)).collect();
            if !rows.is_empty() {
                writeln!(out, "{}\n{}\n", title(family, *op), table(&rows))?;
            }
        }
    }
    writeln!(out, "aims:\n{aims}\n\n{}\n{}", notes(), facts())?;
    out.flush()
}

fn title(family: Family, op: Op) -> String {
    let tables = match family {
        Family::Flatmap => "tables of page tags",
        Family::Lhash => "maps of words",
    };
    let doing = match op {
        Op::Pin => "a pin or guard and nothing else",
        Op::Hit => "lookup of a key that is there",
        Op::Miss => "lookup of a key that is not there",
        Op::Update => "change of a value",
        Op::Insert => "insert",
        Op::Remove => "remove",
    };
    format!("{tables}: {doing}, on average")
}

fn table(rows: &[&Row]) -> Table {
    let mut table = markdown([
        "table",
        "shared writes",
        "atomic RMWs",
        "locks",
        "lines",
        "own writes",
        "own RMWs",
        "allocations",
        "same line",
        "in the way",
    ]);
    for row in rows {
        let counts = &row.counts;
        let figures = [
            counts.shared_writes,
            counts.shared_rmws,
            counts.locks,
            counts.shared_lines,
            counts.own_writes,
            counts.own_rmws,
            counts.allocations,
        ];
        let mut cells = vec![row.table.to_owned()];
        cells.extend(figures.map(shown));
        cells.push(format!("{:.2} %", counts.same_line * 100.0));
        cells.push(shown(row.in_the_way));
        table.add_row(cells.into_iter().map(Cell::new));
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// Without decimals where there are none.
fn shown(figure: f64) -> String {
    if figure.fract() == 0.0 { format!("{figure:.0}") } else { format!("{figure:.2}") }
}

/// Lookups that write nothing shared, and nothing at all besides the pin.
fn judge(rows: &[Row]) -> Vec<Aim> {
    let row = |family, table, op| {
        rows.iter().find(|row| (row.family, row.table, row.op) == (family, table, op)).map(|row| row.counts)
    };
    let mut aims = Vec::new();
    for (op, name) in [(Op::Hit, "hit"), (Op::Miss, "miss")] {
        let ours = row(Family::Flatmap, "flatmap", op);
        let found = ours.map(|ours| {
            let writes = ours.shared_writes + ours.own_writes;
            (writes == 0.0, shown(writes))
        });
        aims.push(Aim::new(format!("flatmap's {name} writes nothing"), found));
        let ours = row(Family::Lhash, "lhash", op).zip(row(Family::Lhash, "lhash", Op::Pin));
        let found = ours.map(|(ours, pin)| {
            let more = [ours.shared_writes - pin.shared_writes, ours.own_writes - pin.own_writes];
            let figure = format!("{} shared, {} own", shown(more[0]), shown(more[1]));
            (more.iter().all(|more| *more <= 0.0), figure)
        });
        aims.push(Aim::new(format!("lhash's {name} writes nothing besides the pin"), found));
    }
    aims
}

fn notes() -> String {
    let others = CORES - 1;
    format!(
        "writes: instructions that write memory which is neither the thread's stack nor allocated by the operation itself; \
         the allocator's own are not counted\n\
         own: cache lines that several operations of a thread write and the other thread never does\n\
         locks: shared words that an atomic read-modify-write (RMW) changes and that are written again before the end\n\
         same line: how likely two operations on different keys write a cache line in common\n\
         in the way: with {CORES} cores that do nothing else, of the {others} other operations under way those that write a \
         line that this one writes; below 1 it scales, at {others} all wait for one line. Keys are drawn evenly: on one hot \
         key all that writes for it has {others}\n\
         nobody waits here: an lhash that counts as Deferred leaves its count to the next who comes where it meets the lock \
         taken, and Quiet then tries at every 32nd only\n\
         lhash is built with its statistics, which write two lines more at an insert and one more at a remove\n\
         dashmap has the {} shards that it makes on {CORES} cores\n\
         pin, guard: taken for each operation by lhash, papaya, scc-index and flurry; the others have none",
        4 * CORES
    )
}

/// The versions of the peers.
fn facts() -> String {
    let peers = ["papaya", "scc", "dashmap", "flurry", "hashbrown", "parking_lot"];
    let peers = peers.map(|name| format!("{name} {}", version(name)));
    format!("counted on {}; peers: {}", std::env::consts::ARCH, peers.join(", "))
}
