//! What `bench seeds` prints: tables for people, or one JSON object a line.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde::Serialize;

use super::contention::{Client, SCHEDULE, Worst};
use super::crowd::Crowd;
use super::{Policy, Row, touch};
use crate::output::human::{grouped, machine};

/// Everything that was measured.
#[derive(Debug, Default)]
pub struct Report {
    /// The loads.
    pub rows: Vec<Row>,
    /// Those with eight writers that defer.
    pub crowds: Vec<Crowd>,
    /// Short sessions, sixty-four at a time.
    pub worst: Vec<Worst>,
    /// The client table.
    pub clients: Vec<Client>,
}

impl Report {
    /// Writes it to standard output, as JSON or as tables; beside JSON what only people ask for goes to standard error.
    ///
    /// # Errors
    ///
    /// What standard output says, such as that its reader has gone.
    pub fn print(&self, json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if json {
            let _ = writeln!(io::stderr(), "{}{}\n{}", self.of_crowds(), self.verdict(), machine());
            lines(&mut out, &self.rows)?;
            lines(&mut out, &self.worst)?;
            lines(&mut out, &self.clients)?;
        } else {
            if !self.rows.is_empty() {
                writeln!(out, "the structure of an index, expected and found\n{}\n", structure(&self.rows))?;
            }
            write!(out, "{}", self.of_crowds())?;
            if !self.worst.is_empty() {
                writeln!(out, "short sessions, 64 at a time, 50 rows each\n{}\n", worst(&self.worst))?;
            }
            if !self.clients.is_empty() {
                writeln!(out, "threads that insert rows of their own keys\n{}\n", clients(&self.clients))?;
                writeln!(out, "what an insert touches\n{}\n", touches(&self.clients))?;
                writeln!(out, "common lines that counting an insert writes, at the two ends\n{}\n", ends())?;
                writeln!(out, "{CONTENTION_NOTES}")?;
            }
            writeln!(out, "{NOTES}\n{}\n{}", self.verdict(), machine())?;
        }
        out.flush()
    }

    fn of_crowds(&self) -> String {
        if self.crowds.is_empty() {
            return String::new();
        }
        format!(
            "8 writers that defer: when they ended, and with all counts folded in\n{}\n\n",
            crowds(&self.crowds)
        )
    }

    fn verdict(&self) -> String {
        let with = |exact: bool| self.rows.iter().filter(|row| row.exact == Some(exact)).count();
        format!(
            "{} loads came to the known figures exactly, {} did not; {} have none",
            with(true),
            with(false),
            { self.rows.len() - with(true) - with(false) }
        )
    }
}

/// How the figures came about.
const NOTES: &str = "\
every load: 407 slots a page, fill factor 307, 8 buckets at the start, PostgreSQL's hash of 4-byte integers; a scan and \
a probe of every key found what was inserted
file pages: 1 + primary pages by split point + the most overflow pages there ever were + bitmap pages; overflow: those in \
a chain now
short sessions: a tenth as many for quiet and sharded, of which no figures are known";

const CONTENTION_NOTES: &str = "\
clients: the median of 3 interleaved rounds; forced: the insert took an overflow page; final lag: what the metapage's \
count lacked when the last thread had ended; lost: what it lacks with all folded in
common lines are written by all threads, group lines by those that share one of 32 slots or 16 lists of node numbers; \
beside them each insert writes two lines of its key's bucket. A line is 128 bytes. Common: at most";

fn lines(out: &mut impl Write, rows: &[impl Serialize]) -> io::Result<()> {
    for row in rows {
        serde_json::to_writer(&mut *out, row)?;
        writeln!(out)?;
    }
    Ok(())
}

/// A table whose first `left` columns are words.
fn table(left: usize, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    for row in rows {
        table.add_row(row.into_iter().map(Cell::new));
    }
    table.column_iter_mut().skip(left).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// A number that may be negative, with its digits in groups of three.
fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

fn structure(rows: &[Row]) -> Table {
    let header = [
        "scenario",
        "policy",
        "expected",
        "exact",
        "tuples",
        "max_bucket",
        "buckets",
        "primary",
        "overflow",
        "file",
        "s",
    ];
    let cells = |row: &Row| {
        let dash = || "-".to_owned();
        let exact = |exact| if exact { "yes" } else { "NO" }.to_owned();
        let figures = [
            row.ntuples,
            row.max_bucket.into(),
            row.buckets,
            row.primary_pages,
            row.overflow_pages,
            row.file_pages,
        ];
        let words = [
            row.scenario.name().to_owned(),
            row.policy.name().to_owned(),
            row.expected.map_or_else(dash, |expected| expected.to_string()),
            row.exact.map_or_else(dash, exact),
        ];
        words.into_iter().chain(figures.map(grouped)).chain([format!("{:.1}", row.seconds)]).collect()
    };
    table(4, &header, rows.iter().map(cells))
}

fn crowds(crowds: &[Crowd]) -> Table {
    let header =
        ["scenario", "rows", "pending", "max_bucket", "declined", "tuples, folded", "max_bucket, folded"];
    let cells = |crowd: &Crowd| {
        vec![
            crowd.scenario.name().to_owned(),
            grouped(crowd.rows),
            signed(crowd.pending),
            grouped(crowd.max_bucket_before.into()),
            grouped(crowd.declined),
            grouped(crowd.ntuples),
            grouped(crowd.max_bucket.into()),
        ]
    };
    table(1, &header, crowds.iter().map(cells))
}

fn worst(rows: &[Worst]) -> Table {
    let header = ["policy", "rows", "counted", "% low", "tuples, folded", "% low", "max_bucket", "ns/probe"];
    let cells = |row: &Worst| {
        vec![
            row.policy.name().to_owned(),
            grouped(row.rows),
            grouped(row.counted),
            format!("{:.2}", row.counted_low_pct),
            grouped(row.ntuples),
            format!("{:.2}", row.low_pct),
            grouped(row.max_bucket.into()),
            grouped(row.ns_per_probe as u64),
        ]
    };
    table(1, &header, rows.iter().map(cells))
}

fn clients(rows: &[Client]) -> Table {
    let header = [
        "policy",
        "threads",
        "inserts/s",
        "x exact",
        "lock waits",
        "deferrals",
        "folds",
        "forced",
        "final lag",
        "lost",
    ];
    let cells = |row: &Client| {
        let counts = [row.lock_waits, row.deferrals, row.folds, row.forced].map(grouped);
        let words = [
            row.policy.name().to_owned(),
            row.threads.to_string(),
            grouped(row.inserts_per_s),
            format!("{:.2}", row.x_exact),
        ];
        words.into_iter().chain(counts).chain([row.final_lag, row.lost].map(signed)).collect()
    };
    table(1, &header, rows.iter().map(cells))
}

fn touches(rows: &[Client]) -> Table {
    let header = [
        "policy",
        "threads",
        "holds",
        "waits",
        "deferrals",
        "folds",
        "pages",
        "splits",
        "common lines",
        "group lines",
    ];
    let cells = |row: &Client| {
        let t = &row.touched;
        let counts =
            [t.holds, t.waits, t.deferrals, t.folds, t.pages, t.splits].map(|count| format!("{count:.4}"));
        let lines = [t.common_lines, t.group_lines].map(|lines| format!("{lines:.3}"));
        let words = [row.policy.name().to_owned(), row.threads.to_string()];
        words.into_iter().chain(counts).chain(lines).collect()
    };
    let mut rows: Vec<&Client> = rows.iter().collect();
    rows.sort_by_key(|row| row.policy);
    table(1, &header, rows.into_iter().map(cells))
}

fn ends() -> Table {
    let cells = |policy: Policy| {
        let ends = [touch::when_free(policy), touch::when_busy(policy)];
        [policy.name().to_owned()].into_iter().chain(ends.map(|lines| format!("{lines:.2}"))).collect()
    };
    table(1, &["policy", "lock always free", "lock always busy"], Policy::ALL.map(cells))
}

const _: () = assert!(SCHEDULE.rounds == 3, "the notes say how many rounds there are");
