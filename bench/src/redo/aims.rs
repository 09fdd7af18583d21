//! The aims that the log was built for, each with what came out.

use super::{Durability, Policy, Row, What};
use crate::output::human::grouped;
use crate::sync::aims::Aim;

/// How many times the naive baseline `Sync` shall be, and with how many threads.
const SYNC: (f64, u32) = (8.0, 16);
/// How many times as long an insert may take with `Buffered`.
const BUFFERED: f64 = 1.5;
/// Records a second.
const RECOVERY: f64 = 1e6;

/// All aims, judged by the rows of one run.
#[must_use]
pub fn judge(rows: &[Row]) -> Vec<Aim> {
    let speed = |durability: Durability, threads: u32| {
        let is = |row: &&Row| {
            (row.what, row.policy, row.durability, row.threads)
                == (What::Insert, Policy::Deferred, durability, threads)
        };
        rows.iter().find(is).and_then(|row| row.ops_per_s)
    };
    let (least, threads) = SYNC;
    let sync = speed(Durability::Sync, threads).zip(speed(Durability::FsyncEach, threads));
    let mut aims = vec![Aim::new(
        format!("sync at least {least} times an fsync for each, {threads} threads, deferred"),
        sync.map(|(sync, each)| (sync >= least * each, format!("{:.1} times", sync / each))),
    )];
    let mut threads: Vec<u32> =
        rows.iter().filter(|row| row.what == What::Insert).map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    for threads in threads {
        let found = speed(Durability::Off, threads).zip(speed(Durability::Buffered, threads));
        aims.push(Aim::new(
            format!("buffered within {BUFFERED} times of no log, {threads} threads, deferred"),
            found.map(|(off, on)| (off <= BUFFERED * on, format!("{:.2} times", off / on))),
        ));
    }
    let recovery = rows.iter().filter(|row| row.what == What::Recover).filter_map(|row| row.records_per_s);
    aims.push(Aim::new(
        "recovery at least 1,000,000 records a second",
        recovery
            .reduce(f64::min)
            .map(|least| (least >= RECOVERY, format!("{} a second", grouped(least as u64)))),
    ));
    aims
}
