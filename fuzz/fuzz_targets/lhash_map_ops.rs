//! A map used by one thread at a time, against std's map.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::hash::map::run(input));
