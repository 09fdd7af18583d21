//! Named lock families, and how long their locks were waited for.

#[cfg(feature = "stats")]
mod record;

use crate::lwlock::Mode;
#[cfg(feature = "stats")]
pub use record::{OpSummary, TrancheStats};

/// A named family of locks: those of all partitions of one table, for example.
///
/// With feature `stats` each [`LwLock`](crate::LwLock) made by
/// [`in_tranche`](crate::LwLock::in_tranche) records here how long every acquisition took; an acquisition then
/// reads the clock twice and raises two counters, wait-free. Without the feature a tranche is only a name, and its
/// locks are as any others. What did not take the lock is not recorded: a try that failed, a `write_or_wait` that
/// waited.
///
/// Size: 16 bytes, with `stats` 31,280.
///
/// ```
/// use sync::{LwLock, Tranche};
///
/// static BUFFERS: Tranche = Tranche::new("buffer mapping");
/// static LOCK: LwLock<u32> = LwLock::in_tranche(0, &BUFFERS);
///
/// *LOCK.write() += 1;
/// assert_eq!(BUFFERS.name(), "buffer mapping");
/// # #[cfg(feature = "stats")]
/// assert_eq!(BUFFERS.stats().exclusive.count, 1);
/// ```
#[derive(Debug)]
pub struct Tranche {
    name: &'static str,
    #[cfg(feature = "stats")]
    records: record::Records,
}

impl Tranche {
    /// A family without locks. `const`: a tranche is as a rule a `static`.
    ///
    /// ```
    /// static SESSIONS: sync::Tranche = sync::Tranche::new("sessions");
    /// let lock = sync::LwLock::in_tranche((), &SESSIONS);
    /// drop(lock.read());
    /// ```
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            #[cfg(feature = "stats")]
            records: record::Records::new(),
        }
    }

    /// The family's name.
    ///
    /// ```
    /// assert_eq!(sync::Tranche::new("sessions").name(), "sessions");
    /// ```
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What was recorded so far. Read while others record, the figures need not fit together exactly.
    ///
    /// ```
    /// use sync::{LwLock, Tranche};
    ///
    /// static TRANCHE: Tranche = Tranche::new("example");
    /// let lock = LwLock::in_tranche((), &TRANCHE);
    /// drop((lock.read(), lock.try_write()));
    /// let stats = TRANCHE.stats();
    /// assert_eq!((stats.shared.count, stats.exclusive.count), (1, 0));
    /// println!("{stats}");
    /// ```
    #[cfg(feature = "stats")]
    pub fn stats(&self) -> TrancheStats {
        self.records.summarise()
    }
}

/// Whether an acquisition had to sleep in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    No,
    Yes,
}

/// Which tranche a lock belongs to, if any. Takes no room without feature `stats`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Membership {
    #[cfg(feature = "stats")]
    tranche: Option<&'static Tranche>,
}

impl Membership {
    pub(crate) const NONE: Self = Self {
        #[cfg(feature = "stats")]
        tranche: None,
    };

    #[cfg_attr(not(feature = "stats"), expect(unused_variables, reason = "only recorded with `stats`"))]
    pub(crate) const fn of(tranche: &'static Tranche) -> Self {
        Self {
            #[cfg(feature = "stats")]
            tranche: Some(tranche),
        }
    }

    /// Begins an acquisition.
    #[inline]
    pub(crate) fn begin(self) -> Op {
        Op {
            #[cfg(feature = "stats")]
            record: self.tranche.map(|tranche| (tranche, std::time::Instant::now())),
        }
    }
}

/// An acquisition under way. Unless it ends, nothing is recorded.
pub(crate) struct Op {
    #[cfg(feature = "stats")]
    record: Option<(&'static Tranche, std::time::Instant)>,
}

impl Op {
    #[inline]
    #[cfg_attr(not(feature = "stats"), expect(unused_variables, reason = "only recorded with `stats`"))]
    pub(crate) fn end(self, mode: Mode, waited: Waited) {
        #[cfg(feature = "stats")]
        if let Some((tranche, since)) = self.record {
            tranche.records.add(mode, waited, since.elapsed());
        }
    }
}
