//! Growth over time: for every slice of 50 ms the latest operation, and the bytes, as CSV.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::Row;
use super::pace::{Record, SLICE_NS};

/// What a map was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It grew: its inserts.
    Insert,
    /// It grew: the reads meanwhile.
    Read,
    /// It shrank: its removes.
    Remove,
}

/// A slice of one map's time; a line of CSV whose column names are a promise to its readers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The map.
    pub table: String,
    /// What it was doing.
    pub phase: Phase,
    /// When the slice began, after the start of the phase.
    pub at_ms: u64,
    /// The latest of the operations that were due in it.
    pub max_ns: u64,
    /// The bytes that were held at its end; nothing beside reads.
    pub bytes: Option<i64>,
}

/// All slices of all maps.
#[must_use]
pub fn points(rows: &[Row]) -> Vec<Point> {
    let of_row = |row: &Row| {
        let phase = |phase, record: &Record| of_phase(row, phase, record);
        let grown = &row.grown;
        [
            phase(Phase::Insert, &grown.inserts),
            phase(Phase::Read, &grown.reads),
            phase(Phase::Remove, &grown.removes),
        ]
        .concat()
    };
    rows.iter().flat_map(of_row).collect()
}

fn of_phase(row: &Row, phase: Phase, record: &Record) -> Vec<Point> {
    let knows_bytes = phase != Phase::Read && row.final_bytes.is_some();
    let point = |(index, slice): (usize, &super::pace::Slice)| Point {
        table: row.table.to_owned(),
        phase,
        at_ms: index as u64 * (SLICE_NS / 1_000_000),
        max_ns: slice.max_ns,
        bytes: knows_bytes.then_some(slice.bytes),
    };
    record.slices.iter().enumerate().map(point).collect()
}

/// Writes them as CSV with a header.
///
/// # Errors
///
/// What the writer says.
pub fn write(points: &[Point], out: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    points.iter().try_for_each(|point| csv.serialize(point))?;
    csv.flush()
}
