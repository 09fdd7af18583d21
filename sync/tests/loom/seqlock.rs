//! `SeqLock` and its stamp: no mix of two values, no value from nowhere, and what a writer did before is seen.

use crate::{Seen, explore, explore_within, start};
use std::sync::Arc;
use sync::prim::atomic::{AtomicU32, Ordering};
use sync::{SeqLock, Stamp};

type Pair = Arc<SeqLock<[u64; 2]>>;

fn writer(pair: &Pair, value: u64) -> Box<dyn FnOnce()> {
    let pair = pair.clone();
    Box::new(move || *pair.write() = [value, value])
}

fn reader(pair: &Pair, seen: &Seen, read: fn(&SeqLock<[u64; 2]>) -> Option<[u64; 2]>) -> Box<dyn FnOnce()> {
    let (pair, seen) = (pair.clone(), seen.clone());
    Box::new(move || match read(&pair) {
        Some([one, other]) => {
            assert_eq!(one, other, "a mix of two values");
            seen.note(one.to_string());
        }
        None => seen.note("torn"),
    })
}

fn run<const N: usize>(tasks: [Box<dyn FnOnce()>; N]) {
    start(tasks).into_iter().for_each(crate::join);
}

#[test]
fn a_reader_gets_one_value_or_the_other_and_never_a_mix() {
    let seen = explore(|seen| {
        let pair = Arc::new(SeqLock::new([0, 0]));
        run([writer(&pair, 1), reader(&pair, seen, |pair| Some(pair.read()))]);
    });
    seen.must_be(&["0", "1"]);
}

#[test]
fn a_try_against_two_writers_gets_a_value_or_says_that_it_is_torn() {
    let seen = explore_within(2, |seen| {
        let pair = Arc::new(SeqLock::new([0, 0]));
        run([writer(&pair, 1), writer(&pair, 2), reader(&pair, seen, SeqLock::try_read)]);
        let last = pair.read()[0];
        assert!(last == 1 || last == 2, "both writers have published");
    });
    seen.must_be(&["0", "1", "2", "torn"]);
}

#[test]
fn who_reads_a_value_sees_what_its_writer_did_before() {
    let seen = explore(|seen| {
        let pair = Arc::new(SeqLock::new([0, 0]));
        let sign = Arc::new(AtomicU32::new(0));
        let (writes, signs) = (pair.clone(), sign.clone());
        let (reads, seen) = (pair.clone(), seen.clone());
        run([
            Box::new(move || {
                signs.store(1, Ordering::Relaxed);
                *writes.write() = [1, 1];
            }),
            Box::new(move || {
                let [value, _] = reads.read();
                assert!(value == 0 || sign.load(Ordering::Relaxed) == 1, "the value came before its past");
                seen.note(value.to_string());
            }),
        ]);
    });
    seen.must_be(&["0", "1"]);
}

#[test]
fn a_stamp_that_validates_vouches_for_every_word_between() {
    let seen = explore(|seen| {
        let words = Arc::new((Stamp::new(), AtomicU32::new(0), AtomicU32::new(0)));
        let writes = words.clone();
        let seen = seen.clone();
        run([
            Box::new(move || {
                let (stamp, low, high) = &*writes;
                stamp.open();
                low.store(1, Ordering::Relaxed);
                high.store(1, Ordering::Relaxed);
                stamp.close();
            }),
            Box::new(move || {
                let (stamp, low, high) = &*words;
                let Some(begun) = stamp.read() else { return seen.note("turned away") };
                let read = (high.load(Ordering::Relaxed), low.load(Ordering::Relaxed));
                if stamp.validate(begun) {
                    assert_eq!(read.0, read.1, "validated a mix");
                    seen.note(read.0.to_string());
                } else {
                    seen.note("torn");
                }
            }),
        ]);
    });
    seen.must_be(&["0", "1", "torn", "turned away"]);
}
