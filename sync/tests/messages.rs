//! Misuse that panics: what its user reads says what was wrong.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use sync::{CondLock, LwLock, ProgressLock, SeqLock, Stamp};

#[track_caller]
fn panics(expected: &str, f: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it is misuse");
    let said =
        payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    assert!(said.is_some_and(|said| said.contains(expected)), "{said:?}");
}

#[test]
#[cfg(debug_assertions)]
fn a_wait_for_oneself() {
    let said = "this thread holds the lock already and would wait for itself";
    let lock = LwLock::new(());
    let held = lock.write();
    panics(said, || drop(lock.write()));
    panics(said, || drop(lock.read()));
    drop(held);
    let progress = ProgressLock::new(());
    let held = progress.write();
    panics(said, || {
        progress.wait_past(0);
    });
    drop(held);
    let count = CondLock::new(0_i64, 1);
    let held = count.lock();
    panics(said, || drop(count.lock()));
    drop(held);
    let words = SeqLock::new(0_u64);
    let _held = words.write();
    panics(said, || drop(words.write()));
}

#[test]
#[cfg(debug_assertions)]
fn a_stamp_out_of_turn() {
    let stamp = Stamp::new();
    panics("a stamp was closed that was not open", || stamp.close());
    let stamp = Stamp::new();
    stamp.open();
    panics("a second writer opened a stamp", || stamp.open());
}
