//! Inputs of `lhash_map_ops` and `lhash_multimap_ops`.

use super::Seeds;
use crate::hash::map::Op;
use crate::hash::multi::Op as MultiOp;

/// Page slots, fill factor, least buckets, policy, cap, shrink, hashing, capacity.
type Header = [u8; 8];

/// Every policy, with small pages and fill factors, and hashes of each kind.
const HEADERS: [(&str, Header); 6] = [
    ("exact", [0, 1, 1, 0, 1, 90, 1, 0]),
    ("deferred", [1, 2, 4, 1, 3, 60, 3, 9]),
    ("quiet", [2, 5, 1, 2, 4, 40, 3, 0]),
    ("sharded", [1, 1, 9, 3, 1, 90, 2, 0]),
    ("overflow_signal", [0, 2, 1, 4, 1, 50, 3, 0]),
    ("one_chain", [1, 3, 1, 1, 2, 255, 0, 63]),
];

/// Headers for which there is no table.
const WRONG: [(&str, Header); 4] = [
    ("no_fill_factor", [0, 0, 1, 0, 1, 0, 0, 0]),
    ("too_many_buckets", [0, 1, 255, 0, 1, 0, 0, 0]),
    ("no_cap", [0, 1, 1, 1, 0, 0, 0, 0]),
    ("shrink_above_its_maximum", [0, 1, 1, 0, 1, 91, 0, 0]),
];

/// Everything that can be done to one key.
fn of_one_key() -> Vec<Op> {
    let key = 5;
    vec![
        Op::Get { key },
        Op::Insert { key, value: 7 },
        Op::TryInsert { key, value: 8 },
        Op::TryInsert { key: 6, value: 8 },
        Op::GetOrInsert { key, value: 9 },
        Op::GetOrInsert { key: 7, value: 9 },
        Op::GetOrInsert { key: 8, value: 10 },
        Op::Update { key, add: 3 },
        Op::Update { key: 40, add: 3 },
        Op::Compute { key, value: 11, what: 0 },
        Op::Compute { key, value: 12, what: 2 },
        Op::Compute { key, value: 13, what: 1 },
        Op::Compute { key, value: 14, what: 1 },
        Op::Compute { key, value: 15, what: 0 },
        Op::RemoveIf { key, odd: 0 },
        Op::RemoveIf { key, odd: 1 },
        Op::Remove { key: 6 },
        Op::Remove { key: 6 },
        Op::Repin,
        Op::Shape,
    ]
}

/// A map that grows, shrinks and grows again, under pins and under none, on two threads, with a busy metapage.
fn life() -> Vec<Op> {
    let mut ops = of_one_key();
    ops.extend([
        Op::Extend { first: 0, count: 31, value: 1 },
        Op::Extend { first: 20, count: 28, value: 2 },
        Op::Iterate,
        Op::Copy,
        Op::Shape,
        Op::Busy { point: 0, outcomes: 0b0110_1101 },
        Op::Retain { modulus: 3, rest: 1 },
        Op::Shrink { pinned: 1 },
        Op::ExactLen,
        Op::Busy { point: 1, outcomes: 0xff },
        Op::Extend { first: 3, count: 12, value: 3 },
        Op::Elsewhere { steps: 4 },
        Op::Busy { point: 0, outcomes: 0x0f },
        Op::Extend { first: 30, count: 10, value: 4 },
        Op::Remove { key: 31 },
        Op::Shape,
        Op::Reserve { count: 90 },
        Op::Shape,
        Op::Clear,
        Op::Shape,
        Op::Shrink { pinned: 0 },
        Op::Extend { first: 0, count: 20, value: 5 },
        Op::Renew { some: 6 },
    ]);
    ops.extend(of_one_key());
    ops
}

/// A multimap with keys of one value and of many, vacuumed and removed.
fn many_values() -> Vec<MultiOp> {
    let key = 5;
    vec![
        MultiOp::Get { key },
        MultiOp::Insert { key, value: 7 },
        MultiOp::Insert { key, value: 7 },
        MultiOp::Insert { key, value: 3 },
        MultiOp::Extend { first: key, count: 25, spread: 0 },
        MultiOp::Extend { first: 0, count: 31, spread: 1 },
        MultiOp::Get { key },
        MultiOp::RemoveOne { key, value: 7 },
        MultiOp::RemoveOne { key: 47, value: 7 },
        MultiOp::Shape,
        MultiOp::Iterate,
        MultiOp::Busy { point: 0, outcomes: 0b1011_0111 },
        MultiOp::Vacuum { modulus: 3, rest: 1 },
        MultiOp::Shape,
        MultiOp::Elsewhere { steps: 3 },
        MultiOp::Extend { first: 9, count: 20, spread: 1 },
        MultiOp::RemoveAll { key: 9 },
        MultiOp::Get { key: 9 },
        MultiOp::Shrink { pinned: 1 },
        MultiOp::Repin,
        MultiOp::RemoveAll { key },
        MultiOp::RemoveAll { key },
        MultiOp::ExactLen,
        MultiOp::Shrink { pinned: 0 },
        MultiOp::Vacuum { modulus: 1, rest: 0 },
        MultiOp::Busy { point: 1, outcomes: 0xff },
        MultiOp::Extend { first: 1, count: 30, spread: 1 },
        MultiOp::Extend { first: 1, count: 30, spread: 0 },
        MultiOp::Renew { some: 40 },
        MultiOp::Insert { key, value: 1 },
        MultiOp::Shape,
    ]
}

fn seeds<Op>(ops: impl Fn() -> Vec<Op>, encode: impl Fn(Op) -> [u8; 4]) -> Seeds {
    let input =
        |header: Header, ops: Vec<Op>| header.into_iter().chain(ops.into_iter().flat_map(&encode)).collect();
    let right = HEADERS.iter().map(|&(name, header)| (name, input(header, ops())));
    right.chain(WRONG.iter().map(|&(name, header)| (name, input(header, Vec::new())))).collect()
}

pub(super) fn map_seeds() -> Seeds {
    seeds(life, Op::encode)
}

pub(super) fn multimap_seeds() -> Seeds {
    seeds(many_values, MultiOp::encode)
}
