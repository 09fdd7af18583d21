//! A table used by one thread, against std's map.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::map::run(input));
