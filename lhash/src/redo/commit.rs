//! Group commit: one thread, the leader, writes and brings to the disk what all others wait for; then the next one with more to
//! write leads.
//!
//! Invariants:
//! * C1: the progress is a position up to which all was brought to the disk; it rises after that alone.
//! * C2: the first failure is kept before its leader lets go of the lock. Nothing is written after it, and whoever waits for
//!   a position beyond the progress is told of it.

use std::sync::OnceLock;
use sync::{ProgressLock, ReadGuard};

/// What a leader writes with, and how far that has come.
#[derive(Debug)]
pub(crate) struct Commit<W, E> {
    /// Its progress is the position up to which all is on the disk.
    writer: ProgressLock<W>,
    /// The first failure, after which nothing is written.
    failed: OnceLock<E>,
}

impl<W, E: Clone> Commit<W, E> {
    /// All up to that position is on the disk.
    pub(crate) fn new(writer: W, progress: u64) -> Self {
        let writer = ProgressLock::new(writer);
        writer.write().set_progress(progress);
        Self { writer, failed: OnceLock::new() }
    }

    /// The writer, to look at.
    pub(crate) fn read(&self) -> ReadGuard<'_, W> {
        self.writer.read()
    }

    /// Does something with the writer, as nobody else does meanwhile.
    pub(crate) fn with(&self, f: impl FnOnce(&mut W)) {
        f(&mut self.writer.write());
    }

    /// The first failure, if there was one.
    pub(crate) fn check(&self) -> Result<(), E> {
        self.failed.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Writes, or waits until another thread has written. Brings nothing to the disk.
    pub(crate) fn write_or_wait<T>(&self, write: impl FnOnce(&mut W) -> Result<T, E>) -> Result<(), E> {
        match self.writer.write_or_wait() {
            Some(mut writer) => self.lead(&mut writer, write).map(drop),
            None => Ok(()),
        }
    }

    /// Waits until all up to a position is on the disk. Whoever gets the lock does it for all who wait: `write` returns the
    /// position up to which it has written, which is at least what the thread waits for, and `sync` brings that to the disk.
    pub(crate) fn flush(
        &self,
        lsn: u64,
        write: impl Fn(&mut W) -> Result<u64, E>,
        sync: impl Fn(&mut W) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if self.writer.progress() >= lsn {
                return Ok(());
            }
            self.check()?;
            let Some(mut writer) = self.writer.write_or_wait() else { continue };
            if self.writer.progress() >= lsn {
                continue;
            }
            let end = self.lead(&mut writer, &write)?;
            self.lead(&mut writer, &sync)?;
            writer.set_progress(end);
        }
    }

    /// A step of the leader. Keeps the first failure.
    fn lead<T>(&self, writer: &mut W, step: impl FnOnce(&mut W) -> Result<T, E>) -> Result<T, E> {
        self.check()?;
        step(writer).map_err(|error| self.failed.get_or_init(|| error).clone())
    }
}
