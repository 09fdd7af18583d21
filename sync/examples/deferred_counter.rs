//! Eight threads count things. A plain atomic is exact, and every count moves its cache line; a `DeferredCounter` leaves a
//! count pending where its lock is busy, by no more than it says, and loses none, also not that of a thread that has
//! ended. A counter in a thread-local that is told when the thread ends is what people write instead.
//!
//! What it shows: how far `approx` may be off, that `exact` is not, and how the time compares on this machine.
//!
//! `cargo run --release -p latchfree-sync --example deferred_counter`

use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use sync::{Counted, DeferredCounter, ShardedCounter};

const THREADS: i64 = 8;
const EACH: i64 = 500_000;

fn timed(count: impl Fn() + Sync) -> Duration {
    let start = Instant::now();
    thread::scope(|s| {
        for _ in 0..THREADS {
            s.spawn(|| (0..EACH).for_each(|_| count()));
        }
    });
    start.elapsed()
}

fn main() {
    let atomic = AtomicI64::new(0);
    let took = timed(|| _ = atomic.fetch_add(1, Ordering::Relaxed));
    println!("atomic:   {} in {took:.2?}", atomic.into_inner());

    let sharded = ShardedCounter::new();
    let took = timed(|| sharded.add(1));
    println!("sharded:  {} in {took:.2?}; reading it visits every shard", sharded.sum());

    let deferred = DeferredCounter::with_cap(32);
    let (told, left) = (AtomicI64::new(0), AtomicI64::new(0));
    let took = timed(|| {
        // The caller learns whether its count is in the total: the moment to compare that with a threshold.
        match deferred.add(1) {
            Counted::Later => _ = left.fetch_add(1, Ordering::Relaxed),
            Counted::Now(_total) => _ = told.fetch_add(1, Ordering::Relaxed),
        }
    });
    let (approx, exact) = (deferred.approx(), deferred.exact());
    println!(
        "deferred: {exact} in {took:.2?}; before it was asked exactly {approx}, at most {} off; {} counts in \
         the total at once, {} left pending",
        deferred.max_lag(),
        told.into_inner(),
        left.into_inner()
    );
    assert_eq!(exact, THREADS * EACH, "no count is lost");

    // Threads that count once and end: what is kept in thread-locals is told late, or never.
    let deferred = DeferredCounter::with_cap(32);
    for _ in 0..500 {
        thread::scope(|s| (0..4).for_each(|_| _ = s.spawn(|| deferred.add(1))));
    }
    println!("2000 threads that counted one thing each and ended: {}", deferred.exact());
    assert_eq!(deferred.exact(), 2000);
}
