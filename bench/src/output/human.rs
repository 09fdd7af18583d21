//! The table that people read, and the facts to read it with.

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::{Row, Setting};
use crate::cli::Mode;
use crate::peers;
use crate::replay::BASELINE;

/// What was replayed, and what every table agreed on.
pub(super) fn title(setting: &Setting, rows: &[Row]) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let trace = &setting.trace;
    match setting.mode {
        Mode::Pool if row.threads > 1 => {
            format!(
                "{trace}: {} lookups through a pool of {} frames",
                grouped(row.lookups),
                grouped(setting.frames.into())
            )
        }
        Mode::Pool => format!(
            "{trace}: {} lookups through a pool of {} frames; with one thread, on every table: {} hits, {} misses, {} evictions",
            grouped(row.lookups),
            grouped(setting.frames.into()),
            grouped(row.hits),
            grouped(row.misses),
            grouped(row.evictions.unwrap_or_default()),
        ),
        Mode::Ops => format!(
            "{trace}: {} records ({} lookups, {} inserts, {} deletes); on every table: {} hits, {} misses, {} inserts of a \
             present tag, {} deletes of an absent tag, {} mapped, CRC-32 {}",
            grouped(row.records),
            grouped(row.lookups),
            grouped(row.inserts.unwrap_or_default()),
            grouped(row.deletes.unwrap_or_default()),
            grouped(row.hits),
            grouped(row.misses),
            grouped(row.insert_exists.unwrap_or_default()),
            grouped(row.delete_absent.unwrap_or_default()),
            grouped(row.mapped),
            row.crc32.as_deref().unwrap_or_default(),
        ),
    }
}

/// A line for each table.
pub(super) fn table(setting: &Setting, rows: &[Row]) -> Table {
    let per = match setting.mode {
        Mode::Ops => "ns/record",
        Mode::Pool => "ns/access",
    };
    let ratio = format!("x {BASELINE}");
    let settled = rows.iter().any(|row| row.optimistic.is_some());
    let mut header =
        vec!["table", "threads", per, &ratio, "p50 ns", "p99 ns", "p99.9 ns", "max ns", "bytes/slot"];
    if settled {
        header.extend(["first try", "retried", "fell back"]);
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    for row in rows {
        let counts =
            [row.optimistic, row.retried, row.fallback].map(|count| count.map_or("-".to_owned(), grouped));
        let mut cells = vec![
            row.table.to_owned(),
            row.threads.to_string(),
            format!("{:.1}", row.ns_per_op),
            row.ratio.map_or("-".to_owned(), |ratio| ratio.to_string()),
            grouped(row.p50_ns),
            grouped(row.p99_ns),
            grouped(row.p999_ns),
            grouped(row.max_ns),
            row.bytes_per_slot.map_or("-".to_owned(), |bytes| format!("{bytes:.1}")),
        ];
        if settled {
            cells.extend(counts);
        }
        table.add_row(cells.into_iter().map(Cell::new));
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// How the figures came about.
pub(super) fn notes(setting: &Setting) -> String {
    let time = match setting.mode {
        Mode::Ops => "wall time / records",
        Mode::Pool => "wall time x threads / lookups",
    };
    format!(
        "times: {time}, median of {}; ratios: median of each round's own\n\
         percentiles: {}, less the {} ns that reading the clock takes\n\
         hash: foldhash {} in every table but {BASELINE}, which models PostgreSQL's table of today and hashes as it does",
        counted(setting.schedule.rounds, "round", "interleaved rounds"),
        counted(setting.schedule.latency_passes(), "pass of its own", "passes of their own"),
        setting.schedule.clock_cost_ns.unwrap_or_default(),
        version("foldhash"),
    )
}

/// The machine and the versions of the peers.
pub(super) fn facts() -> String {
    format!(
        "{}\npeers: dashmap {}, hashbrown {} under parking_lot {}'s RwLock, papaya {}, scc {}",
        machine(),
        version("dashmap"),
        version("hashbrown"),
        version("parking_lot"),
        version("papaya"),
        version("scc"),
    )
}

/// A line about the machine.
pub(crate) fn machine() -> String {
    format!("machine: {}, {}, {}", counted(cores(), "core", "cores"), cpu(), std::env::consts::ARCH)
}

/// How many threads the machine runs at once.
#[must_use]
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// The version of a peer.
pub(crate) fn version(name: &str) -> &'static str {
    peers::version(name).unwrap_or("(unknown version)")
}

/// The processor's name, where Linux tells it.
fn cpu() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name =
        cpuinfo.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    name.map_or_else(|| "unknown processor".to_owned(), |name| name.trim().to_owned())
}

/// A number and what it counts, in the singular or the plural.
pub(crate) fn counted(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{counted, grouped};

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_is_counted_in_the_singular() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "pass", "passes")), ["0 passes", "1 pass", "2 passes"]);
    }
}
