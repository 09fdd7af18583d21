//! Drops that panic, use the map, or come late.

use lhash::LHashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

static DROPS: [AtomicUsize; 400] = [const { AtomicUsize::new(0) }; 400];

/// Its drop panics, and so does the drop of what it panics with.
struct Grenade(usize);

struct Shrapnel;

impl Drop for Shrapnel {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("a payload's drop");
        }
    }
}

impl Drop for Grenade {
    fn drop(&mut self) {
        let before = DROPS[self.0].fetch_add(1, Ordering::Relaxed);
        if self.0 % 64 == 3 && before == 0 && !thread::panicking() {
            std::panic::panic_any(Shrapnel);
        }
    }
}

#[test]
fn a_value_is_dropped_once_whatever_its_drop_panics_with() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let map: LHashMap<u64, Grenade> = LHashMap::new();
    for key in 0..400 {
        map.pin().insert(key, Grenade(key as usize));
    }
    for key in 0..320 {
        map.pin().remove(&key);
    }
    for _ in 0..2000 {
        // A payload that panics can come out of here too; that is the collector's affair.
        let pin = std::panic::AssertUnwindSafe(|| drop(map.pin()));
        _ = std::panic::catch_unwind(pin).map_err(std::mem::forget);
    }
    _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(map))).map_err(std::mem::forget);
    std::panic::set_hook(hook);
    let wrong: Vec<(usize, usize)> =
        DROPS.iter().map(|n| n.load(Ordering::Relaxed)).enumerate().filter(|&(_, n)| n != 1).collect();
    assert!(wrong.is_empty(), "(value, drops): {wrong:?}");
}

#[test]
fn what_a_drop_panics_with_is_leaked() {
    struct Loud(Arc<()>);
    impl Drop for Loud {
        fn drop(&mut self) {
            if Arc::strong_count(&self.0) % 2 == 0 && !thread::panicking() {
                std::panic::panic_any(Arc::clone(&self.0));
            }
        }
    }
    let shared = Arc::new(());
    let map: LHashMap<u64, Loud> = LHashMap::new();
    (0..101).for_each(|key| _ = map.pin().insert(key, Loud(Arc::clone(&shared))));
    (0..101).for_each(|key| _ = map.pin().remove(&key));
    let start = std::time::Instant::now();
    while Arc::strong_count(&shared) > 1 {
        assert!(
            start.elapsed() < std::time::Duration::from_secs(60),
            "{} are left",
            Arc::strong_count(&shared)
        );
        map.pin().shrink_to_fit();
    }
}

#[test]
fn entries_end_with_their_map_though_another_thread_is_dropping_what_was_removed() {
    struct Slow(Arc<AtomicU64>, Option<(mpsc::Sender<()>, std::sync::Mutex<mpsc::Receiver<()>>)>);
    impl Drop for Slow {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
            if let Some((here, go)) = &self.1 {
                here.send(()).unwrap();
                _ = go.lock().unwrap().recv_timeout(std::time::Duration::from_secs(5));
            }
        }
    }
    let live = Arc::new(AtomicU64::new(0));
    let value = |slow| {
        live.fetch_add(1, Ordering::SeqCst);
        Slow(live.clone(), slow)
    };
    let map = Arc::new(LHashMap::new());
    let (here, is_here) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    for key in 0..100_u64 {
        map.pin().insert(key, value(None));
    }
    map.pin().insert(0, value(Some((here, std::sync::Mutex::new(goes)))));
    let (ended, has_ended) = mpsc::channel();
    let other = {
        let map = map.clone();
        thread::spawn(move || {
            map.pin().remove(&0);
            for key in 1..65 {
                map.pin().remove(&key);
            }
            drop(map);
            // Comes by, as any user of crossbeam-epoch may, until the slow one is dropped here.
            let another = LHashMap::new();
            while has_ended.try_recv().is_err() {
                another.pin().insert(1, 1);
            }
        })
    };
    is_here.recv_timeout(std::time::Duration::from_secs(20)).expect("the slow one is being dropped");
    let map = Arc::into_inner(map);
    let was_last = map.is_some();
    drop(map);
    let left = live.load(Ordering::SeqCst);
    go.send(()).unwrap();
    ended.send(()).unwrap();
    other.join().unwrap();
    assert!(was_last);
    // Of 66 that were replaced or removed, the slow one counts as gone; the other 35 were in the map.
    assert!(left <= 65, "{left} values outlive their map");
}

/// Every Drop uses the map again, from wherever the collector runs it.
#[test]
fn drops_that_use_the_map() {
    static LIVE: AtomicU64 = AtomicU64::new(0);
    struct Meddler(std::sync::Weak<LHashMap<u64, Meddler>>, u64);
    impl Meddler {
        fn new(map: &Arc<LHashMap<u64, Meddler>>, n: u64) -> Self {
            LIVE.fetch_add(1, Ordering::SeqCst);
            Self(Arc::downgrade(map), n)
        }
    }
    impl Drop for Meddler {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::SeqCst);
            if let Some(map) = self.0.upgrade() {
                let mut pin = map.pin();
                pin.remove(&(self.1 + 1));
                if self.1 % 3 == 0 {
                    pin.insert(self.1 % 50, Meddler::new(&map, 1_000_000));
                }
                if self.1 % 1000 == 1 {
                    pin.shrink_to_fit();
                }
                if self.1 % 7 == 0 && !thread::panicking() {
                    std::panic::resume_unwind(Box::new(()));
                }
            }
        }
    }
    let map = Arc::new(LHashMap::new());
    thread::scope(|s| {
        for thread in 0..3 {
            let map = &map;
            s.spawn(move || {
                for n in 0..3000 {
                    _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        let key = (n * 7 + thread) % 500;
                        map.pin().insert(key, Meddler::new(map, n));
                        map.pin().remove(&(key / 2));
                    }));
                }
            });
        }
    });
    _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| map.pin().clear()));
    drop(map);
    for _ in 0..1000 {
        drop(LHashMap::<u64, u64>::new().pin());
    }
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
}
