//! Settings, promises, auto traits, and keys that lie.

use super::*;
use lhash::{CountPolicy, LHashMap, LHashMultiMap, ShrinkPolicy};
use std::cell::Cell;
use std::hash::Hash;
use std::thread;

#[test]
fn a_small_reservation_does_not_take_a_greater_one_back() {
    let map: LHashMap<u64, u64> = LHashMap::with_capacity(10_000);
    let pin = map.pin();
    pin.reserve(1);
    pin.insert(1, 1);
    pin.remove(&1);
    pin.extend((0..10_000).map(|n| (n, n)));
    let stats = map.stats();
    assert_eq!((stats.merges, stats.splits), (0, 0), "the room stays until shrink_to_fit");
}

#[test]
fn a_shrink_policy_above_its_maximum_is_an_error() {
    let builder = LHashMap::<u64, u64>::builder().shrink(ShrinkPolicy::Below { percent: 255 });
    assert!(builder.build().is_err());
}

#[test]
fn shrink_to_fit_goes_by_the_exact_count() {
    let map: LHashMap<u64, u64, Same, 64> = LHashMap::<u64, u64>::builder()
        .hasher(Same::default())
        .page_slots::<64>()
        .fill_factor(1)
        .capacity(1000)
        .count_policy(CountPolicy::Sharded)
        .build()
        .unwrap();
    let mut pin = map.pin();
    for n in 0..1000 {
        pin.insert(1 << 31 | n, n);
    }
    pin.shrink_to_fit();
    assert!(map.stats().max_bucket >= 999, "1000 entries, as many as fit, in {}", map.stats().max_bucket + 1);
}

#[test]
fn auto_traits() {
    trait NotSend<A> {
        fn is() {}
    }
    impl<T: ?Sized> NotSend<()> for T {}
    struct Sends;
    impl<T: ?Sized + Send> NotSend<Sends> for T {}
    trait NotSync<A> {
        fn is() {}
    }
    impl<T: ?Sized> NotSync<()> for T {}
    impl<T: ?Sized + Sync> NotSync<Sends> for T {}
    fn both<T: Send + Sync>() {}
    both::<LHashMap<u64, String>>();
    both::<LHashMultiMap<u64, String>>();
    both::<lhash::IntoIter<u64, String>>();
    <LHashMap<u64, Cell<u8>> as NotSync<_>>::is();
    <LHashMap<u64, std::rc::Rc<u8>> as NotSync<_>>::is();
    <LHashMap<u64, std::rc::Rc<u8>> as NotSend<_>>::is();
    <LHashMap<std::rc::Rc<u8>, u8> as NotSend<_>>::is();
    <lhash::IntoIter<u64, std::rc::Rc<u8>> as NotSend<_>>::is();
    <lhash::Pinned<'_, u64, u64, Same> as NotSend<_>>::is();
    <lhash::Pinned<'_, u64, u64, Same> as NotSync<_>>::is();
    <lhash::PinnedMulti<'_, u64, u64, Same> as NotSend<_>>::is();
    <lhash::PinnedMulti<'_, u64, u64, Same> as NotSync<_>>::is();
    <lhash::Iter<'_, u64, u64> as NotSend<_>>::is();
    <lhash::Iter<'_, u64, u64> as NotSync<_>>::is();
}

/// A key that lies about its hash or about equality loses entries at most.
#[test]
fn liars_harm_themselves_alone() {
    thread_local!(static RNG: Cell<u64> = const { Cell::new(1) });
    fn any() -> u64 {
        RNG.set(RNG.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        RNG.get() >> 33
    }
    #[derive(Debug)]
    struct Liar(#[allow(dead_code, reason = "to be freed")] Box<u64>);
    impl PartialEq for Liar {
        fn eq(&self, _: &Self) -> bool {
            any() % 3 == 0
        }
    }
    impl Eq for Liar {}
    impl Hash for Liar {
        fn hash<H: Hasher>(&self, state: &mut H) {
            state.write_u64(any() % 16);
        }
    }
    let map: LHashMap<Liar, Box<u64>> = LHashMap::new();
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for n in 0..20_000 {
                    let pin = map.pin();
                    match any() % 4 {
                        0 => _ = pin.remove(&Liar(Box::new(0))),
                        1 => _ = pin.update(Liar(Box::new(n)), |v| v.clone()),
                        _ => _ = pin.insert(Liar(Box::new(n)), Box::new(n)),
                    }
                }
            });
        }
    });
    let n = map.exact_len();
    assert_eq!(map.into_iter().count(), n);
}
