//! Counters used by several threads one at a time, against how far they may lag.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::counters::run(input));
