//! Inputs of `lhash_addressing`, `counter_lag` and `seqlock_ops`.

use super::Seeds;
use crate::addressing::Op as Address;
use crate::counters::Op as Count;
use crate::seqlock::Op as Seq;

pub(super) fn address_seeds() -> Seeds {
    let input = |max_bucket: u32| {
        let ops = [
            Address::Low(0),
            Address::Low(0xff_ffff),
            Address::High(0xffff_ffff),
            Address::High(0x1234_5600),
            Address::Partner(0),
            Address::Partner(3),
            Address::Family(0x01_0001),
            Address::Family(0x03_0005),
            Address::Place(63),
            Address::Place(64),
            Address::Split,
            Address::Low(0xff_ffff),
            Address::Partner(1),
            Address::Merge,
            Address::Merge,
            Address::Low(0xff_ffff),
            Address::Family(0x1f_ffff),
        ];
        max_bucket.to_le_bytes().into_iter().chain(ops.into_iter().flat_map(Address::encode)).collect()
    };
    vec![
        ("one_bucket", input(0)),
        ("two_buckets", input(1)),
        ("before_a_round", input(7)),
        ("in_a_round", input(11)),
        ("a_round_begins", input(16)),
        ("many", input((1 << 31) + 5)),
        ("all", input(u32::MAX)),
    ]
}

/// Counts that are deferred up to the cap and beyond, in both directions, on threads that come and go.
fn counts() -> Vec<Count> {
    let up = |thread, count, busy| Count::Update { thread, count, busy };
    vec![
        up(0, 3, false),
        up(1, 2, true),
        up(2, -2, true),
        Count::Look,
        up(1, 100, true),
        up(0, 1, true),
        Count::Replace { thread: 0 },
        up(0, 1, true),
        Count::Hold,
        Count::Add { count: 5 },
        up(1, 2, false),
        up(1, 127, false),
        Count::Look,
        Count::Release,
        Count::Force { thread: 2, count: -4 },
        Count::Look,
        Count::GetMut,
        Count::Deferred { thread: 0, count: 1, busy: false },
        Count::Deferred { thread: 0, count: 2, busy: true },
        Count::Deferred { thread: 1, count: -128, busy: true },
        Count::Exact,
        Count::Sharded { thread: 0, count: 2, busy: false },
        Count::Sharded { thread: 0, count: 3, busy: true },
        Count::Sharded { thread: 1, count: -127, busy: true },
        Count::Compare { far: 1 },
        Count::Compare { far: -100 },
    ]
}

pub(super) fn counter_seeds() -> Seeds {
    let input = |first: u8| {
        let ops = (0..3).flat_map(|_| counts()).flat_map(Count::encode);
        [first, 0, 0, 0].into_iter().chain(ops).collect()
    };
    vec![
        ("steady", input(3 << 1)),
        ("steady_no_cap", input(0)),
        ("steady_wide", input(63 << 1)),
        ("quiet", input(3 << 1 | 1)),
        ("quiet_no_cap", input(1)),
    ]
}

pub(super) fn seqlock_seeds() -> Seeds {
    let input = |ops: &[Seq]| ops.iter().flat_map(|op| op.encode()).collect();
    let edit = [Seq::Write, Seq::Edit(3), Seq::Read, Seq::TryWrite, Seq::Publish, Seq::Read, Seq::Edit(4)];
    let with = |more: &[Seq]| input(&[&edit[..], more].concat());
    vec![
        (
            "finish",
            with(&[Seq::Finish, Seq::Read, Seq::TryRead, Seq::TryWrite, Seq::Edit(9), Seq::GetMut(5)]),
        ),
        ("panic", with(&[Seq::Panic, Seq::Read, Seq::Write, Seq::Finish, Seq::Read])),
        ("forget", with(&[Seq::Forget, Seq::Read, Seq::TryWrite, Seq::Renew(2), Seq::Write, Seq::Read])),
        ("torn", with(&[Seq::Tear(0b0101), Seq::TryRead, Seq::TryRead, Seq::Read, Seq::TryRead])),
        ("stamp", input(&[Seq::Look, Seq::Turn, Seq::Look, Seq::Turn, Seq::Look, Seq::Look])),
    ]
}
