//! The trace reader: the shipped trace's facts, and everything that can be wrong with one.

mod common;

use bench::table::BufferTag;
use bench::trace::{self, MAX_RECORDS, Op, OpCounts, Record, TraceError, decode};
use common::{INSERT, LOOKUP, Numbers, Parts, file};

#[test]
fn the_shipped_trace_is_whole() {
    let trace = trace::read_file(&trace::default_path()).unwrap();
    assert_eq!(trace.slots, 4096);
    assert_eq!(trace.records.len(), 1_150_751);
    assert_eq!(trace.op_counts(), OpCounts { lookups: 1_000_000, inserts: 77_426, deletes: 73_325 });
    assert_eq!(trace.lookups().len(), 1_000_000);
}

#[test]
fn every_part_of_a_record_is_read() {
    let mut parts = Parts::small();
    parts.relations = 2;
    parts.relation_words.push([1, 2, 3, 4]);
    parts.relation_indices[4] = 1;
    let trace = decode(&parts.bytes()).unwrap();
    let tag = |rel: [u32; 4], block_number| BufferTag {
        spc_oid: rel[0],
        db_oid: rel[1],
        rel_number: rel[2],
        fork_number: rel[3],
        block_number,
    };
    let first = [1663, 5, 16384, 0];
    assert_eq!(trace.records[1], Record { tag: tag(first, 7), op: Op::Insert { slot: 2 }, client: 0 });
    let other = tag([1, 2, 3, 4], 0x0403_0201);
    assert_eq!(trace.records[4], Record { tag: other, op: Op::Insert { slot: 0 }, client: 0 });
    assert_eq!(trace.records[5], Record { tag: tag(first, 7), op: Op::Delete, client: 0 });
    assert_eq!(trace.records[7], Record { tag: tag(first, 0x0403_0201), op: Op::Lookup, client: 63 });
}

#[test]
fn a_trace_cut_anywhere_is_an_error() {
    let bytes = Parts::small().bytes();
    for len in 0..bytes.len() {
        let error = decode(&bytes[..len]).unwrap_err();
        assert!(matches!(error, TraceError::Truncated { .. }), "{len} bytes: {error}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let packed = Parts::small().packed();
    for len in 0..packed.len() {
        let error = trace::read_file(&file("cut.zst", &packed[..len])).unwrap_err();
        let told = matches!(error, TraceError::NotZstd { .. } | TraceError::TruncatedFrame { .. });
        assert!(told, "{len} bytes: {error}");
    }
    let shipped = std::fs::read(trace::default_path()).unwrap();
    for len in [5, 100, 10_000, shipped.len() / 2, shipped.len() - 1] {
        let error = trace::read_file(&file("cut.zst", &shipped[..len])).unwrap_err();
        assert!(matches!(error, TraceError::TruncatedFrame { .. }), "{len} bytes: {error}");
    }
}

/// Changes the small trace, and returns what is then wrong with it, both unpacked and from a file.
fn error_of(name: &str, change: impl FnOnce(&mut Parts)) -> TraceError {
    let mut parts = Parts::small();
    change(&mut parts);
    let error = decode(&parts.bytes()).unwrap_err();
    let from_file = trace::read_file(&file(&format!("{name}.zst"), &parts.packed())).unwrap_err();
    assert_eq!(std::mem::discriminant(&error), std::mem::discriminant(&from_file), "{error} / {from_file}");
    error
}

#[test]
fn each_damaged_field_is_named() {
    let error = error_of("magic", |p| p.magic[7] = b'2');
    assert!(matches!(&error, TraceError::WrongMagic { found } if found == "PGBT0002"), "{error}");
    for records in [u64::MAX, MAX_RECORDS + 1] {
        let error = error_of("records", |p| p.records = records);
        assert!(matches!(error, TraceError::TooManyRecords { records: r, .. } if r == records), "{error}");
    }
    for (records, name) in [(MAX_RECORDS, "most"), (9, "nine")] {
        let error = error_of(name, |p| p.records = records);
        assert!(matches!(error, TraceError::Truncated { .. }), "{error}");
    }
    let error = error_of("relations", |p| p.relations = u32::MAX);
    assert!(matches!(error, TraceError::Truncated { needed_bytes: 68_719_476_720.., .. }), "{error}");
    for slots in [0, u32::MAX] {
        let error = error_of("slots", |p| p.slots = slots);
        assert!(matches!(error, TraceError::SlotCount { slots: s, .. } if s == slots), "{error}");
    }
}

#[test]
fn each_damaged_record_is_named() {
    let error = error_of("index", |p| p.relation_indices[3] = 1);
    assert!(matches!(error, TraceError::RelationOutOfRange { record: 3, index: 1, relations: 1 }), "{error}");
    let error = error_of("slot", |p| p.insert_slots[2] = 4);
    assert!(matches!(error, TraceError::SlotOutOfRange { record: 4, slot: 4, slots: 4 }), "{error}");
    let error = error_of("op", |p| p.ops[6] = 3 | 1 << 2);
    assert!(matches!(error, TraceError::UnknownOp { record: 6, op: 3 }), "{error}");
    let error = error_of("slotless", |p| p.ops[0] = INSERT);
    assert!(matches!(error, TraceError::Truncated { what: "the slots of the inserts", .. }), "{error}");
}

#[test]
fn bytes_after_the_end_are_an_error() {
    let error = error_of("trailing", |p| p.insert_slots.push(0));
    assert!(matches!(error, TraceError::TrailingBytes { trailing_bytes: 4, .. }), "{error}");
    let error = error_of("fewer", |p| p.ops[1] = LOOKUP);
    assert!(matches!(error, TraceError::TrailingBytes { trailing_bytes: 4, .. }), "{error}");
    let mut packed = Parts::small().packed();
    packed.extend(b"more");
    let error = trace::read_file(&file("after.zst", &packed)).unwrap_err();
    assert!(matches!(error, TraceError::Corrupt { .. } | TraceError::TruncatedFrame { .. }), "{error}");
}

#[test]
fn what_is_no_trace_file_is_an_error() {
    let error = trace::read_file(&file("plain", &Parts::small().bytes())).unwrap_err();
    assert!(matches!(&error, TraceError::NotZstd { found } if found == "PGBT"), "{error}");
    let error =
        trace::read_file(&file("zeros.zst", &zstd::encode_all(&[0; 1000][..], 1).unwrap())).unwrap_err();
    assert!(matches!(error, TraceError::WrongMagic { .. }), "{error}");
    let error = trace::read_file(env!("CARGO_TARGET_TMPDIR").as_ref()).unwrap_err();
    assert!(matches!(error, TraceError::Io(_)), "{error}");
    let error = trace::read_file("no/such/file".as_ref()).unwrap_err();
    assert!(matches!(error, TraceError::Io(_)), "{error}");
}

/// A file that unpacks to far more than its header says must not be unpacked to its end.
#[test]
fn a_file_that_unpacks_without_end_is_an_error() {
    let mut endless = Parts::small().bytes();
    endless.resize(64 << 20, 0);
    let error = trace::read_file(&file("bomb.zst", &zstd::encode_all(&endless[..], 1).unwrap())).unwrap_err();
    assert!(matches!(error, TraceError::TrailingBytes { trailing_bytes: ..100, .. }), "{error}");
}

#[test]
fn flipped_bytes_never_panic() {
    let (whole, packed) = (Parts::small().bytes(), Parts::small().packed());
    let mut numbers = Numbers(11);
    for round in 0..20_000 {
        let source = if round % 20 == 0 { &packed } else { &whole };
        let mut bytes = source.clone();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(bytes.len());
            bytes[at] = numbers.next() as u8;
        }
        if round % 20 == 0 {
            let _ = trace::read_file(&file("flipped.zst", &bytes));
        } else if let Ok(trace) = decode(&bytes) {
            assert!(trace.records.len() as u64 <= MAX_RECORDS);
        }
    }
}
