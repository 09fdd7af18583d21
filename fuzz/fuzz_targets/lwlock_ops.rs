//! A lock used by one thread, against a count of its holders.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::lock::run(input));
