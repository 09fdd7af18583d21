//! Measuring lhash's redo log: inserts with and without it, recovery, and a standby under load.
//!
//! Next: `redo/inserts.rs`, `redo/replays.rs`, then `redo/report.rs`.

pub mod aims;
pub mod inserts;
pub mod replays;
pub mod report;

use std::io;

use clap::ValueEnum;
use lhash::CountPolicy;
use lhash::redo::RedoError;
use serde::Serialize;

/// How lhash counts its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Every insert waits for the metapage.
    Exact,
    /// An insert that finds the metapage busy leaves its count.
    Deferred,
}

impl Policy {
    pub(crate) fn count_policy(self) -> CountPolicy {
        match self {
            Self::Exact => CountPolicy::Exact,
            Self::Deferred => CountPolicy::default(),
        }
    }
}

/// When an insert's call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// There is no log.
    Off,
    /// When the record is in the log's buffer.
    Buffered,
    /// When the record is on the disk, written with those of others.
    Sync,
    /// When the record is on the disk, written alone under one lock: the naive baseline.
    FsyncEach,
}

/// All, in the order of a run.
pub const DURABILITIES: [Durability; 4] =
    [Durability::Off, Durability::Buffered, Durability::Sync, Durability::FsyncEach];

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Inserts by several threads.
    Insert,
    /// Rebuilding a map from its log.
    Recover,
    /// A standby that follows while threads insert.
    Standby,
}

/// What came out; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// What was measured.
    pub what: What,
    /// How entries were counted.
    pub policy: Policy,
    /// When an insert's call returned.
    pub durability: Durability,
    /// The number of threads.
    pub threads: u32,
    /// Inserts per second of all threads, the median round's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_per_s: Option<f64>,
    /// 99 % of the inserts took at most this long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Calls of fsync for a thousand inserts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fsyncs_per_1000: Option<f64>,
    /// Bytes of the log for an insert, with those of its splits and pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_insert: Option<f64>,
    /// Records applied per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_per_s: Option<f64>,
    /// The most records that the standby was behind at a look, the median round's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_records: Option<u64>,
}

impl Row {
    pub(crate) fn new(what: What, policy: Policy, durability: Durability, threads: u32) -> Self {
        Self {
            cmd: "redo",
            what,
            policy,
            durability,
            threads,
            ops_per_s: None,
            p99_ns: None,
            fsyncs_per_1000: None,
            bytes_per_insert: None,
            records_per_s: None,
            lag_records: None,
        }
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedoBenchError {
    /// The log failed.
    #[error("the log: {0}")]
    Log(#[from] RedoError),
    /// A file of the baseline failed.
    #[error("the baseline's log: {0}")]
    File(#[from] io::Error),
    /// A map is not what it must be.
    #[error("{0}")]
    Wrong(String),
}

pub(crate) fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), RedoBenchError> {
    if is_right { Ok(()) } else { Err(RedoBenchError::Wrong(wrong())) }
}

/// A folder for a log, which goes with it.
pub(crate) fn folder() -> Result<tempfile::TempDir, RedoBenchError> {
    Ok(tempfile::Builder::new().prefix("bench-redo").tempdir()?)
}

/// Keys of a thread, all different from those of others.
pub(crate) fn key(thread: u64, step: u64) -> u64 {
    thread << 40 | step
}

pub(crate) fn value(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
