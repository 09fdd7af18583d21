//! Inputs of `lhash_schedule` and `flatmap_schedule`.

use super::Seeds;
use crate::schedule::encode;
use crate::schedule::flat::Op as Flat;
use crate::schedule::hash::Op as Hash;

/// Who goes on at each point: by turns, in runs, and without a pattern.
fn schedules() -> [(&'static str, Vec<u8>); 3] {
    let runs = (0..240_u32).map(|n| (n / 5 % 3) as u8).collect();
    let mixed = (0..240_u32).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 27) as u8).collect();
    [("turns", (0..240).map(|n| n % 3).collect()), ("runs", runs), ("mixed", mixed)]
}

/// A record for each of `kinds`, twice; keys and arguments change, so that threads meet at some.
fn records(kinds: u8, third: u8) -> Vec<[u8; 4]> {
    (0..24_u8).map(|n| [(n * 5 + third) % kinds, n % 3, n.wrapping_mul(37), n % 3]).collect()
}

fn seeds(kinds: u8, headers: &[(&'static str, [u8; 8])]) -> Seeds {
    let mut seeds = Vec::new();
    for (at, &(name, header)) in headers.iter().enumerate() {
        for (order, schedule) in schedules() {
            let input = encode(header, &schedule, &records(kinds, at as u8));
            seeds.push((&*format!("{name}_{order}").leak(), input));
        }
    }
    seeds
}

/// All the threads work on one key, at which they meet inside their calls.
fn crowd(records: &[[u8; 2]], header: [u8; 8]) -> Seeds {
    let records: Vec<[u8; 4]> =
        (0..).zip(records).map(|(n, &[kind, argument])| [kind, 1, argument, n % 3]).collect();
    let named = |(order, schedule): (&str, Vec<u8>)| {
        (&*format!("crowd_{order}").leak(), encode(header, &schedule, &records))
    };
    schedules().into_iter().map(named).collect()
}

pub(super) fn hash_seeds() -> Seeds {
    let headers = [
        ("exact", [0, 0, 1, 9, 90, 0, 0, 1]),
        ("deferred", [1, 1, 0, 20, 80, 0, 0, 1]),
        ("quiet", [2, 2, 3, 4, 60, 0, 0, 1]),
        ("sharded", [0, 3, 1, 12, 90, 0, 0, 0]),
    ];
    let kinds = [Hash::Insert(0), Hash::Update(0), Hash::Toggle(0), Hash::RemoveIf(0), Hash::Reserve(0)];
    let kinds: Vec<[u8; 2]> = (0..24).map(|n| [kinds[n % kinds.len()].kind(), n as u8]).collect();
    let mut all = seeds(Hash::KINDS, &headers);
    all.extend(crowd(&kinds, [0, 1, 0, 16, 90, 0, 0, 1]));
    all
}

pub(super) fn flat_seeds() -> Seeds {
    let headers = [
        ("one_chain", [3, 0, 0, 0, 0, 0, 0, 1]),
        ("two_partitions", [2, 1, 1, 1, 0, 1, 0, 1]),
        ("locked_misses", [1, 2, 1, 2, 1, 3, 0, 0]),
    ];
    let of = (1, 0);
    let kinds = [
        Flat::Insert { key: of.0, slot: of.1 },
        Flat::KeyOf { slot: of.1 },
        Flat::RemoveSlot { slot: of.1 },
        Flat::Pin { key: of.0 },
    ];
    let kinds: Vec<[u8; 2]> = (0..24).map(|n| [kinds[n % kinds.len()].kind(), 0]).collect();
    let mut all = seeds(Flat::KINDS, &headers);
    all.extend(crowd(&kinds, [0, 0, 0, 0, 0, 0, 0, 1]));
    all
}
