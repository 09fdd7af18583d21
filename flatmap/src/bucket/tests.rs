use super::Head;

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
