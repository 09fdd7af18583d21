//! Concurrent linear hashing: a map and a multimap that grow *and shrink* one bucket at a time.
//!
//! This crate holds no code yet; `latchfree-sync` has the locks and `latchfree-flatmap` the flat-array table that are there
//! today. Linear hashing is W. Litwin's (*Linear hashing: a new tool for file and table addressing*, 1980).
#![forbid(unsafe_code)]
