use super::{Chains, Extent, Head, Walk};

#[test]
fn each_next_head_has_another_stamp_and_the_chain_it_was_given() {
    let stamp = |head: Head| head.0 >> Head::STAMP_SHIFT;
    let empty = Head(0);
    assert_eq!((empty.first(), empty.is_filling(), stamp(empty)), (None, false, 0));
    let one = empty.followed_by(Some(5));
    assert_eq!((one.first(), one.is_filling(), stamp(one)), (Some(5), false, 1));
    let filling = one.filling();
    assert_eq!((filling.first(), filling.is_filling(), stamp(filling)), (Some(5), true, 2));
    let last = filling.followed_by(Some((1 << 30) - 3));
    assert_eq!((last.first(), last.is_filling(), stamp(last)), (Some((1 << 30) - 3), false, 3));
    assert_eq!((last.followed_by(None).first(), stamp(last.followed_by(None))), (None, 4));
    let oldest = Head(u64::from(u32::MAX) << Head::STAMP_SHIFT);
    assert_eq!(stamp(oldest.followed_by(Some(0))), 0, "the stamp comes round");
}

#[test]
fn a_walk_that_is_led_in_a_circle_ends() {
    for slots in 1..4 {
        let one = Extent { now: 1, most: 1 };
        let chains = Chains::<u64>::new(Extent { now: 3, most: 3 }, one, false).expect("there is memory");
        for slot in 0..slots {
            let entry = chains.entry(slot);
            assert!(entry.claim());
            entry.prepare(&u64::from(slot), Some((slot + 1) % slots));
            entry.set_next(entry.link().next().linked());
        }
        assert_eq!(chains.follow(Some(0), &u64::from(slots - 1)), Walk::Hit(slots - 1));
        assert_eq!(chains.follow(Some(0), &7), Walk::Torn, "a circle of {slots}");
    }
}
