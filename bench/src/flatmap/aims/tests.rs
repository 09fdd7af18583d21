use super::{ALL, BYTES, SLOTS, judge};
use crate::flatmap::{BASELINE, HUGE, Head, OURS, Op, Row};
use crate::sync::Sample;
use crate::sync::aims::Verdict::{self, NotJudged, NotReached, Reached};

fn row(op: Op, table: &'static str, ns: u64) -> Row {
    let head = Head { op, table, slots: SLOTS[0], threads: 1, batch: 1, resizing: false };
    Row::new(head, Some(BYTES), vec![Sample::of_workers(1, ns, 1)])
}

fn with(mut row: Row, change: impl FnOnce(&mut Head)) -> Row {
    change(&mut row.head);
    row
}

/// What became of the one aim whose text begins so, at the first number of slots and one thread.
fn verdict(rows: &[Row], begin: &str) -> Verdict {
    let aims = judge(rows);
    let mut fitting = aims.iter().filter(|aim| aim.text.starts_with(begin) && aim.text.contains("524,288"));
    let aim = fitting.next().unwrap_or_else(|| panic!("{begin}"));
    assert!(fitting.next().is_none(), "{begin}");
    aim.verdict
}

#[test]
fn nothing_is_judged_without_figures() {
    let aims = judge(&[]);
    assert_eq!(aims.len(), 2 * 8);
    assert!(aims.iter().all(|aim| aim.verdict == NotJudged));
    let elsewhere = with(row(Op::Hit, OURS, 1), |head| head.slots = 16_384);
    assert!(judge(&[elsewhere]).iter().all(|aim| aim.verdict == NotJudged));
}

#[test]
fn changes_and_hits_are_compared_with_the_baseline() {
    for (op, begin, least) in
        [(Op::Hit, "hit at", 400), (Op::Insert, "insert", 250), (Op::Remove, "remove", 250)]
    {
        for (theirs, expected) in [(least, Reached), (least - 1, NotReached)] {
            assert_eq!(
                verdict(&[row(op, OURS, 100), row(op, BASELINE, theirs)], begin),
                expected,
                "{theirs}"
            );
        }
        assert_eq!(verdict(&[row(op, OURS, 100)], begin), NotJudged);
        let busy = with(row(op, OURS, 100), |head| head.resizing = true);
        assert_eq!(verdict(&[busy, row(op, BASELINE, 1000)], begin), NotJudged);
    }
}

#[test]
fn the_fastest_batch_counts() {
    let batch = |ns, batch, table| with(row(Op::HitBatch, table, ns), |head| head.batch = batch);
    for (ns, expected) in [(100, Reached), (101, NotReached)] {
        let rows = [batch(ns, 16, OURS), batch(ns + 50, 64, HUGE), row(Op::Hit, BASELINE, 1000)];
        assert_eq!(verdict(&rows, "batched hit"), expected, "{ns}");
    }
}

#[test]
fn every_operation_has_to_be_ahead_of_every_peer() {
    let all = |slow: Op, ns: u64| -> Vec<Row> {
        let ours = ALL.map(|op| row(op, OURS, if op == slow { ns } else { 50 }));
        let peers =
            ALL.into_iter().flat_map(|op| ["dashmap", "papaya", "scc"].map(|table| row(op, table, 100)));
        ours.into_iter().chain(peers).collect()
    };
    for op in ALL {
        assert_eq!(verdict(&all(op, 99), "every operation"), Reached, "{op:?}");
        assert_eq!(verdict(&all(op, 100), "every operation"), NotReached, "{op:?}");
    }
    let mut rows = all(Op::Hot, 50);
    rows.retain(|row| row.head.op != Op::Mix || row.head.table != "scc");
    assert_eq!(verdict(&rows, "every operation"), NotJudged);
}

#[test]
fn a_chain_is_compared_with_the_memory_and_resizing_with_rest() {
    for (ns, expected) in [(250, Reached), (251, NotReached)] {
        let rows = [row(Op::HitChain, OURS, ns), row(Op::HitChain, super::MEMORY_CHAIN, 100)];
        assert_eq!(verdict(&rows, "hit_chain"), expected, "{ns}");
    }
    for (ns, expected) in [(100, Reached), (101, NotReached)] {
        let busy = with(row(Op::Hit, OURS, ns), |head| head.resizing = true);
        assert_eq!(verdict(&[row(Op::Hit, OURS, 80), busy], "hits during resizing"), expected, "{ns}");
    }
}

#[test]
fn bytes_have_a_bound() {
    assert_eq!(verdict(&[row(Op::Hit, OURS, 1)], "at most"), Reached);
    let mut more = row(Op::Hit, OURS, 1);
    more.bytes_per_slot = Some(BYTES + 0.01);
    assert_eq!(verdict(&[more], "at most"), NotReached);
}
