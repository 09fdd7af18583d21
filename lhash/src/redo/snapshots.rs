//! Making a snapshot, and what may go then. Next: `snapshot.rs`, its file; `base.rs`, how a map begins from one.
//!
//! A crash at any step leaves a folder from which the map is rebuilt:
//! 1. all records before the position are on the disk;
//! 2. the file is written under a name that nobody looks for, and brought to the disk;
//! 3. it gets its name, and the folder is brought to the disk: from here on it counts;
//! 4. what is older is removed, segments before snapshots and the oldest first: so what is left of them begins later, and
//!    has no hole.

use super::base::Base;
use super::calls::{Call, Faults, ask};
use super::codec::Codec;
use super::error::RedoError;
use super::files::{segments, sync_dir};
use super::hasher::SeededHasher;
use super::logged::Logged;
use super::options::Kind;
use super::snapshot::{Row, Writing};
use crate::reclaim::Pin;
use core::hash::Hash;
use std::fs;
use std::path::{Path, PathBuf};

/// So many buckets are written under one pin.
const BATCH: u32 = 64;

const NAME: &str = "snapshot-";
const UNFINISHED: &str = ".tmp";

/// What [`Logged::snapshot`] has done.
///
/// ```
/// use lhash::redo::{LoggedMap, Options, Snapshot};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// let snapshot: Snapshot = map.snapshot()?;
/// assert_eq!((snapshot.lsn, snapshot.entries), (map.lsn(), 1));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The position in the log, in bytes: it has what the records before it say, and nothing else.
    pub lsn: u64,
    /// The entries in it.
    pub entries: u64,
    /// The bytes of its file.
    pub bytes: u64,
    /// Segments of the log that were removed.
    pub segments_removed: u64,
}

fn path_of(dir: &Path, lsn: u64) -> PathBuf {
    dir.join(format!("{NAME}{lsn:016x}"))
}

fn named(dir: &Path, read: impl Fn(&str) -> Option<u64>) -> Result<Vec<(u64, PathBuf)>, RedoError> {
    let failed = |error| RedoError::io("list the snapshots of the log", dir, error);
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(NAME));
        if let Some(lsn) = name.and_then(&read) {
            all.push((lsn, path));
        }
    }
    all.sort_unstable();
    Ok(all)
}

fn position(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 16)
}

/// The snapshots of a folder by their positions.
pub(crate) fn all(dir: &Path) -> Result<Vec<(u64, PathBuf)>, RedoError> {
    named(dir, position)
}

/// Removes what snapshots have left that were not finished. For the one that writes to the folder.
pub(crate) fn remove_unfinished(dir: &Path, faults: Option<&dyn Faults>) -> Result<(), RedoError> {
    let unfinished = named(dir, |name| name.strip_suffix(UNFINISHED).and_then(position))?;
    unfinished.iter().try_for_each(|(_, path)| remove(path, faults))
}

fn remove(path: &Path, faults: Option<&dyn Faults>) -> Result<(), RedoError> {
    let done = ask(faults, Call::Remove).and_then(|()| fs::remove_file(path));
    done.map_err(|error| RedoError::io("remove what a snapshot has made needless", path, error))
}

impl<K, V, M, S> Logged<K, V, M, S>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    M: Kind,
    S: SeededHasher,
{
    /// Writes a snapshot: the map as it is at one position of the log, beside the log; and removes the segments that lie
    /// before that position, and older snapshots. [`open`](super::open) and [`Standby::follow`](super::Standby::follow) begin
    /// with the newest one.
    ///
    /// The map is not looked at: it is rebuilt, from the last snapshot and the log since then, on the calling thread. So others
    /// read and write meanwhile, and wait for this call nowhere but in its [`flush`](Logged::flush), as in anybody's. It takes time
    /// as recovery does, and memory for a second copy of the map and one segment while it runs. If records come faster than one
    /// thread applies them, each call takes longer than the last. Of several calls at a time, one runs after the other.
    ///
    /// # Errors
    /// If the log can't be written or read, or is damaged; if the snapshot can't be written: then the last one and the log are as
    /// they were; and if what is needless can't be removed. In all but the first case the map takes changes as before, and
    /// the next call tries anew. [`RedoError::ReadOnly`] for a standby's map.
    ///
    /// # Panics
    /// If there is no memory, and as the code of keys and values does.
    ///
    /// ```
    /// use lhash::redo::{self, LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// let snapshot = map.snapshot()?; // now and then, as from a thread of its own
    /// map.pin().insert(3, 4)?;
    /// drop(map);
    /// let (map, recovery): (LoggedMap<u64, u64>, _) = redo::open(&path)?;
    /// assert_eq!((recovery.snapshot, recovery.records, map.len()), (Some(snapshot.lsn), 1, 2));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn snapshot(&self) -> Result<Snapshot, RedoError> {
        let log = self.logger.log()?;
        let _one_at_a_time = log.snapshots();
        let lsn = log.end();
        log.flush(lsn)?;
        let base = Base::<K, V, M, S>::at(log.dir(), lsn)?;
        let (faults, dir) = (log.faults(), log.dir());
        let faults = faults.as_deref();
        let (entries, bytes) = if base.snapshot == Some(lsn) {
            let bytes = fs::metadata(path_of(dir, lsn));
            let failed = |error| RedoError::io("look at a snapshot", path_of(dir, lsn), error);
            (base.entries(), bytes.map_err(failed)?.len())
        } else {
            write(dir, lsn, &base, faults)?
        };
        drop(base);
        let segments_removed = prune(dir, lsn, faults)?;
        Ok(Snapshot { lsn, entries, bytes, segments_removed })
    }
}

/// Writes a snapshot and gives it its name.
fn write<K, V, M, S>(
    dir: &Path,
    lsn: u64,
    base: &Base<K, V, M, S>,
    faults: Option<&dyn Faults>,
) -> Result<(u64, u64), RedoError>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    M: Kind,
    S: SeededHasher,
{
    let path = path_of(dir, lsn);
    let unfinished = dir.join(format!("{NAME}{lsn:016x}{UNFINISHED}"));
    let mut file = Writing::new(&unfinished, faults)?;
    file.begin(&base.header(lsn), base.state())?;
    let (mut key, mut value, mut pin) = (Vec::new(), Vec::new(), Pin::new());
    for number in 0..=base.state().max_bucket {
        let mut done = Ok(());
        base.map.table.for_each_at_rest(number, &pin, |hash, entry| {
            key.clear();
            value.clear();
            entry.key.encode(&mut key);
            entry.value.value.encode(&mut value);
            if done.is_ok() {
                done = file.row(Row { hash, key: &key, value: &value });
            }
        });
        done?;
        if number % BATCH == 0 {
            // Others' maps reuse their memory meanwhile.
            pin.repin();
        }
    }
    drop(pin);
    let written = file.end()?;
    let named = ask(faults, Call::Rename).and_then(|()| fs::rename(&unfinished, &path));
    named.map_err(|error| RedoError::io("give a snapshot its name", &path, error))?;
    sync(dir, faults)?;
    Ok(written)
}

/// Removes what lies before a snapshot. Returns how many segments.
fn prune(dir: &Path, lsn: u64, faults: Option<&dyn Faults>) -> Result<u64, RedoError> {
    let mut removed = 0;
    // One whose successor begins before the position. So there is a whole segment before it still, whatever becomes of
    // one that is just being made.
    for pair in segments(dir)?.windows(2) {
        if pair[1].0 < lsn {
            remove(&pair[0].1, faults)?;
            removed += 1;
        }
    }
    for (_, path) in all(dir)?.iter().filter(|(at, _)| *at < lsn) {
        remove(path, faults)?;
    }
    remove_unfinished(dir, faults)?;
    sync(dir, faults)?;
    Ok(removed)
}

fn sync(dir: &Path, faults: Option<&dyn Faults>) -> Result<(), RedoError> {
    ask(faults, Call::Sync).map_err(|error| RedoError::io("bring the folder to the disk", dir, error))?;
    sync_dir(dir)
}
