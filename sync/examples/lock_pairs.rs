//! A million free read pairs and write pairs of a lock, to count instructions by:
//!
//! ```sh
//! cargo build --release -p latchfree-sync --example lock_pairs
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/lock_pairs plain
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/lock_pairs tranche
//! ```
//!
//! Without feature `stats` the two counts differ by what it takes to choose between them, and no more: a lock in a
//! tranche costs what any other costs.

use std::hint::black_box;
use sync::{LwLock, Tranche};

static TRANCHE: Tranche = Tranche::new("example");
static PLAIN: LwLock<u64> = LwLock::new(0);
static MEMBER: LwLock<u64> = LwLock::in_tranche(0, &TRANCHE);

fn main() {
    let lock = if std::env::args().any(|argument| argument == "tranche") { &MEMBER } else { &PLAIN };
    for _ in 0..1_000_000 {
        *black_box(lock).write() += 1;
        black_box(*black_box(lock).read());
    }
    println!("{} write pairs and as many read pairs, in {:?}", *lock.read(), TRANCHE.name());
}
