//! A buffer pool as PostgreSQL's: free frames first, in order, then a clock sweep.
//!
//! Invariants:
//! - P1: whoever sets EVICTING in a frame's pin word owns the frame: only the owner reads or writes its tag,
//!   maps it or takes its mapping away.
//! - P2: a frame that is mapped has the tag of its mapping, whenever nobody owns it.
//! - P3: frames that were handed back stay EVICTING, so that the sweep passes them over.
//!
//! The pin word's own orderings pass a frame from owner to owner; everything else here is relaxed.
//!
//! Next: `peers.rs`.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crossbeam_utils::{Backoff, CachePadded};
use flatmap::PinWord;
use parking_lot::Mutex;

use crate::table::{BufferTag, Inserted, Lookup, Mapped, Table, tag_words};

/// The most that a frame's usage is raised to.
pub const MAX_USAGE: u8 = 5;

/// How often an access starts over before it gives up: seconds, where a start usually meets another
/// thread in the middle of an eviction.
const MAX_STARTS: u32 = 1 << 24;

/// Why an access could not be served.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// No frame could be had, or the page's frame stayed in eviction, for seconds.
    #[error("no frame could be had for a page after {MAX_STARTS} tries: all stay pinned or in eviction")]
    NoFrame,
    /// The table lost a mapping or mixed it up.
    #[error("the page in frame {frame} was to be evicted, but the table maps it to {found:?}")]
    WrongRemoval {
        /// The frame that has the page.
        frame: u32,
        /// What the table says.
        found: Option<u32>,
    },
    /// The table would not map a page to a free frame.
    #[error("frame {frame} is free, but the table takes it for another page's")]
    InsertRefused {
        /// The frame.
        frame: u32,
    },
    /// Table and frames disagree after a run.
    #[error("the table maps a page to frame {frame}, which holds another page or none")]
    WrongMapping {
        /// The frame.
        frame: u32,
    },
    /// Pages in frames and mappings in the table differ in number.
    #[error("{pages} frames hold a page, but {mapped} pages are mapped")]
    WrongCount {
        /// Frames with a page.
        pages: usize,
        /// Mappings in the table.
        mapped: usize,
    },
    /// The system would not start as many threads as were asked for.
    #[error("not all threads could be started: {reason}")]
    NoThread {
        /// What the system says.
        reason: String,
    },
}

/// What the accesses of one thread came to. A hit found its page loaded, a miss loaded it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PoolCounts {
    /// Accesses that found the page.
    pub hits: u64,
    /// Accesses that loaded the page.
    pub misses: u64,
    /// Pages that gave way to others.
    pub evictions: u64,
}

/// A frame's descriptor; on a cache line of its own, as PostgreSQL's are.
#[derive(Debug)]
#[repr(align(64))]
struct Frame {
    pin_word: PinWord,
    usage: AtomicU8,
    has_page: AtomicBool,
    tag: [AtomicU32; 5],
}

/// A pool of frames that finds its pages through a [`Table`].
#[derive(Debug)]
pub struct Pool<T> {
    table: T,
    frames: Box<[Frame]>,
    /// Frames below this number have been in use.
    fresh: CachePadded<AtomicU32>,
    hand: CachePadded<AtomicU64>,
    returned: Returned,
}

/// Frames whose owner found that another thread had loaded the page.
#[derive(Debug, Default)]
struct Returned {
    /// How many there are, so that the lock is taken only when there are any.
    count: AtomicUsize,
    frames: Mutex<Vec<u32>>,
}

/// What became of an attempt to load a page.
enum Load {
    Loaded,
    /// Another thread had loaded it first.
    Present,
    NoVictim,
}

impl Frame {
    fn new() -> Self {
        Self {
            pin_word: PinWord::new(),
            usage: AtomicU8::new(0),
            has_page: AtomicBool::new(false),
            tag: Default::default(),
        }
    }

    fn page(&self) -> Option<BufferTag> {
        let [spc_oid, db_oid, rel_number, fork_number, block_number] =
            self.tag.each_ref().map(|word| word.load(Relaxed));
        self.has_page.load(Relaxed).then_some(BufferTag {
            spc_oid,
            db_oid,
            rel_number,
            fork_number,
            block_number,
        })
    }

    fn set_page(&self, tag: &BufferTag) {
        self.tag.iter().zip(tag_words(tag)).for_each(|(to, word)| to.store(word, Relaxed));
        self.has_page.store(true, Relaxed);
        self.usage.store(1, Relaxed);
    }

    fn clear_page(&self) {
        self.has_page.store(false, Relaxed);
        self.usage.store(0, Relaxed);
    }

    fn raise_usage(&self) {
        let _ = self.usage.fetch_update(Relaxed, Relaxed, |usage| (usage < MAX_USAGE).then_some(usage + 1));
    }

    /// One step of the sweep: is the frame now a victim, owned by the caller?
    fn sweep(&self) -> bool {
        if self.usage.load(Relaxed) > 0 {
            if self.pin_word.pins() == 0 {
                let _ = self.usage.fetch_update(Relaxed, Relaxed, |usage| usage.checked_sub(1));
            }
            return false;
        }
        if !self.pin_word.try_evict() {
            return false;
        }
        if self.usage.load(Relaxed) > 0 {
            // A hit came in between.
            self.pin_word.finish();
            return false;
        }
        true
    }
}

impl Returned {
    fn push(&self, frame: u32) {
        self.frames.lock().push(frame);
        self.count.fetch_add(1, Relaxed);
    }

    fn pop(&self) -> Option<u32> {
        if self.count.load(Relaxed) == 0 {
            return None;
        }
        let frame = self.frames.lock().pop()?;
        self.count.fetch_sub(1, Relaxed);
        Some(frame)
    }
}

impl<T: Table> Pool<T> {
    /// A pool without pages, of between 1 and [`MAX_SLOTS`](crate::table::MAX_SLOTS) frames.
    #[must_use]
    pub fn with_frames(frames: u32) -> Self {
        Self {
            table: T::with_slots(frames),
            frames: (0..frames).map(|_| Frame::new()).collect(),
            fresh: CachePadded::default(),
            hand: CachePadded::default(),
            returned: Returned::default(),
        }
    }

    /// The table that finds the pages.
    #[must_use]
    pub fn table(&self) -> &T {
        &self.table
    }

    /// Pins the page `tag` and unpins it at once, loading it first if it isn't there.
    ///
    /// # Errors
    ///
    /// [`PoolError::NoFrame`] if no frame can be had for seconds, [`PoolError::WrongRemoval`] if the table
    /// loses a mapping.
    #[inline]
    pub fn access(&self, tag: &BufferTag, counts: &mut PoolCounts) -> Result<(), PoolError> {
        match self.look_up(tag, counts) {
            Lookup::Pinned(..) => Ok(()),
            other => self.access_slow(tag, counts, other),
        }
    }

    /// Looks the page up, pins it and lets it go.
    #[inline]
    fn look_up(&self, tag: &BufferTag, counts: &mut PoolCounts) -> Lookup<()> {
        match self.table.lookup_and_pin(tag, |frame| self.frames[frame as usize].pin_word.pin()) {
            Lookup::Pinned(frame, pin) => {
                self.frames[frame as usize].raise_usage();
                drop(pin);
                counts.hits += 1;
                Lookup::Pinned(frame, ())
            }
            Lookup::Refused => Lookup::Refused,
            Lookup::Missing => Lookup::Missing,
        }
    }

    /// Loads the page if it is missing, and looks again where another thread was in the middle of something.
    #[inline(never)]
    fn access_slow(
        &self,
        tag: &BufferTag,
        counts: &mut PoolCounts,
        mut found: Lookup<()>,
    ) -> Result<(), PoolError> {
        let backoff = Backoff::new();
        for _ in 0..MAX_STARTS {
            match found {
                Lookup::Pinned(..) => return Ok(()),
                Lookup::Refused => backoff.snooze(),
                Lookup::Missing => match self.load(tag, counts)? {
                    Load::Loaded => return Ok(()),
                    Load::Present => {}
                    Load::NoVictim => backoff.snooze(),
                },
            }
            found = self.look_up(tag, counts);
        }
        Err(PoolError::NoFrame)
    }

    /// Gives the page a frame: a victim loses its page first, then the new one is mapped.
    fn load(&self, tag: &BufferTag, counts: &mut PoolCounts) -> Result<Load, PoolError> {
        let Some(frame) = self.victim() else { return Ok(Load::NoVictim) };
        let descriptor = &self.frames[frame as usize];
        if let Some(old) = descriptor.page() {
            let found = self.table.remove(&old);
            if found != Some(frame) {
                return Err(PoolError::WrongRemoval { frame, found });
            }
            counts.evictions += 1;
            descriptor.clear_page();
        }
        match self.table.insert(tag, frame) {
            Inserted::New => {
                descriptor.set_page(tag);
                descriptor.pin_word.finish();
                counts.misses += 1;
                Ok(Load::Loaded)
            }
            Inserted::Present(_) => {
                self.returned.push(frame);
                Ok(Load::Present)
            }
            Inserted::Refused => Err(PoolError::InsertRefused { frame }),
        }
    }

    /// A frame that the caller owns, or `None` if the hand found none in as many steps as it takes to bring
    /// every usage to 0.
    fn victim(&self) -> Option<u32> {
        if let Some(frame) = self.returned.pop().or_else(|| self.fresh_frame()) {
            return Some(frame);
        }
        let frames = self.frames.len() as u64;
        for _ in 0..=frames * (u64::from(MAX_USAGE) + 1) {
            let frame = (self.hand.fetch_add(1, Relaxed) % frames) as u32;
            if self.frames[frame as usize].sweep() {
                return Some(frame);
            }
        }
        None
    }

    /// A frame that was never in use; `None` when there are no more, or the sweep was faster.
    fn fresh_frame(&self) -> Option<u32> {
        let frames = self.frames.len() as u32;
        if self.fresh.load(Relaxed) >= frames {
            return None;
        }
        // Each thread goes past the last frame at most once, so this can't wrap.
        let frame = self.fresh.fetch_add(1, Relaxed);
        (frame < frames && self.frames[frame as usize].pin_word.try_evict()).then_some(frame)
    }

    /// What is mapped, after checking that the table says of every page what its frame says.
    ///
    /// Only for a pool that nobody uses meanwhile.
    ///
    /// # Errors
    ///
    /// A [`PoolError`] that names the first difference.
    pub fn check(&self) -> Result<Mapped, PoolError> {
        let mappings = self.table.mappings();
        let differs = |(frame, tag): &&(u32, BufferTag)| {
            self.frames.get(*frame as usize).and_then(Frame::page) != Some(*tag)
        };
        if let Some(&(frame, _)) = mappings.iter().find(differs) {
            return Err(PoolError::WrongMapping { frame });
        }
        let (pages, mapped) = (self.frames.iter().filter_map(Frame::page).count(), mappings.len());
        if pages != mapped {
            return Err(PoolError::WrongCount { pages, mapped });
        }
        Ok(Mapped::of(mappings))
    }
}
