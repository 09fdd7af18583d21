//! A log that 16 threads write records to, on a real file: each wants its record on disk before it goes on. First each
//! flushes for itself; then one leader flushes for all who wait meanwhile.
//!
//! What it shows: `LwLock::write_or_wait`. Who gets the lock is the leader: it takes all that is in the buffer, writes it and
//! flushes the file once. Who doesn't get it waits until the leader is done, and then mostly finds its record on disk.
//!
//! `cargo run --release -p latchfree-sync --example group_commit`

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;
use sync::LwLock;

const THREADS: u64 = 16;
const RECORDS: u64 = 50;

/// A log whose records are lines.
struct Log {
    /// What is not written yet, and how many records there are with it.
    buffer: Mutex<(Vec<u8>, u64)>,
    /// Held by the one that writes and flushes.
    file: LwLock<File>,
    /// So many records are on disk. Release and acquire: who reads it may rely on the file.
    flushed: AtomicU64,
    flushes: AtomicU64,
}

impl Log {
    fn new(file: File) -> Self {
        let (flushed, flushes) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { buffer: Mutex::default(), file: LwLock::new(file), flushed, flushes }
    }

    /// Adds a record; returns how many there are with it.
    fn append(&self, record: &str) -> u64 {
        let mut buffer = self.buffer.lock().expect("no thread panics with it");
        buffer.0.extend_from_slice(record.as_bytes());
        buffer.1 += 1;
        buffer.1
    }

    /// Writes and flushes what is in the buffer now.
    fn flush(&self, file: &mut File) -> io::Result<()> {
        let (bytes, upto) = {
            let mut buffer = self.buffer.lock().expect("no thread panics with it");
            (std::mem::take(&mut buffer.0), buffer.1)
        };
        file.write_all(&bytes)?;
        file.sync_data()?;
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.flushed.store(upto, Ordering::Release);
        Ok(())
    }

    /// Returns once the first `upto` records are on disk. One thread flushes for all.
    fn commit(&self, upto: u64) -> io::Result<()> {
        while self.flushed.load(Ordering::Acquire) < upto {
            // None: another thread had the file, and is done.
            if let Some(mut file) = self.file.write_or_wait() {
                if self.flushed.load(Ordering::Acquire) < upto {
                    self.flush(&mut file)?;
                }
            }
        }
        Ok(())
    }

    /// As `commit`, in the naive way: one flush a record.
    fn commit_alone(&self, _: u64) -> io::Result<()> {
        self.flush(&mut self.file.write())
    }
}

fn measure(what: &str, commit: fn(&Log, u64) -> io::Result<()>) -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("group_commit-{}.log", std::process::id()));
    let log = Log::new(OpenOptions::new().append(true).create_new(true).open(&path)?);
    let start = Instant::now();
    thread::scope(|s| {
        let write = |thread| {
            let log = &log;
            move || (0..RECORDS).try_for_each(|n| commit(log, log.append(&format!("{thread} {n}\n"))))
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| s.spawn(write(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    let took = start.elapsed();

    let lines = std::fs::read_to_string(&path)?;
    std::fs::remove_file(&path)?;
    for thread in 0..THREADS {
        let own = lines.lines().filter_map(|line| line.strip_prefix(&format!("{thread} ")));
        let own: Vec<u64> = own.filter_map(|n| n.parse().ok()).collect();
        assert_eq!(own, (0..RECORDS).collect::<Vec<_>>(), "all records of a thread, in their order");
    }
    let (records, flushes) = (THREADS * RECORDS, log.flushes.into_inner());
    let rate = records as f64 / took.as_secs_f64();
    println!("{what}: {records} records in {took:.2?}, {rate:.0} a second, {flushes} flushes");
    Ok(())
}

fn main() -> io::Result<()> {
    println!("{THREADS} threads, each of whose records must be on disk before it writes the next one");
    measure("each flushes for itself", Log::commit_alone)?;
    measure("one flushes for all     ", Log::commit)
}
