//! [`Standby`]: a map that follows the log of another one. Next: `apply.rs`, what a record does.

use super::codec::Codec;
use super::error::RedoError;
use super::feed::{Fed, Feed};
use super::hasher::SeededHasher;
use super::logged::{Logged, PinnedLogged};
use super::options::{Kind, has_digests, logged};
use super::recover::Replay;
use super::telling::Logger;
use crate::Stats;
use crate::reclaim::Pin;
use core::fmt;
use core::hash::Hash;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use core::time::Duration;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How long the thread sleeps when the log has nothing new.
const NAP: Duration = Duration::from_millis(1);

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
    shared: Arc<Shared<K, V, M, S>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<K, V, M, S> {
    map: Logged<K, V, M, S>,
    lsn: AtomicU64,
    records: AtomicU64,
    /// Entries that no record has counted yet.
    behind: AtomicI64,
    /// The position up to which the log was read.
    seen: AtomicU64,
    stop: AtomicBool,
    /// How it ended.
    ended: Mutex<Option<Result<(), RedoError>>>,
    news: Condvar,
}

impl<K, V, M, S> Standby<K, V, M, S>
where
    K: Codec + Hash + Eq + Send + Sync + 'static,
    V: Codec + Send + Sync + 'static,
    M: Kind + 'static,
    S: SeededHasher + Send + Sync + 'static,
{
    /// Follows the log at `path` from its beginning, and goes on as it grows.
    ///
    /// # Errors
    /// If there is no log of such a map.
    pub fn follow(path: impl AsRef<Path>) -> Result<Self, RedoError> {
        Self::start(Feed::of_path(path.as_ref())?)
    }

    /// Follows what a reader gives, the bytes of a log from its beginning, to the reader's end. Waits for the header.
    ///
    /// # Errors
    /// If it is no log of such a map.
    pub fn follow_read(read: impl Read + Send + 'static) -> Result<Self, RedoError> {
        Self::start(Feed::of_read(Box::new(read))?)
    }

    fn start(feed: Feed) -> Result<Self, RedoError> {
        let header = *feed.header();
        let map = logged(&header, Logger::reading(has_digests(&header)))?;
        let shared = Arc::new(Shared {
            map,
            lsn: AtomicU64::new(feed.lsn()),
            records: AtomicU64::new(0),
            behind: AtomicI64::new(0),
            seen: AtomicU64::new(feed.lsn()),
            stop: AtomicBool::new(false),
            ended: Mutex::new(None),
            news: Condvar::new(),
        });
        let follower = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("lhash standby".to_owned());
        let thread = thread
            .spawn(move || follower.run(feed))
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
    fn run(&self, mut feed: Feed) {
        let how = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| self.follow(&mut feed)));
        let how = how.unwrap_or_else(|_| {
            // A key's or value's own code: what it left of the table is whole, but a record is missing.
            let lsn = self.lsn.load(Ordering::Relaxed); // Relaxed: this thread's own.
            Err(RedoError::Diverged { lsn, why: "the code of a key or value panicked".to_owned() })
        });
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        self.news.notify_all();
    }

    fn follow(&self, feed: &mut Feed) -> Result<(), RedoError> {
        let mut replay = Replay::default();
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

impl<K, V, M, S> Standby<K, V, M, S> {
    /// Pins the map for this thread, to read; see [`LHashMap::pin`](crate::LHashMap::pin).
    pub fn pin(&self) -> PinnedLogged<'_, K, V, M, S> {
        self.shared.map.pin()
    }

    /// The map, to read.
    pub fn map(&self) -> &Logged<K, V, M, S> {
        &self.shared.map
    }

    /// The number of entries, also of those that no record has counted yet.
    pub fn len(&self) -> usize {
        usize::try_from(self.stats().ntuples).unwrap_or(usize::MAX)
    }

    /// Whether [`len`](Self::len) is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures of the table; `pending` is what no record has counted yet.
    pub fn stats(&self) -> Stats {
        // Relaxed: a figure.
        let behind = self.shared.behind.load(Ordering::Relaxed);
        let stats = self.shared.map.stats();
        Stats { ntuples: stats.ntuples.saturating_add_signed(behind), pending: behind, ..stats }
    }

    /// The position in the log after the last record that was applied, in bytes.
    pub fn lsn(&self) -> u64 {
        // Relaxed: a figure.
        self.shared.lsn.load(Ordering::Relaxed)
    }

    /// How many records were applied.
    pub fn records(&self) -> u64 {
        // Relaxed: a figure.
        self.shared.records.load(Ordering::Relaxed)
    }

    /// Bytes of the log that were read and not applied, when it was last looked at. What the primary has not written yet is
    /// not known here: the primary's [`lsn`](Logged::lsn) less [`lsn`](Self::lsn) says it.
    pub fn lag(&self) -> u64 {
        // Relaxed: a figure.
        self.shared.seen.load(Ordering::Relaxed).saturating_sub(self.lsn())
    }

    /// Waits until the records up to that position are applied.
    ///
    /// # Errors
    /// Why it ended before that. If the reader ended there, [`RedoError::Ended`].
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
    pub fn is_following(&self) -> bool {
        self.shared.ended.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Stops following and waits for the thread; the map stays as it is.
    ///
    /// # Errors
    /// Why it had ended before.
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
