//! Which locks the calling thread holds: in debug builds, so that a recursive acquire panics instead of
//! hanging. In release builds, and under loom and shuttle (whose threads share one of the system's), nothing is kept.

#[cfg(all(debug_assertions, not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]
mod list {
    use core::cell::RefCell;
    use core::num::NonZeroU64;
    use core::sync::atomic::{AtomicU64, Ordering};

    thread_local! {
        static HELD: RefCell<Vec<NonZeroU64>> = const { RefCell::new(Vec::new()) };
    }

    /// A lock's identity. An address would not do: a lock may move after its guard was forgotten.
    #[derive(Debug, Default)]
    pub struct LockId(AtomicU64);

    impl LockId {
        /// An identity that is fixed at its first use.
        pub const fn new() -> Self {
            Self(AtomicU64::new(0))
        }

        fn get(&self) -> NonZeroU64 {
            static NEXT: AtomicU64 = AtomicU64::new(1);
            // Relaxed: identities only have to differ; nothing is published through them.
            let fresh = || NEXT.fetch_add(1, Ordering::Relaxed);
            // Relaxed: as above. Two first users race, one fresh number is then wasted.
            let known = self.0.load(Ordering::Relaxed);
            let id = if known != 0 {
                known
            } else {
                let mine = fresh();
                // Relaxed: as above.
                match self.0.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => mine,
                    Err(theirs) => theirs,
                }
            };
            NonZeroU64::new(id).expect("numbering starts at 1")
        }

        /// Panics if the calling thread holds this lock already: it would wait for itself.
        #[track_caller]
        pub fn assert_not_held(&self, what: &str) {
            let id = self.get();
            // During thread teardown the list may be gone; then nothing is checked.
            let held = HELD.try_with(|held| held.borrow().contains(&id)).unwrap_or(false);
            assert!(!held, "recursive {what}: this thread holds the lock already and would wait for itself");
        }

        /// Notes that the calling thread took this lock.
        pub fn acquired(&self) {
            let id = self.get();
            let _ = HELD.try_with(|held| held.borrow_mut().push(id));
        }

        /// Notes that the calling thread let go of this lock.
        pub fn released(&self) {
            let id = self.get();
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                if let Some(at) = held.iter().rposition(|&other| other == id) {
                    held.swap_remove(at);
                }
            });
        }
    }
}

#[cfg(not(all(debug_assertions, not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))))]
mod list {
    /// A lock's identity; not kept in this build.
    #[derive(Debug, Default)]
    pub struct LockId;

    impl LockId {
        /// Nothing.
        pub const fn new() -> Self {
            Self
        }

        /// Checks nothing in this build.
        pub fn assert_not_held(&self, _what: &str) {}

        /// Notes nothing in this build.
        pub fn acquired(&self) {}

        /// Notes nothing in this build.
        pub fn released(&self) {}
    }
}

pub use list::LockId;
