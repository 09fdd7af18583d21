//! The lock's one word: who holds it, who waits, and what the next release has to do.
//!
//! ```text
//!  31      30           29      28          27        26..24  23..0
//!  WRITER  HAS_WAITERS  WAKING  NO_BARGING  WATCHERS  -       readers
//! ```
//!
//! | holder bits | meaning |
//! |---|---|
//! | `WRITER` clear, readers = 0 | free |
//! | `WRITER` clear, readers = n | n shared holders |
//! | `WRITER` set, readers = 0 | one exclusive holder |
//!
//! * `HAS_WAITERS`: threads that want the lock are queued. Set and cleared under the queue's mutex.
//! * `WAKING`: a woken waiter will try again, so releases need not wake another. Set under the mutex, cleared
//!   by that waiter: as it takes the lock, queues again, or gives up.
//! * `NO_BARGING`: a waiter has waited long enough. Nobody takes the lock; the release that frees it hands
//!   it over. Set under the mutex and only while the lock is held, so that such a release is still to come.
//! * `WATCHERS`: threads that wait for a release without wanting the lock. They hold nobody back.

/// How a thread holds the lock, or wants to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Shared,
    Exclusive,
}

/// One value of the lock's word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(u32);

impl State {
    pub(super) const FREE: Self = Self(0);
    const WRITER: u32 = 1 << 31;
    const HAS_WAITERS: u32 = 1 << 30;
    const WAKING: u32 = 1 << 29;
    const NO_BARGING: u32 = 1 << 28;
    const WATCHERS: u32 = 1 << 27;
    /// The most shared holders at one time.
    pub(super) const MAX_READERS: u32 = (1 << 24) - 1;
    /// What the word falls by when a shared holder leaves.
    pub(super) const ONE_READER: u32 = 1;

    #[inline]
    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    #[inline]
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) const fn readers(self) -> u32 {
        self.0 & Self::MAX_READERS
    }

    #[inline]
    pub(crate) const fn is_write_locked(self) -> bool {
        self.0 & Self::WRITER != 0
    }

    #[inline]
    pub(crate) const fn is_locked(self) -> bool {
        self.is_write_locked() || self.readers() != 0
    }

    #[inline]
    pub(super) const fn has_waiters(self) -> bool {
        self.0 & Self::HAS_WAITERS != 0
    }

    #[inline]
    pub(super) const fn is_waking(self) -> bool {
        self.0 & Self::WAKING != 0
    }

    #[inline]
    pub(super) const fn no_barging(self) -> bool {
        self.0 & Self::NO_BARGING != 0
    }

    #[inline]
    pub(super) const fn has_watchers(self) -> bool {
        self.0 & Self::WATCHERS != 0
    }

    /// Whether one more reader would overflow the count.
    #[inline]
    const fn is_full(self) -> bool {
        self.readers() == Self::MAX_READERS
    }

    #[inline]
    pub(super) fn assert_not_full(self) {
        assert!(!self.is_full(), "more than {} readers of one lock", Self::MAX_READERS);
    }

    /// Whether a newcomer may take the lock in `mode` now.
    #[inline]
    pub(super) const fn admits(self, mode: Mode) -> bool {
        match mode {
            _ if self.no_barging() || self.is_write_locked() => false,
            Mode::Shared => !self.is_full(),
            Mode::Exclusive => self.readers() == 0,
        }
    }

    /// Whether the release that led to this state has waiters to see to.
    #[inline]
    pub(super) const fn needs_wake(self) -> bool {
        self.has_watchers() || self.has_waiters() && (!self.is_waking() || self.no_barging())
    }

    /// One more holder in `mode`; the state must admit it, or it is handed over.
    #[inline]
    pub(super) const fn taken(self, mode: Mode) -> Self {
        match mode {
            Mode::Shared => self.with_readers(1),
            Mode::Exclusive => Self(self.0 | Self::WRITER),
        }
    }

    /// `more` further readers.
    #[inline]
    pub(super) const fn with_readers(self, more: u32) -> Self {
        Self(self.0 + more * Self::ONE_READER)
    }

    #[inline]
    pub(super) const fn without_writer(self) -> Self {
        Self(self.0 & !Self::WRITER)
    }

    #[inline]
    pub(super) const fn waking(self, on: bool) -> Self {
        self.set(Self::WAKING, on)
    }

    #[inline]
    pub(super) const fn barging_forbidden(self, on: bool) -> Self {
        self.set(Self::NO_BARGING, on)
    }

    #[inline]
    pub(super) const fn with_waiters(self, on: bool) -> Self {
        self.set(Self::HAS_WAITERS, on)
    }

    #[inline]
    pub(super) const fn with_watchers(self, on: bool) -> Self {
        self.set(Self::WATCHERS, on)
    }

    const fn set(self, bit: u32, on: bool) -> Self {
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }
}

#[cfg(test)]
mod tests {
    use super::{Mode, State};

    /// The flags that are set in a state: writer, waiters, waking, no barging, watchers.
    fn flags(state: State) -> [bool; 5] {
        [
            state.is_write_locked(),
            state.has_waiters(),
            state.is_waking(),
            state.no_barging(),
            state.has_watchers(),
        ]
    }

    #[test]
    fn each_flag_is_set_and_cleared_alone_and_leaves_the_readers_alone() {
        for readers in [0, 1, State::MAX_READERS] {
            let none = State::FREE.with_readers(readers);
            let setters: [&dyn Fn(State, bool) -> State; 5] = [
                &|state, on| if on { state.taken(Mode::Exclusive) } else { state.without_writer() },
                &State::with_waiters,
                &State::waking,
                &State::barging_forbidden,
                &State::with_watchers,
            ];
            let all = setters.iter().fold(none, |state, set| set(state, true));
            assert_eq!((flags(all), all.readers()), ([true; 5], readers));
            for (at, set) in setters.iter().enumerate() {
                let (on, off) = (set(set(none, true), true), set(set(all, false), false));
                assert_eq!(flags(on), core::array::from_fn(|flag| flag == at));
                assert_eq!(flags(off), core::array::from_fn(|flag| flag != at));
                assert_eq!((on.readers(), off.readers()), (readers, readers));
            }
            assert_eq!(none.is_locked(), readers != 0);
        }
    }

    #[test]
    fn a_release_wakes_for_watchers_and_for_waiters_that_nobody_is_waking_yet_or_that_are_owed_the_lock() {
        for bits in 0..16_u32 {
            let [waiters, waking, no_barging, watchers] = core::array::from_fn(|bit| bits >> bit & 1 != 0);
            let state = State::FREE.with_waiters(waiters).waking(waking);
            let state = state.barging_forbidden(no_barging).with_watchers(watchers);
            let expected = match (watchers, waiters, waking, no_barging) {
                (true, ..) => true,
                (false, false, ..) => false,
                (false, true, true, false) => false,
                (false, true, ..) => true,
            };
            assert_eq!(state.needs_wake(), expected, "{:#x}", state.bits());
        }
    }

    #[test]
    fn a_newcomer_is_admitted_where_there_is_room_and_nobody_is_owed_the_lock() {
        let admits = |state: State| [state.admits(Mode::Shared), state.admits(Mode::Exclusive)];
        let free = State::FREE.with_waiters(true).waking(true).with_watchers(true);
        assert_eq!(admits(free), [true, true]);
        assert_eq!(admits(free.with_readers(1)), [true, false]);
        assert_eq!(admits(free.with_readers(State::MAX_READERS - 1)), [true, false]);
        assert_eq!(admits(free.with_readers(State::MAX_READERS)), [false, false]);
        assert_eq!(admits(free.taken(Mode::Exclusive)), [false, false]);
        assert_eq!(admits(free.barging_forbidden(true)), [false, false]);
    }
}
