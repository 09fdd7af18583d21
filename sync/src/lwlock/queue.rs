//! The threads that wait for a lock, in the order in which they came. Everything here is touched under the
//! queue's mutex, but for a waiter's own signal, which its thread reads without it.
//!
//! A waiter keeps its ticket when it loses a race and queues again, so it keeps its place. Every operation
//! costs the logarithm of the queue's length for each waiter it serves.

use super::state::{Mode, State};
use crate::prim::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::prim::{Deadline, Parker};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a waiter has been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Nothing yet.
    Wait,
    /// Try again; for a watcher: the holder has made progress.
    Again,
    /// The lock is yours; for a watcher: the hold has ended.
    Done,
}

/// One waiting thread. Shared by count, so that whoever wakes it may touch it after it has left.
#[derive(Debug)]
pub(super) struct Waiter {
    mode: Mode,
    signal: AtomicU32,
    /// For a watcher: the progress that it is told of.
    news: AtomicU64,
    parker: Parker,
}

impl Waiter {
    pub(super) fn new(mode: Mode) -> Arc<Self> {
        let signal = AtomicU32::new(Signal::Wait as u32);
        Arc::new(Self { mode, signal, news: AtomicU64::new(0), parker: Parker::for_this_thread() })
    }

    pub(super) fn signal(&self) -> Signal {
        // ORD(SY-SIGNAL acq): what the holders before us did, when the lock was handed to us.
        match self.signal.load(Ordering::Acquire) {
            bits if bits == Signal::Wait as u32 => Signal::Wait,
            bits if bits == Signal::Again as u32 => Signal::Again,
            _ => Signal::Done,
        }
    }

    /// What a watcher was told of, once its signal has come.
    pub(super) fn news(&self) -> u64 {
        // Relaxed: ordered by the signal.
        self.news.load(Ordering::Relaxed)
    }

    fn tell(&self, signal: Signal) {
        // ORD(SY-SIGNAL rel): the hand-over, and all that the handing thread had acquired.
        self.signal.store(signal as u32, Ordering::Release);
    }

    /// Sleeps until told something, and returns what.
    pub(super) fn wait(&self) -> Signal {
        loop {
            match self.signal() {
                Signal::Wait => self.parker.park(Deadline::NEVER),
                told => return told,
            }
        }
    }

    /// Sleeps until told something or until `deadline`; may return early.
    pub(super) fn sleep(&self, deadline: Deadline) {
        self.parker.park(deadline);
    }
}

/// A thread that waits without wanting the lock.
#[derive(Debug)]
struct Watcher {
    waiter: Arc<Waiter>,
    /// Any other progress than this is news; `None` waits for the end of the hold alone.
    old: Option<u64>,
}

/// A waiter's place: lower comes first.
pub(super) type Ticket = u64;

/// What a release does for the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Nothing,
    /// The first waiter or all leading readers own the lock from now on.
    Hand(Mode, u32),
    /// The first writer tries again.
    WakeWriter,
    /// All readers try again.
    WakeReaders,
}

/// The threads to wake once the mutex is free.
#[derive(Default)]
#[must_use]
pub(super) struct Wakes(Vec<Arc<Waiter>>);

impl Wakes {
    fn add(&mut self, waiter: Arc<Waiter>, signal: Signal) {
        waiter.tell(signal);
        self.0.push(waiter);
    }

    pub(super) fn send(self) {
        for waiter in self.0 {
            waiter.parker.unpark();
        }
    }
}

/// Waiters of one mode, by ticket.
type Line = BTreeMap<Ticket, Arc<Waiter>>;

#[derive(Debug, Default)]
pub(super) struct Queue {
    readers: Line,
    writers: Line,
    watchers: Vec<Watcher>,
    last: Ticket,
    /// Until then the queue does not ask for another hand-over: each costs a context switch.
    pub(super) rest: Option<Deadline>,
}

impl Queue {
    fn line(&mut self, mode: Mode) -> &mut Line {
        match mode {
            Mode::Shared => &mut self.readers,
            Mode::Exclusive => &mut self.writers,
        }
    }

    /// Queues `waiter`, at its old place if it has one.
    pub(super) fn insert(&mut self, waiter: &Arc<Waiter>, ticket: Option<Ticket>) -> Ticket {
        let ticket = ticket.unwrap_or_else(|| {
            self.last += 1;
            self.last
        });
        waiter.tell(Signal::Wait);
        self.line(waiter.mode).insert(ticket, Arc::clone(waiter));
        ticket
    }

    pub(super) fn remove(&mut self, waiter: &Waiter, ticket: Ticket) {
        self.line(waiter.mode).remove(&ticket);
    }

    /// Adds a watcher: for the end of the hold, or also for another progress than `old`.
    pub(super) fn watch(&mut self, watcher: &Arc<Waiter>, old: Option<u64>) {
        self.watchers.push(Watcher { waiter: Arc::clone(watcher), old });
    }

    pub(super) fn has_watchers(&self) -> bool {
        !self.watchers.is_empty()
    }

    /// How many waiters there are.
    pub(super) fn len(&self) -> usize {
        self.readers.len() + self.writers.len()
    }

    /// How many waiters there will be once `plan` is carried out.
    pub(super) fn len_after(&self, plan: Plan) -> usize {
        match plan {
            Plan::Nothing => self.len(),
            Plan::Hand(_, count) => self.len() - count as usize,
            Plan::WakeWriter => self.len() - 1,
            Plan::WakeReaders => self.writers.len(),
        }
    }

    /// What there is to do in `state`, which no writer holds.
    pub(super) fn plan(&self, state: State) -> Plan {
        let reader = self.readers.keys().next();
        let writer = self.writers.keys().next();
        let writer_is_first = match (reader, writer) {
            (None, None) => return Plan::Nothing,
            (reader, Some(writer)) => reader.is_none_or(|reader| writer < reader),
            (Some(_), None) => false,
        };
        let free = state.readers() == 0;
        match (state.no_barging(), writer_is_first) {
            (true, true) if free => Plan::Hand(Mode::Exclusive, 1),
            (true, true) => Plan::Nothing,
            (true, false) => Plan::Hand(Mode::Shared, self.leading_readers(state)),
            (false, _) if free && state.is_waking() => Plan::Nothing,
            (false, true) if free => Plan::WakeWriter,
            (false, _) if reader.is_some() => Plan::WakeReaders,
            (false, _) => Plan::Nothing,
        }
    }

    fn leading_readers(&self, state: State) -> u32 {
        let room = State::MAX_READERS - state.readers();
        let end = self.writers.keys().next().copied().unwrap_or(Ticket::MAX);
        let leading = self.readers.range(..end).take(room as usize).count();
        u32::try_from(leading).expect("at most the room, which has 24 bits")
    }

    /// Takes the waiters that `plan` serves out of the queue and tells them.
    pub(super) fn carry_out(&mut self, plan: Plan, wakes: &mut Wakes) {
        let (line, count, signal) = match plan {
            Plan::Nothing => return,
            Plan::Hand(mode, count) => (self.line(mode), count as usize, Signal::Done),
            Plan::WakeWriter => (&mut self.writers, 1, Signal::Again),
            Plan::WakeReaders => (&mut self.readers, usize::MAX, Signal::Again),
        };
        for (_, waiter) in (0..count).map_while(|_| line.pop_first()) {
            wakes.add(waiter, signal);
        }
    }

    pub(super) fn wake_watchers(&mut self, wakes: &mut Wakes) {
        for watcher in self.watchers.drain(..) {
            wakes.add(watcher.waiter, Signal::Done);
        }
    }

    pub(super) fn wake_watchers_past(&mut self, progress: u64, wakes: &mut Wakes) {
        self.watchers.retain(|watcher| {
            let stays = watcher.old.is_none_or(|old| old == progress);
            if !stays {
                // Relaxed: ordered by the signal.
                watcher.waiter.news.store(progress, Ordering::Relaxed);
                wakes.add(Arc::clone(&watcher.waiter), Signal::Again);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests;
