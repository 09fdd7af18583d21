//! A page cache in front of a file: several threads add to counters in more pages than there are frames. In the end every
//! addition is in the file, and every page has its checksum.
//!
//! What it shows: a page that is there is found and pinned without a lock; a victim is claimed by its `PinWord` before its page
//! is unmapped; and a page is *mapped before it is read*. The other way round, a thread could read a page while another
//! is still writing the newer version back, and map the old one afterwards.
//!
//! `cargo run --release -p latchfree-flatmap --example buffer_pool`

use flatmap::{FlatMap, InsertError, PinWord, Pinned};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

const PAGE: usize = 8192;
const PAGES: u64 = 4096;
const FRAMES: u32 = 512;
const THREADS: u64 = 4;
const ADDITIONS: u64 = 50_000;

/// A page: its checksum, its counter, and nothing else that matters.
struct Frame {
    page: Option<u64>,
    dirty: bool,
    bytes: Box<[u8; PAGE]>,
}

impl Frame {
    fn counter(&self) -> u64 {
        u64::from_le_bytes(self.bytes[8..16].try_into().expect("8 bytes"))
    }

    fn set_counter(&mut self, counter: u64) {
        self.bytes[8..16].copy_from_slice(&counter.to_le_bytes());
        self.dirty = true;
    }

    fn checksum(&self) -> [u8; 4] {
        crc32fast::hash(&self.bytes[4..]).to_le_bytes()
    }
}

struct Pool {
    file: File,
    /// Which frame has which page.
    table: FlatMap<u64>,
    pins: Vec<PinWord>,
    /// Whether a frame was used since the clock's hand passed it.
    used: Vec<AtomicBool>,
    frames: Vec<Mutex<Frame>>,
    hand: AtomicU32,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Pool {
    fn new(file: File) -> Self {
        let frame = |_| Mutex::new(Frame { page: None, dirty: false, bytes: Box::new([0; PAGE]) });
        Self {
            file,
            table: FlatMap::with_slots(FRAMES),
            pins: (0..FRAMES).map(|_| PinWord::new()).collect(),
            used: (0..FRAMES).map(|_| AtomicBool::new(false)).collect(),
            frames: (0..FRAMES).map(frame).collect(),
            hand: AtomicU32::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    fn frame(&self, slot: u32) -> MutexGuard<'_, Frame> {
        self.frames[slot as usize].lock().expect("no thread panics with a frame")
    }

    /// A page's frame, pinned: it stays that page's as long as the pin lives.
    fn pin(&self, page: u64) -> io::Result<(u32, Pinned<'_>)> {
        let mut counter = &self.hits;
        loop {
            if let Some((slot, pin)) = self.table.pin_with(&page, |slot| self.pins[slot as usize].pin()) {
                self.used[slot as usize].store(true, Relaxed);
                counter.fetch_add(1, Relaxed);
                return Ok((slot, pin));
            }
            counter = &self.misses;
            self.load(page)?;
        }
    }

    /// Brings a page into some frame, unless another thread does.
    fn load(&self, page: u64) -> io::Result<()> {
        let victim = self.claim_victim();
        let mut frame = self.frame(victim);
        let loaded = self.write_back(&mut frame).and_then(|()| {
            if let Some(old) = frame.page.take() {
                assert!(self.table.remove_if(&old, victim), "an evicted frame is ours");
            }
            match self.table.insert(page, victim) {
                Ok(()) => {
                    let read = self.read(page, &mut frame);
                    match &read {
                        Ok(()) => frame.page = Some(page),
                        Err(_) => assert!(self.table.remove_if(&page, victim), "it is still ours"),
                    }
                    read
                }
                // Another thread was faster, or is still writing it back: look again.
                Err(InsertError::KeyExists { .. }) => Ok(()),
                Err(error) => Err(io::Error::other(error)),
            }
        });
        drop(frame);
        self.pins[victim as usize].finish();
        loaded
    }

    /// The clock's hand passes frames that were used, and claims the first that was not and is not pinned.
    fn claim_victim(&self) -> u32 {
        loop {
            let slot = self.hand.fetch_add(1, Relaxed) % FRAMES;
            if !self.used[slot as usize].swap(false, Relaxed) && self.pins[slot as usize].try_evict() {
                return slot;
            }
        }
    }

    fn read(&self, page: u64, frame: &mut Frame) -> io::Result<()> {
        read_at(&self.file, &mut frame.bytes[..], page * PAGE as u64)?;
        let is_new = frame.bytes.iter().all(|&byte| byte == 0);
        if !is_new && frame.bytes[..4] != frame.checksum() {
            let what = format!("page {page} has the wrong checksum");
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        Ok(())
    }

    fn write_back(&self, frame: &mut Frame) -> io::Result<()> {
        if let Some(page) = frame.page.filter(|_| frame.dirty) {
            let checksum = frame.checksum();
            frame.bytes[..4].copy_from_slice(&checksum);
            write_at(&self.file, &frame.bytes[..], page * PAGE as u64)?;
            frame.dirty = false;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
        PAGE => Ok(()),
        _ => Err(ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
        PAGE => Ok(()),
        _ => Err(ErrorKind::WriteZero.into()),
    }
}

/// Adds 1 to the counters of pages drawn so that some are drawn often.
fn add(pool: &Pool, seed: u64) -> io::Result<()> {
    let mut random = seed * 2 + 1;
    for _ in 0..ADDITIONS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let page = (random >> 33) % PAGES * ((random >> 20) % 1024) / 1024;
        let (slot, _pin) = pool.pin(page)?;
        let mut frame = pool.frame(slot);
        assert_eq!(frame.page, Some(page), "a pinned frame keeps its page");
        let counter = frame.counter();
        frame.set_counter(counter + 1);
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("buffer_pool-{}.pages", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    let done = run(&file);
    std::fs::remove_file(&path)?;
    done
}

fn run(file: &File) -> io::Result<()> {
    file.set_len(PAGES * PAGE as u64)?;
    let pool = Pool::new(file.try_clone()?);
    let start = Instant::now();
    thread::scope(|s| {
        let threads: Vec<_> = (0..THREADS)
            .map(|seed| {
                s.spawn({
                    let pool = &pool;
                    move || add(pool, seed)
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    let took = start.elapsed();
    for slot in 0..FRAMES {
        pool.write_back(&mut pool.frame(slot))?;
    }
    let (hits, misses) = (pool.hits.into_inner(), pool.misses.into_inner());
    let stats = pool.table.stats();

    // The file alone, read through a pool that knows nothing.
    let again = Pool::new(file.try_clone()?);
    let mut total = 0;
    for page in 0..PAGES {
        let (slot, _pin) = again.pin(page)?;
        total += again.frame(slot).counter();
    }
    assert_eq!(total, THREADS * ADDITIONS, "no addition is lost");
    println!("{THREADS} threads added {total} times to {PAGES} pages through {FRAMES} frames in {took:.2?}");
    println!("{hits} pages were there, {misses} had to be read, and every checksum was right");
    println!(
        "of these lookups {} needed a second try and {} the lock: a hit waits for nobody",
        stats.retried, stats.fallbacks
    );
    Ok(())
}
