//! Everything at once.

use super::*;
use lhash::{LHashMap, LHashMultiMap, ShrinkPolicy};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn seconds() -> std::time::Duration {
    let n = std::env::var("LHASH_ATTACK_SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    std::time::Duration::from_secs(n)
}

/// Stable keys are found, whatever splits, merges, squeezes run; iteration meets each once; values are whole.
#[test]
fn stable_keys_are_always_found_and_met_once() {
    stress::<1>(1);
    stress::<2>(2);
    stress::<7>(5);
}

#[expect(clippy::too_many_lines, reason = "four threads")]
fn stress<const N: usize>(fill_factor: u32) {
    let map: LHashMap<u64, Box<(u64, u64)>, Same, N> = LHashMap::<u64, Box<(u64, u64)>>::builder()
        .hasher(Same::default())
        .page_slots::<N>()
        .fill_factor(fill_factor)
        .shrink(ShrinkPolicy::Below { percent: 90 })
        .build()
        .unwrap();
    let stable = |n: u64| n * 3 + 1;
    const STABLE: u64 = 24;
    for n in 0..STABLE {
        map.pin().insert(stable(n), Box::new((stable(n), 0)));
    }
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        for writer in 0..2_u64 {
            let (map, stop) = (&map, &stop);
            s.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(writer);
                let mut pin = map.pin();
                while !stop.load(Ordering::Relaxed) {
                    let span = [8, 64, 300][rng.usize(..3)];
                    for n in 0..span {
                        let key = (n * 2 + writer) * 3;
                        pin.insert(key, Box::new((key, !key)));
                    }
                    for n in 0..span {
                        let key = (n * 2 + writer) * 3;
                        let removed = pin.remove(&key).unwrap_or_else(|| panic!("{key} is lost"));
                        assert_eq!(**removed, (key, !key));
                        assert!(pin.get(&key).is_none());
                    }
                    if rng.u8(..) == 0 {
                        pin.shrink_to_fit();
                    }
                    pin.repin();
                }
            });
        }
        for reader in 0..2_u64 {
            let (map, stop) = (&map, &stop);
            s.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(100 + reader);
                while !stop.load(Ordering::Relaxed) {
                    let pin = map.pin();
                    for _ in 0..100 {
                        let key = stable(rng.u64(..STABLE));
                        assert_eq!(pin.get(&key).map(|v| v.0), Some(key), "missed");
                    }
                    if reader == 0 {
                        let all: Vec<u64> = pin.iter().map(|(&k, v)| (assert_eq!(v.0, k), k).1).collect();
                        let set: BTreeSet<u64> = all.iter().copied().collect();
                        // A churned key may be removed and come back in between, but not within its family.
                        assert_eq!(set.len(), all.len(), "twice");
                        assert!((0..STABLE).all(|n| set.contains(&stable(n))), "missed by iteration");
                    } else {
                        let key = stable(rng.u64(..STABLE));
                        pin.update(key, |v| Box::new((v.0, v.1 + 1))).expect("missed by update");
                    }
                }
            });
        }
        thread::sleep(seconds());
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!((map.exact_len() as u64, map.len() as u64), (STABLE, STABLE));
    let mut all: Vec<u64> = map.into_iter().map(|(key, _)| key).collect();
    all.sort_unstable();
    assert_eq!(all, (0..STABLE).map(stable).collect::<Vec<_>>());
}

/// A multimap's snapshot of a key is the key's values at one moment: inserts append, `remove_all` clears from the
/// front, so there is never a gap in what was inserted in one round.
#[test]
fn get_all_is_as_it_was_at_one_moment() {
    let map: LHashMultiMap<u64, (u64, u64), Same> =
        LHashMultiMap::<u64, (u64, u64)>::builder().hasher(Same::default()).build().unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| {
            let mut round = 0;
            while !stop.load(Ordering::Relaxed) {
                let pin = map.pin();
                for n in 0..60 {
                    pin.insert(0, (round, n));
                }
                pin.remove_all(&0);
                round += 1;
            }
        });
        for _ in 0..2 {
            s.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let pin = map.pin();
                    let mut all: Vec<(u64, u64)> = pin.get_all(&0).copied().collect();
                    all.sort_unstable();
                    let is_run = all.windows(2).all(|two| two[0].0 == two[1].0 && two[0].1 + 1 == two[1].1);
                    if !is_run {
                        stop.store(true, Ordering::Relaxed);
                        panic!("never so: {all:?}");
                    }
                }
            });
        }
        thread::sleep(seconds());
        stop.store(true, Ordering::Relaxed);
    });
}

/// A multimap under everything at once.
#[test]
fn multimap_counts_and_keeps() {
    let map: LHashMultiMap<u64, u64, Same, 2> = LHashMultiMap::<u64, u64>::builder()
        .hasher(Same::default())
        .page_slots::<2>()
        .fill_factor(1)
        .shrink(ShrinkPolicy::Below { percent: 90 })
        .build()
        .unwrap();
    for key in 0..20 {
        map.pin().insert(key * 5, u64::MAX);
    }
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        for writer in 0..3_u64 {
            let (map, stop) = (&map, &stop);
            s.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(writer);
                while !stop.load(Ordering::Relaxed) {
                    let pin = map.pin();
                    let keys: Vec<u64> = (0..rng.u64(1..200)).map(|n| (n * 3 + writer) * 5 + 1).collect();
                    for &key in &keys {
                        for value in 0..rng.u64(1..5) {
                            pin.insert(key, value);
                        }
                    }
                    if rng.u8(..4) == 0 {
                        pin.vacuum(|&key, _| key % 5 == 1 && (key / 5) % 3 == writer);
                    }
                    for &key in &keys {
                        pin.remove_all(&key);
                        assert_eq!(pin.count(&key), 0);
                    }
                }
            });
        }
        s.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let pin = map.pin();
                for key in 0..20 {
                    assert!(pin.contains(&(key * 5)), "missed");
                    assert_eq!(pin.count(&(key * 5)), 1);
                }
            }
        });
        thread::sleep(seconds());
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(map.exact_len(), 20);
    let mut all: Vec<u64> = map.into_iter().map(|(key, _)| key).collect();
    all.sort_unstable();
    assert_eq!(all, (0..20).map(|key| key * 5).collect::<Vec<_>>());
}
