//! Locks: two words that are equal whenever the lock is free, or shared, or read in one piece.

use super::{Subject, Work, ensure};
use std::time::Duration;
use sync::{LwLock, Progress, ProgressLock, SeqLock};

type Pair = (u64, u64);

/// One of each.
pub(crate) struct Locks {
    plain: LwLock<Pair>,
    progress: ProgressLock<Pair>,
    seq: SeqLock<[u64; 4]>,
}

const BATCH: u64 = 64;

fn whole(what: &str, pair: Pair) -> Result<(), String> {
    ensure(pair.0 == pair.1, || format!("{what} shows {pair:?}"))
}

fn add_one(what: &str, pair: &mut Pair) -> Result<(), String> {
    whole(what, *pair)?;
    pair.0 += 1;
    std::hint::spin_loop();
    pair.1 += 1;
    Ok(())
}

impl Locks {
    pub(crate) fn new() -> Self {
        Self { plain: LwLock::new((0, 0)), progress: ProgressLock::new((0, 0)), seq: SeqLock::new([0; 4]) }
    }

    fn use_plain(&self, what: u8, time: Duration) -> Result<(), String> {
        let lock = &self.plain;
        match what {
            0 => add_one("write", &mut lock.write()),
            1 => lock.try_write().map_or(Ok(()), |mut pair| add_one("try_write", &mut pair)),
            2 => lock.try_write_for(time).map_or(Ok(()), |mut pair| add_one("try_write_for", &mut pair)),
            3 => lock.write_or_wait().map_or(Ok(()), |mut pair| add_one("write_or_wait", &mut pair)),
            4 => {
                let mut pair = lock.write();
                add_one("write", &mut pair)?;
                let written = *pair;
                let pair = pair.downgrade();
                ensure(*pair == written, || format!("a downgrade let a writer in: {written:?} {:?}", *pair))
            }
            5 => lock.try_read_for(time).map_or(Ok(()), |pair| whole("try_read_for", *pair)),
            _ => whole("read", *lock.read()),
        }
    }

    fn use_progress(&self, what: u8) -> Result<(), String> {
        let lock = &self.progress;
        match what {
            0 => {
                let mut guard = lock.write();
                let before = lock.progress();
                add_one("a progress lock", &mut guard)?;
                guard.set_progress(before + 1);
                ensure(lock.progress() == before + 1, || "another has published".to_owned())
            }
            1 => {
                let before = lock.progress();
                match lock.wait_past(before) {
                    Progress::Released => Ok(()),
                    Progress::Changed(now) => ensure(now > before, || format!("from {before} to {now}")),
                }
            }
            _ => whole("a progress lock", *lock.read()),
        }
    }

    fn use_seq(&self, what: u8) -> Result<(), String> {
        match what {
            0 => {
                let mut words = self.seq.write();
                let next = words[0] + 1;
                *words = [next; 4];
                Ok(())
            }
            1 => self.seq.try_read().map_or(Ok(()), equal),
            _ => equal(self.seq.read()),
        }
    }
}

fn equal(words: [u64; 4]) -> Result<(), String> {
    ensure(words == [words[0]; 4], || format!("a torn value: {words:?}"))
}

impl Subject for Locks {
    fn name(&self) -> &str {
        "locks"
    }

    fn churn(&self, work: Work<'_>) -> Result<u64, String> {
        for _ in 0..BATCH {
            let time = Duration::from_micros(work.rng.u64(0..20));
            self.use_plain(work.rng.u8(0..16), time)?;
            self.use_progress(work.rng.u8(0..8))?;
            self.use_seq(work.rng.u8(0..8))?;
        }
        Ok(3 * BATCH)
    }

    fn look(&self) -> Result<(), String> {
        whole("read", *self.plain.read())?;
        equal(self.seq.read())
    }

    fn check(&self) -> Result<(), String> {
        let is_free = !self.plain.is_locked() && self.progress.try_write().is_some();
        ensure(is_free && self.seq.try_write().is_some(), || "a lock is held".to_owned())
    }
}
