//! Benchmarks of the latchfree tables, and the parts that they share with tests and fuzz targets.
//!
//! `bench replay` is the main path: [`cli`] reads the command line, [`trace`] the recorded page accesses,
//! [`replay`] runs them on each of the [`peers`] behind the one trait of [`table`] (in pool mode through the
//! buffer pool of [`pool`]), and [`output`] prints what came out.
//!
//! Next: `cli.rs`.

pub mod cli;
pub mod latency;
pub mod output;
pub mod peers;
pub mod pool;
pub mod replay;
pub mod table;
pub mod trace;
