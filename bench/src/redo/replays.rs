//! Rebuilding a map from its log, and a standby that follows one while threads insert.

use std::time::{Duration, Instant};

use lhash::Map;
use lhash::redo::{self, LoggedMap, Standby};

use super::inserts::Case;
use super::{RedoBenchError, Row, What, ensure, folder, key, value};
use crate::crew;
use crate::rounds::median;

/// How often the standby is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Rebuilds a map of so many inserts, some times over; the median speed.
///
/// # Errors
///
/// If the log fails, or if an entry is missing.
pub fn recover(case: Case, inserts: u64, rounds: u32) -> Result<Row, RedoBenchError> {
    let dir = folder()?;
    let path = dir.path().join("log");
    let map = case.logged(&path)?;
    for step in 0..inserts {
        map.pin().insert(key(0, step), value(key(0, step)))?;
    }
    map.flush()?;
    drop(map);
    let mut speeds = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let (map, recovery): (LoggedMap<u64, u64>, _) = redo::open(&path)?;
        speeds.push(recovery.records as f64 / start.elapsed().as_secs_f64());
        ensure(map.len() as u64 == inserts, || format!("{inserts} were inserted, {} are there", map.len()))?;
    }
    Ok(Row {
        records_per_s: Some(median(speeds.into_iter()).round()),
        ..Row::new(What::Recover, case.policy, case.durability, case.threads)
    })
}

/// Lets a standby follow while threads insert for a while.
///
/// # Errors
///
/// If the log fails, or if the standby is not what the primary is in the end.
pub fn standby(case: Case, slice: Duration, rounds: u32) -> Result<Row, RedoBenchError> {
    let (mut speeds, mut applied, mut lags) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (seconds, ops, records, lag) = follow(case, slice)?;
        speeds.push(ops as f64 / slice.as_secs_f64());
        applied.push(records as f64 / seconds);
        lags.push(lag as f64);
    }
    Ok(Row {
        ops_per_s: Some(median(speeds.into_iter()).round()),
        records_per_s: Some(median(applied.into_iter()).round()),
        lag_records: Some(median(lags.into_iter()) as u64),
        ..Row::new(What::Standby, case.policy, case.durability, case.threads)
    })
}

/// Returns the seconds until the standby had everything, the inserts, the records, and the most records it was behind.
fn follow(case: Case, slice: Duration) -> Result<(f64, u64, u64, u64), RedoBenchError> {
    let dir = folder()?;
    let path = dir.path().join("log");
    let map = case.logged(&path)?;
    let standby = Standby::<u64, u64, Map>::follow(&path)?;
    let start = Instant::now();
    // The first thread looks, and sees to it that what is buffered gets to the standby.
    let shift = crew::shift(case.threads + 1, slice, |thread, stop| {
        let (mut step, mut lag, mut failed) = (0, 0, None);
        stop.repeat_until_asked(|| {
            let done = if thread == 0 {
                std::thread::sleep(LOOK);
                let issued = map.records();
                lag = lag.max(issued.saturating_sub(standby.records()));
                map.flush()
            } else {
                step += 1;
                map.pin().insert(key(u64::from(thread), step), value(step)).map(drop)
            };
            failed = failed.take().or(done.err());
        });
        (step, lag, failed)
    })?;
    let (mut ops, mut lag) = (0, 0);
    for (step, its_lag, failed) in shift.parts {
        failed.map_or(Ok(()), Err)?;
        (ops, lag) = (ops + step, lag.max(its_lag));
    }
    map.flush()?;
    standby.wait_for(map.lsn())?;
    let seconds = start.elapsed().as_secs_f64();
    ensure(standby.len() == map.len() && map.len() as u64 == ops, || {
        format!("{ops} were inserted, the primary has {}, the standby {}", map.len(), standby.len())
    })?;
    Ok((seconds, ops, standby.records(), lag))
}
