//! A table grows from 10,000 slots to a million and back, while another thread looks keys up and times each lookup.
//!
//! What it shows: no lookup waits for the whole; buckets are split and merged one at a time, and the memory goes back. The
//! times printed are this run's on this machine, with the time to read the clock in them.
//!
//! `cargo run --release -p latchfree-flatmap --example resize_online`

use flatmap::{FlatMap, ResizeError};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const FEW: u32 = 10_000;
const MANY: u32 = 1_000_000;

/// Times of lookups.
struct Times(Vec<Duration>);

impl Times {
    fn print(&mut self, what: &str) {
        self.0.sort_unstable();
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize];
        let (count, p50, p99, p999, max) = (self.0.len(), at(0.5), at(0.99), at(0.999), at(1.0));
        println!("  {count} lookups {what}: p50 {p50:?}, p99 {p99:?}, p99.9 {p999:?}, slowest {max:?}");
    }
}

/// Looks keys up that are there all the time, and one that never is, until told to stop.
fn look(table: &FlatMap<u64>, stop: &AtomicBool) -> Times {
    let mut times = Vec::new();
    let mut key = 0;
    while !stop.load(Relaxed) || times.is_empty() {
        key = (key + 7919) % u64::from(FEW);
        let start = Instant::now();
        let (found, missed) = (table.get(&key), table.get(&u64::MAX));
        times.push(start.elapsed());
        assert_eq!((found, missed), (Some(key as u32), None), "a key that is there throughout is found");
    }
    Times(times)
}

/// Does `work` beside a thread that looks keys up.
fn beside_lookups(
    table: &FlatMap<u64>,
    what: &str,
    work: impl FnOnce() -> Result<(), ResizeError>,
) -> Result<(), ResizeError> {
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    thread::scope(|s| {
        let reader = s.spawn(|| look(table, &stop));
        let done = work();
        let took = start.elapsed();
        stop.store(true, Relaxed);
        let mut times = reader.join().expect("every lookup was right");
        println!(
            "{what} in {took:.2?}: {} slots, {} buckets, {} keys",
            table.slots(),
            table.buckets(),
            table.len()
        );
        times.print("meanwhile");
        done
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table: FlatMap<u64> = FlatMap::builder().slots(FEW).max_slots(MANY).build()?;
    for slot in 0..FEW {
        table.insert(u64::from(slot), slot)?;
    }
    println!("{} bytes, and addresses for {MANY} slots that cost nothing yet", table.memory_bytes());
    beside_lookups(&table, "nothing was done", || {
        thread::sleep(Duration::from_millis(200));
        Ok(())
    })?;
    beside_lookups(&table, "grew", || {
        table.set_slots(MANY)?;
        for slot in FEW..MANY {
            table.insert(u64::from(slot), slot).expect("new slots are free");
        }
        while table.maintain(1000)? > 0 {}
        Ok(())
    })?;
    if let Err(error) = table.set_slots(FEW) {
        println!("not yet: {error}");
    }
    beside_lookups(&table, "shrank", || {
        for slot in FEW..MANY {
            table.remove_slot(slot);
        }
        table.set_slots(FEW)?;
        while table.maintain(1000)? > 0 {}
        Ok(())
    })?;
    let stats = table.stats();
    println!(
        "{} splits and {} merges; {} lookups needed a second try, {} the lock of a partition",
        stats.splits, stats.merges, stats.retried, stats.fallbacks
    );
    Ok(())
}
