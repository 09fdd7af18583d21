//! A slot whose mark has not come yet.

use super::CondLock;
use crate::inject::{Point, force};

#[test]
fn an_update_at_the_cap_folds_its_own_slot_in_though_nobody_has_marked_it_yet() {
    let lock = CondLock::new(0_i64, 4);
    // Another thread with this slot has taken it from 0 to its cap and is about to mark it.
    assert_eq!(lock.slots.mine().leave(4, 4), Ok(0));
    let _busy = force(Point::CondBusy, 0b1);
    assert_eq!(lock.update(1, |n| *n), Some(5));
    assert_eq!(lock.pending(), 0);
}
