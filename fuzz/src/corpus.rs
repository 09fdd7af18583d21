//! The committed corpus: it is written from here, and tested to reach every kind of operation.
//!
//! `cargo test --lib -- --ignored write_the_corpus` in this folder writes the seeds anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::map::Op as MapOp;
use crate::{lock, map, trace};

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The committed inputs of a target.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder(target)).expect("every target has a corpus");
    let read = |entry: std::io::Result<fs::DirEntry>| fs::read(entry.expect("readable").path());
    entries.map(|entry| read(entry).expect("readable")).collect()
}

/// The seeds of a target, by name.
type Seeds = Vec<(&'static str, Vec<u8>)>;

fn lock_seeds() -> Seeds {
    use lock::Op::{
        Add, Downgrade, Drop, Forget, GetMut, Read, Renew, TryRead, TryReadFor, TryWrite, TryWriteFor, Write,
        WriteOrWait,
    };
    let input = |ops: &[lock::Op]| ops.iter().flat_map(|op| op.encode()).collect();
    vec![
        ("readers", input(&[TryRead, Read, TryRead, TryWrite, Drop(1), TryWriteFor(2), Drop(0), TryWrite])),
        ("writer", input(&[Write, Add(0), TryRead, TryReadFor(1), TryWrite, Drop(0), Read, TryRead])),
        ("or_wait", input(&[WriteOrWait, Add(0), Drop(0), WriteOrWait, Downgrade(0), TryRead, WriteOrWait])),
        (
            "downgrade",
            input(&[TryWrite, Add(0), Downgrade(0), TryRead, TryWriteFor(3), Downgrade(1), Add(1)]),
        ),
        (
            "forgotten_reader",
            input(&[TryRead, Forget(0), TryRead, TryWrite, GetMut, TryWriteFor(0), TryReadFor(3)]),
        ),
        (
            "forgotten_writer",
            input(&[TryWrite, Add(0), Forget(0), TryRead, GetMut, TryWrite, Renew, Write, Renew]),
        ),
    ]
}

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

fn map_seeds() -> Seeds {
    let input = |header: [u8; 5], ops: Vec<MapOp>| {
        header.into_iter().chain([0; 3]).chain(ops.into_iter().flat_map(MapOp::encode)).collect()
    };
    vec![
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

/// A trace of two relations: a lookup, an insert and a delete.
fn whole_trace() -> Vec<u8> {
    let mut bytes = b"PGBT0001".to_vec();
    bytes.extend(3_u64.to_le_bytes());
    bytes.extend([2_u32, 16].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([1663_u32, 5, 100, 0, 1663, 5, 101, 1].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([0, 1 | 7 << 2, 2 | 63 << 2]);
    bytes.extend([0_u16, 1, 0].iter().flat_map(|index| index.to_le_bytes()));
    bytes.extend([7, 8, 9, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(15_u32.to_le_bytes());
    bytes
}

/// `whole_trace` with one byte changed.
fn trace_with(at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = whole_trace();
    bytes[at] = byte;
    bytes
}

fn trace_seeds() -> Seeds {
    let whole = whole_trace();
    let slot = whole.len() - 4;
    vec![
        ("whole", whole.clone()),
        ("cut_in_the_header", whole[..20].to_vec()),
        ("cut_in_the_records", whole[..60].to_vec()),
        ("cut_in_the_slots", whole[..slot + 1].to_vec()),
        ("trailing", [&whole[..], b"x"].concat()),
        ("wrong_magic", trace_with(0, b'Q')),
        ("many_records", trace_with(13, 1)),
        ("no_slots", trace_with(20, 0)),
        ("relation_out_of_range", trace_with(59, 2)),
        ("unknown_op", trace_with(56, 3)),
        ("slot_out_of_range", trace_with(slot, 16)),
        ("empty", b"PGBT0001\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0".to_vec()),
    ]
}

/// A target's name, its seeds, and what it does.
type Target = (&'static str, fn() -> Seeds, fn(&[u8]));

const TARGETS: [Target; 3] = [
    ("lwlock_ops", lock_seeds, lock::run),
    ("flatmap_ops", map_seeds, map::run),
    ("trace_decode", trace_seeds, trace::run),
];

#[test]
#[ignore = "writes the committed files"]
fn write_the_corpus() {
    for (target, seeds, _) in TARGETS {
        fs::create_dir_all(folder(target)).expect("the folder can be written");
        for (name, bytes) in seeds() {
            fs::write(folder(target).join(name), bytes).expect("the folder can be written");
        }
    }
}

#[test]
fn every_seed_is_committed_as_it_is_written_here() {
    for (target, seeds, _) in TARGETS {
        for (name, bytes) in seeds() {
            let committed = fs::read(folder(target).join(name)).expect("it is committed");
            assert!(committed == bytes, "{target}/{name} differs; write the corpus anew");
        }
    }
}

#[test]
fn every_committed_input_passes() {
    for (target, _, run) in TARGETS {
        inputs(target).iter().for_each(|input| run(input));
    }
}

#[test]
fn the_corpus_has_every_lock_operation() {
    let kinds: BTreeSet<u8> = inputs("lwlock_ops")
        .iter()
        .flat_map(|i| crate::records(i))
        .map(|r| lock::Op::decode(r).encode()[0])
        .collect();
    assert!(kinds.into_iter().eq(0..lock::Op::KINDS));
}

#[test]
fn the_corpus_has_every_table_operation() {
    let ops =
        inputs("flatmap_ops").into_iter().filter_map(|input| map::decode(&input)).flat_map(|(_, ops)| ops);
    let kinds: BTreeSet<u8> = ops.map(|op| op.encode()[0]).collect();
    assert!(kinds.into_iter().eq(0..MapOp::KINDS));
}
