//! A child process that is killed in the middle: what it was told to be on the disk is there, and nothing else.
#![cfg(unix)]

use lhash::Map;
use lhash::redo::{Durability, LoggedMap, OpenOptions, Opened, Options, SeededState};
use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Names the child's log.
const LOG: &str = "LHASH_REDO_LOG";
/// How far each of its threads is.
const STARTS: &str = "LHASH_REDO_STARTS";
/// Says that it makes snapshots all the while.
const SNAPSHOTS: &str = "LHASH_REDO_SNAPSHOTS";
const THREADS: u64 = 4;
/// Children that go on with one log.
const IN_A_ROW: u64 = 20;
const CHILDREN: u64 = 200;

/// A thread's operations: three inserts, then the remove of the first of them.
fn operation(map: &LoggedMap<u64, u64>, thread: u64, step: u64) {
    let key = |step: u64| thread << 32 | step;
    if step % 4 == 3 {
        assert_eq!(map.pin().remove(&key(step - 3)).expect("logged"), Some(&value(key(step - 3))));
    } else {
        assert_eq!(map.pin().insert(key(step), value(key(step))).expect("logged"), None);
    }
}

fn value(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What a thread has in the map after so many of its operations.
fn after(thread: u64, steps: u64) -> BTreeSet<u64> {
    let is_there = |step: &u64| step % 4 != 3 && (step % 4 != 0 || step + 3 >= steps);
    (0..steps).filter(is_there).map(|step| thread << 32 | step).collect()
}

fn open(path: &Path) -> Opened<u64, u64, Map, SeededState> {
    OpenOptions::new().durability(Durability::Sync).open(path).expect("it can be opened")
}

fn found(map: &LoggedMap<u64, u64>, thread: u64) -> BTreeSet<u64> {
    let pin = map.pin();
    let all = pin.iter().inspect(|&(key, found)| assert_eq!(*found, value(*key), "{key:#x}"));
    all.map(|(key, _)| *key).filter(|key| key >> 32 == thread).collect()
}

/// How many operations of a thread there must have been, at least `acknowledged` and one more at most.
fn steps_of(map: &LoggedMap<u64, u64>, thread: u64, acknowledged: u64) -> u64 {
    let found = found(map, thread);
    let steps = [acknowledged, acknowledged + 1].into_iter().find(|&steps| after(thread, steps) == found);
    steps.unwrap_or_else(|| {
        let told = after(thread, acknowledged);
        let lost: Vec<_> = told.difference(&found).collect();
        let never: Vec<_> = found.difference(&told).collect();
        panic!("thread {thread} was told of {acknowledged} steps: lost {lost:x?}, beside {never:x?}")
    })
}

/// The child: it says `thread steps` after each of its operations. In the parent's run of all tests it does nothing.
#[test]
fn child() {
    let Some(path) = env::var_os(LOG) else { return };
    let (map, _) = open(Path::new(&path));
    let map = &map;
    let starts = env::var(STARTS).expect("set with the log");
    let starts: Vec<u64> = starts.split(',').map(|start| start.parse().expect("a number")).collect();
    map.cut_segments_at(1 << 12);
    thread::scope(|s| {
        if env::var_os(SNAPSHOTS).is_some() {
            s.spawn(|| {
                loop {
                    map.snapshot().expect("written");
                }
            });
        }
        for (thread, &start) in (0..).zip(&starts) {
            s.spawn(move || {
                for step in start.. {
                    operation(map, thread, step);
                    // One write, so that lines of threads do not mix.
                    let line = format!("told {thread} {}\n", step + 1);
                    std::io::stderr().write_all(line.as_bytes()).expect("the parent listens");
                }
            });
        }
    });
}

/// Runs a child until it is killed; raises `told` to what it acknowledged.
fn run_and_kill(path: &Path, told: &mut [u64], rng: &mut fastrand::Rng, snapshots: bool) {
    let starts: Vec<String> = told.iter().map(u64::to_string).collect();
    let mut command = Command::new(env::current_exe().expect("this program"));
    if snapshots {
        command.env(SNAPSHOTS, "yes");
    }
    let mut child = command
        .args(["--exact", "killed::child", "--nocapture"])
        .env(LOG, path)
        .env(STARTS, starts.join(","))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let (first, rest) = std::sync::mpsc::channel();
    let reader = thread::spawn(move || {
        let mut last = vec![0; THREADS as usize];
        for line in lines.map_while(Result::ok) {
            let Some(line) = line.strip_prefix("told ") else { continue };
            let (thread, steps) = line.split_once(' ').expect("two numbers");
            // A line that the kill has cut is shorter, and so is its number: it says less, and less is true.
            if let (Ok(thread), Ok(steps)) = (thread.parse::<usize>(), steps.parse::<u64>()) {
                last[thread] = last[thread].max(steps);
            }
            let _ = first.send(());
        }
        last
    });
    // From the first acknowledgement on, so that every child has done something.
    rest.recv().expect("the child works");
    thread::sleep(Duration::from_micros(rng.u64(0..20_000)));
    child.kill().expect("killed");
    child.wait().expect("it has ended");
    for (told, last) in told.iter_mut().zip(reader.join().expect("read")) {
        *told = (*told).max(last);
    }
}

#[test]
fn what_a_killed_process_was_told_is_there_and_nothing_else() {
    let seed =
        env::var("LHASH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("LHASH_SEED={seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().expect("a folder");
    let mut begun_with_one = 0;
    for round in 0..CHILDREN / IN_A_ROW {
        let path = dir.path().join(round.to_string());
        let snapshots = round % 2 == 1;
        let options = Options::new().durability(Durability::Sync);
        drop(options.create::<u64, u64, Map, SeededState>(&path).expect("created"));
        let mut told = vec![0; THREADS as usize];
        for _ in 0..IN_A_ROW {
            run_and_kill(&path, &mut told, &mut rng, snapshots);
            let (map, recovery) = open(&path);
            assert_eq!(recovery.damaged_snapshots, [""; 0]);
            begun_with_one += u64::from(recovery.snapshot.is_some());
            if snapshots && rng.bool() {
                // Whatever a kill has left, the next one comes about.
                let snapshot = map.snapshot().expect("written");
                assert_eq!(snapshot.entries, map.pin().iter().count() as u64);
            }
            assert_eq!(map.validate(), Ok(()));
            for (thread, told) in (0..).zip(&mut told) {
                *told = steps_of(&map, thread, *told);
            }
        }
        assert!(told.iter().sum::<u64>() > 100, "they did nothing: {told:?}");
    }
    assert!(begun_with_one > CHILDREN / 10, "{begun_with_one} maps began with a snapshot");
}
