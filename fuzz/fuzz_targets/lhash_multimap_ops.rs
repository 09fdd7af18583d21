//! A multimap used by one thread at a time, against sorted lists of values.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::hash::multi::run(input));
