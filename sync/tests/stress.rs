//! Sixteen threads use every operation of one lock at once. Each test proves that the threads were in each
//! other's way, and none takes the clock for a verdict: only a hang fails.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

#[path = "common/rng.rs"]
mod rng;
#[path = "common/watchdog.rs"]
mod watchdog;

use rng::{Rng, seed};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use sync::{LwLock, WriteGuard};
use watchdog::watch;

/// Two numbers that a section changes one after the other, by plain loads and stores: whoever sees them
/// differ, or loses a count, was not alone.
#[derive(Default)]
struct Pair(AtomicU64, AtomicU64);

impl Pair {
    fn see(&self) -> u64 {
        let one = self.0.load(Ordering::Relaxed);
        assert_eq!(self.1.load(Ordering::Relaxed), one, "a writer is inside");
        one
    }

    fn change(&self, rng: &mut Rng) {
        let before = self.see();
        self.0.store(before + 1, Ordering::Relaxed);
        linger(rng);
        self.1.store(before + 1, Ordering::Relaxed);
    }
}

/// Now and then, lets other threads run while the caller holds the lock.
fn linger(rng: &mut Rng) {
    if rng.below(8) == 0 {
        thread::yield_now();
    }
}

/// What the threads met.
#[derive(Debug, Default)]
struct Met {
    /// Exclusive sections: the pair must have this value in the end.
    writes: AtomicU64,
    reads: AtomicU64,
    /// Tries that found the lock held.
    failed_tries: AtomicU64,
    /// Timed tries that gave up, and those that had to wait and got the lock.
    timeouts: AtomicU64,
    late_successes: AtomicU64,
    /// `write_or_wait` that waited.
    spared: AtomicU64,
    /// Acquires that found the lock held.
    waits: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn some_time(rng: &mut Rng) -> Duration {
    Duration::from_nanos(1 << rng.below(22))
}

fn read_somehow(lock: &LwLock<Pair>, met: &Met, rng: &mut Rng) {
    let guard = match rng.below(4) {
        0 => lock.try_read(),
        1 => {
            let held = lock.is_write_locked();
            let guard = lock.try_read_for(some_time(rng));
            match &guard {
                Some(_) if held => count(&met.late_successes),
                Some(_) => {}
                None => count(&met.timeouts),
            }
            guard
        }
        _ => {
            if lock.is_write_locked() {
                count(&met.waits);
            }
            Some(lock.read())
        }
    };
    let Some(guard) = guard else { return count(&met.failed_tries) };
    let before = guard.see();
    linger(rng);
    assert_eq!(guard.see(), before, "a writer got in");
    count(&met.reads);
}

fn write_somehow<'a>(lock: &'a LwLock<Pair>, met: &Met, rng: &mut Rng) -> Option<WriteGuard<'a, Pair>> {
    let held = lock.is_locked();
    match rng.below(6) {
        0 => lock.try_write().or_else(|| {
            count(&met.failed_tries);
            None
        }),
        1 => {
            let guard = lock.try_write_for(some_time(rng));
            match &guard {
                Some(_) if held => count(&met.late_successes),
                Some(_) => {}
                None => count(&met.timeouts),
            }
            guard
        }
        2 | 3 => lock.write_or_wait().or_else(|| {
            count(&met.spared);
            None
        }),
        _ => {
            if held {
                count(&met.waits);
            }
            Some(lock.write())
        }
    }
}

fn mixed_work(lock: &LwLock<Pair>, met: &Met, seed: u64, steps: u32) {
    let mut rng = Rng::new(seed);
    for _ in 0..steps {
        if rng.below(2) == 0 {
            read_somehow(lock, met, &mut rng);
        } else if let Some(guard) = write_somehow(lock, met, &mut rng) {
            guard.change(&mut rng);
            count(&met.writes);
            if rng.below(3) == 0 {
                let before = guard.see();
                let guard = guard.downgrade();
                linger(&mut rng);
                assert_eq!(guard.see(), before, "a writer got in after the downgrade");
            }
        }
    }
}

#[test]
fn all_operations_at_once_exclude_each_other_and_forget_nobody() {
    let _dog = watch("all operations at once");
    let seed = seed();
    let (lock, met) = (LwLock::new(Pair::default()), Met::default());
    thread::scope(|s| {
        for i in 0..16 {
            let (lock, met) = (&lock, &met);
            s.spawn(move || mixed_work(lock, met, seed + i, 1000));
        }
    });
    println!("{met:#?}");
    assert!(!lock.is_locked(), "somebody holds the lock still");
    assert_eq!(lock.try_write().expect("the lock is free").see(), met.writes.into_inner());
    for met in [met.reads, met.failed_tries, met.timeouts, met.late_successes, met.spared, met.waits] {
        assert!(met.into_inner() > 0, "the threads were not in each other's way");
    }
}

/// Readers that relieve each other: one leaves when the next has come, so the lock is never free of them,
/// unless somebody keeps the next one out.
fn relay(lock: &LwLock<Pair>, inside: &AtomicU32, overlaps: &AtomicU64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let _guard = lock.read();
        inside.fetch_add(1, Ordering::Relaxed);
        let came = Instant::now();
        while inside.load(Ordering::Relaxed) == 1 && came.elapsed() < Duration::from_millis(20) {
            thread::yield_now();
        }
        let before = inside.fetch_sub(1, Ordering::Relaxed);
        overlaps.fetch_add(u64::from(before > 1), Ordering::Relaxed);
    }
}

#[test]
fn readers_that_never_all_leave_do_not_starve_a_writer() {
    let _dog = watch("a writer among overlapping readers");
    let (lock, inside, overlaps) = (LwLock::new(Pair::default()), AtomicU32::new(0), AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let mut waits = 0;
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| relay(&lock, &inside, &overlaps, &stop));
        }
        let mut rng = Rng::new(1);
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(1));
            waits += u32::from(lock.is_locked());
            lock.write().change(&mut rng);
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("the writer came into {waits} of 20 holds; {overlaps:?} readers were relieved");
    assert!(waits > 0, "the writer never had to wait");
    assert!(overlaps.into_inner() > 20, "the readers did not overlap");
}

/// Comes in `acquires` times, each time while one of `others` threads that write without end is inside.
fn come_in_among_writers(others: u64, acquires: u32, acquire: fn(&LwLock<Pair>) -> u64) {
    let (lock, stop) = (LwLock::new(Pair::default()), AtomicBool::new(false));
    let mut longest = Duration::ZERO;
    let write_on = |seed| {
        let mut rng = Rng::new(seed);
        while !stop.load(Ordering::Relaxed) {
            lock.write().change(&mut rng);
        }
    };
    let write_on = &write_on;
    thread::scope(|s| {
        (0..others).for_each(|i| _ = s.spawn(move || write_on(i)));
        for _ in 0..acquires {
            while !lock.is_write_locked() {
                thread::yield_now();
            }
            let asked = Instant::now();
            acquire(&lock);
            longest = longest.max(asked.elapsed());
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("{acquires} acquires among {others} writers: the longest took {longest:?}");
}

#[test]
fn a_stream_of_writers_starves_nobody() {
    let _dog = watch("a stream of writers");
    let read = |lock: &LwLock<Pair>| lock.read().see();
    let write = |lock: &LwLock<Pair>| lock.write().see();
    let timed = |lock: &LwLock<Pair>| lock.try_read_for(Duration::MAX).map_or(0, |guard| guard.see());
    for (others, acquires) in [(2, 100), (15, 30)] {
        for acquire in [read, write, timed] {
            come_in_among_writers(others, acquires, acquire);
        }
    }
}

#[test]
fn a_long_hold_with_a_long_queue_ends_well() {
    let _dog = watch("a long hold");
    let lock = LwLock::new(Pair::default());
    let done = AtomicU64::new(0);
    thread::scope(|s| {
        let guard = lock.write();
        for i in 0..64 {
            let (lock, done) = (&lock, &done);
            s.spawn(move || {
                let mut rng = Rng::new(i);
                match i % 3 {
                    0 => lock.write().change(&mut rng),
                    1 => _ = lock.read().see(),
                    _ => _ = lock.try_write_for(Duration::from_millis(i)).is_some(),
                }
                count(done);
            });
        }
        thread::sleep(Duration::from_millis(100));
        drop(guard);
    });
    assert_eq!(done.into_inner(), 64);
    assert_eq!(lock.try_write().expect("the lock is free").see(), 22);
}
