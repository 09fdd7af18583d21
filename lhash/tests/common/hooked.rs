//! Keys that call back when they are compared: between an operation's look at a bucket and its lock. What the
//! callback does to the map happens in the middle of that operation, as if another thread did it, in every run.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

thread_local! {
    static HOOK: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Runs `hook` at this thread's next comparison of two keys, once.
pub(crate) fn at_next_comparison(hook: impl FnOnce() + 'static) {
    HOOK.set(Some(Box::new(hook)));
}

/// A key that calls back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooked(pub(crate) u64);

impl PartialEq for Hooked {
    fn eq(&self, other: &Self) -> bool {
        // In a statement of its own, so that the hook can be set again while it runs.
        let hook = HOOK.take();
        if let Some(hook) = hook {
            hook();
        }
        self.0 == other.0
    }
}

impl Eq for Hooked {}

impl Hash for Hooked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}
