//! The log: places for records, and their way to the disk. One thread writes for all who wait (group commit).
//! Next: `commit.rs`, who writes; `ring.rs`, the buffer; `files.rs`, the segments.

use super::calls::Faults;
use super::commit::Commit;
use super::error::RedoError;
use super::files::Files;
use super::frame::{FRAME_HEAD, MAX_PAYLOAD, seal};
use super::header::Header;
use super::lock::FolderLock;
use super::record::Record;
use super::ring::Ring;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use sync::ShardedCounter;

/// The buffer of a log. One operation's records take a quarter of it at most.
const BUFFER: usize = 4 << 20;

#[derive(Debug)]
pub(crate) struct Log {
    ring: Ring,
    commit: Commit<Writer, RedoError>,
    records: ShardedCounter,
    /// Whether entries' records have room for a count.
    room: bool,
    dir: PathBuf,
    /// Held by the one that makes a snapshot.
    snapshots: Mutex<()>,
}

#[derive(Debug)]
struct Writer {
    files: Files,
    batch: Vec<u8>,
}

impl Log {
    pub(crate) fn create(path: &Path, header: Header, room: bool) -> Result<Self, RedoError> {
        Ok(Self::over(Files::create(path, header)?, path, room))
    }

    /// Goes on with a log whose last segment has this header, from `end` on.
    pub(crate) fn resume(
        path: &Path,
        header: Header,
        end: u64,
        room: bool,
        lock: FolderLock,
    ) -> Result<Self, RedoError> {
        Ok(Self::over(Files::resume(path, header, end, lock)?, path, room))
    }

    fn over(files: Files, dir: &Path, room: bool) -> Self {
        let end = files.end();
        let commit = Commit::new(Writer { files, batch: Vec::new() }, end);
        let ring = Ring::new(BUFFER, end);
        let (records, dir) = (ShardedCounter::new(), dir.to_owned());
        Self { ring, commit, records, room, dir, snapshots: Mutex::new(()) }
    }

    pub(crate) fn set_faults(&self, faults: Arc<dyn Faults>) {
        self.commit.with(|writer| writer.files.faults = Some(faults));
    }

    pub(crate) fn faults(&self) -> Option<Arc<dyn Faults>> {
        self.commit.read().files.faults.clone()
    }

    pub(crate) fn set_segment_bytes(&self, bytes: u64) {
        self.commit.with(|writer| writer.files.segment_bytes = bytes);
    }

    /// The folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The right to make a snapshot.
    pub(crate) fn snapshots(&self) -> MutexGuard<'_, ()> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits to take places of so many bytes. Waits until there is room: so never with a lock held or a place taken and
    /// not filled.
    pub(crate) fn permit(&self, bytes: usize) -> Result<Permit<'_>, RedoError> {
        let max = (self.ring.bytes() / 4).min(MAX_PAYLOAD);
        if bytes > max {
            return Err(RedoError::TooLong { bytes, max });
        }
        loop {
            self.commit.check()?;
            if self.ring.permit(bytes as u64) {
                return Ok(Permit { log: self, left: bytes as u64 });
            }
            self.commit.write_or_wait(|writer| self.write_out(writer))?;
        }
    }

    /// The bytes of a record's frame.
    pub(crate) fn frame_len(&self, record: &Record<'_>) -> usize {
        record.frame_len(self.room)
    }

    /// The position after the last place that was taken.
    pub(crate) fn end(&self) -> u64 {
        self.ring.next()
    }

    pub(crate) fn records(&self) -> u64 {
        self.records.sum().max(0) as u64
    }

    pub(crate) fn fsyncs(&self) -> u64 {
        self.commit.read().files.fsyncs
    }

    /// Waits until all up to a position is on the disk. Whoever gets the lock writes for all who wait for it.
    pub(crate) fn flush(&self, lsn: u64) -> Result<(), RedoError> {
        self.commit.flush(lsn, |writer| self.write_out(writer), |writer| writer.files.sync())
    }

    /// Writes what has a place, and returns the position after it. For the holder of the files.
    fn write_out(&self, writer: &mut Writer) -> Result<u64, RedoError> {
        let Writer { files, batch } = writer;
        let from = files.end();
        batch.clear();
        self.ring.read(from, batch);
        if !batch.is_empty() {
            files.append(batch)?;
            self.ring.empty(from, files.end());
        }
        Ok(files.end())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // What was only buffered is written, not brought to the disk; a failure has nobody to hear of it.
        let _ = self.commit.write_or_wait(|writer| self.write_out(writer));
    }
}

/// Bytes that may be taken.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    log: &'a Log,
    left: u64,
}

impl<'a> Permit<'a> {
    /// Takes a place for a record. Doesn't wait. It must be filled soon, whatever happens.
    pub(crate) fn reserve(&mut self, len: usize) -> Place<'a> {
        let len = len as u64;
        assert!(len <= self.left, "{len} bytes are to be taken, {} are left of those permitted", self.left);
        self.left -= len;
        self.log.records.add(1);
        Place { log: self.log, at: self.log.ring.reserve(len), len }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.log.ring.give_back(self.left);
    }
}

/// A place for a record.
#[derive(Debug)]
#[must_use = "the log ends before a place that is not filled"]
pub(crate) struct Place<'a> {
    log: &'a Log,
    at: u64,
    len: u64,
}

impl Place<'_> {
    /// The position after it.
    pub(crate) fn end(&self) -> u64 {
        self.at + self.len
    }

    /// Fills it with a record of the length for which it was taken. `scratch` is overwritten.
    pub(crate) fn fill(self, record: &Record<'_>, scratch: &mut Vec<u8>) {
        scratch.clear();
        scratch.resize(FRAME_HEAD, 0);
        record.encode(self.log.room, scratch);
        seal(scratch);
        debug_assert_eq!(scratch.len() as u64, self.len, "{record:?}");
        self.log.ring.fill(self.at, scratch);
    }
}
