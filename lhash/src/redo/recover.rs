//! [`open`]: a map is rebuilt from its log. Next: `apply.rs`, what a record does.

use super::Durability;
use super::apply::{Applying, Diverged};
use super::codec::Codec;
use super::error::RedoError;
use super::hasher::SeededHasher;
use super::log::Log;
use super::logged::Logged;
use super::options::{Kind, has_digests, has_room, logged};
use super::reader::Reader;
use super::record::Record;
use super::telling::Logger;
use crate::reclaim::Pin;
use core::hash::Hash;
use std::path::Path;

/// So many records are applied under one pin.
const BATCH: u64 = 256;

/// What was found in a log that was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Records that were applied.
    pub records: u64,
    /// The position after the last of them, in bytes.
    pub lsn: u64,
    /// Bytes after it that are no whole record, as a crash in the middle of a write leaves them.
    pub torn_bytes: u64,
}

/// A map that was rebuilt, and what was found.
pub type Opened<K, V, M, S> = (Logged<K, V, M, S>, Recovery);

/// How a log is opened.
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "nothing is opened until open() is called"]
pub struct OpenOptions {
    durability: Durability,
}

impl OpenOptions {
    /// With [`Durability::Buffered`].
    pub fn new() -> Self {
        Self::default()
    }

    /// When a change's call returns, from now on.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Rebuilds the map; see [`open`].
    ///
    /// # Errors
    /// As [`open`].
    pub fn open<K, V, M, S>(self, path: impl AsRef<Path>) -> Result<Opened<K, V, M, S>, RedoError>
    where
        K: Codec + Hash + Eq + Send + 'static,
        V: Codec + Send + 'static,
        M: Kind,
        S: SeededHasher,
    {
        let mut reader = Reader::open(path.as_ref())?;
        let header = *reader.header();
        let verify = has_digests(&header);
        let mut map = logged::<K, V, M, S>(&header, Logger::reading(verify))?;
        let mut replay = Replay::default();
        let mut records = 0;
        let mut pin = Pin::new();
        while let Some((lsn, record)) = reader.read()? {
            replay.apply(&map, lsn, &record, &pin)?;
            records += 1;
            if records % BATCH == 0 {
                pin.repin();
            }
        }
        drop(pin);
        let recovery = Recovery { records, lsn: reader.lsn(), torn_bytes: reader.torn_bytes() };
        let ntuples = map.table.redo_rest(replay.behind);
        let log = Log::resume(path.as_ref(), *reader.header(), reader.lsn(), has_room(&header))?;
        map.logger = Logger::new(log, ntuples, verify, self.durability);
        Ok((map, recovery))
    }
}

/// Rebuilds a map from its log and goes on with that log. A crash may have torn the last record: it ends there, and
/// what is left out is reported.
///
/// # Errors
/// If the log can't be read, if it is of another kind of map, and if it is damaged: then the error names the file, the offset
/// and the reason.
pub fn open<K, V, M, S>(path: impl AsRef<Path>) -> Result<Opened<K, V, M, S>, RedoError>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    M: Kind,
    S: SeededHasher,
{
    OpenOptions::new().open(path)
}

/// A table on its way through the records.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// Entries that no record has counted yet.
    pub(crate) behind: i64,
}

impl Replay {
    pub(crate) fn apply<K, V, M, S>(
        &mut self,
        map: &Logged<K, V, M, S>,
        lsn: u64,
        record: &Record<'_>,
        pin: &Pin,
    ) -> Result<(), RedoError>
    where
        K: Codec + Hash + Eq + Send + 'static,
        V: Codec + Send + 'static,
        M: Kind,
        S: SeededHasher,
    {
        let hash = |key: &K| map.hash(key);
        let applying = Applying { table: &map.table, hash, unique: M::UNIQUE, verify: map.logger.verify };
        match applying.apply(record, pin) {
            Ok(behind) => self.behind += behind,
            Err(Diverged(why)) => return Err(RedoError::Diverged { lsn, why }),
        }
        Ok(())
    }
}
