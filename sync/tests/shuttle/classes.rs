//! Every class of user of one lock, four or five at a time over several rounds: nobody is forgotten, nobody overlaps,
//! and the sections add up.

use crate::{
    Answers, Lock, Seen, Task, Twins, at_rest, below, explore, pause, read, task, together, together_with,
    write,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sync::LwLock;

/// Uses the lock once; whether it held it exclusively.
type Use = fn(&LwLock<Twins>, &Seen) -> bool;

fn reads(lock: &LwLock<Twins>, _: &Seen) -> bool {
    read(&lock.read());
    false
}

fn writes(lock: &LwLock<Twins>, _: &Seen) -> bool {
    write(&mut lock.write());
    true
}

fn downgrades(lock: &LwLock<Twins>, _: &Seen) -> bool {
    let mut guard = lock.write();
    write(&mut guard);
    let mine = guard.0;
    let shared = guard.downgrade();
    assert_eq!(read(&shared), mine, "a writer came in between");
    true
}

fn waits_or_writes(lock: &LwLock<Twins>, seen: &Seen) -> bool {
    let guard = lock.write_or_wait();
    seen.note(if guard.is_some() { "took it" } else { "waited" });
    guard.map(|mut guard| write(&mut guard)).is_some()
}

fn tries(lock: &LwLock<Twins>, seen: &Seen) -> bool {
    if let Some(guard) = lock.try_read() {
        read(&guard);
    }
    let guard = lock.try_write();
    seen.note(if guard.is_some() { "tried in time" } else { "tried in vain" });
    guard.map(|mut guard| write(&mut guard)).is_some()
}

fn reads_in_time(lock: &LwLock<Twins>, seen: &Seen) -> bool {
    match lock.try_read_for(Duration::from_millis(1)) {
        Some(guard) => _ = read(&guard),
        None => seen.note("a reader gave up"),
    }
    false
}

fn writes_in_time(lock: &LwLock<Twins>, seen: &Seen) -> bool {
    let guard = lock.try_write_for(Duration::from_millis(1));
    seen.note(if guard.is_some() { "a writer came in" } else { "a writer gave up" });
    guard.map(|mut guard| write(&mut guard)).is_some()
}

const USES: [Use; 7] = [reads, writes, downgrades, waits_or_writes, tries, reads_in_time, writes_in_time];

/// A thread that uses the lock `rounds` times, in the way that `choose` gives for each.
fn rounds(lock: &Lock, seen: &Seen, sections: &Arc<AtomicU64>, rounds: u32, choose: fn() -> Use) -> Task {
    let sections = sections.clone();
    task(lock, seen, move |lock, seen| {
        for _ in 0..rounds {
            sections.fetch_add(u64::from(choose()(lock, seen)), Ordering::Relaxed);
        }
    })
}

/// Threads that each use the lock in their own way, `times` times.
fn mixture(schedules: usize, times: u32, ways: &'static [fn() -> Use]) -> Seen {
    explore(schedules, move |seen| {
        let (lock, sections) = (Lock::default(), Arc::default());
        together(ways.iter().map(|&way| rounds(&lock, seen, &sections, times, way)));
        at_rest(&lock, sections.load(Ordering::Relaxed));
    })
}

#[test]
fn five_threads_of_every_class_in_turn() {
    let any: fn() -> Use = || USES[below(USES.len() as u64) as usize];
    let seen = mixture(48_000, 3, Box::leak(Box::new([any; 5])));
    seen.must_have(&["took it", "waited", "tried in time", "tried in vain"]);
    seen.must_have(&["a reader gave up", "a writer gave up", "a writer came in"]);
}

#[test]
fn readers_and_writers_that_wait_for_ever_all_come_in() {
    mixture(36_000, 3, &[|| reads, || reads, || writes, || writes, || writes]);
}

#[test]
fn downgrades_among_readers_and_writers_leave_nobody_behind() {
    mixture(36_000, 3, &[|| downgrades, || downgrades, || reads, || writes]);
}

#[test]
fn who_waits_for_a_release_is_told_of_each_kind() {
    let seen =
        mixture(36_000, 3, &[|| waits_or_writes, || waits_or_writes, || writes, || reads, || downgrades]);
    seen.must_have(&["took it", "waited"]);
}

#[test]
fn a_downgrade_lets_queued_readers_in_while_it_goes_on_reading() {
    explore(24_000, |seen| {
        let (lock, answers) = (Lock::default(), Answers::new());
        let mut guard = lock.write();
        let reader = |_| {
            let answers = answers.clone();
            task(&lock, seen, move |lock, _| {
                assert_eq!(read(&lock.read()), 1, "what the holder wrote");
                answers.give();
            })
        };
        together_with((0..3).map(reader), || {
            write(&mut guard);
            let shared = guard.downgrade();
            // Would wait for ever if one of them were left in the queue.
            answers.wait_for(3);
            drop(shared);
        });
        at_rest(&lock, 1);
    });
}

#[test]
fn a_crowd_behind_one_long_hold_is_let_in_to_the_last() {
    explore(30_000, |seen| {
        let (lock, sections) = (Lock::default(), Arc::default());
        let mut tasks: Vec<Task> = vec![task(&lock, seen, |lock, _| {
            let mut guard = lock.write();
            (0..below(24)).for_each(|_| pause());
            write(&mut guard);
        })];
        let ways: [fn() -> Use; 4] = [|| reads, || writes, || waits_or_writes, || reads];
        tasks.extend(ways.map(|way| rounds(&lock, seen, &sections, 1, way)));
        together(tasks);
        at_rest(&lock, 1 + sections.load(Ordering::Relaxed));
    });
}
