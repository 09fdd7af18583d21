//! [`Standby`]: a map that follows the log of another one. Next: `following.rs`, what it is asked; `apply.rs`, what a record
//! does.

use super::base::Base;
use super::codec::Codec;
use super::error::RedoError;
use super::feed::{Fed, Feed};
use super::hasher::SeededHasher;
use super::logged::Logged;
use super::logger::Logger;
use super::options::{Kind, has_digests, logged};
use super::recover::Replay;
use crate::reclaim::Pin;
use core::fmt;
use core::hash::Hash;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use core::time::Duration;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How long the thread sleeps when the log has nothing new.
const NAP: Duration = Duration::from_millis(1);

/// How often a log is followed in vain while its primary makes snapshots.
const TRIES: u32 = 8;

/// So many records are applied under one pin.
const BATCH: u32 = 64;

/// A map that follows another one's log on a thread of its own and serves lookups and iteration meanwhile. It refuses
/// changes with [`RedoError::ReadOnly`].
///
/// It has what the primary had at [`lsn`](Self::lsn), bucket by bucket; its count is that of the records. If the log carries
/// digests ([`Options::verify`](super::Options::verify)), it compares every bucket that a record
/// changes, and ends with [`RedoError::Diverged`] at the first that differs.
///
/// ```
/// use lhash::redo::{LoggedMap, Options, Standby};
/// use lhash::Map;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("log");
/// let primary: LoggedMap<u64, String> = Options::new().create(&path)?;
/// let standby = Standby::<u64, String, Map>::follow(&path)?;
/// primary.pin().insert(1, "one".to_owned())?;
/// primary.flush()?;
/// standby.wait_for(primary.lsn())?;
/// assert_eq!(standby.pin().get(&1).map(String::as_str), Some("one"));
/// # Ok(())
/// # }
/// ```
pub struct Standby<K, V, M, S = super::SeededState> {
    pub(super) shared: Arc<Shared<K, V, M, S>>,
    pub(super) thread: Option<JoinHandle<()>>,
}

pub(super) struct Shared<K, V, M, S> {
    pub(super) map: Logged<K, V, M, S>,
    pub(super) lsn: AtomicU64,
    pub(super) records: AtomicU64,
    /// Entries that no record has counted yet.
    pub(super) behind: AtomicI64,
    /// The position up to which the log was read.
    pub(super) seen: AtomicU64,
    pub(super) stop: AtomicBool,
    /// How it ended.
    pub(super) ended: Mutex<Option<Result<(), RedoError>>>,
    pub(super) news: Condvar,
}

impl<K, V, M, S> Standby<K, V, M, S>
where
    K: Codec + Hash + Eq + Send + Sync + 'static,
    V: Codec + Send + Sync + 'static,
    M: Kind + 'static,
    S: SeededHasher + Send + Sync + 'static,
{
    /// Follows the log at `path` from its newest snapshot, or else its beginning, and goes on as it grows. If the primary makes
    /// snapshots, and this standby is so far behind that segments go which it has not read, it ends with
    /// [`RedoError::Pruned`].
    ///
    /// # Errors
    /// If there is no log of such a map, and as [`open`](super::open).
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
    /// assert_eq!(standby.pin().get(&1), Some(&2));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn follow(path: impl AsRef<Path>) -> Result<Self, RedoError> {
        let path = path.as_ref();
        for _ in 1..TRIES {
            match Self::try_follow(path) {
                // Found, and let go by the next snapshot before it was opened.
                Err(RedoError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
                Err(RedoError::Pruned { .. }) => {}
                started => return started,
            }
        }
        Self::try_follow(path)
    }

    fn try_follow(path: &Path) -> Result<Self, RedoError> {
        let base = Base::newest(path, u64::MAX)?;
        let feed = Feed::of_path(path, base.lsn())?;
        Self::start(base.map, base.replay, feed)
    }

    /// Follows what a reader gives, the bytes of a log from its beginning, to the reader's end. Waits for the header.
    ///
    /// # Errors
    /// If it is no log of such a map.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options, Standby};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let primary: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// primary.pin().insert(1, 2)?;
    /// primary.flush()?;
    /// let bytes = std::fs::File::open(path.join("0000000000000000.redo")).unwrap(); // or a socket
    /// let standby: Standby<u64, u64, lhash::Map> = Standby::follow_read(bytes)?;
    /// standby.wait_for(primary.lsn())?;
    /// assert_eq!(standby.len(), 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn follow_read(read: impl Read + Send + 'static) -> Result<Self, RedoError> {
        let feed = Feed::of_read(Box::new(read))?;
        let map = logged(feed.header(), None, Logger::reading(has_digests(feed.header())))?;
        Self::start(map, Replay::default(), feed)
    }

    fn start(map: Logged<K, V, M, S>, replay: Replay, feed: Feed) -> Result<Self, RedoError> {
        let shared = Arc::new(Shared {
            map,
            lsn: AtomicU64::new(feed.lsn()),
            records: AtomicU64::new(0),
            behind: AtomicI64::new(replay.behind),
            seen: AtomicU64::new(feed.lsn()),
            stop: AtomicBool::new(false),
            ended: Mutex::new(None),
            news: Condvar::new(),
        });
        let follower = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("lhash standby".to_owned());
        let thread = thread
            .spawn(move || follower.run(replay, feed))
            .map_err(|error| RedoError::io("start a thread", "", error))?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl<K, V, M, S> Shared<K, V, M, S>
where
    K: Codec + Hash + Eq + Send + Sync + 'static,
    V: Codec + Send + Sync + 'static,
    M: Kind,
    S: SeededHasher,
{
    fn run(&self, replay: Replay, mut feed: Feed) {
        let how = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| self.follow(replay, &mut feed)));
        let how = how.unwrap_or_else(|_| {
            // A key's or value's own code: what it left of the table is whole, but a record is missing.
            let lsn = self.lsn.load(Ordering::Relaxed); // Relaxed: this thread's own.
            Err(RedoError::Diverged { lsn, why: "the code of a key or value panicked".to_owned() })
        });
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        self.news.notify_all();
    }

    fn follow(&self, mut replay: Replay, feed: &mut Feed) -> Result<(), RedoError> {
        // Relaxed: a hint to stop.
        while !self.stop.load(Ordering::Relaxed) {
            let pin = Pin::new();
            for _ in 0..BATCH {
                match feed.poll()? {
                    Fed::Record(lsn, record) => {
                        replay.apply(&self.map, lsn, &record, &pin)?;
                        self.applied(lsn, replay.behind);
                    }
                    Fed::Nothing => {
                        drop(pin);
                        self.tell();
                        std::thread::sleep(NAP);
                        break;
                    }
                    Fed::Ended => return Ok(()),
                }
            }
            // Relaxed: a figure.
            self.seen.store(feed.seen(), Ordering::Relaxed);
            self.tell();
        }
        Ok(())
    }

    fn applied(&self, lsn: u64, behind: i64) {
        // Relaxed, all: figures; `tell` brings the position to those who wait for it.
        self.behind.store(behind, Ordering::Relaxed);
        self.records.store(self.records.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.lsn.store(lsn, Ordering::Relaxed);
    }

    /// Wakes those who wait for a position.
    fn tell(&self) {
        drop(self.ended.lock());
        self.news.notify_all();
    }
}

impl<K, V, M, S> Drop for Standby<K, V, M, S> {
    fn drop(&mut self) {
        // A reader that blocks would block us too: the thread ends by itself then.
        // Relaxed: a hint to stop.
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

impl<K, V, M, S> fmt::Debug for Standby<K, V, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standby").field("lsn", &self.lsn()).field("len", &self.len()).finish_non_exhaustive()
    }
}
