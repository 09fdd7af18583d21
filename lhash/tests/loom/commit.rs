//! The group commit of the redo log: the leader writes and syncs for all who wait, and the next one leads after it.

use super::*;
use lhash::internals::Commit;
use sync::prim::atomic::AtomicU64;

/// A log without bytes: positions alone.
struct Log {
    /// The position after the last place that was taken.
    placed: AtomicU64,
    /// The position up to which all is on the disk. Relaxed: it must not help.
    synced: AtomicU64,
    commit: Commit<Disk, &'static str>,
    /// The number of the sync that fails.
    fails_at: u32,
}

/// What the leader alone touches.
#[derive(Debug, Default)]
struct Disk {
    written: u64,
    syncs: u32,
    has_failed: bool,
}

impl Log {
    fn new(fails_at: u32) -> Arc<Self> {
        let (placed, synced) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { placed, synced, commit: Commit::new(Disk::default()), fails_at })
    }

    fn write(&self, disk: &mut Disk) -> Result<u64, &'static str> {
        assert!(!disk.has_failed, "something is written after a failure");
        // At least the leader's own place.
        disk.written = self.placed.load(Ordering::Relaxed);
        Ok(disk.written)
    }

    fn sync(&self, disk: &mut Disk) -> Result<(), &'static str> {
        assert!(!disk.has_failed, "a failed sync is tried again");
        disk.syncs += 1;
        if disk.syncs == self.fails_at {
            disk.has_failed = true;
            return Err("no space left");
        }
        self.synced.store(disk.written, Ordering::Relaxed);
        Ok(())
    }

    /// Takes a place and waits until it is on the disk. Whether it is.
    fn put(&self) -> bool {
        let lsn = self.placed.fetch_add(1, Ordering::Relaxed) + 1;
        let done = self.commit.flush(lsn, |disk| self.write(disk), |disk| self.sync(disk));
        match done {
            Ok(()) => assert!(self.synced.load(Ordering::Relaxed) >= lsn, "{lsn} is not on the disk"),
            Err(error) => assert_eq!((error, self.fails_at > 0), ("no space left", true)),
        }
        done.is_ok()
    }

    /// Puts so many at a time. How many were told that theirs is on the disk.
    fn crowd(self: &Arc<Self>, threads: usize) -> usize {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let log = Arc::clone(self);
                spawn(move || log.put())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&done| done).count()
    }

    /// How often the disk was asked. Once nobody waits.
    fn syncs(&self) -> u32 {
        let syncs = core::cell::Cell::new(0);
        // What was not placed is never on the disk: the leader says how often it was asked, and gives up.
        let refused = self.commit.flush(
            u64::MAX,
            |disk| {
                syncs.set(disk.syncs);
                Err("asked enough")
            },
            |_| Ok(()),
        );
        assert_eq!(refused, Err("asked enough"));
        syncs.get()
    }
}

#[test]
fn whoever_waits_is_told_once_it_is_on_the_disk() {
    model_within(2, &["1 syncs", "2 syncs", "3 syncs"], || {
        let log = Log::new(0);
        assert_eq!(log.crowd(3), 3);
        format!("{} syncs", log.syncs())
    });
}

#[test]
fn a_failure_is_told_to_all_whom_it_covers() {
    model(&["0 of 2"], || {
        let log = Log::new(1);
        format!("{} of 2", log.crowd(2))
    });
}

#[test]
fn what_was_on_the_disk_before_a_failure_is_told_as_such() {
    model_within(2, &["1 of 3", "2 of 3", "3 of 3"], || {
        let log = Log::new(2);
        format!("{} of 3", log.crowd(3))
    });
}
