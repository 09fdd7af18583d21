//! Sequence locks: every value read is one that was published, whole.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use sync::SeqLock;

#[test]
fn a_write_is_published_when_its_guard_is_dropped_and_not_before() {
    let lock = SeqLock::new([1_u32, 2]);
    let mut guard = lock.write();
    guard[0] = 7;
    assert_eq!((lock.read(), *guard), ([1, 2], [7, 2]));
    guard.publish();
    assert_eq!(lock.try_read(), Some([7, 2]));
    guard[1] = 8;
    drop(guard);
    assert_eq!(lock.read(), [7, 8]);
    assert_eq!(lock.into_inner(), [7, 8]);
}

#[test]
fn a_forgotten_guard_leaves_the_last_value_readable_and_only_writers_out() {
    let mut lock = SeqLock::new(5_u64);
    let mut guard = lock.write();
    *guard = 6;
    mem::forget(guard);
    assert_eq!((lock.read(), lock.try_read()), (5, Some(5)));
    assert!(lock.try_write().is_none());
    *lock.get_mut() = 9;
    assert_eq!(lock.read(), 9);
}

#[test]
fn a_writer_that_panics_half_way_publishes_nothing_and_lets_others_write() {
    let lock = SeqLock::new([1_u64, 1]);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = lock.write();
        guard[0] = 2;
        panic!("half way");
    }));
    assert!(outcome.is_err());
    assert_eq!(lock.read(), [1, 1]);
    *lock.write() = [3, 3];
    assert_eq!(lock.read(), [3, 3]);
}

#[test]
fn a_write_inside_a_destructor_during_a_panic_is_published() {
    struct Writes<'a>(&'a SeqLock<u64>);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            *self.0.write() += 1;
        }
    }
    let lock = SeqLock::new(0_u64);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _writes = Writes(&lock);
        panic!("unwinds through a destructor");
    }));
    assert!(outcome.is_err());
    assert_eq!(lock.read(), 1);
}

#[test]
fn values_of_every_size_and_alignment_come_back_as_they_were() {
    fn round_trip<const N: usize>() {
        let bytes: [u8; N] = std::array::from_fn(|at| at as u8 ^ 0x5a);
        let lock = SeqLock::new([0_u8; N]);
        *lock.write() = bytes;
        assert_eq!(lock.read(), bytes);
        let wide: [u16; N] = std::array::from_fn(|at| at as u16 ^ 0x5a5a);
        let lock = SeqLock::new([0_u16; N]);
        *lock.write() = wide;
        assert_eq!(lock.read(), wide);
        let wider = [u32::MAX - 3; N];
        let lock = SeqLock::new([0_u32; N]);
        *lock.write() = wider;
        assert_eq!(lock.read(), wider);
    }
    round_trip::<0>();
    round_trip::<1>();
    round_trip::<3>();
    round_trip::<4>();
    round_trip::<5>();
    round_trip::<7>();
    round_trip::<16>();
    round_trip::<61>();
    let lock = SeqLock::new(());
    lock.read();
}

#[test]
fn readers_beside_two_writers_never_see_a_mix() {
    static LOCK: SeqLock<[u64; 8]> = SeqLock::new([0; 8]);
    let done = AtomicBool::new(false);
    let torn = thread::scope(|s| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                s.spawn(|| {
                    let (mut torn, mut last) = (0_u64, 0);
                    while !done.load(Ordering::Relaxed) {
                        let value = LOCK.read();
                        assert!(value.iter().all(|&word| word == value[0]), "a mix: {value:?}");
                        assert!(value[0] >= last, "went back in time");
                        last = value[0];
                        torn += u64::from(LOCK.try_read().is_none());
                    }
                    torn
                })
            })
            .collect();
        let writers: Vec<_> = (0..2)
            .map(|_| {
                s.spawn(|| {
                    for _ in 0..100_000 {
                        let mut guard = LOCK.write();
                        let next = guard[0] + 1;
                        *guard = [next; 8];
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Relaxed);
        readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>()
    });
    assert_eq!(LOCK.read(), [200_000; 8]);
    assert!(torn > 0, "no read ever met a write");
}

#[test]
fn a_try_to_write_gets_a_free_lock_and_nothing_beside_a_writer() {
    let lock = SeqLock::new(1_u64);
    let mut writer = lock.try_write().expect("it is free");
    *writer = 2;
    assert!(thread::scope(|s| s.spawn(|| lock.try_write().is_none()).join().unwrap()));
    assert_eq!(lock.read(), 1, "not published yet");
    drop(writer);
    assert_eq!((lock.read(), lock.try_write().is_some()), (2, true));
}

#[test]
fn the_usual_traits_are_there() {
    let lock: SeqLock<u32> = SeqLock::from(3);
    assert_eq!(SeqLock::<u32>::default().read(), 0);
    assert!(format!("{lock:?}").contains("value: 3"));
    assert_eq!(format!("{:?}", lock.write()), "3");
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&lock);
}
