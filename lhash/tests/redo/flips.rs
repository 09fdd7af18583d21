//! Small logs with records of every kind, each byte of which is changed and which are cut at every length, through the whole
//! recovery: it gives an error that says where, or what was logged up to some record, and nothing else.

use crate::{entries, segments};
use lhash::redo::{self, Kind, Logged, LoggedMap, LoggedMultiMap, Options, Reader, Record, RedoError};
use lhash::{CountPolicy, Map, MultiMap, ShrinkPolicy};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const HEADER: usize = 64;

/// What a map is after a record.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    /// The position after the record.
    lsn: u64,
    entries: BTreeMap<(u64, String), usize>,
    max_bucket: u32,
    /// Of all keys that were ever inserted.
    hashes: BTreeMap<u64, u32>,
}

impl State {
    fn after(&self, lsn: u64, record: &Record<'_>) -> Self {
        let mut state = self.clone();
        state.lsn = lsn;
        let own = |key: &[u8], value: &[u8]| {
            let key = u64::from_le_bytes(key.try_into().expect("8 bytes"));
            (key, String::from_utf8(value.to_vec()).expect("text"))
        };
        match *record {
            Record::Insert { key, value, hash, .. } => {
                let new = own(key, value);
                state.hashes.insert(new.0, hash);
                *state.entries.entry(new).or_default() += 1;
            }
            Record::Replace { key, value, .. } => {
                let new = own(key, value);
                state.entries.retain(|(key, _), _| *key != new.0);
                state.entries.insert(new, 1);
            }
            Record::Remove { key, value, .. } => {
                let left = state.entries.get_mut(&own(key, value)).expect("it was there");
                *left -= 1;
                state.entries.retain(|_, count| *count > 0);
            }
            Record::Clear { bucket, removed, .. } => {
                let (hashes, max_bucket) = (&state.hashes, state.max_bucket);
                let before: usize = state.entries.values().sum();
                state
                    .entries
                    .retain(|(key, _), _| lhash::internals::address(max_bucket, hashes[key]) != bucket);
                assert_eq!(before - state.entries.values().sum::<usize>(), removed as usize);
            }
            Record::Split { .. } => state.max_bucket += 1,
            Record::Merge { .. } => state.max_bucket -= 1,
            _ => {}
        }
        state
    }
}

/// A log that nothing is wrong with.
struct Sample {
    dir: tempfile::TempDir,
    /// Its segments, each with its bytes.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// After no record, the first one, and so on.
    states: Vec<State>,
}

impl Sample {
    /// Of what `fill` does with a map, in one segment.
    fn new<M: Kind>(kinds: &[&str], fill: impl FnOnce(&Logged<u64, String, M>)) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let options = Options::new().seed(5).fill_factor(1).shrink(ShrinkPolicy::Below { percent: 50 });
        let map = options.count_policy(CountPolicy::Exact).verify(true).create(dir.path()).expect("created");
        fill(&map);
        map.flush().expect("flushed");
        let (end, last) = (HEADER + map.lsn() as usize, entries(&map));
        drop(map);
        let path = segments(dir.path()).remove(0);
        let mut bytes = fs::read(&path).expect("the log");
        bytes.truncate(end);
        fs::write(&path, &bytes).expect("written");
        let mut states = vec![State { max_bucket: 3, ..State::default() }];
        let (mut reader, mut met) = (Reader::open(dir.path()).expect("a log"), BTreeSet::new());
        while let Some((lsn, record)) = reader.read().expect("nothing is wrong with it") {
            states.push(states[states.len() - 1].after(lsn, &record));
            met.insert(record.kind());
        }
        assert_eq!(met, kinds.iter().copied().collect());
        assert_eq!(states[states.len() - 1].entries, last);
        Self { dir, files: vec![(path, bytes)], states }
    }

    /// Moves the records from the middle on into a segment of their own.
    fn in_two_segments(mut self) -> Self {
        let (path, bytes) = self.files.remove(0);
        let start = self.states[self.states.len() / 2].lsn;
        let (first, rest) = bytes.split_at(HEADER + start as usize);
        let mut second = first[..HEADER].to_vec();
        second[24..32].copy_from_slice(&start.to_le_bytes());
        let crc = crc32c::crc32c(&second[..HEADER - 4]);
        second[HEADER - 4..].copy_from_slice(&crc.to_le_bytes());
        second.extend_from_slice(rest);
        let second_path = path.with_file_name(format!("{start:016x}.redo"));
        self.files = vec![(path, first.to_vec()), (second_path, second)];
        self
    }

    /// Recovers from its files with the bytes of one changed. Returns how many records were applied.
    fn recover<M: Kind>(&self, changed: usize, bytes: &[u8]) -> Result<usize, RedoError> {
        for (at, (path, whole)) in self.files.iter().enumerate() {
            fs::write(path, if at == changed { bytes } else { whole }).expect("written");
        }
        let (map, recovery) = redo::open::<u64, String, M, redo::SeededState>(self.dir.path())?;
        let records = recovery.records as usize;
        let max_bucket = map.stats().max_bucket;
        let hashes = self.states[records].hashes.clone();
        let state = State { lsn: recovery.lsn, entries: entries(&map), max_bucket, hashes };
        assert_eq!(state, self.states[records]);
        assert_eq!(map.stats().ntuples as usize, state.entries.values().sum::<usize>());
        Ok(records)
    }

    /// How many records end within so many bytes of a segment, and whether one ends there.
    fn records_in(&self, file: usize, bytes: usize) -> (usize, bool) {
        let start = if file == 0 { 0 } else { self.files[0].1.len() - HEADER };
        let end = (start + bytes.saturating_sub(HEADER)) as u64;
        let records = self.states.iter().rposition(|state| state.lsn <= end).unwrap_or(0);
        (records, self.states[records].lsn == end)
    }

    fn flip_all<M: Kind>(&self) {
        let all = self.states.len() - 1;
        for (file, (path, whole)) in self.files.iter().enumerate() {
            for at in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << (at * 5 % 8);
                match self.recover::<M>(file, &bytes) {
                    // The last record: it may as well be torn.
                    Ok(records) => assert!(
                        records + 1 == all && self.records_in(file, at).0 == records && at >= HEADER,
                        "byte {at} of {}: {records} of {all}",
                        path.display()
                    ),
                    Err(error) => is_located(&error, path, at),
                }
            }
        }
    }

    fn cut_everywhere<M: Kind>(&self) {
        let last = self.files.len() - 1;
        for (file, (path, whole)) in self.files.iter().enumerate() {
            for len in 0..whole.len() {
                let (within, at_end) = self.records_in(file, len);
                match self.recover::<M>(file, &whole[..len]) {
                    Ok(records) => {
                        assert!(file == last && records == within, "{len} of {}: {records}", path.display());
                        assert!(file > 0 || len >= HEADER, "{len} bytes of {}", path.display());
                    }
                    // A cut between two records shows where the next segment begins.
                    Err(error) if file < last && at_end && len >= HEADER => {
                        is_located(&error, &self.files[file + 1].0, 0);
                    }
                    Err(error) => {
                        assert!(len < HEADER || file < last, "{len} of {}: {error}", path.display());
                        is_located(&error, path, len);
                    }
                }
            }
        }
    }

    fn check<M: Kind>(self) {
        assert_eq!(self.recover::<M>(0, &self.files[0].1).expect("whole"), self.states.len() - 1);
        self.flip_all::<M>();
        self.cut_everywhere::<M>();
    }
}

/// An error that names the file, an offset up to the damage, and a reason.
#[track_caller]
fn is_located(error: &RedoError, file: &Path, damage: usize) {
    let RedoError::Damaged { path, offset, why } = error else { panic!("byte {damage}: {error}") };
    assert!(path == file && *offset <= damage as u64 && !why.is_empty(), "byte {damage}: {error}");
    let text = error.to_string();
    let parts = [path.display().to_string(), offset.to_string(), why.clone()];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

fn some_map() -> Sample {
    let kinds = ["insert", "replace", "remove", "split", "merge", "clear"];
    Sample::new(&kinds, |map: &LoggedMap<u64, String>| {
        let map = map.pin();
        (0..6).for_each(|n| _ = map.insert(n, n.to_string()).expect("logged"));
        map.insert(3, "three".to_owned()).expect("logged");
        (0..4).for_each(|n| _ = map.remove(&n).expect("logged"));
        map.clear().expect("logged");
        map.insert(9, "nine".to_owned()).expect("logged");
    })
}

fn some_multimap() -> Sample {
    let kinds = ["insert", "remove", "add_page", "split", "squeeze", "vacuum", "clear", "merge"];
    Sample::new(&kinds, |map: &LoggedMultiMap<u64, String>| {
        let map = map.pin();
        (0..9).for_each(|n| map.insert(1, n.to_string()).expect("logged"));
        map.remove_one(&1, &"4".to_owned()).expect("logged");
        map.vacuum(|_, value| value.as_str() > "5").expect("logged");
        map.insert(2, "2".to_owned()).expect("logged");
        map.clear().expect("logged");
        map.insert(3, "3".to_owned()).expect("logged");
    })
}

#[test]
fn a_damaged_log_of_a_map_is_an_error_or_recovers_what_was_logged_before() {
    some_map().check::<Map>();
}

#[test]
fn a_damaged_log_of_a_multimap_is_an_error_or_recovers_what_was_logged_before() {
    some_multimap().check::<MultiMap>();
}

#[test]
fn a_damaged_log_of_two_segments_is_an_error_or_recovers_what_was_logged_before() {
    some_map().in_two_segments().check::<Map>();
}
