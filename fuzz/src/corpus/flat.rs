//! Inputs of `flatmap_ops`.

use super::Seeds;
use crate::map::Op as MapOp;

/// The first `keys` keys, each in the slot of its number.
fn fill(keys: u8) -> Vec<MapOp> {
    (0..keys).map(|n| MapOp::Insert { key: n, slot: n }).collect()
}

/// A full table, then half empty.
fn full() -> Vec<MapOp> {
    let mut ops = fill(17);
    ops.extend((0..24).map(|key| MapOp::Get { key }));
    ops.extend((0..8).map(|n| MapOp::Remove { key: (n * 5) % 16 }));
    ops.extend([MapOp::Iterate, MapOp::Shape, MapOp::Insert { key: 0, slot: 255 }]);
    ops
}

/// Every call on one key, with its good and bad ends.
fn each_call() -> Vec<MapOp> {
    let (key, slot) = (3, 3);
    let mut ops = fill(6);
    ops.extend([
        MapOp::KeyOf { slot },
        MapOp::Holds { key, slot },
        MapOp::Holds { key, slot: 4 },
        MapOp::RemoveIf { key, slot: 4 },
        MapOp::RemoveIf { key, slot },
        MapOp::RemoveSlot { slot },
        MapOp::RemoveSlot { slot: 2 },
        MapOp::Insert { key: 9, slot },
        MapOp::Insert { key: 9, slot: 8 },
        MapOp::Insert { key: 10, slot },
    ]);
    ops
}

/// A slot pinned, evicted and filled again.
fn pins() -> Vec<MapOp> {
    let (key, slot) = (3, 3);
    let mut ops = fill(4);
    ops.extend([
        MapOp::PinRefused { key },
        MapOp::Pin { key },
        MapOp::Evict { slot },
        MapOp::Unpin { which: 0 },
        MapOp::Evict { slot },
        MapOp::Pin { key },
        MapOp::Remove { key },
        MapOp::Finish { slot },
        MapOp::Pin { key },
    ]);
    ops
}

/// A partition's guard, asked for its own keys and for another's.
fn guard() -> Vec<MapOp> {
    let key = 3;
    let mut ops = fill(3);
    ops.extend([
        MapOp::Enter { key, steps: 7 },
        MapOp::Insert { key, slot: 6 },
        MapOp::Get { key },
        MapOp::Get { key: 4 },
        MapOp::Insert { key: 4, slot: 7 },
        MapOp::Remove { key: 0 },
        MapOp::Remove { key },
        MapOp::Shape,
        MapOp::Iterate,
    ]);
    ops
}

/// More and fewer buckets and slots, within bounds and not, with all keys looked up in between.
fn resizes() -> Vec<MapOp> {
    let mut ops = fill(8);
    let look = MapOp::GetMany { key: 0, count: 24 };
    for buckets in [9, 30, 8, 0, 255, 16] {
        ops.extend([MapOp::SetBuckets { buckets }, look]);
    }
    for slots in [17, 4, 0, 240, 8] {
        ops.extend([MapOp::SetSlots { slots }, look, MapOp::Insert { key: slots, slot: slots }]);
        ops.extend([MapOp::Maintain { budget: 3 }, look, MapOp::Shape]);
    }
    ops.extend((0..24).map(|key| MapOp::Remove { key }));
    ops.extend([MapOp::SetSlots { slots: 1 }, MapOp::Maintain { budget: 255 }, look, MapOp::Iterate]);
    ops
}

pub(super) fn seeds() -> Seeds {
    let sized = |header: [u8; 6], ops: Vec<MapOp>| {
        header.into_iter().chain([0; 2]).chain(ops.into_iter().flat_map(MapOp::encode)).collect()
    };
    let input = |[slots, buckets, partitions, tries, flags]: [u8; 5], ops| {
        sized([slots, buckets, partitions, tries, flags, 0], ops)
    };
    vec![
        ("resizes", sized([16, 0, 1, 0, 1, 7], resizes())),
        ("resizes_one_chain", sized([8, 8, 0, 1, 0, 20], resizes())),
        ("resizes_tags", sized([10, 0, 3, 2, 7, 15], resizes())),
        ("max_slots_too_few", sized([16, 0, 0, 0, 0, 255], vec![])),
        ("full_one_chain", input([16, 1, 1, 0, 0], full())),
        ("full_identity", input([16, 0, 0, 1, 1], full())),
        ("full_tags_upper", input([16, 9, 2, 2, 6], full())),
        ("full_locked_miss", input([16, 20, 3, 3, 15], full())),
        ("each_call", input([9, 3, 2, 1, 1], each_call())),
        ("each_call_tags", input([9, 3, 2, 1, 7], each_call())),
        ("pins", input([5, 0, 1, 0, 3], pins())),
        ("guard", input([8, 5, 2, 0, 1], guard())),
        ("guard_constant", input([8, 5, 2, 0, 0], guard())),
        ("no_slots", input([0, 0, 0, 0, 0], vec![])),
        ("no_tries", input([1, 0, 0, 255, 0], vec![])),
        ("too_few_buckets", input([4, 201, 2, 0, 0], vec![])),
        ("three_partitions", input([4, 0, 131, 0, 0], vec![])),
    ]
}
