//! Faults that other people's maps really had, each named by the fault. `growth.rs`: while a table grows or shrinks;
//! `iteration.rs`: iterations meanwhile; `entries.rs`: entries lost, doubled or mixed up; `counts.rs`: what is counted; `waits.rs`: deadlocks; `memory.rs`:
//! references and drops; `panics.rs`: user code that panics; `hostile.rs`: user code that lies or calls back;
//! `sizes.rs`: construction and limits.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

#[path = "../common/mod.rs"]
mod common;
mod counts;
mod entries;
mod growth;
mod hostile;
mod iteration;
mod memory;
mod panics;
mod sizes;
mod waits;
