//! The collector must not run inside itself: one expired bag in another until the stack ends.

use lhash::LHashMap;
use std::sync::{Arc, mpsc};
use std::thread;

/// Runs the rest of a test in a process of its own, which may crash; whether this is that process.
fn is_child(test: &str) -> bool {
    const CHILD: &str = "LHASH_ATTACK_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let status = child
        .args([&format!("collector::{test}"), "--exact", "--nocapture"])
        .env(CHILD, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    false
}

#[test]
fn drops_that_remove_do_not_nest_the_collector_in_itself() {
    if !is_child("drops_that_remove_do_not_nest_the_collector_in_itself") {
        return;
    }
    struct Parent(Arc<LHashMap<u64, ()>>, u64);
    impl Drop for Parent {
        fn drop(&mut self) {
            self.0.pin().remove(&self.1);
        }
    }
    let children: Arc<LHashMap<u64, ()>> = Arc::default();
    let parents = LHashMap::new();
    let pinned = parents.pin();
    thread::scope(|s| {
        s.spawn(|| {
            for n in 0..300_000 {
                children.pin().insert(n, ());
                parents.pin().insert(n % 64, Parent(children.clone(), n));
            }
        });
    });
    drop(pinned);
    let end = || (0..200_000).for_each(|_| drop(parents.pin()));
    thread::scope(|s| s.spawn(end).join().unwrap());
    assert!(children.len() < 1000, "{}", children.len());
}

#[test]
fn a_thread_that_ends_does_not_nest_the_collector_in_itself() {
    if !is_child("a_thread_that_ends_does_not_nest_the_collector_in_itself") {
        return;
    }
    let map: Arc<LHashMap<u64, String>> = Arc::default();
    let pinned = map.pin();
    thread::scope(|s| {
        s.spawn(|| {
            for key in 0..1_000_000 {
                map.pin().insert(key % 64, String::new());
            }
        });
    });
    // Now a great deal waits for this pin.
    let (ready, go) = mpsc::channel::<()>();
    let ending = {
        let map = map.clone();
        thread::spawn(move || {
            // With these, the collector's own pin at the thread's end collects too, as every 128th does. By then the
            // thread's participant is gone, so that each pin is a new one, and the first pin of each collects.
            (0..128).for_each(|_| drop(map.pin()));
            go.recv().unwrap_err();
        })
    };
    drop(pinned);
    thread::sleep(std::time::Duration::from_millis(200));
    drop(ready);
    ending.join().unwrap();
}
