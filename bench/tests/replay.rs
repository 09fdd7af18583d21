//! Both modes on every table, against the trace's facts; and what is said about a table that is wrong.

mod common;

use std::sync::LazyLock;

use bench::peers::hashbrown::RwLockHashbrown;
use bench::pool::PoolError;
use bench::replay::{Answers, CONTESTANTS, Contestant, Pass, ReplayError, ops, pool, reference};
use bench::table::{BufferTag, Inserted, Lookup, Table};
use bench::trace::{self, Trace, TraceError, decode};
use common::{DELETE, INSERT, LOOKUP, Numbers, Parts};

static SHIPPED: LazyLock<Trace> = LazyLock::new(|| trace::read_file(&trace::default_path()).unwrap());

#[test]
fn the_shipped_operations_come_out_alike_on_every_table() {
    let input = reference::ops(&SHIPPED).unwrap();
    let right = input.right_answers;
    assert_eq!((right.hits, right.misses), (922_286, 77_714));
    assert_eq!((right.insert_exists, right.delete_absent), (5, 0));
    assert_eq!((right.mapped.count, right.mapped.crc32), (4096, 0xb996_6b71));
    for table in CONTESTANTS {
        let run = (table.ops)(&input, Pass::Throughput).unwrap();
        assert_eq!(run.answers, right, "{}", table.name);
    }
}

#[test]
fn the_shipped_lookups_come_out_alike_in_every_pool() {
    let lookups = SHIPPED.lookups();
    let right_answers = reference::pool(&lookups, 4096);
    assert_eq!((right_answers.hits, right_answers.misses), (919_247, 80_753));
    assert_eq!((right_answers.evictions, right_answers.mapped.count), (76_657, 4096));
    let all = pool::Input { lookups: &lookups, frames: 4096, threads: 1, right_answers };
    // A part is enough for the peers, so that debug builds are not slow.
    let lookups = &lookups[..200_000];
    let part = pool::Input { lookups, right_answers: reference::pool(lookups, 4096), ..all };
    for table in CONTESTANTS {
        let input = if ["flatmap", "dynahash"].contains(&table.name) { &all } else { &part };
        let run = (table.pool)(input, Pass::Throughput).unwrap();
        assert_eq!(run.answers, input.right_answers, "{}", table.name);
        assert!(run.answers.evictions > 10_000, "{}", table.name);
    }
}

/// Pools from one frame up, with few pages and with many, on more threads than frames and than cores.
#[test]
fn threads_agree_on_what_is_in_a_pool() {
    let mut numbers = Numbers(5);
    let pages: Vec<BufferTag> = (0..4000).map(|_| page(numbers.below(24) as u32)).collect();
    for table in CONTESTANTS {
        let mut evictions = 0;
        for frames in [1, 2, 7, 30] {
            for threads in [1, 2, 5] {
                let right_answers = reference::pool(&pages, frames);
                let input = pool::Input { lookups: &pages, frames, threads, right_answers };
                let run = (table.pool)(&input, Pass::Latency { clock_cost_ns: 0 });
                let run = run.unwrap_or_else(|error| panic!("{frames} frames, {threads} threads: {error}"));
                assert!(run.answers.mapped.count <= frames as usize, "{}", table.name);
                assert_eq!(run.latency.map(|times| times.len()), Some(4000), "{}", table.name);
                evictions += run.answers.evictions;
            }
        }
        assert!(evictions > 10_000, "{}: {evictions}", table.name);
    }
}

#[test]
fn lookups_settled_under_the_lock_are_the_misses_of_the_locked_policy() {
    let pages: Vec<BufferTag> = (0..100).map(|i| page(i % 20)).collect();
    let input =
        pool::Input { lookups: &pages, frames: 20, threads: 1, right_answers: reference::pool(&pages, 20) };
    let fallbacks = CONTESTANTS.map(|table| {
        let counts = (table.pool)(&input, Pass::Check).unwrap().lookup_counts;
        (table.name, counts.map(|counts| (counts.retried, counts.fallback)))
    });
    assert_eq!(fallbacks[0], ("flatmap", Some((0, 0))));
    assert_eq!(fallbacks[1], ("flatmap-locked-miss", Some((0, 20))));
    assert!(fallbacks[2..].iter().all(|(_, counts)| counts.is_none()));
}

#[test]
fn a_trace_with_two_tags_in_one_slot_is_refused() {
    let parts = Parts::new(2, &[(INSERT, 1, 0), (DELETE, 1, 0), (INSERT, 2, 0), (INSERT, 3, 0)]);
    let trace = decode(&parts.bytes()).unwrap();
    let error = reference::ops(&trace).unwrap_err();
    assert!(matches!(error, TraceError::SlotOccupied { record: 3, slot: 0 }), "{error}");
}

fn page(block_number: u32) -> BufferTag {
    BufferTag { spc_oid: 1663, db_oid: 5, rel_number: 16384, fork_number: 0, block_number }
}

/// A table that is right but for block 13, of which it does what `FAULT` says.
struct Faulty<const FAULT: u8>(RwLockHashbrown);

const FORGETS: u8 = 0;
const SHIFTS: u8 = 1;
const KEEPS: u8 = 2;
const REFUSES: u8 = 3;

impl<const FAULT: u8> Faulty<FAULT> {
    fn fails(fault: u8, tag: &BufferTag) -> bool {
        fault == FAULT && tag.block_number == 13
    }
}

impl<const FAULT: u8> Table for Faulty<FAULT> {
    const NAME: &'static str = "faulty";

    fn with_slots(slots: u32) -> Self {
        Self(RwLockHashbrown::with_slots(slots))
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        self.0.get(tag).map(|slot| slot + u32::from(Self::fails(SHIFTS, tag)))
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        match tag {
            tag if Self::fails(FORGETS, tag) => Inserted::New,
            tag if Self::fails(REFUSES, tag) => Inserted::Refused,
            tag => self.0.insert(tag, slot),
        }
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        if Self::fails(KEEPS, tag) { self.0.get(tag) } else { self.0.remove(tag) }
    }

    fn lookup_and_pin<P>(&self, tag: &BufferTag, pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        self.0.lookup_and_pin(tag, pin)
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        self.0.mappings()
    }
}

/// What is said about a faulty table: by the check of ops mode, by its other passes, and by pool mode.
fn said_of(table: Contestant) -> [String; 3] {
    let records: [(u8, u32, u32); 6] =
        [(INSERT, 4, 0), (LOOKUP, 4, 0), (INSERT, 13, 1), (LOOKUP, 13, 0), (DELETE, 13, 0), (LOOKUP, 13, 0)];
    let trace = decode(&Parts::new(4, &records).bytes()).unwrap();
    let input = reference::ops(&trace).unwrap();
    let lookups = [page(13), page(13), page(2), page(3), page(13)];
    let right_answers = reference::pool(&lookups, 1);
    let pool = pool::Input { lookups: &lookups, frames: 1, threads: 1, right_answers };
    [
        (table.ops)(&input, Pass::Check).map(drop),
        (table.ops)(&input, Pass::Throughput).map(drop),
        (table.pool)(&pool, Pass::Throughput).map(drop),
    ]
    .map(|result| result.err().map_or_else(String::new, |error| error.to_string()))
}

#[test]
fn a_table_that_is_wrong_is_told_where() {
    let [check, others, pool] = said_of(Contestant::of::<Faulty<FORGETS>>());
    assert_eq!(check, "faulty disagrees at record 3: a lookup gave no slot, expected slot 1");
    assert_eq!(others, "faulty disagrees: hits is 1, expected 2");
    assert_eq!(pool, "faulty: the page in frame 0 was to be evicted, but the table maps it to None");

    let [check, others, _] = said_of(Contestant::of::<Faulty<SHIFTS>>());
    assert_eq!(check, "faulty disagrees at record 3: a lookup gave slot 2, expected slot 1");
    assert!(others.starts_with("faulty disagrees: digest of the answers is "), "{others}");

    let [check, others, pool] = said_of(Contestant::of::<Faulty<KEEPS>>());
    assert_eq!(check, "faulty disagrees at record 5: a lookup gave slot 1, expected no slot");
    assert_eq!(others, "faulty disagrees: hits is 3, expected 2");
    assert_eq!(pool, "faulty: the table maps a page to frame 0, which holds another page or none");

    let [check, _, pool] = said_of(Contestant::of::<Faulty<REFUSES>>());
    assert_eq!(check, "faulty disagrees at record 2: an insert gave a refusal, expected no slot");
    assert_eq!(pool, "faulty: frame 0 is free, but the table takes it for another page's");
}

#[test]
fn each_figure_is_compared() {
    let trace = decode(&Parts::small().bytes()).unwrap();
    let right = reference::ops(&trace).unwrap().right_answers;
    let mut mapped = right.mapped;
    mapped.crc32 ^= 1;
    let cases = [
        ("misses", Answers { misses: 9, ..right }),
        ("evictions", Answers { evictions: 9, ..right }),
        ("insert_exists", Answers { insert_exists: 9, ..right }),
        ("delete_absent", Answers { delete_absent: 9, ..right }),
        ("crc32", Answers { mapped, ..right }),
    ];
    for (name, answers) in cases {
        let error = answers.expect("some", &right).unwrap_err();
        assert!(matches!(error, ReplayError::Disagrees { field, .. } if field == name), "{name}: {error}");
    }
    assert!(right.expect("some", &right).is_ok());
    assert_ne!(PoolError::NoFrame, PoolError::WrongMapping { frame: 0 });
    assert_eq!(ops::Answer::Slot(3).to_string(), "slot 3");
}
