//! Where a map begins that is rebuilt: with the newest snapshot that is whole, or empty where the log begins. Next:
//! `recover.rs`, `standby.rs` and `snapshots.rs`, which go on with the log's records from there.

use super::apply::Diverged;
use super::codec::Codec;
use super::error::RedoError;
use super::files::segments;
use super::hasher::SeededHasher;
use super::header::{HEADER, Header};
use super::logged::Logged;
use super::logger::Logger;
use super::options::{Kind, has_digests, logged};
use super::reader::Reader;
use super::recover::Replay;
use super::snapshot::{Reading, State};
use super::snapshots;
use crate::reclaim::Pin;
use core::hash::Hash;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// So many records are applied under one pin.
const BATCH: u64 = 256;

/// The header of a segment.
fn header_of(path: &Path) -> Result<Header, RedoError> {
    let mut bytes = Vec::with_capacity(HEADER);
    let read = File::open(path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut bytes));
    read.map_err(|error| RedoError::io("read the log", path, error))?;
    Header::decode(&bytes).map_err(|why| RedoError::Damaged { path: path.into(), offset: 0, why })
}

/// A map on its way through a log.
pub(crate) struct Base<K, V, M, S> {
    pub(crate) map: Logged<K, V, M, S>,
    pub(crate) replay: Replay,
    /// That of a snapshot, or of the log's first segment.
    header: Header,
    /// The position of the snapshot it began with.
    pub(crate) snapshot: Option<u64>,
    /// What was wrong with newer ones.
    pub(crate) damaged: Vec<RedoError>,
}

impl<K, V, M, S> Base<K, V, M, S>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    M: Kind,
    S: SeededHasher,
{
    /// With the newest snapshot at `most` or before that is whole and has the segments after it; else with the log's
    /// beginning. If that is gone too, the error is that of the newest snapshot.
    pub(crate) fn newest(dir: &Path, most: u64) -> Result<Self, RedoError> {
        // First the segments: whatever snapshot is found after them needs none that had gone before.
        let segments = segments(dir)?;
        let mut damaged = Vec::new();
        for (lsn, path) in snapshots::all(dir)?.into_iter().rev().filter(|(lsn, _)| *lsn <= most) {
            match Self::load(&path, lsn, &segments) {
                Err(error @ RedoError::Damaged { .. }) => damaged.push(error),
                loaded => return loaded.map(|base| Self { damaged, ..base }),
            }
        }
        let Some((start, first)) = segments.first() else { return Err(RedoError::no_log(dir)) };
        if *start != 0 {
            let why = format!(
                "the log begins at {start}, and there is no snapshot of that position or a later one"
            );
            let gone = RedoError::Damaged { path: first.clone(), offset: 0, why };
            return Err(damaged.into_iter().next().unwrap_or(gone));
        }
        let header = header_of(first)?;
        let map = logged(&header, None, Logger::reading(has_digests(&header)))?;
        Ok(Self { map, replay: Replay::default(), header, snapshot: None, damaged })
    }

    fn load(path: &Path, lsn: u64, segments: &[(u64, PathBuf)]) -> Result<Self, RedoError> {
        let mut file = Reading::open(path, lsn)?;
        if segments.first().is_none_or(|(start, _)| *start > lsn) {
            return Err(file.damaged("the segment of the log that goes on from it is missing"));
        }
        let (header, state) = (file.header, file.state);
        let map: Logged<K, V, M, S> =
            logged(&header, Some(state.max_bucket), Logger::reading(has_digests(&header)))?;
        let replay = Replay { behind: state.behind };
        let (mut pin, mut rows) = (Pin::new(), 0_u64);
        let wrong = loop {
            let Some(row) = file.row()? else { break None };
            if let Err(Diverged(why)) = Replay::applying(&map).load(row, &pin) {
                break Some(why);
            }
            rows += 1;
            if rows % BATCH == 0 {
                pin.repin();
            }
        };
        drop(pin);
        if let Some(why) = wrong {
            return Err(file.damaged(why));
        }
        map.table.redo_count(state.ntuples, state.ntuples);
        Ok(Self { map, replay, header, snapshot: Some(lsn), damaged: Vec::new() })
    }

    /// With the newest snapshot at `lsn` or before, and all records up to there.
    pub(crate) fn at(dir: &Path, lsn: u64) -> Result<Self, RedoError> {
        let mut base = Self::newest(dir, lsn)?;
        let mut reader = base.reader(dir)?;
        base.replay(&mut reader, lsn)?;
        if reader.lsn() == lsn {
            return Ok(base);
        }
        Err(reader.damaged(format!("the log ends at {}, and was written up to {lsn}", reader.lsn())))
    }

    /// A reader of the records that follow.
    pub(crate) fn reader(&self, dir: &Path) -> Result<Reader, RedoError> {
        let reader = match self.snapshot {
            Some(lsn) => Reader::open_at(dir, lsn)?,
            None => Reader::open(dir)?,
        };
        if self.header.agrees(reader.header()) {
            return Ok(reader);
        }
        Err(reader.damaged("its header is not that of the snapshot"))
    }

    /// Applies the records up to a position, or to the log's end. Returns how many.
    pub(crate) fn replay(&mut self, reader: &mut Reader, most: u64) -> Result<u64, RedoError> {
        let (mut records, mut pin) = (0, Pin::new());
        while reader.lsn() < most {
            let Some((lsn, record)) = reader.read()? else { break };
            self.replay.apply(&self.map, lsn, &record, &pin)?;
            records += 1;
            if records % BATCH == 0 {
                pin.repin();
            }
        }
        Ok(records)
    }

    /// The position at which it begins.
    pub(crate) fn lsn(&self) -> u64 {
        self.snapshot.unwrap_or(0)
    }

    /// The header of a snapshot at a position.
    pub(crate) fn header(&self, lsn: u64) -> Header {
        Header { start: lsn, ..self.header }
    }

    pub(crate) fn state(&self) -> State {
        let table = &self.map.table;
        let (max_bucket, ntuples) = (table.geometry().max_bucket(), table.meta.approx());
        State { max_bucket, ntuples, behind: self.replay.behind }
    }

    /// The entries that are linked.
    pub(crate) fn entries(&self) -> u64 {
        self.map.pin().iter().count() as u64
    }
}
