//! [`Logger`]: a map's log, and what of the map's count it has been told. Next: `telling.rs`, the records of one operation.

use super::Durability;
use super::error::RedoError;
use super::log::Log;
use super::record::Record;
use crate::observe::Observer;
use core::sync::atomic::{AtomicI64, Ordering};

/// A log, and what of the metapage's count it has been told.
#[derive(Debug)]
pub(crate) struct Logger {
    /// `None` in a map that is rebuilt from one and refuses changes of its own.
    pub(crate) log: Option<Log>,
    /// Changed by the holder of the metapage alone.
    told: AtomicI64,
    pub(crate) verify: bool,
    pub(crate) durability: Durability,
}

impl Logger {
    pub(crate) fn new(log: Log, told: i64, verify: bool, durability: Durability) -> Self {
        Self { log: Some(log), told: AtomicI64::new(told), verify, durability }
    }

    /// For a map that is rebuilt.
    pub(crate) fn reading(verify: bool) -> Self {
        Self { log: None, told: AtomicI64::new(0), verify, durability: Durability::Buffered }
    }

    pub(crate) fn log(&self) -> Result<&Log, RedoError> {
        self.log.as_ref().ok_or(RedoError::ReadOnly)
    }

    pub(crate) fn set_faults(&self, faults: std::sync::Arc<dyn super::Faults>) {
        if let Some(log) = &self.log {
            log.set_faults(faults);
        }
    }

    pub(crate) fn set_segment_bytes(&self, bytes: u64) {
        if let Some(log) = &self.log {
            log.set_segment_bytes(bytes);
        }
    }

    pub(crate) fn lsn(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::end)
    }

    pub(crate) fn records(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::records)
    }

    pub(crate) fn fsyncs(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::fsyncs)
    }

    pub(crate) fn flush(&self) -> Result<(), RedoError> {
        self.log.as_ref().map_or(Ok(()), |log| log.flush(log.end()))
    }

    /// Waits as the map's durability asks for.
    pub(crate) fn settle(&self, lsn: u64) -> Result<(), RedoError> {
        match (&self.log, self.durability) {
            (Some(log), Durability::Sync) => log.flush(lsn),
            _ => Ok(()),
        }
    }

    /// Logs what is no change of an entry; `then` is what it says.
    pub(crate) fn note(
        &self,
        record: &Record<'_>,
        then: impl FnOnce(&TellsNothing<'_>),
    ) -> Result<(), RedoError> {
        let log = self.log()?;
        let len = log.frame_len(record);
        let place = log.permit(len)?.reserve(len);
        let lsn = place.end();
        place.fill(record, &mut Vec::new());
        then(&TellsNothing(self));
        self.settle(lsn)
    }

    /// What the metapage took since it was asked last. For its holder.
    pub(crate) fn tell(&self, ntuples: i64) -> i64 {
        // Relaxed, both: only the holder of the metapage comes here.
        let told = self.told.load(Ordering::Relaxed);
        self.told.store(ntuples, Ordering::Relaxed);
        ntuples - told
    }
}

/// Hears what the metapage took, and that a record has said it already.
pub(crate) struct TellsNothing<'a>(&'a Logger);

impl<T> Observer<T> for TellsNothing<'_> {
    fn counted(&self, ntuples: i64) {
        self.0.tell(ntuples);
    }
}
