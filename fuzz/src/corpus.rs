//! The committed corpus: it is written from here, and tested to reach every kind of operation.
//!
//! `cargo test --lib -- --ignored write_the_corpus` in this folder writes the seeds anew.

mod flat;
mod hash;
mod lock;
mod redo;
mod schedules;
mod small;
mod trace;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::{addressing, counters, schedule, seqlock};

/// The seeds of a target, by name.
type Seeds = Vec<(&'static str, Vec<u8>)>;

/// A target's name, its seeds, and what it does.
type Target = (&'static str, fn() -> Seeds, fn(&[u8]));

const TARGETS: [Target; 11] = [
    ("lwlock_ops", lock::seeds, crate::lock::run),
    ("flatmap_ops", flat::seeds, crate::map::run),
    ("trace_decode", trace::seeds, crate::trace::run),
    ("redo_decode", redo::seeds, crate::redo::run),
    ("lhash_map_ops", hash::map_seeds, crate::hash::map::run),
    ("lhash_multimap_ops", hash::multimap_seeds, crate::hash::multi::run),
    ("lhash_addressing", small::address_seeds, addressing::run),
    ("counter_lag", small::counter_seeds, counters::run),
    ("seqlock_ops", small::seqlock_seeds, seqlock::run),
    ("lhash_schedule", schedules::hash_seeds, schedule::hash::run),
    ("flatmap_schedule", schedules::flat_seeds, schedule::flat::run),
];

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The committed inputs of a target.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder(target)).expect("every target has a corpus");
    let read = |entry: std::io::Result<fs::DirEntry>| fs::read(entry.expect("readable").path());
    entries.map(|entry| read(entry).expect("readable")).collect()
}

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
fn every_target_is_here_and_calls_what_is_tested_here() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let files = fs::read_dir(folder).expect("the folder is there");
    let names: BTreeSet<String> = files
        .map(|file| file.expect("readable").file_name().into_string().expect("a plain name"))
        .map(|name| name.trim_end_matches(".rs").to_owned())
        .collect();
    assert!(names.iter().map(String::as_str).eq(BTreeSet::from(TARGETS.map(|(name, ..)| name))));
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

/// The corpus of a target has operations of all kinds.
#[track_caller]
fn has_all_kinds<Kinds: IntoIterator<Item = u8>>(
    target: &str,
    kinds: u8,
    kinds_of: impl Fn(&[u8]) -> Option<Kinds>,
) {
    let met: BTreeSet<u8> = inputs(target).iter().filter_map(|input| kinds_of(input)).flatten().collect();
    assert!(met.iter().copied().eq(0..kinds), "{target}: {met:?} of {kinds}");
}

#[test]
fn the_corpus_has_every_operation_of_each_target() {
    use crate::{hash, lock, map};
    has_all_kinds("lwlock_ops", lock::Op::KINDS, |input| {
        Some(crate::records(input).map(|r| lock::Op::decode(r).encode()[0]).collect::<Vec<_>>())
    });
    has_all_kinds("seqlock_ops", seqlock::Op::KINDS, |input| {
        Some(crate::records(input).map(|r| seqlock::Op::decode(r).encode()[0]).collect::<Vec<_>>())
    });
    has_all_kinds("flatmap_ops", map::Op::KINDS, |input| {
        map::decode(input).map(|(_, ops)| ops.into_iter().map(|op| op.encode()[0]))
    });
    has_all_kinds("lhash_map_ops", hash::map::Op::KINDS, |input| {
        hash::map::decode(input).map(|(_, ops)| ops.into_iter().map(|op| op.encode()[0]))
    });
    has_all_kinds("lhash_multimap_ops", hash::multi::Op::KINDS, |input| {
        hash::multi::decode(input).map(|(_, ops)| ops.into_iter().map(|op| op.encode()[0]))
    });
    has_all_kinds("lhash_addressing", addressing::Op::KINDS, |input| {
        addressing::decode(input).map(|(_, ops)| ops.into_iter().map(|op| op.encode()[0]))
    });
    has_all_kinds("counter_lag", counters::Op::KINDS, |input| {
        counters::decode(input).map(|(_, ops)| ops.into_iter().map(|op| op.encode()[0]))
    });
    has_all_kinds("lhash_schedule", schedule::hash::Op::KINDS, |input| {
        schedule::hash::decode(input).map(|script| script.ops().map(|op| op.kind()).collect::<Vec<_>>())
    });
    has_all_kinds("flatmap_schedule", schedule::flat::Op::KINDS, |input| {
        schedule::flat::decode(input).map(|script| script.ops().map(|op| op.kind()).collect::<Vec<_>>())
    });
}

#[test]
fn the_corpus_of_the_redo_log_has_every_record_and_every_end() {
    use crate::redo::format::{End, min_buckets, read};
    let (mut kinds, mut ends) = (BTreeSet::new(), BTreeSet::new());
    for input in inputs("redo_decode") {
        let bytes = crate::redo::decode(&input).map_or(Vec::new(), |log| log.bytes);
        if min_buckets(&bytes).is_none() {
            ends.insert("no header");
            continue;
        }
        let (records, end) = read(&bytes);
        kinds.extend(records.iter().map(|(_, kind)| *kind));
        ends.insert(match end {
            End::Torn(0) => "whole",
            End::Torn(_) => "torn",
            End::Damaged(_) => "damaged",
        });
    }
    assert!(kinds.iter().copied().eq(1..=9), "{kinds:?}");
    assert!(ends.iter().copied().eq(["damaged", "no header", "torn", "whole"]), "{ends:?}");
}

#[test]
fn the_schedules_of_the_corpus_change_hands_split_and_merge() {
    let met = inputs("lhash_schedule")
        .iter()
        .filter_map(|input| schedule::hash::played(input))
        .fold((0, 0, 0), |all, (switches, splits, merges)| {
            (all.0 + switches, all.1 + splits, all.2 + merges)
        });
    assert!(met.0 > 100 && met.1 > 10 && met.2 > 10, "{met:?}");
    let switches = inputs("flatmap_schedule").into_iter().filter_map(|input| schedule::flat::played(&input));
    assert!(switches.sum::<u64>() > 100);
}
