//! Benchmarks of the latchfree tables, maps, locks and counters, and the parts that they share with tests and fuzz
//! targets.
//!
//! `bench replay` is the main path: [`cli`] reads the command line, [`trace`] the recorded page accesses,
//! [`replay`] runs them on each of the [`peers`] behind the one trait of [`table`] (in pool mode through the
//! buffer pool of [`pool`]), and [`output`] prints what came out. `bench sync` runs the locks and counters of
//! [`mod@sync`], `bench lhash` the concurrent maps of [`mod@lhash`],
//! `bench growth` the same maps at a fixed rate of arrivals by [`growth`],
//! `bench flatmap` single operations of flatmap and the peers by [`mod@flatmap`]. All take turns as [`rounds`] tells them, on the
//! threads of a [`crew`]. `bench seeds` checks lhash against the published structure of a PostgreSQL hash
//! index, in [`seeds`]. `bench scaling` counts what operations write, by [`scaling`]. `bench redo` measures lhash's log, in [`mod@redo`]. `bench report` runs all of them and writes a page, in [`report`].
//!
//! Next: `cli.rs`.

pub mod cli;
pub mod counting;
pub mod crew;
pub mod flatmap;
pub mod growth;
pub mod latency;
pub mod lhash;
pub mod output;
pub mod peers;
pub mod pool;
pub mod redo;
pub mod replay;
pub mod report;
pub mod rounds;
pub mod scaling;
pub mod seeds;
pub mod sync;
pub mod table;
pub mod trace;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
