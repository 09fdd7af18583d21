//! What a [`Standby`] is asked: for its map, and how far it is. Next: `standby.rs`.

use super::error::RedoError;
use super::logged::Logged;
use super::pinned_logged::PinnedLogged;
use super::standby::Standby;
use crate::Stats;
use core::sync::atomic::Ordering;
use std::sync::PoisonError;

impl<K, V, M, S> Standby<K, V, M, S> {
    /// Pins the map for this thread, to read; see [`LHashMap::pin`](crate::LHashMap::pin).
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert!(standby.pin().contains_key(&1));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn pin(&self) -> PinnedLogged<'_, K, V, M, S> {
        self.shared.map.pin()
    }

    /// The map, to read.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert!(standby.map().pin().insert(3, 4).is_err()); // it takes changes from the log alone
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn map(&self) -> &Logged<K, V, M, S> {
        &self.shared.map
    }

    /// The number of entries, also of those that no record has counted yet.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert_eq!(standby.len(), primary.len());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn len(&self) -> usize {
        usize::try_from(self.stats().ntuples).unwrap_or(usize::MAX)
    }

    /// Whether [`len`](Self::len) is 0.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert!(!standby.is_empty());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures of the table; `pending` is what no record has counted yet.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert_eq!(standby.stats().max_bucket, primary.stats().max_bucket);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn stats(&self) -> Stats {
        // Relaxed: a figure.
        let behind = self.shared.behind.load(Ordering::Relaxed);
        let stats = self.shared.map.stats();
        Stats { ntuples: stats.ntuples.saturating_add_signed(behind), pending: behind, ..stats }
    }

    /// The position in the log after the last record that was applied, in bytes.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert_eq!(standby.lsn(), primary.lsn());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn lsn(&self) -> u64 {
        // Relaxed: a figure.
        self.shared.lsn.load(Ordering::Relaxed)
    }

    /// How many records were applied.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert_eq!(standby.records(), 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn records(&self) -> u64 {
        // Relaxed: a figure.
        self.shared.records.load(Ordering::Relaxed)
    }

    /// Bytes of the log that were read and not applied, when it was last looked at. What the primary has not written yet is
    /// not known here: the primary's [`lsn`](Logged::lsn) less [`lsn`](Self::lsn) says it.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert_eq!(standby.lag(), 0);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn lag(&self) -> u64 {
        // Relaxed: a figure.
        self.shared.seen.load(Ordering::Relaxed).saturating_sub(self.lsn())
    }

    /// Waits until the records up to that position are applied.
    ///
    /// # Errors
    /// Why it ended before that. If the reader ended there, [`RedoError::Ended`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// standby.wait_for(0)?; // at once
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn wait_for(&self, lsn: u64) -> Result<(), RedoError> {
        let mut ended = self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.lsn() >= lsn {
                return Ok(());
            }
            match &*ended {
                Some(Ok(())) => return Err(RedoError::Ended { lsn: self.lsn() }),
                Some(Err(error)) => return Err(error.clone()),
                None => {}
            }
            ended = self.shared.news.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether it still follows.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert!(standby.is_following());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn is_following(&self) -> bool {
        self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Stops following and waits for the thread; the map stays as it is.
    ///
    /// # Errors
    /// Why it had ended before.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let mut standby: Standby<u64, u64, lhash::Map> = Standby::follow(&path)?;
    /// standby.wait_for(primary.lsn())?;
    /// standby.stop()?;
    /// assert!(!standby.is_following());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn stop(&mut self) -> Result<(), RedoError> {
        // Relaxed: a hint to stop; the join orders the rest.
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It catches its panics.
            let _ = thread.join();
        }
        let ended = self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.clone().unwrap_or(Ok(()))
    }
}
