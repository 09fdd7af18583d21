//! The sequence locks that take part: reading 32 bytes that nobody writes, in a loop and in a chain, and
//! reading while another thread publishes now and then.

use std::hint::{black_box, spin_loop};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::locks::{WORDS, Words, are_torn};
use super::{Entry, Kind, Sample, SyncError, check};
use crate::crew::{self, Stop};

/// How many cells a chain goes through: they stay in the first-level cache.
const CELLS: u64 = 64;

/// The next cell of a chain is so many further: coprime to the number of cells, so it meets all.
const STRIDE: u64 = 37;

/// How long the writer waits between two publications.
const PUBLISH_EVERY: Duration = Duration::from_micros(10);

/// A value that is read far more often than written.
pub trait Cell: Sync + 'static {
    /// The name on the command line and in the output.
    const NAME: &'static str;

    /// A cell that holds `words`.
    fn new(words: Words) -> Self;

    /// Copies the words out.
    fn read(&self) -> Words;

    /// Publishes others.
    fn write(&self, words: Words);
}

macro_rules! cell {
    ($doc:literal, $name:ident = $text:literal, $type:ty, $cell:ident => $read:expr, $write:expr) => {
        #[doc = $doc]
        #[derive(Debug)]
        pub struct $name(CachePadded<$type>);

        impl Cell for $name {
            const NAME: &'static str = $text;

            fn new(words: Words) -> Self {
                Self(CachePadded::new(<$type>::new(words)))
            }

            #[inline]
            fn read(&self) -> Words {
                let $cell = &*self.0;
                $read
            }

            #[inline]
            fn write(&self, words: Words) {
                let $cell = &*self.0;
                *$write = words;
            }
        }
    };
}

cell!("`latchfree-sync`'s.", Latchfree = "latchfree", ::sync::SeqLock<Words>, cell => cell.read(), cell.write());
cell!("`seqlock`'s.", SeqLock = "seqlock", seqlock::SeqLock<Words>, cell => cell.read(), cell.lock_write());
cell!(
    "The words under `parking_lot`'s reader-writer lock.",
    RwLock = "rwlock",
    parking_lot::RwLock<Words>,
    cell => *cell.read(),
    cell.write()
);

/// Reads that don't depend on each other.
#[must_use]
pub fn loop_entries() -> Vec<Entry> {
    fn entry<C: Cell>() -> Entry {
        Entry { name: C::NAME, kind: Some(Kind::Loop), run: Box::new(|_, slice| run_loop::<C>(slice)) }
    }
    vec![entry::<Latchfree>(), entry::<SeqLock>(), entry::<RwLock>()]
}

/// Reads each of which decides where the next one goes.
#[must_use]
pub fn chain_entries() -> Vec<Entry> {
    fn entry<C: Cell>() -> Entry {
        Entry { name: C::NAME, kind: Some(Kind::Chain), run: Box::new(|_, slice| run_chain::<C>(slice)) }
    }
    vec![entry::<Latchfree>(), entry::<SeqLock>(), entry::<RwLock>()]
}

/// One thread that publishes, the others reading.
#[must_use]
pub fn mixed_entries(threads: u32) -> Vec<Entry> {
    fn entry<C: Cell>(threads: u32) -> Entry {
        Entry { name: C::NAME, kind: None, run: Box::new(move |_, slice| run_mixed::<C>(threads, slice)) }
    }
    vec![entry::<Latchfree>(threads), entry::<SeqLock>(threads), entry::<RwLock>(threads)]
}

fn run_loop<C: Cell>(slice: Duration) -> Result<Sample, SyncError> {
    let cell = C::new([7; WORDS]);
    let alone = crew::alone(slice, || _ = black_box(black_box(&cell).read()));
    check(C::NAME, &cell.read().map(|word| ("a word", word, 7)))?;
    Ok(Sample::alone(&alone))
}

/// A chain of cells, each of which names the next one.
#[derive(Debug)]
pub struct Chain<C> {
    cells: Vec<C>,
    at: usize,
}

impl<C: Cell> Chain<C> {
    /// A chain through all cells and back to the first.
    #[must_use]
    pub fn new() -> Self {
        let next = |index: u64| (index + STRIDE) % CELLS;
        Self { cells: (0..CELLS).map(|index| C::new([next(index), 0, 0, 0])).collect(), at: 0 }
    }

    /// Reads a cell; its words, all of them, tell the next one.
    #[inline]
    pub fn step(&mut self) {
        let words = self.cells[self.at].read();
        self.at = words.into_iter().fold(0, |all, word| all | word) as usize;
    }
}

impl<C: Cell> Default for Chain<C> {
    fn default() -> Self {
        Self::new()
    }
}

fn run_chain<C: Cell>(slice: Duration) -> Result<Sample, SyncError> {
    let mut chain = Chain::<C>::new();
    let alone = crew::alone(slice, || chain.step());
    check(C::NAME, &[("the cell in the end", chain.at as u64, alone.operations * STRIDE % CELLS)])?;
    Ok(Sample::alone(&alone))
}

/// What a thread did and saw.
#[derive(Default)]
struct Part {
    reads: u64,
    publications: u64,
    torn: u64,
    went_back: u64,
}

fn run_mixed<C: Cell>(threads: u32, slice: Duration) -> Result<Sample, SyncError> {
    let cell = C::new([0; WORDS]);
    let work = |thread, stop: &Stop| if thread == 0 { publish(&cell, stop) } else { watch(&cell, stop) };
    let shift = crew::shift(threads, slice, work)?;
    let sum = |of: fn(&Part) -> u64| shift.parts.iter().map(of).sum::<u64>();
    let mut figures =
        vec![("torn reads", sum(|part| part.torn), 0), ("reads of the past", sum(|part| part.went_back), 0)];
    let publications = sum(|part| part.publications);
    figures.extend(cell.read().map(|word| ("a word in the end", word, publications)));
    check(C::NAME, &figures)?;
    Ok(Sample::of_workers(threads - 1, shift.wall_ns, sum(|part| part.reads)))
}

fn publish<C: Cell>(cell: &C, stop: &Stop) -> Part {
    let mut part = Part::default();
    loop {
        part.publications += 1;
        cell.write([part.publications; WORDS]);
        let published = Instant::now();
        while published.elapsed() < PUBLISH_EVERY && !stop.is_asked() {
            spin_loop();
        }
        if stop.is_asked() {
            return part;
        }
    }
}

#[inline(never)]
fn watch<C: Cell>(cell: &C, stop: &Stop) -> Part {
    let mut part = Part::default();
    let mut last = 0;
    part.reads = stop.repeat_until_asked(|| {
        let words = cell.read();
        part.torn += u64::from(are_torn(words));
        part.went_back += u64::from(words[0] < last);
        last = words[0];
    });
    part
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cell, Latchfree, run_mixed};
    use crate::sync::SyncError;
    use crate::sync::locks::Words;

    /// Publishes half of its words.
    struct Halves(Latchfree);

    impl Cell for Halves {
        const NAME: &'static str = "halves";

        fn new(words: Words) -> Self {
            Self(Latchfree::new(words))
        }

        fn read(&self) -> Words {
            self.0.read()
        }

        fn write(&self, words: Words) {
            let old = self.read();
            self.0.write([words[0], words[1], old[2], old[3]]);
        }
    }

    #[test]
    fn a_torn_read_is_found_out() {
        let slice = Duration::from_millis(5);
        assert!(run_mixed::<Latchfree>(3, slice).is_ok());
        let error = run_mixed::<Halves>(3, slice).unwrap_err();
        assert!(matches!(error, SyncError::Disagrees { name: "halves", .. }), "{error}");
    }
}
