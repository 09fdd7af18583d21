//! Threads that start together, and if need be stop together; and what one thread does alone. Each keeps to a core of
//! its own, where there are enough and the system allows.
//!
//! Next: `crew/pin.rs`.

mod pin;

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use parking_lot::{Mutex, RwLock};

pub use pin::Pinned;

/// How many cheap operations a thread does between two looks at [`Stop`].
const BATCH: u64 = 64;

/// How many cheap operations of one thread are timed as one: much longer than a look at the clock, much
/// shorter than a turn that the scheduler gives to somebody else.
const CHUNK: u64 = 4096;

/// Runs `work` on so many threads, which begin when all are there, and `meanwhile` here; returns what the
/// threads came to, in their order.
///
/// # Errors
///
/// What the system says if it has no more threads; then no work is begun.
pub fn run<R: Send>(
    threads: u32,
    work: impl Fn(u32) -> R + Sync,
    meanwhile: impl FnOnce(),
) -> io::Result<Vec<R>> {
    let start = StartLine::default();
    thread::scope(|scope| {
        let mut may_start = start.may_start.write();
        let spawn = |thread| {
            let (start, work) = (&start, &work);
            thread::Builder::new().spawn_scoped(scope, move || {
                let _pinned = Pinned::to(thread, threads);
                start.wait().then(|| work(thread))
            })
        };
        let crew = (0..threads).map(spawn).collect::<io::Result<Vec<_>>>()?;
        start.wait_for(threads);
        *may_start = true;
        drop(may_start);
        meanwhile();
        let join =
            |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(crew.into_iter().filter_map(join).collect())
    })
}

/// The same, and gives each thread a part of its own.
///
/// # Errors
///
/// What the system says if it has no more threads; then no work is begun.
pub fn run_each<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(u32, P) -> R + Sync) -> io::Result<Vec<R>> {
    let parts: Vec<Mutex<Option<P>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let one_thread = |thread: u32| {
        let part = parts.get(thread as usize).and_then(|part| part.lock().take());
        part.map(|part| work(thread, part))
    };
    Ok(run(parts.len() as u32, one_thread, || ())?.into_iter().flatten().collect())
}

/// Where the threads wait until all are there. Unlike a barrier it lets them go if not all could be made.
#[derive(Debug, Default)]
struct StartLine {
    arrived: AtomicU32,
    /// Locked until the threads may go; false if they are to go home.
    may_start: RwLock<bool>,
}

impl StartLine {
    fn wait_for(&self, threads: u32) {
        while self.arrived.load(Relaxed) < threads {
            thread::yield_now();
        }
    }

    fn wait(&self) -> bool {
        self.arrived.fetch_add(1, Relaxed);
        *self.may_start.read()
    }
}

/// Tells the threads of a shift that it is over.
#[derive(Debug, Default)]
pub struct Stop {
    asked: CachePadded<AtomicBool>,
}

impl Stop {
    /// Is it over?
    #[inline]
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Relaxed)
    }

    /// Repeats a cheap operation until the shift is over; returns how often.
    #[inline]
    pub fn repeat_until_asked(&self, mut operation: impl FnMut()) -> u64 {
        let mut count = 0;
        loop {
            for _ in 0..BATCH {
                operation();
            }
            count += BATCH;
            if self.is_asked() {
                return count;
            }
        }
    }
}

/// What one thread did alone.
#[derive(Debug)]
pub struct Alone {
    /// How many operations are a chunk.
    pub chunk: u64,
    /// How long the median chunk took: what the scheduler gives to others is in a few chunks, not in this.
    pub chunk_ns: u64,
    /// How many operations there were in all.
    pub operations: u64,
}

/// Repeats a cheap operation on this thread for about `slice`, and times it by the chunk.
pub fn alone(slice: Duration, operation: impl FnMut()) -> Alone {
    alone_in_chunks(CHUNK, slice, operation)
}

/// The same with chunks of so many operations.
pub fn alone_in_chunks(chunk: u64, slice: Duration, mut operation: impl FnMut()) -> Alone {
    let _pinned = Pinned::to(0, 1);
    let begin = Instant::now();
    let mut chunks_ns = Vec::new();
    let mut start = begin;
    while chunks_ns.is_empty() || start - begin < slice {
        for _ in 0..chunk {
            operation();
        }
        let end = Instant::now();
        chunks_ns.push((end - start).as_nanos() as u64);
        start = end;
    }
    let operations = chunk * chunks_ns.len() as u64;
    Alone { chunk, chunk_ns: median(chunks_ns), operations }
}

/// Of an even number, the lesser of the two in the middle.
fn median(mut chunks_ns: Vec<u64>) -> u64 {
    let middle = (chunks_ns.len() - 1) / 2;
    let (_, &mut chunk_ns, _) = chunks_ns.select_nth_unstable(middle);
    chunk_ns
}

/// What came out of a shift.
#[derive(Debug)]
pub struct Shift<R> {
    /// From the first thread's start until they were told to stop.
    pub wall_ns: u64,
    /// What the threads came to, in their order.
    pub parts: Vec<R>,
}

/// Runs `work` on so many threads and tells them to stop after `slice`.
///
/// # Errors
///
/// What the system says if it has no more threads.
pub fn shift<R: Send>(
    threads: u32,
    slice: Duration,
    work: impl Fn(u32, &Stop) -> R + Sync,
) -> io::Result<Shift<R>> {
    let (stop, begun) = (Stop::default(), CachePadded::new(AtomicBool::new(false)));
    let mut stopped = Instant::now();
    let one_thread = |thread| {
        let start = Instant::now();
        begun.store(true, Relaxed);
        (start, work(thread, &stop))
    };
    let meanwhile = || {
        while !begun.load(Relaxed) {
            thread::yield_now();
        }
        thread::sleep(slice);
        stop.asked.store(true, Relaxed);
        stopped = Instant::now();
    };
    let (starts, parts): (Vec<Instant>, Vec<R>) = run(threads, one_thread, meanwhile)?.into_iter().unzip();
    let first_start = starts.into_iter().min().unwrap_or(stopped);
    Ok(Shift { wall_ns: (stopped - first_start).as_nanos() as u64, parts })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::time::Duration;

    use super::{alone, median, run, shift};

    #[test]
    fn all_threads_are_there_before_one_begins() {
        let at_work = AtomicU32::new(0);
        let numbers = run(5, |thread| (thread, at_work.fetch_add(1, Relaxed)), || ()).unwrap();
        assert!(numbers.iter().map(|(thread, _)| *thread).eq(0..5), "{numbers:?}");
        assert_eq!(at_work.into_inner(), 5);
    }

    #[test]
    fn the_median_chunk_leaves_out_what_happens_to_a_few() {
        assert_eq!(median(vec![7, 4_000_000, 5, 6, 9_000_000]), 7);
        assert_eq!((median(vec![3]), median(vec![9, 1])), (3, 1));
    }

    #[test]
    fn what_one_thread_did_alone_is_counted_in_whole_chunks() {
        let mut count = 0;
        let alone = alone(Duration::from_millis(1), || count += 1);
        assert_eq!(alone.operations, count);
        assert!(count > 0 && count % alone.chunk == 0, "{alone:?}");
    }

    #[test]
    fn a_shift_lasts_as_long_as_it_should() {
        let slice = Duration::from_millis(5);
        let shift = shift(3, slice, |_, stop| stop.repeat_until_asked(std::hint::spin_loop)).unwrap();
        assert!(u128::from(shift.wall_ns) >= slice.as_nanos(), "{} ns", shift.wall_ns);
        assert!(shift.parts.len() == 3 && shift.parts.iter().all(|&count| count > 0), "{shift:?}");
    }
}
