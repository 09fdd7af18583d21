//! Carrying out `bench redo-dump`: a line a record, then totals.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use lhash::redo::{Reader, Record};
use serde::Serialize;

use super::run::{self, RunError};

/// The arguments of `bench redo-dump`.
#[derive(Debug, Args)]
pub struct RedoDumpArgs {
    /// A segment of a redo log, or the folder with all of them.
    pub path: PathBuf,
    /// Print one JSON object a line instead of text.
    #[arg(long)]
    pub json: bool,
}

/// A record; as JSON, a line of output.
#[derive(Debug, Serialize)]
struct Line {
    cmd: &'static str,
    /// The position after the record.
    lsn: u64,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bucket: Option<u32>,
    /// Of its frame.
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ntuples: Option<i32>,
}

/// How many records of a kind there are, and their bytes.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Total {
    records: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct Totals {
    cmd: &'static str,
    kind: &'static str,
    records: u64,
    bytes: u64,
    torn_bytes: u64,
    kinds: BTreeMap<&'static str, Total>,
}

/// Carries out `bench redo-dump`.
pub(super) fn redo_dump(args: &RedoDumpArgs) -> Result<(), RunError> {
    let mut reader = Reader::open(&args.path)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut kinds: BTreeMap<&'static str, Total> = BTreeMap::new();
    let outcome = loop {
        let (lsn, line) = match reader.read() {
            Ok(Some((lsn, record))) => (lsn, described(&record)),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let line = Line { lsn, bytes: reader.record_bytes(), ..line };
        let total = kinds.entry(line.kind).or_default();
        (total.records, total.bytes) = (total.records + 1, total.bytes + line.bytes as u64);
        if let Err(error) = print(&mut out, &line, args.json) {
            return run::printed(Err(error));
        }
    };
    let printed = totals(&mut out, kinds, reader.torn_bytes(), args.json).and_then(|()| out.flush());
    run::printed(printed)?;
    outcome.map_err(RunError::Log)
}

fn described(record: &Record<'_>) -> Line {
    let (kind, bucket, ntuples) = (record.kind(), record.bucket(), record.ntuples());
    Line { cmd: "redo-dump", lsn: 0, kind, bucket, bytes: 0, ntuples }
}

fn print(out: &mut impl Write, line: &Line, json: bool) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, line)?;
        return writeln!(out);
    }
    let bucket = line.bucket.map_or_else(|| "-".to_owned(), |bucket| bucket.to_string());
    write!(out, "{:>12}  {:<8}  bucket {bucket:>8}  {:>6} bytes", line.lsn, line.kind, line.bytes)?;
    match line.ntuples {
        Some(n) => writeln!(out, "  ntuples {n:+}"),
        None => writeln!(out),
    }
}

fn totals(
    out: &mut impl Write,
    kinds: BTreeMap<&'static str, Total>,
    torn_bytes: u64,
    json: bool,
) -> io::Result<()> {
    let (records, bytes) =
        kinds.values().fold((0, 0), |(records, bytes), kind| (records + kind.records, bytes + kind.bytes));
    if json {
        let totals = Totals { cmd: "redo-dump", kind: "total", records, bytes, torn_bytes, kinds };
        serde_json::to_writer(&mut *out, &totals)?;
        return writeln!(out);
    }
    writeln!(out, "\n{records} records, {bytes} bytes; {torn_bytes} bytes after them are no whole record")?;
    for (kind, total) in kinds {
        writeln!(out, "{kind:>12}: {} records, {} bytes", total.records, total.bytes)?;
    }
    Ok(())
}
