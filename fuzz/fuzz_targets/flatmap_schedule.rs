//! A table used by threads in turns; what they saw must be linearizable.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::schedule::flat::run(input));
