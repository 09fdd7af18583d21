//! Addresses of linear hashing, against masks that are stepped at each split.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::addressing::run(input));
