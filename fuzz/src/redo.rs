//! The redo log's reader and recovery on any bytes. The reader must find exactly the records that a slow one finds, and end
//! as it does. Recovery must not panic; of a log that was written as it should be and damaged afterwards, it must give an error
//! or what was logged up to some record.
//!
//! An input's first byte says what follows: a segment as it is; payloads, each after its length, which get right checksums; or
//! steps of three bytes that are logged as a map does it. In the latter two, three bytes come first, which damage the segment:
//! where, and which bits are changed there, or that it is cut there.
//!
//! Next: `redo/format.rs`, the slow reader.

pub(crate) mod format;

use std::collections::BTreeMap;
use std::fs;
use std::hash::BuildHasher;
use std::path::Path;

use format::End;
use lhash::internals::address;
use lhash::redo::{self, Kind, Reader, Recovery, RedoError, SeededHasher, SeededState};
use lhash::{Map, MultiMap};

/// The most buckets that are built.
const MOST_BUCKETS: u32 = 1 << 12;

type Entries = BTreeMap<u64, String>;

/// What a log was made of.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) bytes: Vec<u8>,
    /// What the map is after each record, if it was logged as it should be.
    states: Option<Vec<Entries>>,
}

/// The log that an input stands for.
pub(crate) fn decode(input: &[u8]) -> Option<Log> {
    let (&first, rest) = input.split_first()?;
    if first % 3 == 0 {
        return Some(Log { bytes: rest.to_vec(), states: None });
    }
    let (&[low, high, change], rest) = rest.split_first_chunk()?;
    let mut log =
        if first % 3 == 1 { sealed(first & 4 != 0, u32::from(first >> 3) % 5, rest) } else { steps(rest) };
    let at = usize::from(u16::from_le_bytes([low, high]));
    match change {
        0 => {}
        0xff => log.bytes.truncate(at),
        bits => log.bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits),
    }
    Some(log)
}

fn sealed(is_multi: bool, policy: u32, mut rest: &[u8]) -> Log {
    let mut bytes = format::header(is_multi, policy);
    while let Some((&len, more)) = rest.split_first() {
        let (payload, more) = more.split_at(usize::from(len).min(more.len()));
        if !payload.is_empty() {
            bytes.extend(format::frame(payload));
        }
        rest = more;
    }
    Log { bytes, states: None }
}

/// Inserts, replaces and removes of a few keys, and splits, merges and clears wherever the input says so.
fn steps(rest: &[u8]) -> Log {
    let (hasher, mut max_bucket) = (SeededState::from_seed(5), 3_u32);
    let hash_of = |key: u64| {
        let hash = hasher.hash_one(key);
        (hash ^ hash >> 32) as u32
    };
    let (mut bytes, mut now) = (format::header(false, 0), Entries::new());
    let mut states = vec![now.clone()];
    for &[what, key, value] in rest.as_chunks().0.iter().take(500) {
        let key = u64::from(key % 16);
        let hash = hash_of(key);
        let words = |words: [u32; 2]| words.map(u32::to_le_bytes).concat();
        let entry = |tag: u8, value: &str| {
            let place = words([address(max_bucket, hash), hash]);
            [&[tag], &place[..], &[8], &key.to_le_bytes(), value.as_bytes()].concat()
        };
        let payload = match what % 5 {
            0 => {
                let value = value.to_string();
                let tag = if now.contains_key(&key) { 2 } else { 0x11 };
                let payload = entry(tag, &value);
                now.insert(key, value);
                payload
            }
            1 => match now.remove(&key) {
                Some(value) => entry(0x13, &value),
                None => continue,
            },
            2 => {
                max_bucket += 1;
                [&[5], &words([lhash::internals::parent(max_bucket), max_bucket])[..]].concat()
            }
            4 => {
                let bucket = address(max_bucket, hash);
                let before = now.len();
                now.retain(|key, _| address(max_bucket, hash_of(*key)) != bucket);
                [&[0x19], &words([bucket, (before - now.len()) as u32])[..]].concat()
            }
            _ if max_bucket > 3 => {
                max_bucket -= 1;
                [&[6], &words([max_bucket + 1, lhash::internals::parent(max_bucket + 1)])[..]].concat()
            }
            _ => [&[7], &(max_bucket & u32::from(value)).to_le_bytes()[..]].concat(),
        };
        bytes.extend(format::frame(&payload));
        states.push(now.clone());
    }
    Log { bytes, states: Some(states) }
}

/// Reads and recovers the log that `input` stands for.
pub fn run(input: &[u8]) {
    let Some(log) = decode(input) else { return };
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let file = folder.path().join("0000000000000000.redo");
    fs::write(&file, &log.bytes).expect("written");
    let Some(buckets) = format::min_buckets(&log.bytes) else {
        is_damaged(&Reader::open(folder.path()).expect_err("it has no header"), &file, 0);
        is_damaged(&open::<Map>(folder.path()).expect_err("it has no header"), &file, 0);
        return;
    };
    let (records, end) = format::read(&log.bytes);
    read(folder.path(), &file, &records, end);
    if buckets > MOST_BUCKETS {
        return;
    }
    let is_multi = log.bytes[52] & 1 != 0;
    let opened = if is_multi { open::<MultiMap>(folder.path()) } else { open::<Map>(folder.path()) };
    match opened {
        Ok((recovery, entries)) => {
            let lsn = records.last().map_or(0, |(lsn, _)| *lsn);
            assert_eq!((recovery.records, recovery.lsn), (records.len() as u64, lsn));
            assert_eq!(End::Torn(recovery.torn_bytes), end);
            if let Some(states) = &log.states {
                assert_eq!(entries, states[records.len()].clone().into_iter().collect::<Vec<_>>());
            }
        }
        Err(error) => match end {
            End::Damaged(offset) if log.states.is_some() => is_damaged(&error, &file, offset),
            _ => assert!(!error.to_string().is_empty() && log.states.is_none(), "{error}"),
        },
    }
}

fn read(folder: &Path, file: &Path, records: &[(u64, u8)], end: End) {
    let mut reader = Reader::open(folder).expect("its header is right");
    let kinds = ["insert", "replace", "remove", "add_page", "split", "merge", "squeeze", "vacuum", "clear"];
    for &(lsn, kind) in records {
        let (found, record) = reader.read().expect("a record").expect("a record");
        assert_eq!((found, record.kind()), (lsn, kinds[usize::from(kind) - 1]));
    }
    match (reader.read(), end) {
        (Ok(None), End::Torn(_)) => {}
        (Err(error), End::Damaged(offset)) => return is_damaged(&error, file, offset),
        (found, _) => panic!("{found:?} where {end:?} is expected"),
    }
    assert_eq!(End::Torn(reader.torn_bytes()), end);
}

#[track_caller]
fn is_damaged(error: &RedoError, file: &Path, at: u64) {
    let RedoError::Damaged { path, offset, why } = error else { panic!("{error}") };
    assert!(path == file && *offset == at && !why.is_empty(), "{error}, not at {at}");
}

fn open<M: Kind>(folder: &Path) -> Result<(Recovery, Vec<(u64, String)>), RedoError> {
    let (map, recovery) = redo::open::<u64, String, M, SeededState>(folder)?;
    let mut entries: Vec<_> = map.pin().iter().map(|(key, value)| (*key, value.clone())).collect();
    entries.sort();
    Ok((recovery, entries))
}
