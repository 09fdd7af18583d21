//! Pins against evictions.

use super::*;
use sync::prim::UnsafeCell;

/// A slot whose content is whatever its evictor put there; loom reports a use that is not ordered.
struct Slot {
    word: PinWord,
    content: UnsafeCell<u32>,
}

// SAFETY: the content is read by those who pin and written by those who evict; loom checks it.
unsafe impl Sync for Slot {}

impl Slot {
    fn holding(content: u32) -> Self {
        Self { word: PinWord::new(), content: UnsafeCell::new(content) }
    }

    fn read(&self) -> u32 {
        // SAFETY: the caller has pinned the slot.
        unsafe { *self.content.get().deref() }
    }

    fn write(&self, content: u32) {
        // SAFETY: the caller is evicting the slot.
        unsafe { *self.content.get_mut().deref() = content }
    }
}

#[test]
fn a_pin_and_an_eviction_exclude_and_see_each_other() {
    model(&["Some(1) true", "Some(2) true", "None true", "Some(1) false"], || {
        let slot = Arc::new(Slot::holding(1));
        let evictor = {
            let slot = Arc::clone(&slot);
            spawn(move || {
                let evicts = slot.word.try_evict();
                if evicts {
                    slot.write(2);
                    slot.word.finish();
                }
                evicts
            })
        };
        let reader = spawn(move || slot.word.pin().map(|_pinned| slot.read()));
        let evicted = evictor.join().unwrap();
        format!("{:?} {evicted}", reader.join().unwrap())
    });
}

#[test]
fn evictors_see_each_other() {
    model(&["(true, true)", "(true, false)", "(false, true)"], || {
        let slot = Arc::new(Slot::holding(0));
        let evictors = [1, 2].map(|content| {
            let slot = Arc::clone(&slot);
            spawn(move || {
                let evicts = slot.word.try_evict();
                if evicts {
                    slot.write(content);
                    slot.word.finish();
                }
                evicts
            })
        });
        let [first, second] = evictors.map(|thread| thread.join().unwrap());
        format!("{:?}", (first, second))
    });
}

#[test]
fn pin_with_never_ends_on_the_wrong_page_when_its_slot_is_reused() {
    const LEAVING: Key = key(1, 0);
    const COMING: Key = key(2, 1);
    model(&["None", "Some(1)"], || {
        let table = table(1, &[(LEAVING, 0)]);
        let slot = Arc::new(Slot::holding(LEAVING.id));
        let evictor = {
            let (table, slot) = (Arc::clone(&table), Arc::clone(&slot));
            spawn(move || {
                if slot.word.try_evict() {
                    assert_eq!(table.remove(&LEAVING), Some(0));
                    slot.write(COMING.id);
                    assert_eq!(table.insert(COMING, 0), Ok(()));
                    slot.word.finish();
                }
            })
        };
        let reader = spawn(move || {
            let pinned = table.pin_with(&LEAVING, |_| slot.word.pin());
            pinned.map(|(_, _pinned)| {
                let content = slot.read();
                assert_eq!(content, LEAVING.id, "pinned on the wrong page");
                content
            })
        });
        evictor.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}
