//! An index of sessions: a million log in, and out again, while another thread looks sessions up. The slowest login is what
//! a user waits for when a table is rehashed as a whole.
//!
//! What it shows: the slowest insert of `LHashMap` beside that of a `HashMap` behind a lock, and how much memory is left when
//! all have gone. The times printed are this run's on this machine.
//!
//! `cargo run --release -p latchfree-lhash --example session_index`

use lhash::{LHashMap, ShrinkPolicy};
use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const SESSIONS: u64 = 1_000_000;

#[derive(Clone, Debug, PartialEq)]
struct Session {
    user: u32,
    since: u64,
}

/// Times of some operation.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.0.push(start.elapsed());
        result
    }

    fn print(mut self, what: &str) {
        self.0.sort_unstable();
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize];
        let (p50, p999, p9999, max) = (at(0.5), at(0.999), at(0.9999), at(1.0));
        println!(
            "  {what:<8} p50 {p50:>7.0?}  p99.9 {p999:>7.0?}  p99.99 {p9999:>7.1?}  slowest {max:>7.1?}"
        );
    }
}

/// What both kinds of table do here.
trait Index: Sync {
    fn login(&self, id: u64, session: Session);
    fn user_of(&self, id: u64) -> Option<u32>;
    fn logout(&self, id: u64) -> bool;
    fn bytes(&self) -> Option<usize>;
}

impl Index for LHashMap<u64, Session> {
    fn login(&self, id: u64, session: Session) {
        self.pin().insert(id, session);
    }

    fn user_of(&self, id: u64) -> Option<u32> {
        self.pin().get(&id).map(|session| session.user)
    }

    fn logout(&self, id: u64) -> bool {
        self.pin().remove(&id).is_some()
    }

    fn bytes(&self) -> Option<usize> {
        self.pin().shrink_to_fit();
        Some(self.memory_bytes())
    }
}

impl Index for RwLock<HashMap<u64, Session>> {
    fn login(&self, id: u64, session: Session) {
        self.write().expect("no thread panics").insert(id, session);
    }

    fn user_of(&self, id: u64) -> Option<u32> {
        self.read().expect("no thread panics").get(&id).map(|session| session.user)
    }

    fn logout(&self, id: u64) -> bool {
        self.write().expect("no thread panics").remove(&id).is_some()
    }

    fn bytes(&self) -> Option<usize> {
        None
    }
}

fn session(id: u64) -> Session {
    Session { user: id as u32 % 1000, since: id }
}

fn run(name: &str, index: &impl Index) {
    println!("{name}");
    let (mut logins, mut logouts, stop) = (Times::default(), Times::default(), AtomicBool::new(false));
    index.login(0, session(0));
    let lookups = thread::scope(|s| {
        let reader = s.spawn(|| {
            let mut times = Times::default();
            while !stop.load(Relaxed) || times.0.is_empty() {
                let user = times.time(|| index.user_of(0));
                assert_eq!(user, Some(0), "session 0 is there all the time");
            }
            times
        });
        for id in 1..SESSIONS {
            logins.time(|| index.login(id, session(id)));
        }
        for id in 1..SESSIONS {
            assert!(logouts.time(|| index.logout(id)), "session {id} was there");
        }
        stop.store(true, Relaxed);
        reader.join().expect("every lookup was right")
    });
    logins.print("logins");
    logouts.print("logouts");
    lookups.print("lookups");
    match index.bytes() {
        Some(bytes) => println!("  {bytes} bytes are left for 1 session"),
        None => println!("  as much memory as for {SESSIONS} sessions is left for 1"),
    }
}

fn main() {
    let shrinking = LHashMap::builder().shrink(ShrinkPolicy::Below { percent: 50 }).build();
    let index: LHashMap<u64, Session> = shrinking.expect("a valid configuration");
    run("LHashMap, which splits one bucket at a time", &index);
    let stats = index.stats();
    println!("  {} splits, {} merges, {} buckets now", stats.splits, stats.merges, stats.max_bucket + 1);
    run("RwLock<HashMap>, which rehashes as a whole", &RwLock::new(HashMap::new()));
}
