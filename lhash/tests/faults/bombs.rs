//! Keys and values whose methods panic at the n-th call on this thread. Next: `user_code.rs`, which lets every
//! operation meet every such panic.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What user code can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Hash,
    Eq,
    Clone,
    Drop,
    Closure,
}

thread_local! {
    /// Which call panics, and how many of them come before it.
    static FUSE: Cell<Option<(Call, u32)>> = const { Cell::new(None) };
}

/// Lets the n-th call of a kind on this thread panic.
pub(crate) fn arm(call: Call, n: u32) {
    FUSE.set(Some((call, n)));
}

/// Whether one has; from now on none does.
pub(crate) fn disarm() -> bool {
    FUSE.replace(None).is_none()
}

/// User code is called.
pub(crate) fn called(call: Call) {
    match FUSE.get() {
        Some((which, 1)) if which == call => {
            FUSE.set(None);
            panic_any("the fuse");
        }
        Some((which, n)) if which == call => FUSE.set(Some((which, n - 1))),
        _ => {}
    }
}

/// How many keys and values there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live(Arc<AtomicI64>);

impl Live {
    pub(crate) fn bomb(&self, number: u64) -> Bomb {
        self.0.fetch_add(1, Ordering::SeqCst);
        Bomb { number, live: self.clone() }
    }

    /// Lets the collector run until none is left.
    #[track_caller]
    pub(crate) fn settle(&self) {
        let start = Instant::now();
        while self.0.load(Ordering::SeqCst) != 0 {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?} are left", self.0);
            crossbeam_epoch::pin().flush();
            thread::yield_now();
        }
    }
}

/// A key or a value.
#[derive(Debug)]
pub(crate) struct Bomb {
    pub(crate) number: u64,
    live: Live,
}

impl Hash for Bomb {
    fn hash<H: Hasher>(&self, state: &mut H) {
        called(Call::Hash);
        state.write_u64(self.number);
    }
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        called(Call::Eq);
        self.number == other.number
    }
}

impl Eq for Bomb {}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        called(Call::Clone);
        self.live.bomb(self.number)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        let before = self.live.0.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0 || thread::panicking(), "dropped twice");
        if !thread::panicking() {
            called(Call::Drop);
        }
    }
}
