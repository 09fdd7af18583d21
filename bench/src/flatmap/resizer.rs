//! A thread that changes the number of buckets of a table, to and fro, while others use it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crate::peers::flatmap::PARTITIONS;
use crate::sync::{SyncError, check};
use crate::table::Table;

/// How many buckets come or go between two looks at whether it is over.
const BUCKETS: u32 = 1024;

/// Does `work` while the number of buckets goes from two a slot to one a slot and back, and then lets it come back to
/// two.
///
/// # Errors
///
/// If there is no thread for it, or if the table refuses.
pub(super) fn beside<T: Table, R>(table: &T, slots: u32, work: impl FnOnce() -> R) -> Result<R, SyncError> {
    let (most, least) = bounds(slots);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let resize = || {
            let (mut now, mut grows, mut refused) = (most, false, 0);
            while !is_over.load(Relaxed) {
                let step = if grows { BUCKETS.min(most - now) } else { BUCKETS.min(now - least) };
                now = if grows { now + step } else { now - step };
                refused += u64::from(!table.set_buckets(now));
                grows = if grows { now < most } else { now == least };
            }
            refused + u64::from(!table.set_buckets(most))
        };
        let resizer = thread::Builder::new().spawn_scoped(scope, resize)?;
        let done = work();
        // Relaxed: it decides nothing but when the resizer ends.
        is_over.store(true, Relaxed);
        let refused = resizer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        check(T::NAME, &[("refused numbers of buckets", refused, 0)])?;
        Ok(done)
    })
}

/// The most and the fewest buckets: two and one a slot, but not fewer than there are partitions.
fn bounds(slots: u32) -> (u32, u32) {
    ((2 * slots).max(PARTITIONS), slots.max(PARTITIONS))
}
